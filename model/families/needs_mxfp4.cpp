// Needs of the classes that take MXFP4 weights, of their converters, and of the two checkpoints' loaders.

#include <array>

#include "model/families/facts.hpp"

namespace mx::oracle {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;

constexpr std::array<Names, 2> kTrtllm = {"TrtLlmMxfp4ExpertsMonolithic", "TrtLlmMxfp4ExpertsModular"};
constexpr std::array<Names, 1> kTrtllmMonolithic = {"TrtLlmMxfp4ExpertsMonolithic"};
constexpr std::array<Names, 1> kTrtllmModular = {"TrtLlmMxfp4ExpertsModular"};
constexpr std::array<Names, 1> kFlashinfer = {"FlashInferExperts"};
constexpr std::array<Names, 1> kCutlassBf16 = {"FLASHINFER_CUTLASS_MXFP4_BF16"};
constexpr std::array<Names, 1> kCutlassMxfp8 = {"FLASHINFER_CUTLASS_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kDeepGemm = {"DeepGemmFP4Experts"};
constexpr std::array<Names, 2> kMarlin = {"MarlinExperts", "BatchedMarlinExperts"};
constexpr std::array<Names, 3> kTritonKernels = {"OAITritonMxfp4ExpertsMonolithic", "OAITritonExperts", "UnfusedOAITritonExperts"};
constexpr std::array<Names, 2> kTriton = {"OAITritonMxfp4ExpertsMonolithic", "OAITritonExperts"};
constexpr std::array<Names, 1> kTritonMonolithic = {"OAITritonMxfp4ExpertsMonolithic"};
constexpr std::array<Names, 1> kTritonUnfused = {"UnfusedOAITritonExperts"};
constexpr std::array<Names, 1> kTritonBackend = {"TRITON"};
constexpr std::array<Names, 1> kUnfusedBackend = {"TRITON_UNFUSED"};
constexpr std::array<Names, 1> kAiter = {"AiterExperts"};
constexpr std::array<Names, 1> kAiterBf16 = {"AITER_MXFP4_BF16"};
constexpr std::array<Names, 1> kAiterMxfp4 = {"AITER_MXFP4_MXFP4"};
constexpr std::array<Names, 1> kAiterFp8 = {"AiterW4A8ExpertsMonolithic"};
constexpr std::array<Names, 2> kAiterBoth = {"AiterExperts", "AiterW4A8ExpertsMonolithic"};
constexpr std::array<Names, 1> kXpu = {"XPUExpertsMXFp4"};
constexpr std::array<Names, 1> kCpu = {"CPUExpertsMxfp4"};
constexpr std::array<Names, 1> kEmulation = {"OCP_MXQuantizationEmulationTritonExperts"};
constexpr std::array<Names, 3> kHumming = {"BatchedHummingGroupedExperts", "HummingGroupedExperts", "HummingIndexedExperts"};
constexpr std::array<Names, 1> kCutlass = {"CutlassExpertsMxfp4"};
// SwiGLU-OAI with 1.702, 1 and 7 built in.
constexpr std::array<Names, 6> kBuiltIn = {"OAITritonMxfp4ExpertsMonolithic", "OAITritonExperts", "AiterExperts",
                                           "AiterW4A8ExpertsMonolithic",      "XPUExpertsMXFp4",  "OCP_MXQuantizationEmulationTritonExperts"};
// SILU without a clamp.
constexpr std::array<Names, 3> kUnclamped = {"AiterExperts", "XPUExpertsMXFp4", "OCP_MXQuantizationEmulationTritonExperts"};
constexpr std::array<Names, 7> kNotOfStandard = {
    "FLASHINFER_CUTLASS_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "XPU", "EMULATION", "AITER_MXFP4_MXFP4", "AITER_MXFP4_FP8", "CPU"};

/// What the caller or the user's configuration asks for; they agree, or selection has refused.
Names requested_key(const Placement& p) {
  struct Row {
    Names word, key;
  };
  constexpr std::array kOverrides = {Row{"fp8_per_tensor_static", "kFp8StaticTensorSym"},
                                     Row{"fp8_per_tensor_dynamic", "kFp8DynamicTensorSym"},
                                     Row{"fp8_per_token", "kFp8DynamicTokenSym"},
                                     Row{"fp8_per_block_static", "kFp8Static128BlockSym"},
                                     Row{"fp8_per_block_dynamic", "kFp8Dynamic128Sym"},
                                     Row{"mxfp8", "kMxfp8Dynamic"},
                                     Row{"mxfp4", "kMxfp4Dynamic"},
                                     Row{"int8_per_channel_static", "kInt8StaticChannelSym"}};
  for (const Row& row : kOverrides) {
    if (row.word == p.deployment.quantization_override) return row.key;
  }
  return p.deployment.activation_key;
}

/// compressed-tensors checkpoints do not pass through gpt-oss's loader.
bool has_own_loader(const Placement& p) { return p.deployment.quant_method == "compressed_tensors"; }

/// Elements of I that the gpt-oss loader copies to one rank: whole blocks of 32, rounded up.
std::int64_t loaded_per_rank(const Placement& p) {
  if (has_ep(p)) return p.deployment.layer.intermediate_per_partition;
  const std::int64_t blocks = p.deployment.layer.intermediate_per_partition * ranks(p) / 32;
  return 32 * ((blocks + ranks(p) - 1) / ranks(p));
}

constexpr Names kDropped = "the biases are left out of the result";
constexpr Names kBuiltInInstead = "1.702, 1 and 7 are used instead";
constexpr Names kTorchError = "an error in the first batch";

// E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is flashinfer-ai/flashinfer at 41e5aa29a.
constexpr std::array kNeeds =
    {
        need(
            "hidden_blocks", {}, {}, silent, read, "H holds whole blocks of 32", "the scales of the last block are cut off",
            [](const Placement& p) { return p.hidden % 32 == 0; }, "OCP MX v1.0 section 5; vllm quantization/mxfp4.py: H // 32 scales"),
        need(
            "intermediate_blocks", {}, {}, silent, read, "I holds whole blocks of 32", "the scales of the last block are cut off",
            [](const Placement& p) { return p.intermediate % 32 == 0; }, "OCP MX v1.0 section 5; vllm quantization/mxfp4.py: I // 32 scales"),

        need(
            "device", kTrtllm, {}, error, read, "SM major 10 or 12", "an error in the launcher",
            [](const Placement& p) { return cuda_in(p, 100, 109) || cuda_in(p, 120, 129); },
            "fi csrc/trtllm_fused_moe_kernel_launcher.cu, device check", "vllm issue 43906"),
        need(
            "sizes", kTrtllm, {}, error, run, "rows of both tensors and columns of both scales in tiles of 128 x 4: 2I, H, H/32 and I/32",
            "an assertion or a reshape error in the converter",
            [](const Placement& p) {
              return divides(128, {w13_rows(p), p.hidden, p.intermediate});
            },
            "fi flashinfer/utils.py get_shuffle_matrix_sf_a_row_indices, 128 rows; block_scale_interleave, 4 columns"),
        need("kernel_sizes", kTrtllm, {}, error, unknown, "sizes below the rounding of 256 that some kernel takes",
             "the list of compiled kernels decides", nullptr, "fi csrc/trtllm_batched_gemm_runner.cu"),
        need(
            "dtype", kTrtllm, {}, error, read, "16-bit activations and outputs are bfloat16", kTorchError,
            [](const Placement& p) { return dtype_is(p, {"bfloat16"}); }, "E/trtllm_mxfp4_moe.py: bf16 or mxfp8 in, bf16 out"),
        need(
            "activation", kTrtllm, {}, silent, read, "SILU or SWIGLUOAI: the argument is not forwarded", "computed as SwiGLU",
            [](const Placement& p) {
              return activation_is(p, {"SILU", "SWIGLUOAI"});
            },
            "E/trtllm_mxfp4_moe.py apply"),
        need("gated", kTrtllm, {}, error, read, "a gated layer", "w13 has 2I rows for the kernel", is_gated, "E/trtllm_mxfp4_moe.py apply"),
        need(
            "expert_groups", kTrtllmMonolithic, {}, silent, read, "no groups of experts: they are not forwarded",
            "the router chooses among all experts", [](const Placement& p) { return p.deployment.layer.expert_groups <= 1; },
            "E/trtllm_mxfp4_moe.py apply"),
        need(
            "routed_scaling", kTrtllmMonolithic, {}, silent, read, "no scaling of the routed sum: it is not forwarded", "a factor of 1 is used",
            [](const Placement& p) { return !p.deployment.layer.has_routed_scaling; }, "E/trtllm_mxfp4_moe.py apply", "vllm issues 43769, 44007"),
        need(
            "unpadded_output", kTrtllmModular, {}, error, reported, "behind an exchange the hidden size needs no padding",
            "the finalize step allocates the padded hidden size, the kernel writes the given one",
            [](const Placement& p) { return !exchanges(p) || p.hidden == p.deployment.layer.hidden; }, "vllm modular_kernel.py finalize",
            "vllm issue 52051"),

        need(
            "device", kFlashinfer, kCutlassBf16, error, read, "SM90: mixed-input GEMM", "no such kernel",
            [](const Placement& p) { return cuda_in(p, 90, 90); }, "fi flashinfer/fused_moe/core.py, use_w4_group_scaling"),
        need(
            "device", kFlashinfer, kCutlassMxfp8, error, read, "a module of 100, 103, 120 or 121", "no such kernel",
            [](const Placement& p) { return cuda_in(p, 100, 109) || cuda_in(p, 120, 129); },
            "fi flashinfer/fused_moe/core.py get_cutlass_fused_moe_module", "flashinfer issue 3134: 110 excluded"),
        need(
            "sizes", kFlashinfer, {}, error, run, "H and I multiples of 128: scale tiles of 4 groups along K", "a reshape error in the converter",
            [](const Placement& p) { return both_divide(p, 128); },
            "fi csrc/fused_moe/cutlass_backend/flashinfer_cutlass_fused_moe_binding.cu; SM90: interleave of 4 scales per 128 of K, 64 rows"),
        need(
            "dtype", kFlashinfer, {}, error, read, "bfloat16: asserted for the mixed GEMM, and biases must have the output's type", kTorchError,
            [](const Placement& p) { return dtype_is(p, {"bfloat16"}); }, "E/flashinfer_cutlass_moe.py apply"),
        need(
            "activation", kFlashinfer, {}, error, read, "an activation that is mapped", "KeyError",
            [](const Placement& p) {
              return activation_is(p, {"SILU", "RELU2_NO_MUL", "SWIGLUOAI"});
            },
            "vllm quantization/utils/flashinfer_utils.py activation_to_flashinfer_type"),
        need(
            "oai_constants", kFlashinfer, {}, silent, read, "SWIGLUOAI: alpha, beta and limit are always passed, and switch the kernel to it",
            "another activation is computed as SwiGLU-OAI", [](const Placement& p) { return activation_is(p, {"SWIGLUOAI"}); },
            "E/flashinfer_cutlass_moe.py apply; fi cutlass_fused_moe_kernels.cuh"),
        need("oai_alpha", kFlashinfer, {}, silent, read, "alpha and beta are 1.702 and 1", kBuiltInInstead, oai_alpha_is_built_in,
             "E/flashinfer_cutlass_moe.py apply"),
        need(
            "swizzled_scales", kFlashinfer, kCutlassMxfp8, silent, read,
            "activation scales arrive swizzled: not through a gathering or FlashInfer exchange, which send them linear",
            "NaN logits with a healthy server",
            [](const Placement& p) {
              return !has_dp(p) || (has_ep(p) && !exchange_is(p, {"allgather_reducescatter", "flashinfer_all2allv", "flashinfer_nvlink_two_sided",
                                                                  "flashinfer_nvlink_one_sided"}));
            },
            "vllm fused_moe/prepare_finalize/naive_dp_ep.py and flashinfer ones: swizzle after the exchange for nvfp4 only",
            "vllm issue 42118; pull requests 42133, 49335"),
        need("garbage", kFlashinfer, kCutlassBf16, silent, unknown, "the conditions under which the SM90 kernel gave silent garbage", "score 0.0000",
             nullptr, "no public text", "flashinfer issue 3334"),

        need(
            "device", kDeepGemm, {}, error, read, "SM major 10: packed FP4", "an assertion", [](const Placement& p) { return cuda_in(p, 100, 109); },
            "deepseek-ai/DeepGEMM csrc/apis/gemm.hpp, csrc/utils/layout.hpp"),
        need(
            "sizes", kDeepGemm, {}, error, read, "H and I multiples of 128: activations are quantized in groups of 128 before both GEMMs",
            "an assertion in the quantizer", [](const Placement& p) { return both_divide(p, 128); }, "E/deep_gemm_moe.py DeepGemmFP4Experts"),
        need(
            "dtype", kDeepGemm, {}, error, read, "bfloat16 output", "an assertion", [](const Placement& p) { return dtype_is(p, {"bfloat16"}); },
            "deepseek-ai/DeepGEMM csrc/apis/gemm.hpp"),
        need(
            "activation", kDeepGemm, {}, error, read, "SILU: SWIGLUSTEP asserts under UE8M0 scales, the default there", "an assertion",
            [](const Placement& p) { return activation_is(p, {"SILU"}); }, "E/deep_gemm_moe.py DeepGemmFP4Experts.apply"),
        need("bias", kDeepGemm, {}, silent, read, "no biases", kDropped, has_no_bias, "E/deep_gemm_moe.py DeepGemmFP4Experts.apply"),

        need(
            "device", kMarlin, {}, error, read, "cuda from capability 75 on", "no such kernel",
            [](const Placement& p) { return cuda_in(p, 75, 1000); }, "vllm csrc/moe/marlin_moe_wna16/ops.cu"),
        need("sizes", kMarlin, {}, error, read, "a thread configuration divides both GEMMs: N = 2I, K = H and N = H, K = I",
             "an error in the repacking or in the kernel", marlin_takes_both, "vllm csrc/moe/marlin_moe_wna16/ops.cu"),
        need("dtype", kMarlin, {}, error, read, "float16 or bfloat16; float16 alone at capability 75", "no such kernel", marlin_takes_dtype,
             "vllm csrc/moe/marlin_moe_wna16/ops.cu"),
        need("oai_alpha", kMarlin, {}, silent, read, "alpha and beta are 1.702 and 1", kBuiltInInstead, oai_alpha_is_built_in, "E/marlin_moe.py"),
        need("oai_limit", kMarlin, {}, silent, read, "the limit of SWIGLUOAI is 7", kBuiltInInstead, oai_limit_is_built_in, "E/marlin_moe.py"),

        need(
            "device", kTritonKernels, {}, error, read, "cuda or rocm", "no Triton",
            [](const Placement& p) { return is_on(p, PlatformKind::cuda) || is_on(p, PlatformKind::rocm); },
            "triton-lang/triton python/triton_kernels"),
        need("architectures", kTritonKernels, {}, error, unknown, "the architectures that triton_kernels takes", "not known", nullptr,
             "no public text", "vllm issue 40301"),
        need(
            "sizes", kTritonKernels, {}, error, read, "I even: gate and up alternate in pairs", "a shape error",
            [](const Placement& p) { return p.intermediate % 2 == 0; }, "E/gpt_oss_triton_kernels_moe.py"),
        need(
            "dtype", kTritonKernels, {}, error, read, "bfloat16", "an assertion", [](const Placement& p) { return dtype_is(p, {"bfloat16"}); },
            "E/gpt_oss_triton_kernels_moe.py"),
        need(
            "activation", kTriton, {}, error, read, "SWIGLUOAI", "an assertion", [](const Placement& p) { return activation_is(p, {"SWIGLUOAI"}); },
            "E/gpt_oss_triton_kernels_moe.py OAITritonExperts.apply"),
        need(
            "activation", kTritonUnfused, {}, error, read, "SILU, GELU, SWIGLUOAI or SWIGLUSTEP", "an error",
            [](const Placement& p) { return activation_is(p, {"SILU", "GELU", "SWIGLUOAI", "SWIGLUSTEP"}); },
            "E/gpt_oss_triton_kernels_moe.py UnfusedOAITritonExperts.activation"),
        need(
            "expert_groups", kTritonMonolithic, {}, silent, read, "no groups of experts: they are ignored", "the router chooses among all experts",
            [](const Placement& p) { return p.deployment.layer.expert_groups <= 1; }, "E/gpt_oss_triton_kernels_moe.py"),
        need("dropped_rows", kTritonUnfused, {}, silent, unknown, "whether rows of absent experts are cleared before they are summed", "not known",
             nullptr, "E/gpt_oss_triton_kernels_moe.py moe_sum"),

        need(
            "device", kAiterBoth, {}, error, reported, "gfx950", "a crash on gfx942", [](const Placement& p) { return arch_is(p, {"gfx950"}); },
            "ROCm/aiter CK FP4 stage kernels", "vllm pull request 37787"),
        need(
            "sizes", kAiterBoth, {}, error, reported, "I a multiple of 256", "device_gemm does not support this GEMM problem",
            [](const Placement& p) { return p.intermediate % 256 == 0; }, "ROCm/aiter CK FP4 stage kernels", "vllm issue 35893, pull request 37787"),
        need(
            "dtype", kAiter, {}, error, read, "float16 or bfloat16", kTorchError,
            [](const Placement& p) { return dtype_is(p, {"float16", "bfloat16"}); }, "E/rocm_aiter_moe.py"),
        need(
            "activation", kAiter, {}, error, read, "SILU, GELU or SWIGLUOAI", "an error",
            [](const Placement& p) { return activation_is(p, {"SILU", "GELU", "SWIGLUOAI"}); }, "E/rocm_aiter_moe.py"),
        need("bias", kAiter, kAiterMxfp4, silent, read, "no biases with quantized activations", kDropped, has_no_bias, "E/rocm_aiter_moe.py"),
        need(
            "dtype", kAiterFp8, {}, error, read, "bfloat16", kTorchError, [](const Placement& p) { return dtype_is(p, {"bfloat16"}); },
            "E/aiter_mxfp4_w4a8_moe.py"),
        need(
            "activation", kAiterFp8, {}, silent, read, "SWIGLUOAI, fixed", "computed as SwiGLU-OAI",
            [](const Placement& p) { return activation_is(p, {"SWIGLUOAI"}); }, "E/aiter_mxfp4_w4a8_moe.py"),
        need(
            "expert_map", kAiterFp8, {}, silent, read, "no expert parallelism: the map is received and ignored", "global ids meet local weights",
            [](const Placement& p) { return !has_ep(p); }, "E/aiter_mxfp4_w4a8_moe.py apply"),

        need(
            "device", kXpu, {}, error, read, "xpu", "no such kernel", [](const Placement& p) { return is_on(p, PlatformKind::xpu); },
            "E/xpu_moe.py: vllm_xpu_kernels"),
        need("kernel_sizes", kXpu, {}, error, unknown, "sizes, dtypes and activations of the kernels", "not known", nullptr,
             "vllm_xpu_kernels xpu_fused_moe is not public text"),

        need(
            "device", kCpu, {}, error, read, "cpu", "no such operator", [](const Placement& p) { return is_on(p, PlatformKind::cpu); },
            "E/cpu_moe.py"),
        need(
            "amx", kCpu, {}, error, read, "a processor with AMX: the other builds lack the operators", "no such operator",
            [](const Placement& p) { return p.deployment.hardware.amx; }, "vllm cmake/cpu_extension.cmake VLLM_EXT_SRC_SGL"),
        need(
            "sizes", kCpu, {}, error, run, "2I, H and I multiples of 32: packed rows of 16, scale rows of 32, K of 32", "an error in the packing",
            [](const Placement& p) {
              return divides(32, {w13_rows(p), p.hidden, p.intermediate});
            },
            "vllm csrc/cpu/sgl-kernels/gemm.cpp TILE_N, TILE_K, BLOCK_N"),
        need(
            "dtype", kCpu, {}, error, read, "float16 or bfloat16", "an error in dispatch",
            [](const Placement& p) { return dtype_is(p, {"float16", "bfloat16"}); }, "vllm csrc/cpu/sgl-kernels/moe.cpp"),
        need(
            "activation", kCpu, {}, silent, read, "SILU or SWIGLUOAI: the argument is not read", "computed as one of the two",
            [](const Placement& p) {
              return activation_is(p, {"SILU", "SWIGLUOAI"});
            },
            "vllm csrc/cpu/sgl-kernels/moe.cpp"),
        need("silu_limit", kCpu, {}, silent, read, "SILU without a limit: a limit alone is ignored", "nothing is clamped", silu_has_no_limit,
             "vllm csrc/cpu/sgl-kernels/moe.cpp"),
        need(
            "expert_map", kCpu, {}, silent, read, "no expert parallelism: the map is ignored", "global ids meet local weights",
            [](const Placement& p) { return !has_ep(p); }, "E/cpu_moe.py apply"),

        need(
            "device", kEmulation, {}, error, read, "cuda, rocm or xpu: Triton", "no Triton",
            [](const Placement& p) { return !is_on(p, PlatformKind::cpu); }, "E/triton_moe.py"),
        need(
            "scheme", kEmulation, {}, error, read, "16-bit, MXFP4, MXFP6 or FP8 per tensor activations: the schemes that are emulated",
            "an assertion on ocp_mx_scheme",
            [](const Placement& p) { return is_one_of(requested_key(p), {"None", "kMxfp4Dynamic", "kFp8StaticTensorSym", "kFp8DynamicTensorSym"}); },
            "E/ocp_mx_emulation_moe.py", "vllm issues 46752, 46629"),

        need(
            "device", kHumming, {}, error, read, "cuda from capability 75 on", "no such kernel",
            [](const Placement& p) { return cuda_in(p, 75, 1000); }, "E/fused_humming_moe.py _supports_current_device, which selection never asks"),
        need("kernel_sizes", kHumming, {}, error, unknown, "sizes for which some block configuration fits", "ValueError", nullptr,
             "E/fused_humming_moe.py: computed from the layer's metadata"),

        need("oai_alpha", kBuiltIn, {}, silent, read, "alpha and beta are 1.702 and 1", kBuiltInInstead, oai_alpha_is_built_in,
             "E/: config alpha and beta are not forwarded", "vllm issue 49747"),
        need("oai_limit", kBuiltIn, {}, silent, read, "the limit of SWIGLUOAI is 7", kBuiltInInstead, oai_limit_is_built_in,
             "E/: config limit is not forwarded"),
        need("silu_limit", kUnclamped, {}, silent, read, "SILU without a limit", "nothing is clamped", silu_has_no_limit,
             "E/: config limit is not forwarded"),

        need(
            "device", kCutlass, {}, error, read, "SM major 10", "no such kernel", [](const Placement& p) { return cuda_in(p, 100, 109); },
            "E/cutlass_moe.py"),
        need(
            "sizes", kCutlass, {}, error, read, "rows and scale columns in whole tiles of 128 x 4: nothing pads", "a reshape error",
            [](const Placement& p) {
              return divides(128, {w13_rows(p), p.hidden, p.intermediate});
            },
            "E/cutlass_moe.py; vllm compressed_tensors_moe_w4a4_mxfp4.py: torch.empty, no rounding"),
        need(
            "wish", kCutlass, {}, silent, reported, "the user names no backend: moe_backend is not looked at", "another backend than wished",
            [](const Placement& p) { return p.deployment.layer.moe_backend == "auto"; },
            "vllm compressed_tensors_moe_w4a4_mxfp4.py: the oracle is not asked", "vllm pull request 55232"),
        need(
            "one_rank", kCutlass, {}, error, read, "no expert parallelism: asked of nobody", "a shape error",
            [](const Placement& p) { return !has_ep(p); }, "E/cutlass_moe.py"),
        need("bias", kCutlass, {}, silent, read, "no biases", kDropped, has_no_bias, "E/cutlass_moe.py"),
};

// gpt-oss: Q/ is vllm quantization/, whose method for it always passes alpha, beta and limit.
constexpr std::array kLoaderNeeds = {
    need(
        "loaded_experts", {}, {}, silent, read, "the experts divide by the ranks: a rank loads G // ep of them", "the last experts are never loaded",
        [](const Placement& p) { return !is_uneven(p) || has_own_loader(p); }, "vllm models/gpt_oss.py _load_weights_mxfp4"),
};

constexpr std::array kGptOssNeeds = {
    need(
        "shard_room", {}, {}, error, reported, "a rank's buffer has room for the whole blocks of 32 that the loader cuts",
        "the copy does not fit its buffer", [](const Placement& p) { return p.intermediate >= loaded_per_rank(p) || has_own_loader(p); },
        "vllm models/gpt_oss.py _load_weights_mxfp4; quantization/quark/quark_moe.py: EMULATION is not rounded", "vllm issue 43979"),
    need(
        "oai_constants", kTrtllm, {}, silent, read, "SWIGLUOAI: the method always passes alpha, beta and limit", "SILU is computed as SwiGLU-OAI",
        [](const Placement& p) { return activation_is(p, {"SWIGLUOAI"}); }, "vllm quantization/mxfp4.py; E/trtllm_mxfp4_moe.py"),
    need(
        "oai_constants", kCpu, {}, silent, read, "SWIGLUOAI: the presence of alpha and limit chooses it, and the method always passes them",
        "SILU is computed as SwiGLU-OAI", [](const Placement& p) { return activation_is(p, {"SWIGLUOAI"}); },
        "vllm quantization/mxfp4.py; csrc/cpu/sgl-kernels/moe.cpp"),
    need(
        "two_data_ranks", kTriton, kTritonBackend, error, reported, "no data parallelism together with expert parallelism", "errors, cause not known",
        [](const Placement& p) { return !exchanges(p); }, "not known", "vllm pull request 37128"),
};

// DeepSeek-V4: [w1; w3] rows, converted by the function for standard checkpoints; alpha and beta are not passed.
constexpr std::array kDeepseekNeeds = {
    need(
        "converter", {}, kNotOfStandard, error, read, "a converter for standard checkpoints",
        "ValueError: Unsupported mxfp4_backend for Mxfp4MoEMethod", [](const Placement&) { return false; },
        "vllm oracle/mxfp4.py convert_weight_to_mxfp4_moe_kernel_format"),
    need(
        "row_order", kAiter, kAiterBf16, silent, read, "rows that alternate gate and up: w13 is de-interleaved whatever its order",
        "the rows of [w1; w3] are shuffled as if they alternated", [](const Placement&) { return false; },
        "vllm oracle/mxfp4.py convert_weight_to_mxfp4_moe_kernel_format, fixed in pull requests of 2026-05-29 and 2026-06-26"),
    need(
        "row_order", kTriton, {}, silent, run, "rows that alternate gate and up: of w13 the packed K axis is interleaved, not the rows",
        "weights and scales are shuffled along K", [](const Placement&) { return false; },
        "vllm oracle/mxfp4.py convert_weight_to_mxfp4_moe_kernel_format, standard TRITON"),
    need(
        "no_constants", kTrtllm, {}, silent, read, "SILU: without alpha and beta the kernel computes SwiGLU", "SWIGLUOAI is computed as SwiGLU",
        [](const Placement& p) { return activation_is(p, {"SILU"}); }, "E/trtllm_mxfp4_moe.py; vllm models/deepseek_v4/quant_config.py"),
    need("unfused_rows", kTritonUnfused, kUnfusedBackend, silent, unknown, "the row order that the unfused activation reads behind this converter",
         "not known", nullptr, "vllm oracle/mxfp4.py: no reorder for standard TRITON_UNFUSED"),
};

}  // namespace

std::span<const KernelNeed> mxfp4_needs() { return kNeeds; }
std::span<const KernelNeed> gpt_oss_loader_needs() { return kLoaderNeeds; }
std::span<const KernelNeed> gpt_oss_needs() { return kGptOssNeeds; }
std::span<const KernelNeed> deepseek_v4_needs() { return kDeepseekNeeds; }

}  // namespace mx::oracle
