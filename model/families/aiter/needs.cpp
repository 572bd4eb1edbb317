// What AITER needs: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is
// flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/aiter/family.hpp"
#include "model/families/facts.hpp"

namespace mx::families {
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
    "E/rocm_aiter_moe.py rocm_aiter_fused_experts", {}, deployment::before(deployment::kVllm2026_08));
constexpr KernelNeed kAugustActivation = need(
    "activation", kAiter, {}, kernel_class, error, read, "SILU, GELU, SWIGLUOAI, SWIGLUOAI_UNINTERLEAVE or SITU",
    "ValueError: Unsupported activation",
    [](const Placement& p) {
      return activation_is(p, {"SILU", "GELU", "SWIGLUOAI", "SWIGLUOAI_UNINTERLEAVE", "SITU"});
    },
    "E/rocm_aiter_moe.py rocm_aiter_fused_experts at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08));

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
        "ROCm/aiter CK FP4 stage kernels", "vllm pull request 37787", deployment::before(deployment::kVllm2026_08)),
    need(
        "device", kAiterFp8, {}, kernel_class, error, read, "gfx950 or gfx1250", "no such kernel",
        [](const Placement& p) {
          return arch_is(p, {"gfx950", "gfx1250"});
        },
        "E/aiter_mxfp4_w4a8_moe.py AiterW4A8ExpertsMonolithic at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "sizes", kAiterBoth, {}, kernel, error, published, "I a multiple of 256", "device_gemm does not support this GEMM problem",
        [](const Placement& p) { return p.intermediate % 256 == 0; }, "ROCm/aiter CK FP4 stage kernels", "vllm issue 35893, pull request 37787",
        deployment::before(deployment::kVllm2026_08)),
    need("sizes", kAiterBoth, kBf16, kernel, error, published, "I a multiple of 256, of 128 with SILU or SITU", kNoGemm, takes_128_of_silu, kRounded,
         kSizeIssues, deployment::since(deployment::kVllm2026_08)),
    need("sizes", kAiterBoth, kFp8, kernel, error, published, "I a multiple of 256", kNoGemm, takes_256, kRounded, kSizeIssues,
         deployment::since(deployment::kVllm2026_08)),
    need("sizes", kAiterBoth, kFp4, kernel, error, published, "I a multiple of 256", kNoGemm, takes_256, kRounded, kSizeIssues,
         deployment::between(deployment::kVllm2026_08, deployment::kVllm2026_11)),
    need("sizes", kAiterBoth, kFp4, kernel, error, published, "I a multiple of 128", kNoGemm, takes_128,
         "ROCm/aiter CK FP4 stage kernels; vllm oracle/mxfp4.py mxfp4_round_up_hidden_size_and_intermediate_size of 0.33.0", kSizeIssues,
         deployment::since(deployment::kVllm2026_11)),
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

/// AITER's Triton kernels for weights alone, and for both operands in MXFP4.
constexpr std::array<Names, 1> kW4A16 = {"AiterW4A16ExpertsMonolithic"};
constexpr std::array<Names, 1> kW4A4 = {"AiterW4A4ExpertsMonolithic"};
constexpr Names kMapSource = "E/aiter_mxfp4_w4a8_moe.py aiter_triton_kernel_w4a16_moe_forward at 7ca49fbe4";
constexpr Names kW4A4Source = "E/aiter_mxfp4_w4a4_moe.py of 0.33.0";
bool silu_has_limit(const Placement& p) { return !is_silu(p) || deployment::constants_of(p.deployment.layer).swiglu_limit.has_value(); }
bool no_ep(const Placement& p) { return !has_ep(p); }

