// Needs of the classes that take NVFP4 weights, and of their converters.

#include <array>

#include "model/families/facts.hpp"

namespace mx::oracle {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;

constexpr std::array<Names, 2> kTrtllm = {"TrtLlmNvFp4ExpertsMonolithic", "TrtLlmNvFp4ExpertsModular"};
constexpr std::array<Names, 1> kTrtllmMonolithic = {"TrtLlmNvFp4ExpertsMonolithic"};
constexpr std::array<Names, 1> kFlashinfer = {"FlashInferExperts"};
constexpr std::array<Names, 2> kCuteDsl = {"FlashInferCuteDSLExperts", "FlashInferCuteDSLBatchedExperts"};
constexpr std::array<Names, 1> kCuteDslStandard = {"FlashInferCuteDSLExperts"};
constexpr std::array<Names, 1> kCuteDslBatched = {"FlashInferCuteDSLBatchedExperts"};
constexpr std::array<Names, 1> kB12x = {"FlashInferB12xExperts"};
constexpr std::array<Names, 1> kCutlass = {"CutlassExpertsFp4"};
constexpr std::array<Names, 1> kMarlin = {"MarlinExperts"};
constexpr std::array<Names, 1> kEmulation = {"Nvfp4QuantizationEmulationTritonExperts"};
// Scales in tiles of 128 rows; a gated layer is not padded.
constexpr std::array<Names, 5> kTiled = {"FlashInferExperts", "FlashInferCuteDSLExperts", "FlashInferCuteDSLBatchedExperts", "FlashInferB12xExperts",
                                         "CutlassExpertsFp4"};
constexpr std::array<Names, 7> kNoBias = {
    "TrtLlmNvFp4ExpertsMonolithic",    "TrtLlmNvFp4ExpertsModular", "FlashInferExperts", "FlashInferCuteDSLExperts",
    "FlashInferCuteDSLBatchedExperts", "FlashInferB12xExperts",     "CutlassExpertsFp4"};
constexpr std::array<Names, 7> kNoSiluLimit = {"TrtLlmNvFp4ExpertsMonolithic",           "TrtLlmNvFp4ExpertsModular", "FlashInferCuteDSLExperts",
                                               "FlashInferCuteDSLBatchedExperts",        "FlashInferB12xExperts",     "CutlassExpertsFp4",
                                               "Nvfp4QuantizationEmulationTritonExperts"};
constexpr std::array<Names, 3> kBuiltIn = {"CutlassExpertsFp4", "MarlinExperts", "Nvfp4QuantizationEmulationTritonExperts"};

bool is_silu(const Placement& p) { return activation_is(p, {"SILU"}); }
bool is_bfloat16(const Placement& p) { return dtype_is(p, {"bfloat16"}); }
bool is_16_bit(const Placement& p) { return dtype_is(p, {"float16", "bfloat16"}); }

// Limits of the router inside the kernel. Source: fi csrc/trtllm_fused_moe_runner.cu and its DeepSeek routing.
bool router_takes_deepseek(const Placement& p) {
  const LayerConfig& layer = p.deployment.layer;
  return !routing_is(p, {"DeepSeekV3"}) || (layer.experts_per_token <= 22 && layer.topk_group <= 4 && layer.expert_groups <= 8);
}

constexpr Names kDropped = "the biases are left out of the result";

// E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is flashinfer-ai/flashinfer at 41e5aa29a.
constexpr std::array kNeeds = {
    need(
        "blocks", {}, {}, error, read, "H and I hold whole blocks of 16", "the scales of the checkpoint do not fit",
        [](const Placement& p) { return both_divide(p, 16); }, "vllm quantization/modelopt.py: group size 16"),

    need(
        "device", kTrtllm, {}, error, read, "SM major 10 or 12", "an error in the launcher",
        [](const Placement& p) { return cuda_in(p, 100, 109) || cuda_in(p, 120, 129); }, "fi csrc/trtllm_fused_moe_kernel_launcher.cu, device check",
        "vllm issue 43906"),
    need(
        "scale_rows", kTrtllm, {}, error, run, "rows of w13 and w2 in tiles of 128, columns of their scales in fours", "AssertionError: M % 128 == 0",
        [](const Placement& p) {
          return divides(128, {w13_rows(p), p.hidden}) && divides(64, {p.intermediate});
        },
        "fi flashinfer/utils.py get_shuffle_matrix_sf_a_row_indices; I is rounded to 16 when gated",
        "vllm issue 46879, pull request 46880; flashinfer issue 3206"),
    need("kernel_sizes", kTrtllm, {}, error, unknown, "sizes for which a kernel is compiled", "the list of compiled kernels decides", nullptr,
         "fi csrc/trtllm_batched_gemm_runner.cu"),
    need(
        "activation", kTrtllm, {}, error, read, "SILU, GELU or RELU2_NO_MUL", "the launcher throws",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "GELU", "RELU2_NO_MUL"});
        },
        "E/trtllm_nvfp4_moe.py; fi launcher"),
    need("dtype", kTrtllm, {}, error, read, "float16 or bfloat16", "an error in the first batch", is_16_bit, "E/trtllm_nvfp4_moe.py"),
    need(
        "router_case", kTrtllmMonolithic, {}, error, read, "a routing method with a case in the kernel: Simulated has none",
        "Unimplemented routing method", [](const Placement& p) { return !routing_is(p, {"Simulated"}); }, "fi csrc/trtllm_fused_moe_runner.cu"),
    need("router_limits", kTrtllmMonolithic, {}, error, read, "DeepSeekV3: at most 22 experts a token, 8 groups, 4 of them a token",
         "an error in the launcher", router_takes_deepseek, "fi csrc/trtllm_fused_moe_runner.cu"),
    need(
        "llama4_one", kTrtllmMonolithic, {}, error, read, "Llama4: one expert a token", "an error in the launcher",
        [](const Placement& p) { return !routing_is(p, {"Llama4"}) || p.deployment.layer.experts_per_token == 1; },
        "fi csrc/trtllm_fused_moe_runner.cu"),
    need(
        "llama4_weight", kTrtllmMonolithic, {}, error, read, "Llama4 routing if and only if the weight is on the input", "an assertion",
        [](const Placement& p) { return routing_is(p, {"Llama4"}) == p.deployment.layer.router_weight_on_input; }, "E/trtllm_nvfp4_moe.py apply"),
    need(
        "correction_bias", kTrtllmMonolithic, {}, silent, reported, "no correction bias that bfloat16 cannot hold: it is cast",
        "experts with close scores change places", [](const Placement& p) { return !p.deployment.layer.has_correction_bias; },
        "E/trtllm_nvfp4_moe.py apply", "flashinfer issue 2909"),
    need(
        "routed_scaling", kTrtllmMonolithic, {}, silent, read, "no scaling of the routed sum with MiniMax2: 1 is used whatever is passed",
        "a factor of 1 is used", [](const Placement& p) { return !routing_is(p, {"MiniMax2"}) || !p.deployment.layer.has_routed_scaling; },
        "fi csrc/trtllm_fused_moe_runner.cu"),

    need(
        "device", kFlashinfer, {}, error, read, "a module with FP4 of 100, 103, 120 or 121", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 100, 109) || cuda_in(p, 120, 129); },
        "fi flashinfer/fused_moe/core.py get_cutlass_fused_moe_module"),
    need(
        "sizes", kFlashinfer, {}, error, read, "H and I multiples of 32: 16-byte operands", "an error in the kernel",
        [](const Placement& p) { return both_divide(p, 32); }, "fi csrc/fused_moe/cutlass_backend/cutlass_fused_moe_kernels.cuh"),
    need(
        "activation", kFlashinfer, {}, error, read, "an activation that is mapped", "KeyError",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "RELU2_NO_MUL", "SWIGLUOAI"});
        },
        "vllm quantization/utils/flashinfer_utils.py activation_to_flashinfer_type"),
    need(
        "oai_constants", kFlashinfer, {}, silent, read, "no SWIGLUOAI: alpha, beta and limit are passed for MXFP4 alone",
        "SWIGLUOAI is computed as SwiGLU", [](const Placement& p) { return !activation_is(p, {"SWIGLUOAI"}); },
        "E/flashinfer_cutlass_moe.py apply, mended by 2026-08"),
    need("dtype", kFlashinfer, {}, error, read, "float16 or bfloat16", "an error in the first batch", is_16_bit, "E/flashinfer_cutlass_moe.py"),

    need(
        "device", kCuteDslStandard, {}, error, read, "SM100 or SM103 exactly", "an error in the wrapper",
        [](const Placement& p) { return cuda_in(p, 100, 100) || cuda_in(p, 103, 103); }, "fi flashinfer/fused_moe/cute_dsl/fused_moe.py"),
    need(
        "device", kCuteDslBatched, {}, error, read, "SM major 10", "no such kernel", [](const Placement& p) { return cuda_in(p, 100, 109); },
        "fi flashinfer/cute_dsl/blockscaled_gemm.py"),
    need("activation", kCuteDsl, {}, silent, read, "SILU, fixed", "computed as SwiGLU", is_silu, "E/flashinfer_cutedsl_moe.py"),
    need("dtype", kCuteDsl, {}, error, read, "float16 or bfloat16", "an assertion", is_16_bit, "E/flashinfer_cutedsl_moe.py"),

    need(
        "device", kB12x, {}, error, read, "SM12x", "no such kernel", [](const Placement& p) { return cuda_in(p, 120, 129); },
        "fi flashinfer/fused_moe/cute_dsl/b12x_moe.py"),
    need("cuda_13", kB12x, {}, error, read, "CUDA 13: the toolkit is no part of a deployment", "an error in the wrapper", nullptr,
         "fi flashinfer/fused_moe/cute_dsl/b12x_moe.py"),
    need("folded_scales", kB12x, {}, silent, read, "block scales that stay exact when the global scale is folded into e4m3: a matter of values",
         "weights are rounded again, saturated or flushed", nullptr, "E/flashinfer_b12x_moe.py process_weights_after_loading"),
    need(
        "one_rank", kB12x, {}, error, read, "no expert parallelism: num_local_experts is num_experts", "NotImplementedError",
        [](const Placement& p) { return !has_ep(p); }, "fi flashinfer/fused_moe/cute_dsl/b12x_moe.py, refused by the class by 2026-08",
        "vllm pull request 40082"),
    need("activation", kB12x, {}, silent, read, "SILU, fixed", "computed as SwiGLU", is_silu, "E/flashinfer_b12x_moe.py"),
    need("dtype", kB12x, {}, error, read, "bfloat16", "an assertion", is_bfloat16, "fi flashinfer/fused_moe/cute_dsl/b12x_moe.py"),

    need(
        "device", kCutlass, {}, error, read, "capability 100 to 129", "NOT_IMPLEMENTED", [](const Placement& p) { return cuda_in(p, 100, 129); },
        "vllm csrc/libtorch_stable/quantization/fp4/nvfp4_blockwise_moe_kernel.cu"),
    need(
        "sizes", kCutlass, {}, error, read, "H and I multiples of 32, rows of w13 and w2 multiples of 8", "an error in the kernel",
        [](const Placement& p) {
          return both_divide(p, 32) && divides(8, {w13_rows(p), p.hidden});
        },
        "vllm csrc/libtorch_stable/quantization/fp4/nvfp4_blockwise_moe_kernel.cu AlignmentA, AlignmentB"),
    need(
        "dtype", kCutlass, {}, error, read, "float16 or bfloat16; at capability 120 to 129 the output is bfloat16 only", "an error in the kernel",
        [](const Placement& p) { return is_bfloat16(p) || (dtype_is(p, {"float16"}) && !cuda_in(p, 120, 129)); },
        "vllm csrc/libtorch_stable/quantization/fp4/nvfp4_blockwise_moe_kernel.cu"),
    need(
        "one_rank", kCutlass, {}, error, read, "no expert parallelism", "a shape error", [](const Placement& p) { return !has_ep(p); },
        "E/cutlass_moe.py"),
    need("gate_order", kCutlass, {}, silent, unknown, "the row order of a SWIGLUOAI checkpoint in NVFP4: the activation reads alternating columns",
         "not known", nullptr, "E/cutlass_moe.py; vllm fused_moe/activation.py"),

    need(
        "scale_rows", kTiled, {}, error, run, "rows of w13 in whole tiles of 128 when gated", "NotImplementedError: padding for w1 and w3",
        [](const Placement& p) { return !is_gated(p) || w13_rows(p) % 128 == 0; },
        "vllm quantization/utils/flashinfer_fp4_moe.py prepare_nvfp4_moe_layer_for_fi_or_cutlass"),
    need("bias", kNoBias, {}, silent, read, "no biases", kDropped, has_no_bias, "E/: biases are passed as none; has_bias is not among the checks"),
    need("silu_limit", kNoSiluLimit, {}, silent, read, "SILU without a limit", "nothing is clamped", silu_has_no_limit,
         "E/: config limit is not forwarded", "vllm pull request 42209"),
    need("oai_alpha", kBuiltIn, {}, silent, read, "alpha and beta are 1.702 and 1", "1.702 and 1 are used instead", oai_alpha_is_built_in,
         "E/: config alpha and beta are not forwarded"),
    need("oai_limit", kBuiltIn, {}, silent, read, "the limit of SWIGLUOAI is 7", "7 is used instead", oai_limit_is_built_in,
         "E/: config limit is not forwarded", "vllm pull request 42209"),

    need(
        "device", kMarlin, {}, error, read, "cuda from capability 75 on", "no such kernel", [](const Placement& p) { return cuda_in(p, 75, 1000); },
        "vllm csrc/moe/marlin_moe_wna16/ops.cu"),
    need("sizes", kMarlin, {}, error, run, "a thread configuration divides both GEMMs: N = 2I, K = H and N = H, K = I; nothing pads",
         "an error in the repacking or in the kernel", marlin_takes_both, "vllm csrc/moe/marlin_moe_wna16/ops.cu; gptq_marlin_repack"),
    need("dtype", kMarlin, {}, error, read, "float16 or bfloat16; float16 alone at capability 75", "no such kernel", marlin_takes_dtype,
         "vllm csrc/moe/marlin_moe_wna16/ops.cu"),

    need(
        "device", kEmulation, {}, error, read, "cuda, rocm or xpu: Triton", "no Triton",
        [](const Placement& p) { return !is_on(p, PlatformKind::cpu); }, "E/triton_moe.py"),
};

}  // namespace

std::span<const KernelNeed> nvfp4_needs() { return kNeeds; }

}  // namespace mx::oracle
