// What FlashInfer CUTLASS needs: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi
// is flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/facts.hpp"
#include "model/families/flashinfer_cutlass/family.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

constexpr std::array<Names, 1> kFlashinfer = {"FlashInferExperts"};

constexpr KernelNeed kMayActivation = need(
    "activation", kFlashinfer, {}, kernel_class, error, read, "SILU, SWIGLUOAI or RELU2_NO_MUL", "an assertion",
    [](const Placement& p) {
      return activation_is(p, {"SILU", "RELU2_NO_MUL", "SWIGLUOAI"});
    },
    "E/flashinfer_cutlass_moe.py apply", {}, deployment::before(deployment::kVllm2026_08));
constexpr KernelNeed kAugustActivation = need(
    "activation", kFlashinfer, {}, engine, error, read, "an activation that is mapped", "KeyError",
    [](const Placement& p) {
      return activation_is(p, {"SILU", "GELU_TANH", "RELU2_NO_MUL", "SWIGLUOAI", "SWIGLUOAI_UNINTERLEAVE"});
    },
    "vllm quantization/utils/flashinfer_utils.py activation_to_flashinfer_type at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08));

namespace mxfp4 {

constexpr std::array<Names, 1> kCutlassBf16 = {"FLASHINFER_CUTLASS_MXFP4_BF16"};
constexpr std::array<Names, 1> kCutlassMxfp8 = {"FLASHINFER_CUTLASS_MXFP4_MXFP8"};

constexpr std::array kNeeds = {
    need(
        "device", kFlashinfer, kCutlassBf16, kernel, error, read, "SM90: mixed-input GEMM", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 90, 90); }, "fi flashinfer/fused_moe/core.py, use_w4_group_scaling"),
    need(
        "device", kFlashinfer, kCutlassMxfp8, kernel, error, read, "a module of 100, 103, 120 or 121", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 100, 109) || cuda_in(p, 120, 129); },
        "fi flashinfer/fused_moe/core.py get_cutlass_fused_moe_module", "flashinfer issue 3134: 110 excluded"),
    need("sizes", kFlashinfer, {}, converter, error, run, "H and I multiples of 128: scale tiles of 4 groups along K",
         "a reshape error in the converter", converter_takes,
         "fi csrc/fused_moe/cutlass_backend/flashinfer_cutlass_fused_moe_binding.cu; SM90: interleave of 4 scales per 128 of K, 64 rows"),
    need(
        "dtype", kFlashinfer, {}, kernel_class, error, read, "bfloat16: asserted for the mixed GEMM, and biases must have the output's type",
        kTorchError, [](const Placement& p) { return dtype_is(p, {"bfloat16"}); }, "E/flashinfer_cutlass_moe.py apply"),
    kMayActivation,
    kAugustActivation,
    need(
        "oai_constants", kFlashinfer, {}, kernel_class, silent, read,
        "SWIGLUOAI: alpha, beta and limit are always passed, and switch the kernel to it", "another activation is computed as SwiGLU-OAI",
        [](const Placement& p) { return activation_is(p, {"SWIGLUOAI"}); }, "E/flashinfer_cutlass_moe.py apply; fi cutlass_fused_moe_kernels.cuh", {},
        deployment::before(deployment::kVllm2026_08)),
    need(
        "oai_constants", kFlashinfer, {}, engine, silent, read,
        "of gpt-oss SWIGLUOAI or SWIGLUOAI_UNINTERLEAVE: its method always passes alpha, beta and limit, which switch the kernel to it",
        "another activation is computed as SwiGLU-OAI",
        [](const Placement& p) {
          return p.oracle != "mxfp4" || activation_is(p, {"SWIGLUOAI", "SWIGLUOAI_UNINTERLEAVE"});
        },
        "vllm quantization/mxfp4.py; E/flashinfer_cutlass_moe.py apply at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "swizzled_scales", kFlashinfer, kCutlassMxfp8, engine, silent, read,
        "activation scales arrive swizzled: not through a gathering or FlashInfer exchange, which send them linear",
        "NaN logits with a healthy server",
        [](const Placement& p) {
          return !(has_dp(p) || exchanges(p)) || (has_ep(p) && !exchange_is(p, {"allgather_reducescatter", "flashinfer_all2allv",
                                                                                "flashinfer_nvlink_two_sided", "flashinfer_nvlink_one_sided"}));
        },
        "vllm fused_moe/prepare_finalize/naive_dp_ep.py and flashinfer ones: swizzle after the exchange for nvfp4 only",
        "vllm issue 42118; pull requests 42133, 49335"),
    need("garbage", kFlashinfer, kCutlassBf16, kernel, silent, assumed, "the conditions under which the SM90 kernel gave silent garbage",
         "score 0.0000", nullptr, "no public text", "flashinfer issue 3334"),
};

}  // namespace mxfp4

