#include "model/oracle/needs.hpp"

#include <algorithm>
#include <array>

namespace mx::oracle {
namespace {

using Names = std::string_view;

// Parallelism as the kernels meet it, derived here from the request.

std::int64_t ranks(const Placement& p) {
  const ParallelRequest& parallel = p.deployment.parallel;
  return std::int64_t{parallel.tp} * parallel.pcp * parallel.dp;
}
bool has_ep(const Placement& p) { return p.deployment.parallel.enable_expert_parallel && ranks(p) > 1; }
bool has_dp(const Placement& p) { return p.deployment.parallel.dp > 1; }
/// Tokens travel between ranks to their experts.
bool exchanges(const Placement& p) { return has_ep(p) && has_dp(p); }
bool exchange_is(const Placement& p, std::span<const Names> names) {
  return exchanges(p) && std::find(names.begin(), names.end(), p.deployment.parallel.all2all_backend) != names.end();
}

constexpr std::array<Names, 2> kBatchedExchanges = {"deepep_low_latency", "nixl_ep"};
constexpr std::array<Names, 2> kNoExchange = {"pplx", "naive"};
constexpr std::array<Names, 1> kGather = {"allgather_reducescatter"};
constexpr std::array<Names, 4> kLinearScaleExchanges = {"allgather_reducescatter", "flashinfer_all2allv", "flashinfer_nvlink_two_sided",
                                                        "flashinfer_nvlink_one_sided"};

// Which class routes by itself, and which takes batched hidden states. Source: vllm fused_moe/experts/, the base class of each.
constexpr std::array<Names, 4> kMonolithic = {"TrtLlmMxfp4ExpertsMonolithic", "OAITritonMxfp4ExpertsMonolithic", "AiterW4A8ExpertsMonolithic",
                                              "CPUExpertsMxfp4"};
constexpr std::array<Names, 2> kBatched = {"BatchedMarlinExperts", "BatchedHummingGroupedExperts"};
constexpr std::array<Names, 11> kPlain = {"TrtLlmMxfp4ExpertsModular",
                                          "DeepGemmFP4Experts",
                                          "FlashInferExperts",
                                          "OAITritonExperts",
                                          "UnfusedOAITritonExperts",
                                          "MarlinExperts",
                                          "AiterExperts",
                                          "XPUExpertsMXFp4",
                                          "OCP_MXQuantizationEmulationTritonExperts",
                                          "HummingGroupedExperts",
                                          "HummingIndexedExperts"};
constexpr std::array kClassLists = {ClassList{"monolithic", kMonolithic}, ClassList{"batched", kBatched}, ClassList{"plain", kPlain}};

bool is_one_of(Names kernel_class, std::span<const Names> classes) {
  return std::find(classes.begin(), classes.end(), kernel_class) != classes.end();
}
bool is_monolithic(const Placement& p) { return is_one_of(p.kernel_class, kMonolithic); }
bool is_batched(const Placement& p) { return is_one_of(p.kernel_class, kBatched); }

bool is_on(const Placement& p, PlatformKind kind) { return p.deployment.hardware.platform == kind; }
bool cuda_in(const Placement& p, int low, int high) {
  const auto capability = p.deployment.hardware.capability;
  return is_on(p, PlatformKind::cuda) && capability && *capability >= low && *capability <= high;
}

bool activation_is(const Placement& p, std::initializer_list<Names> names) {
  return std::find(names.begin(), names.end(), p.deployment.layer.activation) != names.end();
}
bool dtype_is(const Placement& p, std::initializer_list<Names> names) {
  return std::find(names.begin(), names.end(), p.deployment.layer.in_dtype) != names.end();
}

bool divides(std::int64_t multiple, std::initializer_list<std::int64_t> sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t size) { return size % multiple == 0; });
}

/// One of the tile shapes of the grouped GEMM, K x N of 128x64, 64x128 or larger ones, must divide.
bool marlin_tile(std::int64_t n, std::int64_t k) { return (n % 64 == 0 && k % 128 == 0) || (n % 128 == 0 && k % 64 == 0); }