constexpr std::array kTritonNeeds = {
    need(
        "device", kW4A16, {}, kernel_class, error, read, "gfx950 or gfx1250", "no such kernel",
        [](const Placement& p) {
          return arch_is(p, {"gfx950", "gfx1250"});
        },
        "E/aiter_mxfp4_w4a8_moe.py AiterW4A16ExpertsMonolithic at 7ca49fbe4", {},
        deployment::between(deployment::kVllm2026_08, deployment::kVllm2026_11)),
    need(
        "device", kW4A16, {}, kernel_class, error, read, "gfx942, gfx950 or gfx1250", "no such kernel",
        [](const Placement& p) {
          return arch_is(p, {"gfx942", "gfx950", "gfx1250"});
        },
        "E/aiter_mxfp4_w4a16_moe.py of 0.33.0", {}, deployment::since(deployment::kVllm2026_11)),
    need("silu_without_limit", kW4A16, {}, kernel_class, silent, read, "a limit with SILU: without one 7 is taken", "gate and up are clamped at 7",
         silu_has_limit, kMapSource, "mended in 0.33.0", deployment::between(deployment::kVllm2026_08, deployment::kVllm2026_11)),
    need("expert_map", kW4A16, {}, kernel_class, silent, read, "no expert parallelism: the map is received and ignored",
         "global ids meet local weights", no_ep, kMapSource, "mended in 0.33.0",
         deployment::between(deployment::kVllm2026_08, deployment::kVllm2026_11)),
    need(
        "expert_map", kW4A16, {}, kernel_class, error, read, "no expert parallelism with SILU on gfx1250, which another kernel computes",
        "NotImplementedError", [](const Placement& p) { return !has_ep(p) || !is_silu(p) || !arch_is(p, {"gfx1250"}); },
        "E/aiter_mxfp4_w4a16_moe.py of 0.33.0", {}, deployment::since(deployment::kVllm2026_11)),
    need(
        "device", kW4A4, {}, kernel_class, error, read, "gfx1250", "no such kernel", [](const Placement& p) { return arch_is(p, {"gfx1250"}); },
        kW4A4Source, {}, deployment::since(deployment::kVllm2026_11)),
    need("silu_without_limit", kW4A4, {}, kernel_class, silent, read, "a limit with SILU: without one 7 is taken", "gate and up are clamped at 7",
         silu_has_limit, kW4A4Source, {}, deployment::since(deployment::kVllm2026_11)),
    need(
        "oai_beta", kW4A4, {}, kernel_class, error, read, "a beta of 1 with SWIGLUOAI, where there is one: the kernel has it built in",
        "an assertion", [](const Placement& p) { return is_silu(p) || deployment::constants_of(p.deployment.layer).swiglu_beta.value_or(1) == 1; },
        kW4A4Source, {}, deployment::since(deployment::kVllm2026_11)),
    need("expert_map", kW4A4, {}, kernel_class, silent, read, "no expert parallelism: the map is received and ignored",
         "global ids meet local weights", no_ep, kW4A4Source, {}, deployment::since(deployment::kVllm2026_11)),
};

}  // namespace mxfp4

namespace mxfp8 {

constexpr std::array<Names, 1> kAiterMxfp8 = {"AiterMxfp8Experts"};
constexpr std::array<Names, 1> kOracle = {"mxfp8"};

constexpr std::array kNeeds = {
    need(
        "device", kAiterMxfp8, {}, kernel_class, error, read, "gfx95x or gfx1250, and AITER's FlyDSL kernels", "no such kernel",
        [](const Placement& p) {
          return arch_is(p, {"gfx95", "gfx1250"});
        },
        "E/aiter_mxfp8_moe.py of 0.33.0", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "activation", kAiterMxfp8, {}, kernel, silent, read, "SWIGLUOAI_UNINTERLEAVE, fixed", "computed as SwiGLU-OAI",
        [](const Placement& p) { return activation_is(p, {"SWIGLUOAI_UNINTERLEAVE"}); }, "E/aiter_mxfp8_moe.py apply at 7ca49fbe4", {},
        deployment::between(deployment::kVllm2026_08, deployment::kVllm2026_11)),
    need(
        "activation", kAiterMxfp8, {}, kernel_class, error, read, "SILU or SWIGLUOAI_UNINTERLEAVE", "the class refuses",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "SWIGLUOAI_UNINTERLEAVE"});
        },
        "E/aiter_mxfp8_moe.py of 0.33.0", {}, deployment::since(deployment::kVllm2026_11)),
};

}  // namespace mxfp8

namespace fp8 {

constexpr std::array kNeeds = {
    need(
        "device", kAiter, {}, kernel, error, read, "gfx942 or gfx950", "no such kernel",
        [](const Placement& p) {
          return arch_is(p, {"gfx942", "gfx950"});
        },
        "ROCm/aiter", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "device", kAiter, {}, kernel_class, error, read, "gfx942 or gfx950; what AITER has for FP8 on gfx1250, which the class takes, is not known",
        "no such kernel",
        [](const Placement& p) {
          return arch_is(p, {"gfx942", "gfx950", "gfx1250"});
        },
        "vllm platforms/rocm.py get_cdna_version, _aiter_ops.py is_aiter_found_and_supported at 7ca49fbe4", {},
        deployment::since(deployment::kVllm2026_08)),
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
    KernelClassFacts{"AiterW4A16ExpertsMonolithic", ClassKind::monolithic, ExpertIds::other, WeightOnInput::late},
    KernelClassFacts{"AiterW4A4ExpertsMonolithic", ClassKind::monolithic, ExpertIds::other, WeightOnInput::late},
    KernelClassFacts{"AiterMxfp8Experts", ClassKind::plain, ExpertIds::other, WeightOnInput::heeded},
};

constexpr std::array kTables = {NeedTable{kMxfp4Oracles, false, mxfp4::kNeeds}, NeedTable{kMxfp4Oracles, false, mxfp4::kTritonNeeds},
                                NeedTable{mxfp8::kOracle, false, mxfp8::kNeeds}, NeedTable{kFp8Oracles, false, fp8::kNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kAiterNeeds{kTables};
constinit const std::span<const KernelClassFacts> kAiterClasses{kClasses};

}  // namespace mx::families
