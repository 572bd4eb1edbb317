// Needs of the classes that take FP8 or MXFP8 weights, and of their converters.

#include <array>

#include "model/families/facts.hpp"

namespace mx::oracle {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;

constexpr std::array<Names, 2> kTrtllm = {"TrtLlmFp8ExpertsMonolithic", "TrtLlmFp8ExpertsModular"};
constexpr std::array<Names, 1> kTrtllmMonolithic = {"TrtLlmFp8ExpertsMonolithic"};
constexpr std::array<Names, 1> kTrtllmModular = {"TrtLlmFp8ExpertsModular"};
constexpr std::array<Names, 1> kFlashinfer = {"FlashInferExperts"};
constexpr std::array<Names, 2> kFlashinferMembers = {"FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS"};
constexpr std::array<Names, 1> kDeepGemm = {"TritonOrDeepGemmExperts"};
constexpr std::array<Names, 1> kBatchedDeepGemm = {"BatchedDeepGemmExperts"};
constexpr std::array<Names, 2> kTriton = {"TritonExperts", "BatchedTritonExperts"};
constexpr std::array<Names, 2> kCutlass = {"TritonOrCutlassExperts", "CutlassBatchedExpertsFp8"};
constexpr std::array<Names, 1> kMarlin = {"MarlinExperts"};
constexpr std::array<Names, 1> kAiter = {"AiterExperts"};
constexpr std::array<Names, 2> kXpu = {"XPUExpertsFp8", "XPUExpertsMxfp8"};
constexpr std::array<Names, 1> kCpu = {"CPUExpertsFp8"};
constexpr std::array<Names, 9> kNoBias = {"TrtLlmFp8ExpertsMonolithic", "TrtLlmFp8ExpertsModular", "FlashInferExperts",
                                          "TritonOrDeepGemmExperts",    "BatchedDeepGemmExperts",  "TritonOrCutlassExperts",
                                          "CutlassBatchedExpertsFp8",   "CPUExpertsFp8",           "AiterExperts"};
constexpr std::array<Names, 9> kNoSiluLimit = {"TrtLlmFp8ExpertsMonolithic",
                                               "TrtLlmFp8ExpertsModular",
                                               "BatchedDeepGemmExperts",
                                               "TritonOrCutlassExperts",
                                               "CutlassBatchedExpertsFp8",
                                               "TritonExperts",
                                               "AiterExperts",
                                               "XPUExpertsFp8",
                                               "XPUExpertsMxfp8"};
constexpr std::array<Names, 8> kBuiltIn = {
    "TritonOrCutlassExperts", "CutlassBatchedExpertsFp8", "TritonExperts", "BatchedTritonExperts", "AiterExperts",
    "XPUExpertsFp8",          "XPUExpertsMxfp8",          "MarlinExperts"};

bool is_block(const Placement& p) { return weights_are(p, {"kFp8Static128BlockSym"}); }
bool is_mxfp8(const Placement& p) { return weights_are(p, {"kMxfp8Static"}); }
bool is_per_tensor(const Placement& p) { return weights_are(p, {"kFp8StaticTensorSym"}); }
bool is_16_bit(const Placement& p) { return dtype_is(p, {"float16", "bfloat16"}); }
bool is_silu(const Placement& p) { return activation_is(p, {"SILU"}); }

/// Limits of the block-scaled launcher's router. Source: fi csrc/trtllm_fused_moe_kernel_launcher.cu, FP8 block scale.
bool router_takes(const Placement& p) {
  const LayerConfig& layer = p.deployment.layer;
  const std::int64_t k = layer.experts_per_token, experts = layer.num_experts, groups = layer.expert_groups, used = layer.topk_group;
  if (!routing_is(p, {"DeepSeekV3"})) return groups <= 1 && used <= 1 && experts > k && k <= 32;
  const bool grouped = groups <= 1 || (experts % groups == 0 && used <= 4 && k < used * (experts / groups));
  return k <= (experts <= 384 ? 8 : 22) && grouped;
}

constexpr Names kDropped = "the biases are left out of the result";

// E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is flashinfer-ai/flashinfer at 41e5aa29a.
constexpr std::array
    kNeeds =
        {
            need(
                "blocks", {}, {}, error, read, "block-scaled weights have whole blocks of 128 rows in I", "ValueError when the weights are made",
                [](const Placement& p) { return !is_block(p) || p.intermediate % 128 == 0; }, "vllm quantization/fp8.py Fp8MoEMethod.create_weights"),
            need(
                "mx_blocks", {}, {}, error, read, "MXFP8 weights have whole blocks of 32 in H and I", "the scales of the checkpoint do not fit",
                [](const Placement& p) { return !is_mxfp8(p) || both_divide(p, 32); }, "OCP MX v1.0 section 5"),
            need(
                "shard_padding", {}, kFlashinferMembers, silent, run,
                "a gated I of per-tensor weights is a multiple of 16: the padding goes behind both shards", "gate and up rows pair with an offset",
                [](const Placement& p) { return !is_per_tensor(p) || !is_gated(p) || p.deployment.layer.intermediate_per_partition % 16 == 0; },
                "vllm quantization/utils/flashinfer_utils.py; seen with I = 96 and I = 40"),

            need(
                "device", kTrtllm, {}, error, read, "SM major 10", "an error in the launcher",
                [](const Placement& p) { return cuda_in(p, 100, 109); }, "fi csrc/trtllm_fused_moe_kernel_launcher.cu"),
            need(
                "sizes", kTrtllm, {}, error, read, "H and I multiples of 128 with block or MX scales", "an error in the converter or the launcher",
                [](const Placement& p) { return is_per_tensor(p) || both_divide(p, 128); },
                "fi csrc/trtllm_fused_moe_kernel_launcher.cu; block-major K of 128"),
            need(
                "shuffle_rows", kTrtllm, {}, error, run, "rows of w13 and w2 in groups of 32 with per-tensor scales", "an assertion in the shuffle",
                [](const Placement& p) {
                  return !is_per_tensor(p) || divides(32, {w13_rows(p), p.hidden});
                },
                "fi flashinfer/utils.py get_shuffle_matrix_a_row_indices"),
            need("kernel_sizes", kTrtllm, {}, error, unknown, "smallest sizes with per-tensor scales", "not known", nullptr,
                 "fi csrc/trtllm_fused_moe_kernel_launcher.cu checks none"),
            need("dtype", kTrtllm, {}, error, read, "float16 or bfloat16", "an error in the first batch", is_16_bit, "E/trtllm_fp8_moe.py"),
            need(
                "activation", kTrtllm, {}, error, read, "SILU or RELU2_NO_MUL", "an assertion",
                [](const Placement& p) {
                  return activation_is(p, {"SILU", "RELU2_NO_MUL"});
                },
                "E/trtllm_fp8_moe.py"),
            need(
                "block_activation", kTrtllmMonolithic, {}, error, read, "SILU with block or MX scales, though the class lists RELU2_NO_MUL",
                "an assertion", [](const Placement& p) { return is_per_tensor(p) || is_silu(p); }, "E/trtllm_fp8_moe.py apply"),
            need("forwarded_activation", kTrtllmModular, {}, silent, read,
                 "SILU: the activation is not forwarded, though the class lists RELU2_NO_MUL", "computed as SwiGLU, or a shape error", is_silu,
                 "E/trtllm_fp8_moe.py TrtLlmFp8ExpertsModular.apply"),
            need(
                "experts", kTrtllm, {}, error, read, "at most 512 experts, in fours, with block or MX scales", "an assertion",
                [](const Placement& p) {
                  const std::int64_t experts = p.deployment.layer.num_experts;
                  return is_per_tensor(p) || (experts % 4 == 0 && experts <= 512);
                },
                "E/trtllm_fp8_moe.py apply"),
            need(
                "top_k", kTrtllm, {}, error, read, "at most 10 experts a token with block or MX scales", "an assertion",
                [](const Placement& p) {
                  return is_per_tensor(p) || p.deployment.layer.experts_per_token <= std::min<std::int64_t>(p.deployment.layer.num_experts, 10);
                },
                "E/trtllm_fp8_moe.py apply"),
            need(
                "router_limits", kTrtllmMonolithic, {}, error, read,
                "DeepSeekV3: 8 experts a token up to 384 experts, else 22, groups that divide; other methods: no groups, at most 32 of more experts",
                "an error in the launcher", [](const Placement& p) { return is_per_tensor(p) || router_takes(p); },
                "fi csrc/trtllm_fused_moe_kernel_launcher.cu"),
            need(
                "router_case", kTrtllmMonolithic, {}, error, read, "a routing method with a case in the kernel: Simulated has none",
                "Unimplemented routing method", [](const Placement& p) { return !routing_is(p, {"Simulated"}); },
                "fi csrc/trtllm_fused_moe_runner.cu: cases 0 to 8"),
            need(
                "topk_group", kTrtllmMonolithic, {}, silent, read, "per-tensor scales: no groups of experts, topk_group is not forwarded",
                "the router works with no group or refuses",
                [](const Placement& p) { return !is_per_tensor(p) || !routing_is(p, {"DeepSeekV3"}) || p.deployment.layer.topk_group <= 1; },
                "E/trtllm_fp8_moe.py apply, mended by 2026-08"),
            need(
                "correction_bias", kTrtllmMonolithic, {}, silent, read, "per-tensor scales: no correction bias that bfloat16 cannot hold, it is cast",
                "experts with close scores change places",
                [](const Placement& p) { return !is_per_tensor(p) || !p.deployment.layer.has_correction_bias; }, "E/trtllm_fp8_moe.py apply"),
            need(
                "weight_on_input", kTrtllm, {}, error, read, "no weight on the input with block or MX scales", "an assertion",
                [](const Placement& p) { return is_per_tensor(p) || !p.deployment.layer.router_weight_on_input; }, "E/trtllm_fp8_moe.py apply"),
            need(
                "llama4_weight", kTrtllmMonolithic, {}, error, read, "per-tensor scales: Llama4 routing if and only if the weight is on the input",
                "an assertion",
                [](const Placement& p) { return !is_per_tensor(p) || routing_is(p, {"Llama4"}) == p.deployment.layer.router_weight_on_input; },
                "E/trtllm_fp8_moe.py apply"),

            need(
                "device", kFlashinfer, {}, error, read, "a module of 90, 100, 103, 120 or 121; block scales at 90", "no such kernel",
                [](const Placement& p) { return cuda_in(p, 90, 90) || (!is_block(p) && (cuda_in(p, 100, 109) || cuda_in(p, 120, 129))); },
                "fi flashinfer/fused_moe/core.py get_cutlass_fused_moe_module"),
            need(
                "sizes", kFlashinfer, {}, error, read, "H and I multiples of 16: 16-byte operands", "an error in the kernel",
                [](const Placement& p) { return both_divide(p, 16); }, "fi csrc/fused_moe/cutlass_backend/cutlass_fused_moe_kernels.cuh"),
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
            need(
                "dtype", kFlashinfer, {}, error, read, "float16 or bfloat16; bfloat16 with block scales", "an assertion",
                [](const Placement& p) { return dtype_is(p, {"bfloat16"}) || (dtype_is(p, {"float16"}) && !is_block(p)); },
                "E/flashinfer_cutlass_moe.py apply"),
            need(
                "large_batches", kFlashinfer, {}, error, reported,
                "block scales at capability 90: no expert parallelism with batches above 16k tokens, whose number is no part of a deployment",
                "fails above 16k tokens, where DEEPGEMM was expected", [](const Placement& p) { return !is_block(p) || !has_ep(p); },
                "kernel limit not known", "vllm issue 34249"),
            need(
                "one_sided", kFlashinfer, {}, error, read, "FlashInfer's one-sided exchange takes unquantized, nvfp4 or mxfp8 activations",
                "NotImplementedError", [](const Placement& p) { return !exchange_is(p, {"flashinfer_nvlink_one_sided"}); },
                "vllm fused_moe/all2all_utils.py maybe_make_prepare_finalize"),
            need(
                "exchange_scale", kFlashinfer, {}, silent, read,
                "a static activation scale does not meet FlashInfer's two-sided exchange: it quantizes by another",
                "activations are quantized without their scale",
                [](const Placement& p) {
                  return !is_per_tensor(p) || !exchange_is(p, {"flashinfer_all2allv", "flashinfer_nvlink_two_sided"});
                },
                "vllm fused_moe/prepare_finalize/: a1_gscale, not a1_scale"),

            need(
                "device", kDeepGemm, {}, error, read, "SM90 or SM major 10", "no such kernel",
                [](const Placement& p) { return cuda_in(p, 90, 90) || cuda_in(p, 100, 109); }, "deepseek-ai/DeepGEMM csrc/apis/gemm.hpp"),
            need(
                "device", kBatchedDeepGemm, {}, error, read, "SM90 or SM major 10", "no such kernel",
                [](const Placement& p) { return cuda_in(p, 90, 90) || cuda_in(p, 100, 109); }, "deepseek-ai/DeepGEMM csrc/apis/gemm.hpp"),
            need(
                "sizes", kDeepGemm, {}, error, read, "H and I multiples of 128: with UE8M0 scales, the default, no shape is turned away",
                "an assertion in DeepGEMM", [](const Placement& p) { return both_divide(p, 128); }, "E/triton_deep_gemm_moe.py, E/deep_gemm_moe.py"),
            need("small_intermediate", kDeepGemm, {}, slow, read,
                 "I above 512, or UE8M0 scales: those are a switch of the environment that no oracle reads", "TritonExperts runs without a word",
                 nullptr, "E/deep_gemm_moe.py _valid_deep_gemm", "vllm pull request 22208"),
            need(
                "sizes", kBatchedDeepGemm, {}, error, read, "H and I multiples of 128", "an assertion",
                [](const Placement& p) { return both_divide(p, 128); }, "E/batched_deep_gemm_moe.py"),
            need(
                "activation", kDeepGemm, {}, error, read, "SILU or SWIGLUSTEP", "an error",
                [](const Placement& p) {
                  return activation_is(p, {"SILU", "SWIGLUSTEP"});
                },
                "E/deep_gemm_moe.py"),
            need("activation", kBatchedDeepGemm, {}, silent, read, "SILU, fixed", "computed as SILU", is_silu, "E/batched_deep_gemm_moe.py"),
            need(
                "dtype", kDeepGemm, {}, error, read, "bfloat16 output", "an assertion", [](const Placement& p) { return dtype_is(p, {"bfloat16"}); },
                "deepseek-ai/DeepGEMM csrc/apis/gemm.hpp"),
            need(
                "dtype", kBatchedDeepGemm, {}, error, read, "bfloat16 output", "an assertion",
                [](const Placement& p) { return dtype_is(p, {"bfloat16"}); }, "deepseek-ai/DeepGEMM csrc/apis/gemm.hpp"),

            need(
                "device", kTriton, {}, error, read, "cuda, rocm or xpu: Triton", "no Triton",
                [](const Placement& p) { return !is_on(p, PlatformKind::cpu); }, "E/triton_moe.py"),

            need(
                "device", kCutlass, {}, error, read, "cuda, capability 90 to 109", "no such kernel",
                [](const Placement& p) { return cuda_in(p, 90, 109); }, "vllm csrc/quantization/w8a8/cutlass/moe/"),
            need(
                "sizes", kCutlass, {}, error, read, "H and I multiples of 16, rows of w13 and w2 multiples of 8", "an error in the kernel",
                [](const Placement& p) {
                  return both_divide(p, 16) && divides(8, {w13_rows(p), p.hidden});
                },
                "vllm csrc/quantization/w8a8/cutlass/moe/"),
            need("gated", kCutlass, {}, error, read, "a gated layer", "an assertion", is_gated, "E/cutlass_moe.py"),
            need("dtype", kCutlass, {}, error, read, "float16 or bfloat16", "an error in the kernel", is_16_bit, "E/cutlass_moe.py"),
            need("cuda_version", kCutlass, {}, error, read, "CUDA 12.3 at capability 90, 12.8 from 100 on: the toolkit is no part of a deployment",
                 "no such kernel", nullptr, "vllm csrc/quantization/w8a8/cutlass/scaled_mm_entry.cu"),

            need(
                "device", kMarlin, {}, error, read, "cuda from capability 75 on", "no such kernel",
                [](const Placement& p) { return cuda_in(p, 75, 1000); }, "vllm csrc/moe/marlin_moe_wna16/ops.cu"),
            need(
                "fn_codes", kMarlin, {}, error, read, "weights in e4m3fn, not in the fnuz form of gfx94x", "NotImplementedError",
                [](const Placement& p) { return !arch_is(p, {"gfx94"}); }, "E/marlin_moe.py"),
            need("sizes", kMarlin, {}, error, run, "a thread configuration divides both GEMMs: N = 2I, K = H and N = H, K = I; nothing pads",
                 "an error in the repacking or in the kernel", marlin_takes_both, "vllm csrc/moe/marlin_moe_wna16/ops.cu; gptq_marlin_repack"),
            need("dtype", kMarlin, {}, error, read, "float16 or bfloat16; float16 alone at capability 75", "no such kernel", marlin_takes_dtype,
                 "vllm csrc/moe/marlin_moe_wna16/ops.cu"),

            need(
                "device", kAiter, {}, error, read, "gfx942 or gfx950", "no such kernel",
                [](const Placement& p) { return arch_is(p, {"gfx942", "gfx950"}); }, "ROCm/aiter"),
            need(
                "sizes", kAiter, {}, error, run, "rows in 16 and columns in 32 for the shuffle: 2I, H and I", "an assertion in shuffle_weight",
                [](const Placement& p) {
                  return divides(32, {p.hidden, p.intermediate}) && w13_rows(p) % 16 == 0;
                },
                "ROCm/aiter aiter/ops/shuffle.py"),
            need("dtype", kAiter, {}, error, read, "float16 or bfloat16", "an error in the first batch", is_16_bit, "E/rocm_aiter_moe.py"),
            need(
                "activation", kAiter, {}, error, read, "SILU, GELU or SWIGLUOAI", "an error",
                [](const Placement& p) { return activation_is(p, {"SILU", "GELU", "SWIGLUOAI"}); }, "E/rocm_aiter_moe.py"),
            need(
                "block_weight", kAiter, {}, error, read, "no weight on the input with block scales", "an assertion",
                [](const Placement& p) { return !is_block(p) || !p.deployment.layer.router_weight_on_input; }, "E/rocm_aiter_moe.py"),

            need(
                "device", kXpu, {}, error, read, "xpu", "no such kernel", [](const Placement& p) { return is_on(p, PlatformKind::xpu); },
                "E/xpu_moe.py"),
            need("kernel_sizes", kXpu, {}, error, unknown, "sizes, dtypes and activations of the kernels", "not known",
                 nullptr, "vllm_xpu_kernels xpu_fused_moe is not public text"),

            need(
                "device", kCpu, {}, error, read, "cpu", "no such operator", [](const Placement& p) { return is_on(p, PlatformKind::cpu); },
                "E/cpu_moe.py"),
            need(
                "amx", kCpu, {}, error, read, "a processor with AMX: the other builds lack the operators", "no such operator",
                [](const Placement& p) { return p.deployment.hardware.amx; }, "vllm cmake/cpu_extension.cmake VLLM_EXT_SRC_SGL"),
            need(
                "sizes", kCpu, {}, error, read, "rows of w13 and w2 multiples of 16, H and I of 32", "an error in the packing",
                [](const Placement& p) {
                  return both_divide(p, 32) && divides(16, {w13_rows(p), p.hidden});
                },
                "vllm csrc/cpu/sgl-kernels/gemm.cpp"),
            need("block_size", kCpu, {}, error, read, "block scales", "an error: block_size is required", is_block, "E/cpu_moe.py"),
            need("activation", kCpu, {}, silent, read, "SILU, fixed", "computed as SILU", is_silu, "E/cpu_moe.py"),
            need(
                "dtype", kCpu, {}, error, read, "bfloat16", "an error in dispatch", [](const Placement& p) { return dtype_is(p, {"bfloat16"}); },
                "vllm csrc/cpu/sgl-kernels/moe_fp8.cpp"),
            need(
                "expert_map", kCpu, {}, silent, read, "no expert parallelism: the map is ignored", "global ids meet local weights",
                [](const Placement& p) { return !has_ep(p); }, "E/cpu_moe.py apply"),

            need("bias", kNoBias, {}, silent, read, "no biases", kDropped, has_no_bias,
                 "E/: biases are not passed; has_bias is not among the checks"),
            need("silu_limit", kNoSiluLimit, {}, silent, read, "SILU without a limit", "nothing is clamped", silu_has_no_limit,
                 "E/: config limit is not forwarded"),
            need("oai_alpha", kBuiltIn, {}, silent, read, "alpha and beta are 1.702 and 1", "1.702 and 1 are used instead", oai_alpha_is_built_in,
                 "E/: config alpha and beta are not forwarded"),
            need("oai_limit", kBuiltIn, {}, silent, read, "the limit of SWIGLUOAI is 7", "7 is used instead", oai_limit_is_built_in,
                 "E/: config limit is not forwarded"),
};

}  // namespace

std::span<const KernelNeed> fp8_needs() { return kNeeds; }

}  // namespace mx::oracle
