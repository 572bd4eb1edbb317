// What AITER needs: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is
// flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/facts.hpp"

namespace mx::oracle {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

/// The class, and the five by weights that it is since 2026-11. E/rocm_aiter_moe.py of 0.33.0: they call the same function.
constexpr std::array<Names, 5> kAiter = {"AiterExperts", "AiterFp8BlockExperts", "AiterFp8TensorExperts", "AiterFp8ChannelExperts",
                                         "AiterMxfp4Experts"};

constexpr KernelNeed kMayActivation = need(
    "activation", kAiter, {}, kernel_class, error, read, "SILU, GELU or SWIGLUOAI", "ValueError: Unsupported activation",
    [](const Placement& p) {
      return activation_is(p, {"SILU", "GELU", "SWIGLUOAI"});
    },
    "E/rocm_aiter_moe.py rocm_aiter_fused_experts", {}, before(kVllm2026_08));
constexpr KernelNeed kAugustActivation = need(
    "activation", kAiter, {}, kernel_class, error, read, "SILU, GELU, SWIGLUOAI, SWIGLUOAI_UNINTERLEAVE or SITU",
    "ValueError: Unsupported activation",
    [](const Placement& p) {
      return activation_is(p, {"SILU", "GELU", "SWIGLUOAI", "SWIGLUOAI_UNINTERLEAVE", "SITU"});
    },
    "E/rocm_aiter_moe.py rocm_aiter_fused_experts at 7ca49fbe4", {}, since(kVllm2026_08));

namespace mxfp4 {

constexpr std::array<Names, 3> kAiterBoth = {"AiterExperts", "AiterMxfp4Experts", "AiterW4A8ExpertsMonolithic"};
constexpr std::array<Names, 1> kAiterFp8 = {"AiterW4A8ExpertsMonolithic"};
constexpr std::array<Names, 1> kBf16 = {"AITER_MXFP4_BF16"};
constexpr std::array<Names, 1> kFp8 = {"AITER_MXFP4_FP8"};
constexpr std::array<Names, 1> kFp4 = {"AITER_MXFP4_MXFP4"};

constexpr Names kNoGemm = "device_gemm does not support this GEMM problem";
constexpr Names kSizeIssues = "vllm issue 35893, pull request 37787";
constexpr Names kRounded = "ROCm/aiter CK FP4 stage kernels; vllm oracle/mxfp4.py mxfp4_round_up_hidden_size_and_intermediate_size at 7ca49fbe4";
bool takes_128(const Placement& p) { return p.intermediate % 128 == 0; }
bool takes_256(const Placement& p) { return p.intermediate % 256 == 0; }
bool takes_128_of_silu(const Placement& p) { return takes_256(p) || (takes_128(p) && activation_is(p, {"SILU", "SITU"})); }

constexpr std::array kNeeds = {
    need(
        "device", kAiter, {}, kernel, error, published, "gfx950", "a crash on gfx942", [](const Placement& p) { return arch_is(p, {"gfx950"}); },
        "ROCm/aiter CK FP4 stage kernels", "vllm pull request 37787"),
    need(
        "device", kAiterFp8, {}, kernel, error, published, "gfx950", "a crash on gfx942", [](const Placement& p) { return arch_is(p, {"gfx950"}); },
        "ROCm/aiter CK FP4 stage kernels", "vllm pull request 37787", before(kVllm2026_08)),
    need(
        "device", kAiterFp8, {}, kernel_class, error, read, "gfx950 or gfx1250", "no such kernel",
        [](const Placement& p) {
          return arch_is(p, {"gfx950", "gfx1250"});
        },
        "E/aiter_mxfp4_w4a8_moe.py AiterW4A8ExpertsMonolithic at 7ca49fbe4", {}, since(kVllm2026_08)),
    need(
        "sizes", kAiterBoth, {}, kernel, error, published, "I a multiple of 256", "device_gemm does not support this GEMM problem",
        [](const Placement& p) { return p.intermediate % 256 == 0; }, "ROCm/aiter CK FP4 stage kernels", "vllm issue 35893, pull request 37787",
        before(kVllm2026_08)),
    need("sizes", kAiterBoth, kBf16, kernel, error, published, "I a multiple of 256, of 128 with SILU or SITU", kNoGemm, takes_128_of_silu, kRounded,
         kSizeIssues, since(kVllm2026_08)),
    need("sizes", kAiterBoth, kFp8, kernel, error, published, "I a multiple of 256", kNoGemm, takes_256, kRounded, kSizeIssues, since(kVllm2026_08)),
    need("sizes", kAiterBoth, kFp4, kernel, error, published, "I a multiple of 256", kNoGemm, takes_256, kRounded, kSizeIssues,
         between(kVllm2026_08, kVllm2026_11)),
    need("sizes", kAiterBoth, kFp4, kernel, error, published, "I a multiple of 128", kNoGemm, takes_128,
         "ROCm/aiter CK FP4 stage kernels; vllm oracle/mxfp4.py mxfp4_round_up_hidden_size_and_intermediate_size of 0.33.0", kSizeIssues,
         since(kVllm2026_11)),
    need(
        "dtype", kAiter, {}, kernel_class, error, read, "float16 or bfloat16", kTorchError,
        [](const Placement& p) {
          return dtype_is(p, {"float16", "bfloat16"});
        },
        "E/rocm_aiter_moe.py"),
    kMayActivation,
    kAugustActivation,
    need(
        "dtype", kAiterFp8, {}, kernel_class, error, read, "bfloat16", kTorchError, [](const Placement& p) { return dtype_is(p, {"bfloat16"}); },
        "E/aiter_mxfp4_w4a8_moe.py"),
    need(
        "activation", kAiterFp8, {}, kernel_class, silent, read, "SWIGLUOAI, fixed", "computed as SwiGLU-OAI",
        [](const Placement& p) { return activation_is(p, {"SWIGLUOAI"}); }, "E/aiter_mxfp4_w4a8_moe.py"),
    need(
        "expert_map", kAiterFp8, {}, kernel_class, silent, read, "no expert parallelism: the map is received and ignored",
        "global ids meet local weights", [](const Placement& p) { return !has_ep(p); }, "E/aiter_mxfp4_w4a8_moe.py apply"),
};

}  // namespace mxfp4

namespace fp8 {

constexpr std::array kNeeds = {
    need(
        "device", kAiter, {}, kernel, error, read, "gfx942 or gfx950", "no such kernel",
        [](const Placement& p) {
          return arch_is(p, {"gfx942", "gfx950"});
        },
        "ROCm/aiter", {}, before(kVllm2026_08)),
    need(
        "device", kAiter, {}, kernel_class, error, read, "gfx942 or gfx950; what AITER has for FP8 on gfx1250, which the class takes, is not known",
        "no such kernel",
        [](const Placement& p) {
          return arch_is(p, {"gfx942", "gfx950", "gfx1250"});
        },
        "vllm platforms/rocm.py get_cdna_version, _aiter_ops.py is_aiter_found_and_supported at 7ca49fbe4", {}, since(kVllm2026_08)),
    need("sizes", kAiter, {}, converter, error, run, "rows in 16 and columns in 32 for the shuffle: 2I, H and I", "an assertion in shuffle_weight",
         converter_takes, "ROCm/aiter aiter/ops/shuffle.py"),
    need("dtype", kAiter, {}, kernel_class, error, read, "float16 or bfloat16", "an error in the first batch", is_16_bit, "E/rocm_aiter_moe.py"),
    kMayActivation,
    kAugustActivation,
    need(
        "block_weight", kAiter, {}, kernel_class, error, read, "no weight on the input with block scales", "an assertion",
        [](const Placement& p) { return !is_block(p) || !p.deployment.layer.router_weight_on_input; }, "E/rocm_aiter_moe.py"),
};

}  // namespace fp8

constexpr std::array kClasses = {
    KernelClassFacts{"AiterExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::twice},
    KernelClassFacts{"AiterFp8BlockExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::twice},
    KernelClassFacts{"AiterFp8TensorExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::twice},
    KernelClassFacts{"AiterFp8ChannelExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::twice},
    KernelClassFacts{"AiterMxfp4Experts", ClassKind::plain, ExpertIds::other, WeightOnInput::twice},
    KernelClassFacts{"AiterW4A8ExpertsMonolithic", ClassKind::monolithic, ExpertIds::other, WeightOnInput::late},
};

constexpr std::array kTables = {NeedTable{kMxfp4Oracles, false, mxfp4::kNeeds}, NeedTable{kFp8Oracles, false, fp8::kNeeds}};

}  // namespace

std::span<const NeedTable> aiter_needs() { return kTables; }
std::span<const KernelClassFacts> aiter_classes() { return kClasses; }

}  // namespace mx::oracle
