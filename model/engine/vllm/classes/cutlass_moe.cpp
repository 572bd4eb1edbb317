// What the expert classes of vllm fused_moe/experts/cutlass_moe.py and triton_cutlass_moe.py accept. CutlassExpertsW4A8Fp8 of 2026-05 is that of vllm
// 4438b6e7d (2026-05-23).

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kCutlassFp4Devices = {
    DeviceRule{kBlackwell},
    DeviceRule{on_cuda(cap_family(110))},
    DeviceRule{on_cuda(cap_family(120))},
};
// cutlass_group_gemm_supported: the range comes on top of what the compiled operation answers.
constexpr std::array kCutlassGroupGemmDevices = {DeviceRule{on_cuda({90, 110}), &Software::cutlass_group_gemm_op}};
constexpr std::array kCutlassFp8Pairs = {kFp8ChannelPair, kFp8TensorPairs};
constexpr std::array kW4a8Pairs = {KeyPairs{bit(Key::int4_static), bit(Key::fp8_dynamic_token)}};
constexpr std::array kCutlassFp8Quant = {QuantRule{kCutlassFp8Pairs}};
constexpr std::array kW4a8Quant = {QuantRule{kW4a8Pairs}};
constexpr std::array<Names, 2> kTritonOrCutlass = {"CutlassExpertsFp8", "TritonExperts"};
constexpr Mask kEveryGated = set_of(silu, gelu, gelu_tanh, situ, swigluoai, swigluoai_uninterleave, swiglustep);
constexpr std::array kCutlassMxfp4Devices = {DeviceRule{on_cuda(), &Software::mxfp4_experts_quant_op}};
constexpr std::array kCutlassHopper = {DeviceRule{on_cuda(cap_exactly(90)), &Software::cutlass_group_gemm_op}};
constexpr Mask kNvlinkOrHt = kFlashinferNvlink | bit(ParallelFact::deepep_ht);

constexpr auto kClasses = joined(
    history(KernelClass{.name = "CutlassExpertsFp4",
                        .devices = kCutlassFp4Devices,
                        .takes_no_act_and_mul = true,
                        .activations = set_of(silu, gelu, swigluoai, swiglustep, silu_no_mul, gelu_no_mul, relu2_no_mul),
                        .quant = kNvfp4Quant,
                        .refused_parallel = bit(ParallelFact::ep_above_one)},
            ClassChange{
                .since = kVllm2026_08, .activations = kEveryApplied, .refused_parallel = bit(ParallelFact::ep_above_one), .batch_invariant = true},
            ClassChange{.since = kVllm2026_11, .refused_parallel = kNvlinkOrHt}),
    history(KernelClass{.name = "CutlassExpertsFp8",
                        .devices = kCutlassGroupGemmDevices,
                        .activations = kCutlassActivations,
                        .quant = kCutlassFp8Quant,
                        .refused_parallel = kFlashinferNvlink | bit(ParallelFact::deepep_ht)},
            ClassChange{.since = kVllm2026_08, .activations = kEveryGated, .refused_parallel = kFlashinferNvlink | bit(ParallelFact::deepep_ht)}),
    history(KernelClass{.name = "CutlassBatchedExpertsFp8",
                        .format = kBatched,
                        .devices = kCutlassGroupGemmDevices,
                        .activations = kCutlassActivations,
                        .quant = kCutlassFp8Quant},
            ClassChange{.since = kVllm2026_08, .activations = kEveryGated}),
    history(KernelClass{.name = "CutlassExpertsW4A8Fp8",
                        .only_dtype = "bfloat16",
                        .devices = kCutlassGroupGemmDevices,
                        .activations = kCutlassActivations,
                        .quant = kW4a8Quant},
            ClassChange{.since = kVllm2026_08, .activations = kEveryGated}, ClassChange{.since = kVllm2026_11, .devices = kCutlassHopper}),
    history(KernelClass{.name = "TritonOrCutlassExperts", .halves = kTritonOrCutlass}),
    history(KernelClass{.name = "CutlassExpertsMxfp4",
                        .first = kVllm2026_11,
                        .devices = kCutlassMxfp4Devices,
                        .takes_no_act_and_mul = true,
                        .activations = kEveryApplied,
                        .quant = kMxfp4OnMxfp4Quant,
                        .refused_parallel = kNvlinkOrHt}));

}  // namespace

std::span<const KernelClass> cutlass_moe_classes() { return kClasses; }

}  // namespace mx::engine