constexpr std::array<Names, 2> kTrtllm = {"FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_TRTLLM_MXFP4_MXFP8"};
constexpr std::array<Names, 2> kCutlass = {"FLASHINFER_CUTLASS_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kCutlassBf16 = {"FLASHINFER_CUTLASS_MXFP4_BF16"};
constexpr std::array<Names, 1> kCutlassMxfp8 = {"FLASHINFER_CUTLASS_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kDeepGemm = {"DEEPGEMM_MXFP4"};
constexpr std::array<Names, 2> kMarlin = {"MARLIN", "BATCHED_MARLIN"};
constexpr std::array<Names, 1> kTriton = {"TRITON"};
constexpr std::array<Names, 2> kTritons = {"TRITON", "TRITON_UNFUSED"};
constexpr std::array<Names, 1> kTritonUnfused = {"TRITON_UNFUSED"};
constexpr std::array<Names, 2> kAiterCk = {"AITER_MXFP4_BF16", "AITER_MXFP4_MXFP4"};
constexpr std::array<Names, 3> kAiter = {"AITER_MXFP4_BF16", "AITER_MXFP4_MXFP4", "AITER_MXFP4_FP8"};
constexpr std::array<Names, 1> kAiterFp8 = {"AITER_MXFP4_FP8"};
constexpr std::array<Names, 1> kAiterMxfp4 = {"AITER_MXFP4_MXFP4"};
constexpr std::array<Names, 1> kXpu = {"XPU"};
constexpr std::array<Names, 1> kCpu = {"CPU"};
constexpr std::array<Names, 1> kEmulation = {"EMULATION"};
constexpr std::array<Names, 1> kHumming = {"HUMMING"};

// In the table: E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is flashinfer-ai/flashinfer at 41e5aa29a.
constexpr std::array kNeeds = {
    KernelNeed{"blocks",
               {},
               "H and I hold whole blocks of 32",
               [](const Placement& p) {
                 return divides(32, {p.hidden, p.intermediate});
               },
               "OCP MX v1.0 section 5; vllm quantization/mxfp4.py: scales are allocated as H // 32, I // 32"},
    KernelNeed{"even_experts",
               {},
               "the experts divide by the expert parallel size",
               [](const Placement& p) { return !has_ep(p) || p.deployment.layer.num_experts % ranks(p) == 0; },
               "vllm models/gpt_oss.py _load_weights_mxfp4: a rank loads G // ep experts; E/: local_expert_offset = ep_rank * E"},
    KernelNeed{"exchange",
               {},
               "the exchange between ranks exists",
               [](const Placement& p) { return !exchange_is(p, kNoExchange); },
               "vllm fused_moe/all2all_utils.py maybe_make_prepare_finalize: none for pplx and naive, then an assertion"},
    KernelNeed{"format",
               {},
               "a batched exchange meets a batched class, any other a standard one",
               [](const Placement& p) { return exchange_is(p, kBatchedExchanges) == is_batched(p); },
               "vllm modular_kernel.py: 3-D [E, T, H] or 2-D [M, H] hidden states"},
    KernelNeed{
        "router",
        {},
        "a kernel that routes by itself gets router logits: no exchange of chosen experts, no relocated experts",
        [](const Placement& p) { return !is_monolithic(p) || (!p.deployment.parallel.enable_eplb && (!exchanges(p) || exchange_is(p, kGather))); },
        "vllm fused_moe/prepare_finalize/: monolithic variants of no-DP/EP and naive DP/EP alone; EPLB maps ids that the kernel chooses"},

    KernelNeed{"device", kTrtllm, "SM major 10 or 12", [](const Placement& p) { return cuda_in(p, 100, 109) || cuda_in(p, 120, 129); },
               "fi csrc/trtllm_fused_moe_kernel_launcher.cu, device check"},
    KernelNeed{"sizes", kTrtllm, "rows of both tensors and columns of both scales in tiles of 128 x 4: 2I, H, H/32 and I/32",
               [](const Placement& p) {
                 return divides(128, {2 * p.intermediate, p.hidden}) && divides(128, {p.hidden, p.intermediate});
               },
               "fi flashinfer/utils.py get_shuffle_matrix_sf_a_row_indices, 128 rows; block_scale_interleave, 4 columns"},
    KernelNeed{"dtype", kTrtllm, "16-bit activations and outputs are bfloat16", [](const Placement& p) { return dtype_is(p, {"bfloat16"}); },
               "E/trtllm_mxfp4_moe.py: bf16 or mxfp8 in, bf16 out"},
    KernelNeed{"activation", kTrtllm, "SwiGLU-OAI: the argument is not forwarded, and alpha, beta and limit are always given here",
               [](const Placement& p) { return activation_is(p, {"SWIGLUOAI"}); }, "E/trtllm_mxfp4_moe.py apply; vllm quantization/mxfp4.py"},

    KernelNeed{"device", kCutlassBf16, "SM90: mixed-input GEMM", [](const Placement& p) { return cuda_in(p, 90, 90); },
               "fi flashinfer/fused_moe/core.py get_cutlass_fused_moe_module, use_w4_group_scaling"},
    KernelNeed{"device", kCutlassMxfp8, "a module of 100, 103, 120 or 121",
               [](const Placement& p) { return cuda_in(p, 100, 109) || cuda_in(p, 120, 129); },
               "fi flashinfer/fused_moe/core.py get_cutlass_fused_moe_module; 110 excluded by flashinfer issue 3134"},
    KernelNeed{"sizes", kCutlass, "H and I multiples of 128: scale tiles of 4 groups along K",
               [](const Placement& p) {
                 return divides(128, {p.hidden, p.intermediate});
               },
               "fi csrc/fused_moe/cutlass_backend/flashinfer_cutlass_fused_moe_binding.cu; SM90: interleave of 4 scales per 128 of K, 64 rows"},
    KernelNeed{"dtype", kCutlass, "bfloat16: asserted for the mixed GEMM, and biases must have the output's type",
               [](const Placement& p) { return dtype_is(p, {"bfloat16"}); }, "E/flashinfer_cutlass_moe.py apply"},
    KernelNeed{"activation", kCutlass, "SwiGLU-OAI: alpha, beta and limit are always passed and switch the kernel to it",
               [](const Placement& p) { return activation_is(p, {"SWIGLUOAI"}); },
               "E/flashinfer_cutlass_moe.py apply; fi cutlass_fused_moe_kernels.cuh"},
    KernelNeed{"swizzled_scales", kCutlassMxfp8, "activation scales arrive swizzled: not through an exchange, which sends them linear",
               [](const Placement& p) { return !has_dp(p) || (has_ep(p) && !exchange_is(p, kLinearScaleExchanges)); },
               "vllm fused_moe/prepare_finalize/naive_dp_ep.py and flashinfer ones: swizzle after the exchange for nvfp4 only"},

    KernelNeed{"device", kDeepGemm, "SM major 10: packed FP4", [](const Placement& p) { return cuda_in(p, 100, 109); },
               "deepseek-ai/DeepGEMM csrc/apis/gemm.hpp, csrc/utils/layout.hpp"},
    KernelNeed{"sizes", kDeepGemm, "H and I multiples of 128: activations are quantized in groups of 128 before both GEMMs",
               [](const Placement& p) {
                 return divides(128, {p.hidden, p.intermediate});
               },
               "E/deep_gemm_moe.py DeepGemmFP4Experts"},
    KernelNeed{"dtype", kDeepGemm, "bfloat16 output", [](const Placement& p) { return dtype_is(p, {"bfloat16"}); },
               "deepseek-ai/DeepGEMM csrc/apis/gemm.hpp, asserted"},
    KernelNeed{"activation", kDeepGemm, "SILU: SWIGLUSTEP asserts under UE8M0 scales, the default there",
               [](const Placement& p) { return activation_is(p, {"SILU"}); }, "E/deep_gemm_moe.py DeepGemmFP4Experts.apply"},
    KernelNeed{"bias", kDeepGemm, "no biases: they are ignored", [](const Placement& p) { return !p.deployment.layer.has_bias; },
               "E/deep_gemm_moe.py DeepGemmFP4Experts.apply"},

    KernelNeed{"device", kMarlin, "cuda from capability 75 on", [](const Placement& p) { return cuda_in(p, 75, 1000); },
               "vllm csrc/moe/marlin_moe_wna16/ops.cu"},
    KernelNeed{"sizes", kMarlin, "a tile shape divides both GEMMs: N = 2I, K = H and N = H, K = I",
               [](const Placement& p) { return marlin_tile(2 * p.intermediate, p.hidden) && marlin_tile(p.hidden, p.intermediate); },
               "vllm csrc/moe/marlin_moe_wna16/ops.cu, thread configs"},
    KernelNeed{"dtype", kMarlin, "float16 or bfloat16; float16 alone at capability 75",
               [](const Placement& p) { return dtype_is(p, {"float16"}) || (dtype_is(p, {"bfloat16"}) && !cuda_in(p, 75, 75)); },
               "vllm csrc/moe/marlin_moe_wna16/ops.cu"},

    KernelNeed{"device", kTritons, "cuda or rocm", [](const Placement& p) { return is_on(p, PlatformKind::cuda) || is_on(p, PlatformKind::rocm); },
               "triton-lang/triton python/triton_kernels"},
    KernelNeed{"sizes", kTritons, "I even: gate and up alternate in pairs", [](const Placement& p) { return divides(2, {p.intermediate}); },
               "E/gpt_oss_triton_kernels_moe.py"},
    KernelNeed{"dtype", kTritons, "bfloat16, asserted", [](const Placement& p) { return dtype_is(p, {"bfloat16"}); },
               "E/gpt_oss_triton_kernels_moe.py"},
    KernelNeed{"activation", kTriton, "SWIGLUOAI, asserted", [](const Placement& p) { return activation_is(p, {"SWIGLUOAI"}); },
               "E/gpt_oss_triton_kernels_moe.py OAITritonExperts.apply"},
    KernelNeed{"activation", kTritonUnfused, "SILU, GELU, SWIGLUOAI or SWIGLUSTEP",
               [](const Placement& p) {
                 return activation_is(p, {"SILU", "GELU", "SWIGLUOAI", "SWIGLUSTEP"});
               },
               "E/gpt_oss_triton_kernels_moe.py UnfusedOAITritonExperts.activation"},
    KernelNeed{"exchange_works", kTriton, "no data parallelism together with expert parallelism", [](const Placement& p) { return !exchanges(p); },
               "reported in vllm pull request 37128, cause not known"},

    KernelNeed{"device", kAiter, "gfx950",
               [](const Placement& p) { return is_on(p, PlatformKind::rocm) && p.deployment.hardware.gcn_arch == "gfx950"; },
               "ROCm/aiter CK FP4 stage kernels; vllm pull request 37787: crashes on gfx942"},
    KernelNeed{"sizes", kAiter, "I a multiple of 256", [](const Placement& p) { return divides(256, {p.intermediate}); },
               "vllm issue 35893, pull request 37787: device_gemm does not support the problem otherwise"},
    KernelNeed{"dtype", kAiterCk, "float16 or bfloat16",
               [](const Placement& p) {
                 return dtype_is(p, {"float16", "bfloat16"});
               },
               "E/rocm_aiter_moe.py"},
    KernelNeed{"activation", kAiterCk, "SILU, GELU or SWIGLUOAI",
               [](const Placement& p) {
                 return activation_is(p, {"SILU", "GELU", "SWIGLUOAI"});
               },
               "E/rocm_aiter_moe.py"},
    KernelNeed{"bias", kAiterMxfp4, "no biases: dropped with quantized activations", [](const Placement& p) { return !p.deployment.layer.has_bias; },
               "E/rocm_aiter_moe.py"},
    KernelNeed{"dtype", kAiterFp8, "bfloat16", [](const Placement& p) { return dtype_is(p, {"bfloat16"}); }, "E/aiter_mxfp4_w4a8_moe.py"},
    KernelNeed{"activation", kAiterFp8, "SWIGLUOAI, fixed", [](const Placement& p) { return activation_is(p, {"SWIGLUOAI"}); },
               "E/aiter_mxfp4_w4a8_moe.py"},
    KernelNeed{"expert_map", kAiterFp8, "no expert parallelism: the map is received and ignored", [](const Placement& p) { return !has_ep(p); },
               "E/aiter_mxfp4_w4a8_moe.py apply"},

    KernelNeed{"device", kXpu, "xpu", [](const Placement& p) { return is_on(p, PlatformKind::xpu); }, "E/xpu_moe.py: vllm_xpu_kernels"},

    KernelNeed{"device", kCpu, "cpu", [](const Placement& p) { return is_on(p, PlatformKind::cpu); }, "E/cpu_moe.py: torch.ops._C of the CPU build"},
    KernelNeed{"sizes", kCpu, "H and I multiples of 32: packed rows of 16, scale rows of 32, K of 32",
               [](const Placement& p) { return divides(32, {2 * p.intermediate, p.hidden, p.intermediate}); },
               "vllm csrc/cpu/sgl-kernels/gemm.cpp TILE_N, TILE_K, BLOCK_N"},
    KernelNeed{"dtype", kCpu, "float16 or bfloat16", [](const Placement& p) { return dtype_is(p, {"float16", "bfloat16"}); },
               "vllm csrc/cpu/sgl-kernels/moe.cpp"},
    KernelNeed{"activation", kCpu, "SwiGLU-OAI: chosen by the presence of alpha and limit, which are always given here",
               [](const Placement& p) { return activation_is(p, {"SWIGLUOAI"}); }, "vllm csrc/cpu/sgl-kernels/moe.cpp"},
    KernelNeed{"expert_map", kCpu, "no expert parallelism: the map is ignored", [](const Placement& p) { return !has_ep(p); }, "E/cpu_moe.py apply"},

    KernelNeed{"device", kEmulation, "cuda, rocm or xpu: Triton", [](const Placement& p) { return !is_on(p, PlatformKind::cpu); }, "E/triton_moe.py"},

    KernelNeed{"device", kHumming, "cuda from capability 75 on", [](const Placement& p) { return cuda_in(p, 75, 1000); },
               "E/fused_humming_moe.py _supports_current_device, which selection never asks"},
};

}  // namespace

std::span<const ClassList> class_lists() { return kClassLists; }

std::span<const KernelNeed> kernel_needs_mxfp4() { return kNeeds; }

bool concerns(const KernelNeed& need, std::string_view backend) {
  return need.backends.empty() || std::find(need.backends.begin(), need.backends.end(), backend) != need.backends.end();
}

const KernelNeed* first_broken_need(const Placement& placement) {
  for (const KernelNeed& need : kNeeds) {
    if (concerns(need, placement.backend) && !need.holds(placement)) return &need;
  }
  return nullptr;
}

}  // namespace mx::oracle
