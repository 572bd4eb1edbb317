// What the expert classes of vllm fused_moe/experts/triton_moe.py (2026-05: fused_moe.py) and fused_batched_moe.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr Mask kBatchedTritonActivations = kTritonActivations & ~bit(swiglustep);
constexpr std::array<Names, 4> kFp8Gfx = {"gfx90a", "gfx942", "gfx950", "gfx12"};
constexpr std::array kBatchedTritonDevices = {DeviceRule{kCudaOrRocm}};
constexpr std::array kInt8Pairs = {KeyPairs{bit(Key::int8_static_channel), bit(Key::int8_dynamic_token)}};
constexpr std::array kTritonFp8Pairs = {
    kFp8BlockPair,
    kFp8ChannelPair,
    KeyPairs{bit(Key::fp8_static_tensor), set_of(Key::fp8_dynamic_token, Key::fp8_static_tensor, Key::fp8_dynamic_tensor)},
};
// supports_fp8 of each platform class.
constexpr std::array kTritonQuant = {
    QuantRule{kUnquantizedPairs},
    QuantRule{kInt8Pairs, on_cuda(cap_at_least(75))},
    QuantRule{kTritonFp8Pairs, on_cuda(cap_at_least(89))},
    QuantRule{kTritonFp8Pairs, on_rocm(kFp8Gfx)},
    QuantRule{kTritonFp8Pairs, kXpu},
};
// Narrower than supports_fp8: no gfx12.
constexpr std::array kBatchedTritonQuant = {
    QuantRule{kUnquantizedPairs},
    QuantRule{kTritonFp8Pairs, on_cuda(cap_at_least(89))},
    QuantRule{kTritonFp8Pairs, on_rocm(kGfx9)},
};
constexpr std::array<Names, 4> kFp8Rocm = {"gfx9", "gfx1250", "gfx1200", "gfx1201"};
constexpr std::array<Names, 5> kBatchedFp8Rocm = {"gfx942", "gfx950", "gfx1250", "gfx1200", "gfx1201"};
constexpr std::array kInt8PairsWithTensors = {KeyPairs{bit(Key::int8_static_channel), bit(Key::int8_dynamic_token)},
                                              KeyPairs{bit(Key::int8_static_tensor), bit(Key::int8_dynamic_tensor)}};
// Blocks that the method makes finer: 0.29.0 is the first to have them.
constexpr std::array kTritonBlocks = {
    kFp8BlockPair,
    kFp8ChannelPair,
    KeyPairs{bit(Key::fp8_static_tensor), set_of(Key::fp8_dynamic_token, Key::fp8_static_tensor, Key::fp8_dynamic_tensor)},
    KeyPairs{bit(Key::built_fp8_blocks), bit(Key::fp8_dynamic_128)},
};
constexpr std::array kTritonQuantWithTensors = {
    QuantRule{kUnquantizedPairs},
    QuantRule{kInt8PairsWithTensors, on_cuda(cap_at_least(75))},
    QuantRule{kInt8PairsWithTensors, on_rocm()},
    QuantRule{kTritonBlocks, on_cuda(cap_at_least(89))},
    QuantRule{kTritonBlocks, on_rocm(kFp8Rocm)},
    QuantRule{kTritonBlocks, kXpu},
};
constexpr std::array kBatchedTritonQuantWithGfx12 = {
    QuantRule{kUnquantizedPairs},
    QuantRule{kTritonFp8Pairs, on_cuda(cap_at_least(89))},
    QuantRule{kTritonFp8Pairs, on_rocm(kBatchedFp8Rocm)},
};
constexpr std::array kWna16Pairs = {KeyPairs{kInt4Weights | bit(Key::int8_static), kEverything}};
constexpr std::array kWna16Quant = {QuantRule{kWna16Pairs}};
constexpr Mask kBatchedTritonKeptActivations = kEveryApplied & ~set_of(situ, swigluoai_uninterleave, swiglustep);
constexpr std::array<Names, 4> kFp8RocmWithGfx11 = {"gfx9", "gfx1250", "gfx11", "gfx12"};
constexpr std::array kTritonQuantWithBuiltBlocks = {
    QuantRule{kUnquantizedPairs},
    QuantRule{kInt8PairsWithTensors, on_cuda(cap_at_least(75))},
    QuantRule{kInt8PairsWithTensors, on_rocm()},
    QuantRule{kInt8PairsWithTensors, kXpu},
    QuantRule{kTritonBlocks, on_cuda(cap_at_least(89))},
    QuantRule{kTritonBlocks, on_rocm(kFp8RocmWithGfx11)},
    QuantRule{kTritonBlocks, kXpu},
};
constexpr std::array kLostOnXpu = {ActivationLoss{kXpu, set_of(situ, swigluoai_uninterleave, swiglustep)}};

constexpr auto kClasses = joined(
    history(KernelClass{.name = "TritonExperts",
                        .devices = kTritonDevices,
                        .takes_no_act_and_mul = true,
                        .activations = kTritonActivations,
                        .quant = kTritonQuant,
                        .refused_parallel = kFlashinferNvlink,
                        .batch_invariant = true,
                        .lora = true},
            ClassChange{.since = kVllm2026_08, .activations = kEveryApplied, .quant = kTritonQuantWithTensors, .rules_after = kTritonRules},
            ClassChange{.since = kVllm2026_11, .quant = kTritonQuantWithBuiltBlocks}),
    history(
        KernelClass{.name = "BatchedTritonExperts",
                    .format = kBatched,
                    .devices = kBatchedTritonDevices,
                    .takes_no_act_and_mul = true,
                    .activations = kBatchedTritonActivations,
                    .quant = kBatchedTritonQuant},
        ClassChange{
            .since = kVllm2026_08, .devices = kTritonDevices, .activations = kBatchedTritonKeptActivations, .quant = kBatchedTritonQuantWithGfx12},
        ClassChange{.since = kVllm2026_11, .activations = kEveryApplied, .fewer_activations = kLostOnXpu}),
    history(KernelClass{.name = "TritonWNA16Experts",
                        .first = kVllm2026_08,
                        .devices = kTritonDevices,
                        .takes_no_act_and_mul = true,
                        .activations = kEveryApplied & ~bit(situ),
                        .quant = kWna16Quant,
                        .refused_parallel = kFlashinferNvlink,
                        .batch_invariant = true,
                        .lora = true,
                        .rules_after = kTritonRules}));

}  // namespace

std::span<const KernelClass> triton_moe_classes() { return kClasses; }

}  // namespace mx::engine
