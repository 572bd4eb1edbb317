// What the expert classes of vllm fused_moe/experts/flashinfer_b12x_moe.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kB12xDevices = {DeviceRule{on_cuda(cap_family(120)), &Software::has_flashinfer_b12x_moe}};
constexpr std::array kFlashinferB12xPairs = {KeyPairs{bit(Key::nvfp4_static), set_of(Key::nvfp4_dynamic, Key::none)}};
constexpr std::array kFlashinferB12xQuant = {QuantRule{kFlashinferB12xPairs}};

constexpr auto kClasses =
    joined(history(KernelClass{.name = "FlashInferB12xExperts", .devices = kB12xDevices, .activations = bit(silu), .quant = kNvfp4Quant},
                   ClassChange{.since = kVllm2026_08,
                               .takes_no_act_and_mul = true,
                               .activations = set_of(silu, gelu_tanh, relu2_no_mul),
                               .quant = kFlashinferB12xQuant,
                               .refused_parallel = bit(ParallelFact::use_ep)}));

}  // namespace

std::span<const KernelClass> flashinfer_b12x_moe_classes() { return kClasses; }

}  // namespace mx::engine
