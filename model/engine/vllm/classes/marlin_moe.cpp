// What the expert classes of vllm fused_moe/experts/marlin_moe.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kMarlinDevices = {DeviceRule{on_cuda(cap_at_least(75))}};
constexpr std::array kMarlinPairs = {KeyPairs{
    set_of(Key::fp8_static_128_block, Key::fp8_static_channel, Key::fp8_static_tensor, Key::mxfp4_static, Key::mxfp8_static, Key::nvfp4_static,
           Key::int4_static, Key::int8_static),
    kEverything,
}};
// Weights are dequantized: activation keys do not matter.
constexpr std::array kMarlinQuant = {QuantRule{kMarlinPairs}};
constexpr std::array kMarlinPairsWithGroups = {
    KeyPairs{kMarlinPairs[0].weights | set_of(Key::int4_static_32, Key::int4_static_asym, Key::int4_static_32_asym), kEverything}};
constexpr std::array kMarlinQuantWithGroups = {QuantRule{kMarlinPairsWithGroups}};
constexpr Mask kTwoSided = bit(ParallelFact::fi_nvl_two_sided);

constexpr auto kClasses =
    joined(history(KernelClass{.name = "MarlinExperts",
                               .devices = kMarlinDevices,
                               .takes_no_act_and_mul = true,
                               .activations = kTritonActivations,
                               .quant = kMarlinQuant,
                               .refused_parallel = kFlashinferNvlink,
                               .lora = true},
                   ClassChange{.since = kVllm2026_08, .activations = kEveryApplied, .quant = kMarlinQuantWithGroups, .refused_parallel = kTwoSided}),
           history(KernelClass{.name = "BatchedMarlinExperts",
                               .format = kBatched,
                               .devices = kMarlinDevices,
                               .takes_no_act_and_mul = true,
                               .activations = kTritonActivations,
                               .quant = kMarlinQuant,
                               .refused_parallel = kFlashinferNvlink},
                   ClassChange{.since = kVllm2026_08, .activations = kEveryApplied, .quant = kMarlinQuantWithGroups, .refused_parallel = kTwoSided}));

}  // namespace

std::span<const KernelClass> marlin_moe_classes() { return kClasses; }

}  // namespace mx::engine
