// What the expert classes of vllm fused_moe/experts/flashinfer_cutlass_moe.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kFlashinferDevices = {
    DeviceRule{on_cuda(cap_exactly(90)), &Software::has_flashinfer_cutlass_fused_moe},
    DeviceRule{kBlackwell, &Software::has_flashinfer_cutlass_fused_moe},
    DeviceRule{on_cuda(cap_family(120)), &Software::has_flashinfer_cutlass_fused_moe},
};
constexpr std::array kFlashinferFrom90 = {kUnquantizedPair, kFp8StaticPair};
constexpr std::array kFlashinferOn90 = {kMxfp4OnBf16Pair, kFp8BlockPair};
constexpr std::array kFlashinferFrom100 = {kMxfp4OnMxfp8Pair, kNvfp4Pair};
constexpr std::array kFlashinferQuant = {
    QuantRule{kFlashinferFrom90, on_cuda(cap_at_least(90))},
    QuantRule{kFlashinferOn90, on_cuda(cap_exactly(90))},
    QuantRule{kFlashinferFrom100, on_cuda(cap_at_least(100))},
};

constexpr auto kClasses = joined(history(KernelClass{.name = "FlashInferExperts",
                                                     .devices = kFlashinferDevices,
                                                     .takes_no_act_and_mul = true,
                                                     .activations = set_of(silu, relu2_no_mul, swigluoai),
                                                     .quant = kFlashinferQuant},
                                         ClassChange{.since = kVllm2026_08, .activations = set_of(silu, gelu_tanh, relu2_no_mul) | kOaiBoth}));

}  // namespace

std::span<const KernelClass> flashinfer_cutlass_moe_classes() { return kClasses; }

}  // namespace mx::engine
