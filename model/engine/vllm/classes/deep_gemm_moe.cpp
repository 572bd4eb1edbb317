// What the expert classes of vllm fused_moe/experts/deep_gemm_moe.py, batched_deep_gemm_moe.py and triton_deep_gemm_moe.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kDeepGemmOn = {EnvVariable::use_deep_gemm};
// is_deep_gemm_supported.
constexpr std::array kDeepGemmDevices = {
    DeviceRule{on_cuda(cap_exactly(90)), &Software::has_deep_gemm, kDeepGemmOn},
    DeviceRule{kBlackwell, &Software::has_deep_gemm, kDeepGemmOn},
};
constexpr std::array kDeepGemmFp4Devices = {DeviceRule{kBlackwell, &Software::has_deep_gemm, kDeepGemmOn}};
constexpr std::array kDeepGemmFp4Pairs = {KeyPairs{bit(Key::mxfp4_static), bit(Key::fp8_dynamic_128)}};
constexpr std::array kDeepGemmFp4Quant = {QuantRule{kDeepGemmFp4Pairs}};
constexpr std::array<Names, 2> kTritonOrDeepGemm = {"DeepGemmExperts", "TritonExperts"};
constexpr std::array kDeepGemmDevicesWith120 = {
    DeviceRule{on_cuda(cap_exactly(90)), &Software::has_deep_gemm, kDeepGemmOn},
    DeviceRule{kBlackwell, &Software::has_deep_gemm, kDeepGemmOn},
    DeviceRule{on_cuda(cap_family(120)), &Software::has_deep_gemm, kDeepGemmOn},
};
constexpr std::array kDeepGemmFp4DevicesWith120 = {
    DeviceRule{kBlackwell, &Software::has_deep_gemm, kDeepGemmOn},
    DeviceRule{on_cuda(cap_family(120)), &Software::has_deep_gemm, kDeepGemmOn},
};
constexpr std::array kDeepGemmQuantWithMxfp8 = {QuantRule{kFp8BlockPairs}, QuantRule{kMxfp8Pairs, kBlackwell}};

constexpr auto kClasses = joined(
    history(KernelClass{.name = "DeepGemmFP4Experts",
                        .devices = kDeepGemmFp4Devices,
                        .activations = set_of(silu, swiglustep),
                        .quant = kDeepGemmFp4Quant,
                        .refused_parallel = kFlashinferNvlink},
            ClassChange{.since = kVllm2026_08, .devices = kDeepGemmFp4DevicesWith120, .activations = set_of(silu, swiglustep, situ)}),
    history(KernelClass{.name = "DeepGemmExperts",
                        .devices = kDeepGemmDevices,
                        .activations = set_of(silu, swiglustep),
                        .quant = kFp8BlockQuant,
                        .refused_parallel = kFlashinferNvlink},
            ClassChange{.since = kVllm2026_08,
                        .devices = kDeepGemmDevicesWith120,
                        .activations = set_of(silu, swiglustep, swigluoai_uninterleave),
                        .quant = kDeepGemmQuantWithMxfp8}),
    history(
        KernelClass{
            .name = "BatchedDeepGemmExperts", .format = kBatched, .devices = kDeepGemmDevices, .activations = bit(silu), .quant = kFp8BlockQuant},
        ClassChange{.since = kVllm2026_08, .devices = kDeepGemmDevicesWith120}),
    // The pair loses the batch invariance and the LoRA that TritonExperts alone has.
    history(KernelClass{.name = "TritonOrDeepGemmExperts", .halves = kTritonOrDeepGemm}));

}  // namespace

std::span<const KernelClass> deep_gemm_moe_classes() { return kClasses; }

}  // namespace mx::engine
