// What FlashInfer's CuTe DSL kernels need: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at
// 7e1b45a09, fi is flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/cutedsl/family.hpp"
#include "model/families/facts.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

constexpr std::array<Names, 1> kCuteDslStandard = {"FlashInferCuteDSLExperts"};
constexpr std::array<Names, 1> kCuteDslBatched = {"FlashInferCuteDSLBatchedExperts"};
constexpr std::array<Names, 2> kCuteDsl = {"FlashInferCuteDSLExperts", "FlashInferCuteDSLBatchedExperts"};

constexpr std::array kNeeds = {
    need(
        "device", kCuteDslStandard, {}, kernel, error, read, "SM100 or SM103 exactly", "an error in the wrapper",
        [](const Placement& p) { return cuda_in(p, 100, 100) || cuda_in(p, 103, 103); }, "fi flashinfer/fused_moe/cute_dsl/fused_moe.py"),
    need(
        "device", kCuteDslBatched, {}, kernel, error, read, "SM major 10", "no such kernel", [](const Placement& p) { return cuda_in(p, 100, 109); },
        "fi flashinfer/cute_dsl/blockscaled_gemm.py"),
    need("activation", kCuteDslStandard, {}, kernel_class, silent, read, "SILU, fixed", "computed as SwiGLU", is_silu, "E/flashinfer_cutedsl_moe.py",
         {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "activation", kCuteDslStandard, {}, kernel_class, error, read, "SILU, SWIGLUOAI, SWIGLUOAI_UNINTERLEAVE or RELU2_NO_MUL",
        "an error in the wrapper",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "SWIGLUOAI", "SWIGLUOAI_UNINTERLEAVE", "RELU2_NO_MUL"});
        },
        "E/flashinfer_cutedsl_moe.py apply at 7ca49fbe4", {}, deployment::between(deployment::kVllm2026_08, deployment::kVllm2026_11)),
    need(
        "activation", kCuteDslStandard, {}, kernel_class, error, read, "SILU, SWIGLUOAI, SWIGLUOAI_UNINTERLEAVE, RELU2_NO_MUL or SITU",
        "an error in the wrapper",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "SWIGLUOAI", "SWIGLUOAI_UNINTERLEAVE", "RELU2_NO_MUL", "SITU"});
        },
        "E/flashinfer_cutedsl_moe.py apply of 0.33.0", {}, deployment::since(deployment::kVllm2026_11)),
    need("activation", kCuteDslBatched, {}, kernel_class, silent, read, "SILU, fixed", "computed as SwiGLU", is_silu,
         "E/flashinfer_cutedsl_batched_moe.py"),
    need("dtype", kCuteDsl, {}, kernel_class, error, read, "float16 or bfloat16", "an assertion", is_16_bit, "E/flashinfer_cutedsl_moe.py"),
    need("scale_rows", kCuteDsl, {}, converter, error, run, "rows of w13 in whole tiles of 128 when gated",
         "NotImplementedError: padding for w1 and w3", converter_takes,
         "vllm quantization/utils/flashinfer_fp4_moe.py prepare_nvfp4_moe_layer_for_fi_or_cutlass"),
};

constexpr std::array kClasses = {
    KernelClassFacts{"FlashInferCuteDSLExperts", ClassKind::plain, ExpertIds::offset, WeightOnInput::twice},
    KernelClassFacts{"FlashInferCuteDSLBatchedExperts", ClassKind::batched, ExpertIds::other, WeightOnInput::heeded},
};

constexpr std::array kTables = {NeedTable{kNvfp4Oracles, false, kNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kCutedslNeeds{kTables};
constinit const std::span<const KernelClassFacts> kCutedslClasses{kClasses};

}  // namespace mx::families