namespace nvfp4 {

constexpr std::array kNeeds = {
    need(
        "device", kFlashinfer, {}, kernel, error, read, "a module with FP4 of 100, 103, 120 or 121", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 100, 109) || cuda_in(p, 120, 129); },
        "fi flashinfer/fused_moe/core.py get_cutlass_fused_moe_module"),
    need(
        "sizes", kFlashinfer, {}, kernel, error, read, "H and I multiples of 32: 16-byte operands", "an error in the kernel",
        [](const Placement& p) { return both_divide(p, 32); }, "fi csrc/fused_moe/cutlass_backend/cutlass_fused_moe_kernels.cuh"),
    kMayActivation,
    kAugustActivation,
    need(
        "oai_constants", kFlashinfer, {}, kernel_class, silent, read, "no SWIGLUOAI: alpha, beta and limit are passed for MXFP4 alone",
        "SWIGLUOAI is computed as SwiGLU", [](const Placement& p) { return !activation_is(p, {"SWIGLUOAI"}); }, "E/flashinfer_cutlass_moe.py apply",
        {}, deployment::before(deployment::kVllm2026_08)),
    need("dtype", kFlashinfer, {}, kernel_class, error, read, "float16 or bfloat16", "an error in the first batch", is_16_bit,
         "E/flashinfer_cutlass_moe.py"),
    need("scale_rows", kFlashinfer, {}, converter, error, run, "rows of w13 in whole tiles of 128 when gated",
         "NotImplementedError: padding for w1 and w3", converter_takes,
         "vllm quantization/utils/flashinfer_fp4_moe.py prepare_nvfp4_moe_layer_for_fi_or_cutlass"),
};

}  // namespace nvfp4

namespace fp8 {

constexpr std::array kNeeds = {
    need(
        "device", kFlashinfer, {}, kernel, error, read, "a module of 90, 100, 103, 120 or 121; block scales at 90", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 90, 90) || (!is_block(p) && (cuda_in(p, 100, 109) || cuda_in(p, 120, 129))); },
        "fi flashinfer/fused_moe/core.py get_cutlass_fused_moe_module"),
    need(
        "sizes", kFlashinfer, {}, kernel, error, read, "H and I multiples of 16: 16-byte operands", "an error in the kernel",
        [](const Placement& p) { return both_divide(p, 16); }, "fi csrc/fused_moe/cutlass_backend/cutlass_fused_moe_kernels.cuh"),
    need(
        "halves", kFlashinfer, {}, converter, silent, run,
        "I a multiple of 16 when gated, with per-tensor scales: gate and up are padded together, behind both", kShiftedHalves,
        [](const Placement& p) { return !is_per_tensor(p) || halves_end_whole(p, 16); },
        "vllm quantization/utils/flashinfer_utils.py align_moe_weights_for_fi", {}, deployment::before(deployment::kVllm2026_11)),
    kMayActivation,
    kAugustActivation,
    need(
        "oai_constants", kFlashinfer, {}, kernel_class, silent, read, "no SWIGLUOAI: alpha, beta and limit are passed for MXFP4 alone",
        "SWIGLUOAI is computed as SwiGLU", [](const Placement& p) { return !activation_is(p, {"SWIGLUOAI"}); }, "E/flashinfer_cutlass_moe.py apply",
        {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "dtype", kFlashinfer, {}, kernel_class, error, read, "float16 or bfloat16; bfloat16 with block scales", "an assertion",
        [](const Placement& p) { return dtype_is(p, {"bfloat16"}) || (dtype_is(p, {"float16"}) && !is_block(p)); },
        "E/flashinfer_cutlass_moe.py apply"),
    need(
        "large_batches", kFlashinfer, {}, kernel, error, published,
        "block scales at capability 90: no expert parallelism with batches above 16k tokens, whose number is no part of a deployment",
        "fails above 16k tokens, where DEEPGEMM was expected", [](const Placement& p) { return !is_block(p) || !has_ep(p); },
        "kernel limit not known", "vllm issue 34249"),
    need(
        "one_sided", kFlashinfer, {}, engine, error, read, "FlashInfer's one-sided exchange takes unquantized, nvfp4 or mxfp8 activations",
        "NotImplementedError", [](const Placement& p) { return !exchange_is(p, {"flashinfer_nvlink_one_sided"}); },
        "vllm fused_moe/all2all_utils.py maybe_make_prepare_finalize", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "one_sided", kFlashinfer, {}, engine, error, read,
        "FlashInfer's one-sided exchange takes FP8 in blocks of 128x128 alone, and H a multiple of 128", "NotImplementedError",
        [](const Placement& p) { return !exchange_is(p, {"flashinfer_nvlink_one_sided"}) || (is_block(p) && p.hidden % 128 == 0); },
        "vllm fused_moe/all2all_utils.py flashinfer_one_sided_dispatch_layout at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "exchange_scale", kFlashinfer, {}, engine, silent, read,
        "a static activation scale does not meet FlashInfer's two-sided exchange: it quantizes by another",
        "activations are quantized without their scale",
        [](const Placement& p) {
          return !is_per_tensor(p) || !exchange_is(p, {"flashinfer_all2allv", "flashinfer_nvlink_two_sided"});
        },
        "vllm fused_moe/prepare_finalize/: a1_gscale, not a1_scale"),
};

}  // namespace fp8

constexpr std::array kClasses = {
    KernelClassFacts{"FlashInferExperts", ClassKind::plain, ExpertIds::range, WeightOnInput::twice},
};

constexpr std::array kTables = {NeedTable{kMxfp4Oracles, false, mxfp4::kNeeds}, NeedTable{kNvfp4Oracles, false, nvfp4::kNeeds},
                                NeedTable{kFp8Oracles, false, fp8::kNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kFlashinferCutlassNeeds{kTables};
constinit const std::span<const KernelClassFacts> kFlashinferCutlassClasses{kClasses};

}  // namespace mx::families
