// What DeepGEMM needs: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is
// flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/deepgemm/family.hpp"
#include "model/families/facts.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

namespace mxfp4 {

constexpr std::array<Names, 1> kDeepGemm = {"DeepGemmFP4Experts"};

constexpr std::array kNeeds = {
    need(
        "device", kDeepGemm, {}, kernel, error, read, "SM major 10: packed FP4", "an assertion",
        [](const Placement& p) { return cuda_in(p, 100, 109); }, "deepseek-ai/DeepGEMM csrc/apis/gemm.hpp, csrc/utils/layout.hpp", {},
        deployment::before(deployment::kVllm2026_08)),
    need(
        "device", kDeepGemm, {}, kernel_class, error, read, "SM major 10 or 12: packed FP4", "an assertion",
        [](const Placement& p) { return cuda_in(p, 100, 109) || cuda_in(p, 120, 129); },
        "E/deep_gemm_moe.py DeepGemmFP4Experts._supports_current_device at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "sizes", kDeepGemm, {}, kernel_class, error, read, "H and I multiples of 128: activations are quantized in groups of 128 before both GEMMs",
        "an assertion in the quantizer", [](const Placement& p) { return both_divide(p, 128); }, "E/deep_gemm_moe.py DeepGemmFP4Experts"),
    need(
        "dtype", kDeepGemm, {}, kernel, error, read, "bfloat16 output", "an assertion", [](const Placement& p) { return dtype_is(p, {"bfloat16"}); },
        "deepseek-ai/DeepGEMM csrc/apis/gemm.hpp"),
    need(
        "activation", kDeepGemm, {}, kernel_class, error, read, "SILU: SWIGLUSTEP asserts under UE8M0 scales, the default there", "an assertion",
        [](const Placement& p) { return activation_is(p, {"SILU"}); }, "E/deep_gemm_moe.py DeepGemmFP4Experts.apply", {},
        deployment::before(deployment::kVllm2026_08)),
    need(
        "activation", kDeepGemm, {}, kernel_class, error, read, "SILU, SWIGLUSTEP or SITU", "an error",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "SWIGLUSTEP", "SITU"});
        },
        "E/deep_gemm_moe.py DeepGemmFP4Experts._act_mul_quant at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
};

}  // namespace mxfp4

namespace fp8 {

constexpr std::array<Names, 1> kDeepGemm = {"TritonOrDeepGemmExperts"};
constexpr std::array<Names, 1> kBatchedDeepGemm = {"BatchedDeepGemmExperts"};
constexpr std::array<Names, 2> kFp8DeepGemm = {"TritonOrDeepGemmExperts", "BatchedDeepGemmExperts"};
constexpr std::array<Names, 1> kMxfp8DeepGemm = {"DeepGemmExperts"};
constexpr std::array<Names, 2> kStandardDeepGemm = {"TritonOrDeepGemmExperts", "DeepGemmExperts"};

constexpr std::array kNeeds = {
    need(
        "device", kFp8DeepGemm, {}, kernel, error, read, "SM90 or SM major 10", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 90, 90) || cuda_in(p, 100, 109); }, "deepseek-ai/DeepGEMM csrc/apis/gemm.hpp", {},
        deployment::before(deployment::kVllm2026_08)),
    need(
        "device", kFp8DeepGemm, {}, kernel_class, error, read, "SM90, SM major 10 or 12", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 90, 90) || cuda_in(p, 100, 109) || cuda_in(p, 120, 129); },
        "vllm platforms/cuda.py support_deep_gemm at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "sizes", kDeepGemm, {}, kernel_class, error, read, "H and I multiples of 128: with UE8M0 scales, the default, no shape is turned away",
        "an assertion in DeepGEMM", [](const Placement& p) { return both_divide(p, 128); }, "E/triton_deep_gemm_moe.py, E/deep_gemm_moe.py"),
    need("small_intermediate", kDeepGemm, {}, kernel_class, slow, read,
         "I above 512, or UE8M0 scales: those are a switch of the environment that no oracle reads", "TritonExperts runs without a word", nullptr,
         "E/deep_gemm_moe.py _valid_deep_gemm", "vllm pull request 22208"),
    need(
        "sizes", kBatchedDeepGemm, {}, kernel_class, error, read, "H and I multiples of 128", "an assertion",
        [](const Placement& p) { return both_divide(p, 128); }, "E/batched_deep_gemm_moe.py"),
    need(
        "activation", kDeepGemm, {}, kernel_class, error, read, "SILU or SWIGLUSTEP", "an error",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "SWIGLUSTEP"});
        },
        "E/deep_gemm_moe.py", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "activation", kStandardDeepGemm, {}, kernel_class, error, read, "SILU, SWIGLUSTEP or SWIGLUOAI_UNINTERLEAVE", "an error",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "SWIGLUSTEP", "SWIGLUOAI_UNINTERLEAVE"});
        },
        "E/deep_gemm_moe.py DeepGemmExperts._act_mul_quant at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need("activation", kBatchedDeepGemm, {}, kernel_class, silent, read, "SILU, fixed", "computed as SILU", is_silu, "E/batched_deep_gemm_moe.py"),
    need(
        "dtype", kStandardDeepGemm, {}, kernel, error, read, "bfloat16 output", "an assertion",
        [](const Placement& p) { return dtype_is(p, {"bfloat16"}); }, "deepseek-ai/DeepGEMM csrc/apis/gemm.hpp"),
    need(
        "device", kMxfp8DeepGemm, {}, kernel_class, error, read, "SM major 10: scales of 32 by the GEMM of FP8 and FP4", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 100, 109); }, "E/deep_gemm_moe.py DeepGemmExperts._supports_quant_scheme at 7ca49fbe4", {},
        deployment::since(deployment::kVllm2026_08)),
    need(
        "dtype", kBatchedDeepGemm, {}, kernel, error, read, "bfloat16 output", "an assertion",
        [](const Placement& p) { return dtype_is(p, {"bfloat16"}); }, "deepseek-ai/DeepGEMM csrc/apis/gemm.hpp"),
};

}  // namespace fp8

constexpr std::array kClasses = {
    KernelClassFacts{"DeepGemmFP4Experts", ClassKind::plain, ExpertIds::other, WeightOnInput::heeded},
    KernelClassFacts{"DeepGemmExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::heeded},
    KernelClassFacts{"TritonOrDeepGemmExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::heeded},
    KernelClassFacts{"BatchedDeepGemmExperts", ClassKind::batched, ExpertIds::other, WeightOnInput::heeded},
};

constexpr std::array kTables = {NeedTable{kMxfp4Oracles, false, mxfp4::kNeeds}, NeedTable{kFp8Oracles, false, fp8::kNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kDeepgemmNeeds{kTables};
constinit const std::span<const KernelClassFacts> kDeepgemmClasses{kClasses};

}  // namespace mx::families
