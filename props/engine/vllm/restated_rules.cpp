// What versions of the engine say apart from a search: lists, sizes, routing methods, names, exceptions.

#include <algorithm>
#include <optional>

#include "props/engine/vllm/restated.hpp"

namespace mx::props {
namespace {

using Text = std::string_view;
using Texts = std::vector<Text>;
using deployment::kVllm2026_08;
using deployment::kVllm2026_11;

std::int64_t up(std::int64_t size, std::int64_t multiple) { return size % multiple == 0 ? size : size + multiple - size % multiple; }
RestatedSizes up(RestatedSizes sizes, std::int64_t hidden, std::int64_t intermediate) {
  return {up(sizes.first, hidden), up(sizes.second, intermediate)};
}

void move_before(Texts& list, Text moved, Text other) {
  const auto at = std::ranges::find(list, moved);
  const auto to = std::ranges::find(list, other);
  if (at == list.end() || to == list.end() || at < to) return;
  list.erase(at);
  list.insert(std::ranges::find(list, other), moved);
}

void move_to_front(Texts& list, Text moved) {
  std::erase(list, moved);
  list.insert(list.begin(), moved);
}

void move_to_back(Texts& list, Text moved) {
  std::erase(list, moved);
  list.push_back(moved);
}

RestatedSizes mxfp4_sizes(Text backend, const Facts& f, RestatedSizes given) {
  const bool august = f.engine >= kVllm2026_08, november = f.engine >= kVllm2026_11;
  const bool soft = has_word("SITU SILU", f.deployment.layer.activation);
  if (has_word("B12X_MXFP4_MXFP8 B12X_MXFP4_BF16", backend)) return given;
  if (has_word("FLASHINFER_MOE_EP_CUTEDSL FLASHINFER_MOE_EP_DEEP_GEMM", backend)) return given;
  if (august && backend == "EMULATION") return up(given, 32, 32);
  if (backend == "DEEPGEMM_MXFP4") return up(given, 128, 128);
  if (has_word("MARLIN BATCHED_MARLIN", backend)) return up(given, f.is("xpu") ? 128 : 256, 128);
  if (has_word("FLASHINFER_TRTLLM_MXFP4_BF16 FLASHINFER_TRTLLM_MXFP4_MXFP8", backend)) return up(given, 256, august ? 128 : 256);
  if (has_word("FLASHINFER_CUTLASS_MXFP4_BF16 FLASHINFER_CUTLASS_MXFP4_MXFP8 CUTLASS_MXFP4_MXFP4", backend)) return up(given, 128, 128);
  if (f.is("rocm")) {
    if (november && backend == "AITER_MXFP4_MXFP4") return up(given, 256, 128);
    if (august && backend == "AITER_MXFP4_BF16" && soft) return up(given, 128, 128);
    if (november && backend == "TRITON_UNFUSED" && soft && !f.gfx("gfx950")) return up(given, 128, 128);
    return up(given, 256, 256);
  }
  return backend == "CPU" ? up(given, 32, 32) : up(given, 1, 64);
}

}  // namespace

RestatedSizes restated_sizes(Text oracle, Text backend, const Facts& f, RestatedSizes given) {
  if (has_word("mxfp4 mxfp4_deepseek_v4", oracle)) return mxfp4_sizes(backend, f, given);
  if (oracle != "unquantized" || f.engine < kVllm2026_11) return given;
  if (backend == "FLASHINFER_TRTLLM") return up(given, 1, 128);
  return backend == "AITER" ? up(given, 1, given.second <= 192 ? 64 : 128) : given;
}

Text restated_routing(deployment::Engine engine, Text scoring, bool bias, int groups, bool renormalize, double scaling) {
  if (scoring == "sqrtsoftplus") return renormalize ? "DeepseekV4" : "Unspecified";
  if (bias) {
    if (scoring != "sigmoid" || !renormalize) return "Unspecified";
    if (groups > 0) return "DeepSeekV3";
    return engine >= kVllm2026_11 || scaling == 1.0 ? "MiniMax2" : "Unspecified";
  }
  if (scoring == "sigmoid") return renormalize ? "SigmoidRenorm" : "Sigmoid";
  if (scoring == "softmax") return renormalize ? "RenormalizeNaive" : "Default";
  return "Unspecified";
}

namespace {

Texts fp8_list(const Facts& f) {
  const bool november = f.engine >= kVllm2026_11;
  Texts list = texts_of(
      "AITER FLASHINFER_TRTLLM FLASHINFER_CUTLASS DEEPGEMM VLLM_CUTLASS TRITON MARLIN HUMMING BATCHED_DEEPGEMM BATCHED_VLLM_CUTLASS BATCHED_TRITON "
      "XPU CPU_W8A8 CPU HPC");
  if (f.engine < kVllm2026_08) {
    std::erase(list, "HUMMING");
    std::erase(list, "HPC");
  }
  if (!november) std::erase(list, "CPU_W8A8");
  if (f.cuda_family(100) && f.exchange_is("deepep_v2") && f.fp8_blocks()) move_to_front(list, "FLASHINFER_TRTLLM");
  if (f.cuda(90) && f.fp8_blocks()) move_to_front(list, f.ep_size > 1 ? "FLASHINFER_CUTLASS" : "TRITON");
  if (f.is("xpu")) move_to_front(list, "XPU");
  if (f.is("cpu")) move_to_front(list, "CPU");
  if (f.is("cpu") && november) move_to_front(list, "CPU_W8A8");
  if (november && f.cuda(90)) move_before(list, "HUMMING", "MARLIN");
  return list;
}

Texts plain_list(const Facts& f) {
  if (f.is("rocm")) return texts_of("AITER TRITON BATCHED_TRITON");
  if (f.is("xpu")) return texts_of(f.engine >= kVllm2026_11 ? "XPU TRITON" : "XPU");
  if (f.is("cpu")) return texts_of("CPU");
  Texts list = texts_of("FLASHINFER_TRTLLM FLASHINFER_CUTLASS TRITON BATCHED_TRITON");
  const auto both_back = [&] {
    move_to_back(list, "FLASHINFER_TRTLLM");
    move_to_back(list, "FLASHINFER_CUTLASS");
  };
  if (f.cuda_family(90)) both_back();
  if (f.deployment.parallel.dp > 1) move_to_back(list, "FLASHINFER_CUTLASS");
  if (f.deployment.layer.activation == "SWIGLUOAI") both_back();
  return list;
}

Texts mxfp4_list(const Facts& f) {
  Texts list = texts_of(
      "FLASHINFER_TRTLLM_MXFP4_BF16 FLASHINFER_TRTLLM_MXFP4_MXFP8 AITER_MXFP4_BF16 AITER_TRITON_MXFP4_BF16 AITER_MXFP4_FP8 AITER_MXFP4_MXFP4 TRITON "
      "FLASHINFER_CUTLASS_MXFP4_BF16 FLASHINFER_CUTLASS_MXFP4_MXFP8 CUTLASS_MXFP4_MXFP4 MARLIN BATCHED_MARLIN HUMMING XPU CPU EMULATION");
  if (f.engine < kVllm2026_08) std::erase(list, "EMULATION");
  if (f.engine < kVllm2026_11) {
    for (const Text added : {"AITER_TRITON_MXFP4_BF16", "CUTLASS_MXFP4_MXFP4", "HUMMING", "CPU"}) std::erase(list, added);
  } else if (f.cuda_family(120)) {
    std::erase(list, "TRITON");
    list.insert(std::ranges::find(list, "BATCHED_MARLIN") + 1, "TRITON");
  }
  return list;
}

Texts deepseek_list(const Facts& f) {
  const bool v4 = f.deployment.layer.routing_method == "DeepseekV4";
  constexpr Text kCuda = "FLASHINFER_TRTLLM_MXFP4_MXFP8 DEEPGEMM_MXFP4 MARLIN BATCHED_MARLIN";
  if (f.engine < kVllm2026_08) return texts_of(!f.is("rocm") ? kCuda : v4 ? "TRITON_UNFUSED AITER_MXFP4_BF16" : "AITER_MXFP4_BF16");
  const bool november = f.engine >= kVllm2026_11;
  if (f.is("rocm")) return texts_of(v4 ? "AITER_MXFP4_BF16 TRITON_UNFUSED" : "AITER_MXFP4_BF16 EMULATION");
  if (f.is("xpu")) return texts_of("XPU");
  if (f.is("cpu") && november) return texts_of("CPU");
  Texts list = texts_of(kCuda);
  if (november) list.push_back("HUMMING");
  return list;
}

Texts wna16_list(const Facts& f) {
  const bool november = f.engine >= kVllm2026_11;
  if (f.is("cpu")) return texts_of(november ? "ZEN_CPU CPU" : "CPU");
  if (f.is("xpu")) return texts_of("XPU");
  return texts_of(november ? "RDNA3 FLASHINFER_TRTLLM MARLIN BATCHED_MARLIN TRITON HUMMING EMULATION"
                           : "FLASHINFER_TRTLLM MARLIN BATCHED_MARLIN TRITON HUMMING EMULATION");
}

/// Before Humming moves.
Texts unmoved(Text oracle, const Facts& f) {
  const bool may = f.engine < kVllm2026_08, november = f.engine >= kVllm2026_11;
  if (oracle == "unquantized") return plain_list(f);
  if (oracle == "mxfp4") return mxfp4_list(f);
  if (oracle == "mxfp4_deepseek_v4") return deepseek_list(f);
  if (oracle == "int_wna16") return wna16_list(f);
  if (oracle == "w4a8") return texts_of(november ? "CUTLASS HUMMING" : "CUTLASS");
  if (oracle == "int8") return texts_of("TRITON HUMMING CPU");
  if (oracle == "w4a8_int8") return texts_of(f.is("cpu") ? "CPU_INT4" : "");
  if (oracle == "mxfp8")
    return texts_of(may ? "FLASHINFER_TRTLLM MARLIN XPU" : "FLASHINFER_TRTLLM DEEPGEMM MARLIN XPU AITER_MXFP8 HUMMING TRITON_MXFP8 EMULATION");
  return texts_of(may ? "FLASHINFER_TRTLLM FLASHINFER_CUTEDSL FLASHINFER_CUTEDSL_BATCHED FLASHINFER_CUTLASS VLLM_CUTLASS MARLIN EMULATION"
                      : "FLASHINFER_TRTLLM FLASHINFER_CUTEDSL FLASHINFER_CUTEDSL_BATCHED FLASHINFER_CUTLASS VLLM_CUTLASS MARLIN HUMMING EMULATION");
}

}  // namespace

Texts restated_order(Text oracle, const Facts& f) {
  if (oracle == "fp8") return fp8_list(f);
  Texts list = unmoved(oracle, f);
  // On capability 90 alone, before the first with Marlin in its name.
  if (f.engine >= kVllm2026_11 && f.cuda(90) && oracle != "int8") move_before(list, "HUMMING", "MARLIN");
  return list;
}

namespace {

/// What a name means from a version on, until a row behind it says otherwise.
struct RestatedName {
  Text oracles, name;
  deployment::Engine since;
  Text backends;
};
constexpr RestatedName kNames[] = {
    {"mxfp4 mxfp4_deepseek_v4", "b12x", kVllm2026_08, "B12X_MXFP4_MXFP8 B12X_MXFP4_BF16"},
    {"mxfp4 mxfp4_deepseek_v4", "aiter", kVllm2026_08, "AITER_MXFP4_BF16 AITER_MXFP4_FP8 AITER_MXFP4_MXFP4"},
    {"mxfp4 mxfp4_deepseek_v4", "aiter", kVllm2026_11,
     "AITER_MXFP4_BF16 AITER_TRITON_MXFP4_BF16 AITER_MXFP4_FP8 AITER_MXFP4_MXFP4 AITER_TRITON_MXFP4_MXFP4"},
    {"mxfp4", "aiter_triton_mxfp4_bf16", kVllm2026_08, ""},
    {"mxfp4", "aiter_triton_mxfp4_bf16", kVllm2026_11, "AITER_TRITON_MXFP4_BF16"},
    {"mxfp4", "aiter_triton_mxfp4_mxfp4", kVllm2026_08, ""},
    {"mxfp4", "aiter_triton_mxfp4_mxfp4", kVllm2026_11, "AITER_TRITON_MXFP4_MXFP4"},
    {"mxfp4", "flashinfer_moe_ep_cutedsl", kVllm2026_08, ""},
    {"mxfp4", "flashinfer_moe_ep_cutedsl", kVllm2026_11, "FLASHINFER_MOE_EP_CUTEDSL"},
    {"mxfp4", "flashinfer_moe_ep_mega_deep_gemm", kVllm2026_08, ""},
    {"mxfp4", "flashinfer_moe_ep_mega_deep_gemm", kVllm2026_11, "FLASHINFER_MOE_EP_DEEP_GEMM"},
    {"nvfp4", "b12x", kVllm2026_08, "B12X"},
    {"nvfp4", "humming", kVllm2026_08, "HUMMING"},
    {"nvfp4", "flashinfer_moe_ep_cutedsl", kVllm2026_08, ""},
    {"nvfp4", "flashinfer_moe_ep_cutedsl", kVllm2026_11, "FLASHINFER_MOE_EP_CUTEDSL"},
    {"fp8", "humming", kVllm2026_08, "HUMMING"},
    {"fp8", "hpc", kVllm2026_08, "HPC"},
    {"fp8", "b12x", kVllm2026_08, ""},
    {"mxfp8", "aiter", kVllm2026_08, "AITER_MXFP8"},
    {"mxfp8", "triton", kVllm2026_08, "TRITON_MXFP8"},
    {"mxfp8", "emulation", kVllm2026_08, ""},
    {"unquantized", "flashinfer_trtllm", kVllm2026_08, "FLASHINFER_TRTLLM"},
    {"unquantized", "batched_triton", kVllm2026_08, "BATCHED_TRITON"},
    {"unquantized", "deep_gemm", kVllm2026_08, ""},
    {"unquantized", "marlin", kVllm2026_08, ""},
    {"unquantized", "marlin", kVllm2026_11, {}},  // counts as auto
    {"int_wna16", "rdna3", kVllm2026_08, ""},
    {"int_wna16", "rdna3", kVllm2026_11, "RDNA3"},
    {"int_wna16", "emulation", kVllm2026_08, "EMULATION"},
    {"int_wna16", "humming", kVllm2026_08, "HUMMING"},
    {"int8", "triton", kVllm2026_08, "TRITON"},
    {"int8", "humming", kVllm2026_08, "HUMMING"},
    {"int8", "marlin", kVllm2026_08, ""},
    {"w4a8", "cutlass", kVllm2026_11, "CUTLASS"},
    {"w4a8", "humming", kVllm2026_11, "HUMMING"},
    {"w4a8_int8", "cpu", kVllm2026_08, "CPU_INT4"},
};

}  // namespace

std::optional<Text> restated_meaning(deployment::Engine engine, Text oracle, Text name) {
  std::optional<Text> said;
  for (const RestatedName& row : kNames) {
    if (!has_word(row.oracles, oracle) || row.name != name || engine < row.since) continue;
    said = row.backends.data() == nullptr ? std::nullopt : std::optional(row.backends);
  }
  return said;
}

Text restated_end(Text oracle, const Facts& f, bool named) {
  const bool november = f.engine >= kVllm2026_11;
  if (oracle == "mxfp8") return "ValueError";
  if (oracle == "w4a8") return "NotImplementedError";
  if (oracle == "w4a8_int8" && !f.is("cpu")) return "NotImplementedError";
  if (named) return "ValueError";
  if (oracle == "mxfp4") return f.is("xpu") || (f.is("cpu") && !november) ? "ValueError" : "NotImplementedError";
  if (oracle == "fp8") return f.is("cuda") || f.is("rocm") ? "NotImplementedError" : "";
  return "NotImplementedError";
}

Text restated_config_error(const Facts& f) {
  const deployment::Deployment& d = f.deployment;
  const bool gated = !d.layer.activation.ends_with("_NO_MUL");
  const int ranks = d.parallel.tp * d.parallel.pcp * d.parallel.dp;
  if (d.layer.intermediate != 0 && f.ep_size == 1 && d.layer.intermediate % ranks != 0) return "AssertionError";
  if (f.engine >= kVllm2026_11 && f.word("VLLM_ROCM_USE_AITER_MOE_A4W4_DSV4") && f.fused_aiter()) {
    if (!has_word("deepseek_v41 deepseek_v41_text", d.model.model_type) || !d.software.aiter_quant_dtype_a) return "ValueError";
  }
  if (f.exchange_is("mori_high_throughput mori_low_latency")) {
    if (!f.fused_aiter() || !gated || f.word("VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS")) return "AssertionError";
  }
  return f.is("cpu") && !gated ? "NotImplementedError" : "";
}

std::optional<Text> restated_mega_error(const Facts& f) {
  const deployment::Deployment& d = f.deployment;
  const Text wish = d.layer.moe_backend;
  const bool experts = d.parallel.enable_expert_parallel;
  if (wish == "deep_gemm_mega_moe" && (f.is("cuda") || f.is("xpu"))) {
    if (!experts || d.layer.routing_method != "DeepseekV4" || f.is("xpu")) return "NotImplementedError";
    if (d.layer.num_experts % (d.parallel.tp * d.parallel.pcp * d.parallel.dp) != 0) return "AssertionError";
    if (!f.family(100)) return "NotImplementedError";
    return d.layer.hidden % 128 != 0 || d.layer.intermediate_per_partition % 128 != 0 ? "ValueError" : "";
  }
  if (wish != "aiter_mega_moe" || f.engine < kVllm2026_11 || !f.is("rocm")) return std::nullopt;
  if (!f.word("VLLM_ROCM_USE_AITER") || !f.word("VLLM_ROCM_USE_AITER_MOE", true)) return "ValueError";
  if (!f.gfx("gfx950") || !experts || d.parallel.tp != 1) return "NotImplementedError";
  if (!d.parallel.all2all_backend.starts_with("mori_")) return "ValueError";
  return d.parallel.enable_eplb ? "NotImplementedError" : "";
}

Text restated_limit(deployment::Engine engine, Text oracle, Text backend, Text weight_key) {
  const bool may = engine < kVllm2026_08;
  if (oracle == "nvfp4") return !may && !has_word("FLASHINFER_CUTEDSL_BATCHED FLASHINFER_B12X", backend) ? "reaches" : "does not";
  if (backend == "TRITON") return "reaches";
  // TRT-LLM's FP8: 2026-05 hands nothing on; FlashInfer of 2026-08 raises for blocks of 128, MXFP8 clamps.
  if (may) return "does not";
  return engine < kVllm2026_11 && weight_key == "kFp8Static128BlockSym" ? "raises" : "reaches";
}

Text restated_call_refusal(Text backend, const Facts& f) {
  const deployment::Deployment& d = f.deployment;
  const deployment::WeightOnlyCall& call = d.weight_only;
  const bool november = f.engine >= kVllm2026_11;
  if (backend == "FLASHINFER_TRTLLM") return call.may_have_zp || call.may_have_bias ? "zp_or_bias" : "";
  if (backend == "TRITON") {
    if (call.may_have_bias) return "bias";
    if (call.kind == "auto_awq") return "awq_layout";
    if (call.kind == "auto_gptq" && call.desc_act) return "desc_act";
    return call.kind == "compressed_tensors" && call.actorder == "group" ? "actorder" : "";
  }
  if (backend == "EMULATION") return call.kind == "moe_wna16" ? "moe_wna16_layout" : "";
  if (has_word("MARLIN BATCHED_MARLIN", backend)) {
    if (call.kind == "moe_wna16") return "moe_wna16_layout";
    const bool known = call.kind == "auto_awq" || call.kind == "auto_gptq" || call.kind == "compressed_tensors";
    const std::int64_t group = call.group_size, inter = d.layer.intermediate_per_partition;
    const bool fits =
        group <= 0 ? call.allow_tile_padding || inter % 64 == 0 : inter % (call.allow_tile_padding ? group : std::max<std::int64_t>(64, group)) == 0;
    const bool groups = group == -1 || group == 32 || group == 64 || group == 128;
    return known && !f.is("rocm") && d.layer.hidden % 128 == 0 && fits && groups ? "" : "marlin";
  }
  if (november && backend == "RDNA3") {
    if (call.kind != "compressed_tensors") return "ct_only";
    if (call.may_have_zp) return "zp";
    if (call.may_have_bias) return "bias";
    if (call.actorder == "group") return "actorder";
    return call.strategy == "group" || (call.strategy.empty() && call.group_size > 0) ? "" : "strategy";
  }
  return {};
}

std::optional<Text> restated_mxfp4_activations(deployment::Engine engine, Text backend) {
  if (backend == "B12X_MXFP4_MXFP8") return "mxfp8";
  if (has_word("B12X_MXFP4_BF16 MARLIN", backend)) return "";
  if (engine < kVllm2026_11) return std::nullopt;
  if (has_word("CUTLASS_MXFP4_MXFP4 AITER_TRITON_MXFP4_MXFP4", backend)) return "mxfp4";
  return backend == "AITER_TRITON_MXFP4_BF16" ? std::optional<Text>("") : std::nullopt;
}

}  // namespace mx::props
