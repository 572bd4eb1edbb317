#include "model/oracle/findings.hpp"

#include <algorithm>
#include <array>

namespace mx::oracle {
namespace {

/// gpt-oss-120b's layer on one device, asking for a backend by name.
Deployment layer_on(std::string_view platform, std::string_view moe_backend = "auto") {
  LayerConfig layer{.num_experts = 128, .experts_per_token = 4, .hidden = 2880, .intermediate_per_partition = 2880};
  layer.moe_backend = moe_backend;
  Deployment deployment = deployment_on(platform_named(platform), {}, layer);
  // Aiter is off unless asked for.
  if (deployment.hardware.platform == PlatformKind::rocm) deployment.env["VLLM_ROCM_USE_AITER"] = "1";
  return deployment;
}

Deployment with_activation(Deployment deployment, std::string_view activation) {
  deployment.layer.activation = activation;
  return deployment;
}
Deployment with_dtype(Deployment deployment, std::string_view dtype) {
  deployment.layer.in_dtype = dtype;
  return deployment;
}
Deployment with_hidden(Deployment deployment, std::int64_t hidden) {
  deployment.layer.hidden = hidden;
  return deployment;
}
Deployment with_expert_parallel(Deployment deployment, int tp, int dp, std::string_view all2all, std::int64_t experts) {
  deployment.parallel = {.tp = tp, .dp = dp, .enable_expert_parallel = true, .all2all_backend = std::string(all2all)};
  deployment.layer.num_experts = experts;
  return deployment;
}
Deployment uneven(Deployment deployment) { return with_expert_parallel(std::move(deployment), 3, 1, "allgather_reducescatter", 128); }
Deployment unknown_exchange(Deployment deployment) { return with_expert_parallel(std::move(deployment), 1, 2, "pplx", 128); }
Deployment with_key(Deployment deployment, std::string_view key) {
  deployment.activation_key = key;
  return deployment;
}
Deployment without_bias(Deployment deployment) {
  deployment.layer.has_bias = false;
  return deployment;
}

constexpr std::string_view kNotLoaded = "the last experts are never loaded, and offsets point at the wrong ones";
constexpr std::string_view kNotLoadedSource = "vllm models/gpt_oss.py _load_weights_mxfp4; fused_moe/layer.py determine_expert_map";
constexpr std::string_view kNoExchange = "an assertion at assembly; the launcher turns pplx and naive into allgather_reducescatter before";
constexpr std::string_view kNoExchangeSource = "vllm config/parallel.py; fused_moe/all2all_utils.py";
constexpr std::string_view kCutBlocks = "scales of a hidden size that is no multiple of 32 are cut off: rounding leaves hidden as it is";
constexpr std::string_view kCutBlocksSource = "vllm oracle/mxfp4.py mxfp4_round_up_hidden_size_and_intermediate_size";
constexpr std::string_view kFp16 = "a float16 or float32 model meets a kernel of bfloat16";
constexpr std::string_view kDtypeSource = "in_dtype is not among the checks: vllm modular_kernel.py is_supported_config";

constexpr std::string_view kSiluOrRelu2 = "a SILU or RELU2_NO_MUL layer is computed as SwiGLU-OAI";

// What the rows cover, asked of the placement alone.

bool activation_is(const Placement& p, std::string_view name) { return p.deployment.layer.activation == name; }
bool is_silu(const Placement& p) { return activation_is(p, "SILU"); }
bool is_silu_or_relu2(const Placement& p) { return activation_is(p, "SILU") || activation_is(p, "RELU2_NO_MUL"); }
bool is_step(const Placement& p) { return activation_is(p, "SWIGLUSTEP"); }

bool dtype_is(const Placement& p, std::string_view name) { return p.deployment.layer.in_dtype == name; }
bool is_float32(const Placement& p) { return dtype_is(p, "float32"); }
bool is_not_bfloat16(const Placement& p) { return dtype_is(p, "float16") || dtype_is(p, "float32"); }
bool has_no_marlin_kernel(const Placement& p) {
  return dtype_is(p, "float32") || (dtype_is(p, "bfloat16") && p.deployment.hardware.capability == 75);
}

bool has_biases(const Placement& p) { return p.deployment.layer.has_bias; }
bool cuts_hidden_block(const Placement& p) { return p.hidden % 32 != 0 && p.intermediate % 32 == 0; }

bool has_expert_parallel(const Placement& p) {
  const ParallelRequest& parallel = p.deployment.parallel;
  return parallel.enable_expert_parallel && std::int64_t{parallel.tp} * parallel.pcp * parallel.dp > 1;
}
bool has_expert_parallel_over_tensor_ranks(const Placement& p) { return has_expert_parallel(p) && p.deployment.parallel.dp == 1; }
bool leaves_experts_over(const Placement& p) {
  const ParallelRequest& parallel = p.deployment.parallel;
  return has_expert_parallel(p) && p.deployment.layer.num_experts % (std::int64_t{parallel.tp} * parallel.pcp * parallel.dp) != 0;
}
bool exchanges_tokens(const Placement& p) { return has_expert_parallel(p) && p.deployment.parallel.dp > 1; }
bool exchange_is(const Placement& p, std::initializer_list<std::string_view> names) {
  return exchanges_tokens(p) && std::find(names.begin(), names.end(), p.deployment.parallel.all2all_backend) != names.end();
}
bool names_no_exchange(const Placement& p) { return exchange_is(p, {"pplx", "naive"}); }
/// Data parallel ranks without expert parallelism gather their tokens in the same way.
bool sends_linear_scales(const Placement& p) {
  return (p.deployment.parallel.dp > 1 && !has_expert_parallel(p)) ||
         exchange_is(p, {"allgather_reducescatter", "flashinfer_all2allv", "flashinfer_nvlink_two_sided", "flashinfer_nvlink_one_sided"});
}
bool routes_elsewhere(const Placement& p) {
  return p.deployment.parallel.enable_eplb || (exchanges_tokens(p) && !exchange_is(p, {"allgather_reducescatter"}));
}

bool installed_off_cuda(const Placement& p) {
  return p.deployment.software.humming_installed && p.deployment.hardware.platform != PlatformKind::cuda;
}

constexpr std::array kFindings = {
    Finding{"FLASHINFER_TRTLLM_MXFP4_BF16", "even_experts", kNotLoaded, kNotLoadedSource, leaves_experts_over,
            [] { return uneven(layer_on("SM100")); }},
    Finding{"FLASHINFER_TRTLLM_MXFP4_BF16", "exchange", kNoExchange, kNoExchangeSource, names_no_exchange,
            [] { return unknown_exchange(layer_on("SM100")); }},
    Finding{"FLASHINFER_TRTLLM_MXFP4_BF16", "dtype", kFp16, kDtypeSource, is_not_bfloat16, [] { return with_dtype(layer_on("SM100"), "float16"); }},
    Finding{"FLASHINFER_TRTLLM_MXFP4_BF16", "activation", "a SILU layer is computed as SwiGLU-OAI", "vllm E/trtllm_mxfp4_moe.py", is_silu,
            [] { return with_activation(layer_on("SM100"), "SILU"); }},
    Finding{"FLASHINFER_TRTLLM_MXFP4_MXFP8", "even_experts", kNotLoaded, kNotLoadedSource, leaves_experts_over,
            [] { return uneven(layer_on("SM100", "flashinfer_trtllm_afp8")); }},
    Finding{"FLASHINFER_TRTLLM_MXFP4_MXFP8", "exchange", kNoExchange, kNoExchangeSource, names_no_exchange,
            [] { return unknown_exchange(layer_on("SM100", "flashinfer_trtllm_afp8")); }},
    Finding{"FLASHINFER_TRTLLM_MXFP4_MXFP8", "dtype", kFp16, kDtypeSource, is_not_bfloat16,
            [] { return with_dtype(layer_on("SM100", "flashinfer_trtllm_afp8"), "float16"); }},
    Finding{"FLASHINFER_TRTLLM_MXFP4_MXFP8", "activation", "a SILU layer is computed as SwiGLU-OAI", "vllm E/trtllm_mxfp4_moe.py", is_silu,
            [] { return with_activation(layer_on("SM100", "flashinfer_trtllm_afp8"), "SILU"); }},

    Finding{"FLASHINFER_CUTLASS_MXFP4_BF16", "even_experts", "an error in the kernel's launcher", kNotLoadedSource, leaves_experts_over,
            [] { return uneven(layer_on("SM90", "flashinfer_cutlass")); }},
    Finding{"FLASHINFER_CUTLASS_MXFP4_BF16", "exchange", kNoExchange, kNoExchangeSource, names_no_exchange,
            [] { return unknown_exchange(layer_on("SM90", "flashinfer_cutlass")); }},
    Finding{"FLASHINFER_CUTLASS_MXFP4_BF16", "dtype", kFp16, kDtypeSource, is_not_bfloat16,
            [] { return with_dtype(layer_on("SM90", "flashinfer_cutlass"), "float16"); }},
    Finding{"FLASHINFER_CUTLASS_MXFP4_BF16", "activation", kSiluOrRelu2, "vllm E/flashinfer_cutlass_moe.py", is_silu_or_relu2,
            [] { return with_activation(layer_on("SM90", "flashinfer_cutlass"), "SILU"); }},
    Finding{"FLASHINFER_CUTLASS_MXFP4_MXFP8", "even_experts", "an error in the kernel's launcher", kNotLoadedSource, leaves_experts_over,
            [] { return uneven(layer_on("SM100", "flashinfer_cutlass_afp8")); }},
    Finding{"FLASHINFER_CUTLASS_MXFP4_MXFP8", "exchange", kNoExchange, kNoExchangeSource, names_no_exchange,
            [] { return unknown_exchange(layer_on("SM100", "flashinfer_cutlass_afp8")); }},
    Finding{"FLASHINFER_CUTLASS_MXFP4_MXFP8", "dtype", kFp16, kDtypeSource, is_not_bfloat16,
            [] { return with_dtype(layer_on("SM100", "flashinfer_cutlass_afp8"), "float16"); }},
    Finding{"FLASHINFER_CUTLASS_MXFP4_MXFP8", "activation", kSiluOrRelu2, "vllm E/flashinfer_cutlass_moe.py", is_silu_or_relu2,
            [] { return with_activation(layer_on("SM100", "flashinfer_cutlass_afp8"), "SILU"); }},
    Finding{"FLASHINFER_CUTLASS_MXFP4_MXFP8", "swizzled_scales", "NaN logits with a healthy server: linear scales are read as swizzled",
            "vllm issue 42118; pull requests 42133, 49335", sends_linear_scales,
            [] { return with_expert_parallel(layer_on("SM100", "flashinfer_cutlass_afp8"), 1, 2, "allgather_reducescatter", 128); }},

    Finding{"DEEPGEMM_MXFP4", "bias", "biases are left out of the result", "vllm E/deep_gemm_moe.py; has_bias is not among the checks", has_biases,
            [] { return with_activation(layer_on("SM100", "deep_gemm"), "SILU"); }},
    Finding{"DEEPGEMM_MXFP4", "activation", "SWIGLUSTEP is listed by the class and asserts in it", "vllm E/deep_gemm_moe.py", is_step,
            [] { return without_bias(with_activation(layer_on("SM100", "deep_gemm"), "SWIGLUSTEP")); }},
    Finding{"DEEPGEMM_MXFP4", "dtype", kFp16, kDtypeSource, is_not_bfloat16,
            [] { return with_dtype(without_bias(with_activation(layer_on("SM100", "deep_gemm"), "SILU")), "float16"); }},
    Finding{"DEEPGEMM_MXFP4", "even_experts", kNotLoaded, kNotLoadedSource, leaves_experts_over,
            [] { return uneven(without_bias(with_activation(layer_on("SM100", "deep_gemm"), "SILU"))); }},
    Finding{"DEEPGEMM_MXFP4", "exchange", kNoExchange, kNoExchangeSource, names_no_exchange,
            [] { return unknown_exchange(without_bias(with_activation(layer_on("SM100", "deep_gemm"), "SILU"))); }},

    Finding{"MARLIN", "dtype", "bfloat16 at capability 75, or float32 anywhere, has no kernel", "vllm csrc/moe/marlin_moe_wna16/ops.cu",
            has_no_marlin_kernel,
            [] { return layer_on("SM75"); }},
    Finding{"MARLIN", "even_experts", kNotLoaded, kNotLoadedSource, leaves_experts_over, [] { return uneven(layer_on("SM80")); }},
    Finding{"MARLIN", "exchange", kNoExchange, kNoExchangeSource, names_no_exchange, [] { return unknown_exchange(layer_on("SM80")); }},
    Finding{"BATCHED_MARLIN", "dtype", "bfloat16 at capability 75, or float32 anywhere, has no kernel",
            "vllm csrc/moe/marlin_moe_wna16/ops.cu", has_no_marlin_kernel,
            [] { return with_expert_parallel(layer_on("SM75"), 1, 2, "deepep_low_latency", 128); }},
    Finding{"BATCHED_MARLIN", "even_experts", kNotLoaded, kNotLoadedSource, leaves_experts_over,
            [] { return with_expert_parallel(layer_on("SM80"), 1, 3, "deepep_low_latency", 128); }},

    Finding{"TRITON", "blocks", kCutBlocks, kCutBlocksSource, cuts_hidden_block, [] { return with_hidden(layer_on("SM90"), 1000); }},
    Finding{"TRITON", "dtype", kFp16, kDtypeSource, is_not_bfloat16, [] { return with_dtype(layer_on("SM90"), "float16"); }},
    Finding{"TRITON", "even_experts", kNotLoaded, kNotLoadedSource, leaves_experts_over, [] { return uneven(layer_on("SM90")); }},
    Finding{"TRITON", "exchange", kNoExchange, kNoExchangeSource, names_no_exchange, [] { return unknown_exchange(layer_on("SM90")); }},
    Finding{"TRITON", "exchange_works", "errors on gpt-oss with data and expert parallelism", "vllm pull request 37128", exchanges_tokens,
            [] { return with_expert_parallel(layer_on("SM90"), 1, 2, "allgather_reducescatter", 128); }},
    Finding{"TRITON_UNFUSED", "blocks", kCutBlocks, kCutBlocksSource, cuts_hidden_block,
            [] { return with_hidden(layer_on("SM90", "triton_unfused"), 1000); }},
    Finding{"TRITON_UNFUSED", "dtype", kFp16, kDtypeSource, is_not_bfloat16,
            [] { return with_dtype(layer_on("SM90", "triton_unfused"), "float16"); }},
    Finding{"TRITON_UNFUSED", "even_experts", kNotLoaded, kNotLoadedSource, leaves_experts_over,
            [] { return uneven(layer_on("SM90", "triton_unfused")); }},
    Finding{"TRITON_UNFUSED", "exchange", kNoExchange, kNoExchangeSource, names_no_exchange,
            [] { return unknown_exchange(layer_on("SM90", "triton_unfused")); }},

    Finding{"AITER_MXFP4_BF16", "dtype", "float32 has no kernel", kDtypeSource, is_float32, [] { return with_dtype(layer_on("gfx950"), "float32"); }},
    Finding{"AITER_MXFP4_BF16", "even_experts", kNotLoaded, kNotLoadedSource, leaves_experts_over, [] { return uneven(layer_on("gfx950")); }},
    Finding{"AITER_MXFP4_BF16", "exchange", kNoExchange, kNoExchangeSource, names_no_exchange, [] { return unknown_exchange(layer_on("gfx950")); }},
    Finding{"AITER_MXFP4_MXFP4", "bias", "biases are dropped without a word", "vllm E/rocm_aiter_moe.py", has_biases,
            [] { return with_key(layer_on("gfx950"), "kMxfp4Dynamic"); }},
    Finding{"AITER_MXFP4_MXFP4", "dtype", "float32 has no kernel", kDtypeSource, is_float32,
            [] { return with_dtype(without_bias(with_key(layer_on("gfx950"), "kMxfp4Dynamic")), "float32"); }},
    Finding{"AITER_MXFP4_MXFP4", "even_experts", kNotLoaded, kNotLoadedSource, leaves_experts_over,
            [] { return uneven(without_bias(with_key(layer_on("gfx950"), "kMxfp4Dynamic"))); }},
    Finding{"AITER_MXFP4_MXFP4", "exchange", kNoExchange, kNoExchangeSource, names_no_exchange,
            [] { return unknown_exchange(without_bias(with_key(layer_on("gfx950"), "kMxfp4Dynamic"))); }},
    Finding{"AITER_MXFP4_FP8", "dtype", kFp16, kDtypeSource, is_not_bfloat16,
            [] { return with_dtype(with_key(layer_on("gfx950"), "kFp8StaticTensorSym"), "float16"); }},
    Finding{"AITER_MXFP4_FP8", "even_experts", kNotLoaded, kNotLoadedSource, leaves_experts_over,
            [] { return uneven(with_key(layer_on("gfx950"), "kFp8StaticTensorSym")); }},
    Finding{"AITER_MXFP4_FP8", "expert_map", "expert parallelism over tensor ranks gives wrong results: the map is ignored",
            "vllm E/aiter_mxfp4_w4a8_moe.py; the class refuses data parallelism, all2all and EPLB, not this", has_expert_parallel_over_tensor_ranks,
            [] { return with_expert_parallel(with_key(layer_on("gfx950"), "kFp8StaticTensorSym"), 2, 1, "allgather_reducescatter", 128); }},

    Finding{"XPU", "blocks", kCutBlocks, kCutBlocksSource, cuts_hidden_block, [] { return with_hidden(layer_on("XPU"), 1000); }},
    Finding{"XPU", "even_experts", kNotLoaded, kNotLoadedSource, leaves_experts_over, [] { return uneven(layer_on("XPU")); }},
    Finding{"XPU", "exchange", kNoExchange, kNoExchangeSource, names_no_exchange, [] { return unknown_exchange(layer_on("XPU")); }},

    Finding{"CPU", "activation", "a SILU layer is computed as SwiGLU-OAI", "vllm csrc/cpu/sgl-kernels/moe.cpp", is_silu,
            [] { return with_activation(layer_on("CPU"), "SILU"); }},
    Finding{"CPU", "dtype", "float32 has no kernel", kDtypeSource, is_float32, [] { return with_dtype(layer_on("CPU"), "float32"); }},
    Finding{"CPU", "even_experts", kNotLoaded, kNotLoadedSource, leaves_experts_over, [] { return uneven(layer_on("CPU")); }},
    Finding{"CPU", "expert_map", "every rank computes all experts with global ids against local weights", "vllm E/cpu_moe.py apply",
            has_expert_parallel,
            [] { return with_expert_parallel(layer_on("CPU"), 2, 1, "allgather_reducescatter", 128); }},
    Finding{"CPU", "exchange", kNoExchange, kNoExchangeSource, names_no_exchange, [] { return unknown_exchange(layer_on("CPU")); }},
    Finding{"CPU", "router", "the class refuses no exchange and no EPLB, though it routes by itself",
            "vllm E/cpu_moe.py _supports_parallel_config", routes_elsewhere,
            [] {
              Deployment deployment = layer_on("CPU");
              deployment.parallel.enable_eplb = true;
              return deployment;
            }},

    Finding{"EMULATION", "blocks", kCutBlocks, kCutBlocksSource, cuts_hidden_block, [] { return with_hidden(layer_on("SM90", "emulation"), 1000); }},
    Finding{"EMULATION", "even_experts", kNotLoaded, kNotLoadedSource, leaves_experts_over, [] { return uneven(layer_on("SM90", "emulation")); }},
    Finding{"EMULATION", "exchange", kNoExchange, kNoExchangeSource, names_no_exchange,
            [] { return unknown_exchange(layer_on("SM90", "emulation")); }},

    Finding{"HUMMING", "blocks", kCutBlocks, kCutBlocksSource, cuts_hidden_block, [] { return with_hidden(layer_on("SM90", "humming"), 1000); }},
    Finding{"HUMMING", "even_experts", kNotLoaded, kNotLoadedSource, leaves_experts_over, [] { return uneven(layer_on("SM90", "humming")); }},
    Finding{"HUMMING", "exchange", kNoExchange, kNoExchangeSource, names_no_exchange, [] { return unknown_exchange(layer_on("SM90", "humming")); }},
    Finding{"HUMMING", "device", "with the package installed it is chosen on any device",
            "vllm E/fused_humming_moe.py is_supported_config", installed_off_cuda,
            [] {
              Deployment deployment = layer_on("gfx942", "humming");
              deployment.software.humming_installed = true;
              return deployment;
            }},
};

}  // namespace

std::span<const Finding> oracle_findings_mxfp4() { return kFindings; }

const Finding* find_finding(std::string_view need, const Placement& placement) {
  for (const Finding& finding : kFindings) {
    if (finding.backend == placement.backend && finding.need == need && finding.covers(placement)) return &finding;
  }
  return nullptr;
}

}  // namespace mx::oracle
