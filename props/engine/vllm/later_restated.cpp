#include "props/engine/vllm/later_restated.hpp"

#include <algorithm>

#include "props/engine/vllm/facts.hpp"

namespace mx::props {
namespace {

using Text = std::string_view;

std::int64_t up(std::int64_t size, std::int64_t multiple) { return size % multiple == 0 ? size : size + multiple - size % multiple; }
RestatedSizes up(RestatedSizes sizes, std::int64_t hidden, std::int64_t intermediate) {
  return {up(sizes.first, hidden), up(sizes.second, intermediate)};
}

/// VLLM_* read as text.lower() in ("1", "true"), with a default.
bool is_on(const deployment::Deployment& d, const std::string& name, bool otherwise) {
  const auto at = d.env.find(name);
  return at == d.env.end() ? otherwise : at->second == "1" || at->second == "true" || at->second == "True";
}

bool fused_aiter(const deployment::Deployment& d) {
  const std::string& gfx = d.hardware.gcn_arch;
  const bool runs = gfx.find("gfx942") != std::string::npos || gfx.find("gfx950") != std::string::npos || gfx.find("gfx1250") != std::string::npos;
  return runs && d.software.aiter_found && is_on(d, "VLLM_ROCM_USE_AITER", false) && is_on(d, "VLLM_ROCM_USE_AITER_MOE", true);
}

void move_before(std::vector<std::string>& list, const std::string& moved, Text other) {
  const auto at = std::ranges::find(list, moved);
  const auto to = std::ranges::find(list, std::string(other));
  if (at == list.end() || to == list.end() || at < to) return;
  list.erase(at);
  list.insert(std::ranges::find(list, std::string(other)), moved);
}

void move_to_front(std::vector<std::string>& list, const std::string& moved) {
  std::erase(list, moved);
  list.insert(list.begin(), moved);
}

void move_to_back(std::vector<std::string>& list, const std::string& moved) {
  std::erase(list, moved);
  list.push_back(moved);
}

std::vector<std::string> listed(Text words) {
  std::vector<std::string> list;
  for (Text word : words_of(words)) list.emplace_back(word);
  return list;
}

}  // namespace

RestatedSizes later_mxfp4_sizes(Later version, const LaterPlace& place, Text backend, Text activation, RestatedSizes given) {
  const bool now = version == Later::november;
  const bool soft = activation == "SITU" || activation == "SILU";
  if (has_word("B12X_MXFP4_MXFP8 B12X_MXFP4_BF16", backend)) return given;
  if (now && has_word("FLASHINFER_MOE_EP_CUTEDSL FLASHINFER_MOE_EP_DEEP_GEMM", backend)) return given;
  if (backend == "EMULATION") return up(given, 32, 32);
  if (backend == "DEEPGEMM_MXFP4") return up(given, 128, 128);
  if (has_word("MARLIN BATCHED_MARLIN", backend)) return up(given, place.platform == "xpu" ? 128 : 256, 128);
  if (has_word("FLASHINFER_TRTLLM_MXFP4_BF16 FLASHINFER_TRTLLM_MXFP4_MXFP8", backend)) return up(given, 256, 128);
  if (has_word("FLASHINFER_CUTLASS_MXFP4_BF16 FLASHINFER_CUTLASS_MXFP4_MXFP8", backend)) return up(given, 128, 128);
  if (now && backend == "CUTLASS_MXFP4_MXFP4") return up(given, 128, 128);
  if (place.platform == "rocm") {
    if (now && backend == "AITER_MXFP4_MXFP4") return up(given, 256, 128);
    if (backend == "AITER_MXFP4_BF16" && soft) return up(given, 128, 128);
    if (now && backend == "TRITON_UNFUSED" && soft && place.gfx != "gfx950") return up(given, 128, 128);
    return up(given, 256, 256);
  }
  return backend == "CPU" ? up(given, 32, 32) : up(given, 1, 64);
}

RestatedSizes later_plain_sizes(Later version, Text backend, RestatedSizes given) {
  if (version == Later::august) return given;
  if (backend == "FLASHINFER_TRTLLM") return up(given, 1, 128);
  if (backend == "AITER") return up(given, 1, given.second <= 192 ? 64 : 128);
  return given;
}

Text later_routing(Later version, Text scoring, bool bias, int groups, bool renormalize, double scaling) {
  if (scoring == "sqrtsoftplus") return renormalize ? "DeepseekV4" : "Unspecified";
  if (bias) {
    if (scoring != "sigmoid" || !renormalize) return "Unspecified";
    if (groups > 0) return "DeepSeekV3";
    return version == Later::november || scaling == 1.0 ? "MiniMax2" : "Unspecified";
  }
  if (scoring == "sigmoid") return renormalize ? "SigmoidRenorm" : "Sigmoid";
  if (scoring == "softmax") return renormalize ? "RenormalizeNaive" : "Default";
  return "Unspecified";
}

namespace {

std::vector<std::string> fp8_list(bool now, const LaterOrder& of) {
  std::vector<std::string> list = listed(
      "AITER FLASHINFER_TRTLLM FLASHINFER_CUTLASS DEEPGEMM VLLM_CUTLASS TRITON MARLIN HUMMING BATCHED_DEEPGEMM BATCHED_VLLM_CUTLASS BATCHED_TRITON "
      "XPU");
  if (now) list.emplace_back("CPU_W8A8");
  list.emplace_back("CPU");
  list.emplace_back("HPC");
  const Text platform = of.place.platform;
  if (of.place.cuda_family(100) && of.deepep_v2 && of.blocks) move_to_front(list, "FLASHINFER_TRTLLM");
  if (of.place.cuda(90) && of.blocks) move_to_front(list, of.experts_split ? "FLASHINFER_CUTLASS" : "TRITON");
  if (platform == "xpu") move_to_front(list, "XPU");
  if (platform == "cpu") move_to_front(list, "CPU");
  if (platform == "cpu" && now) move_to_front(list, "CPU_W8A8");
  if (now && of.place.cuda(90)) move_before(list, "HUMMING", "MARLIN");
  return list;
}

std::vector<std::string> plain_list(bool now, const LaterOrder& of) {
  const Text platform = of.place.platform;
  if (platform == "rocm") return listed("AITER TRITON BATCHED_TRITON");
  if (platform == "xpu") return listed(now ? "XPU TRITON" : "XPU");
  if (platform == "cpu") return listed("CPU");
  std::vector<std::string> list = listed("FLASHINFER_TRTLLM FLASHINFER_CUTLASS TRITON BATCHED_TRITON");
  const auto both_back = [&] {
    move_to_back(list, "FLASHINFER_TRTLLM");
    move_to_back(list, "FLASHINFER_CUTLASS");
  };
  if (of.place.cuda_family(90)) both_back();
  if (of.data_parallel) move_to_back(list, "FLASHINFER_CUTLASS");
  if (of.activation == "SWIGLUOAI") both_back();
  return list;
}

std::vector<std::string> mxfp4_list(bool now, const LaterOrder& of) {
  if (!now) {
    return listed(
        "FLASHINFER_TRTLLM_MXFP4_BF16 FLASHINFER_TRTLLM_MXFP4_MXFP8 AITER_MXFP4_BF16 AITER_MXFP4_FP8 AITER_MXFP4_MXFP4 TRITON "
        "FLASHINFER_CUTLASS_MXFP4_BF16 FLASHINFER_CUTLASS_MXFP4_MXFP8 MARLIN BATCHED_MARLIN XPU EMULATION");
  }
  std::vector<std::string> list = listed(
      "FLASHINFER_TRTLLM_MXFP4_BF16 FLASHINFER_TRTLLM_MXFP4_MXFP8 AITER_MXFP4_BF16 AITER_TRITON_MXFP4_BF16 AITER_MXFP4_FP8 AITER_MXFP4_MXFP4 TRITON "
      "FLASHINFER_CUTLASS_MXFP4_BF16 FLASHINFER_CUTLASS_MXFP4_MXFP8 CUTLASS_MXFP4_MXFP4 MARLIN BATCHED_MARLIN HUMMING XPU CPU EMULATION");
  if (of.place.cuda_family(120)) {
    std::erase(list, "TRITON");
    list.insert(std::ranges::find(list, std::string("BATCHED_MARLIN")) + 1, "TRITON");
  }
  return list;
}

std::vector<std::string> deepseek_list(bool now, const LaterOrder& of) {
  const Text platform = of.place.platform;
  if (platform == "rocm") return listed(of.routing == "DeepseekV4" ? "AITER_MXFP4_BF16 TRITON_UNFUSED" : "AITER_MXFP4_BF16 EMULATION");
  if (platform == "xpu") return listed("XPU");
  if (platform == "cpu" && now) return listed("CPU");
  return listed(now ? "FLASHINFER_TRTLLM_MXFP4_MXFP8 DEEPGEMM_MXFP4 MARLIN BATCHED_MARLIN HUMMING"
                    : "FLASHINFER_TRTLLM_MXFP4_MXFP8 DEEPGEMM_MXFP4 MARLIN BATCHED_MARLIN");
}

std::vector<std::string> wna16_list(bool now, Text platform) {
  if (platform == "cpu") return listed(now ? "ZEN_CPU CPU" : "CPU");
  if (platform == "xpu") return listed("XPU");
  return listed(now ? "RDNA3 FLASHINFER_TRTLLM MARLIN BATCHED_MARLIN TRITON HUMMING EMULATION"
                    : "FLASHINFER_TRTLLM MARLIN BATCHED_MARLIN TRITON HUMMING EMULATION");
}

}  // namespace

std::vector<std::string> later_order(Later version, Text oracle, const LaterOrder& of) {
  const bool now = version == Later::november;
  if (oracle == "fp8") return fp8_list(now, of);
  if (oracle == "unquantized") return plain_list(now, of);
  std::vector<std::string> list;
  if (oracle == "mxfp4") list = mxfp4_list(now, of);
  if (oracle == "mxfp4_deepseek_v4") list = deepseek_list(now, of);
  if (oracle == "nvfp4")
    list = listed("FLASHINFER_TRTLLM FLASHINFER_CUTEDSL FLASHINFER_CUTEDSL_BATCHED FLASHINFER_CUTLASS VLLM_CUTLASS MARLIN HUMMING EMULATION");
  if (oracle == "mxfp8") list = listed("FLASHINFER_TRTLLM DEEPGEMM MARLIN XPU AITER_MXFP8 HUMMING TRITON_MXFP8 EMULATION");
  if (oracle == "int_wna16") list = wna16_list(now, of.place.platform);
  if (oracle == "w4a8") list = listed(now ? "CUTLASS HUMMING" : "CUTLASS");
  if (oracle == "int8") list = listed("TRITON HUMMING CPU");
  if (oracle == "w4a8_int8" && of.place.platform == "cpu") list = listed("CPU_INT4");
  // On capability 90 alone, before the first with Marlin in its name.
  if (now && of.place.cuda(90) && oracle != "int8") move_before(list, "HUMMING", "MARLIN");
  return list;
}

namespace {

struct RestatedName {
  Text oracles, name, august, november;
};
constexpr RestatedName kNames[] = {
    {"mxfp4 mxfp4_deepseek_v4", "b12x", "B12X_MXFP4_MXFP8 B12X_MXFP4_BF16", "B12X_MXFP4_MXFP8 B12X_MXFP4_BF16"},
    {"mxfp4 mxfp4_deepseek_v4", "aiter", "AITER_MXFP4_BF16 AITER_MXFP4_FP8 AITER_MXFP4_MXFP4",
     "AITER_MXFP4_BF16 AITER_TRITON_MXFP4_BF16 AITER_MXFP4_FP8 AITER_MXFP4_MXFP4 AITER_TRITON_MXFP4_MXFP4"},
    {"mxfp4", "aiter_triton_mxfp4_bf16", "", "AITER_TRITON_MXFP4_BF16"},
    {"mxfp4", "aiter_triton_mxfp4_mxfp4", "", "AITER_TRITON_MXFP4_MXFP4"},
    {"mxfp4", "flashinfer_moe_ep_cutedsl", "", "FLASHINFER_MOE_EP_CUTEDSL"},
    {"mxfp4", "flashinfer_moe_ep_mega_deep_gemm", "", "FLASHINFER_MOE_EP_DEEP_GEMM"},
    {"nvfp4", "b12x", "B12X", "B12X"},
    {"nvfp4", "humming", "HUMMING", "HUMMING"},
    {"nvfp4", "flashinfer_moe_ep_cutedsl", "", "FLASHINFER_MOE_EP_CUTEDSL"},
    {"fp8", "humming", "HUMMING", "HUMMING"},
    {"fp8", "hpc", "HPC", "HPC"},
    {"fp8", "b12x", "", ""},
    {"mxfp8", "aiter", "AITER_MXFP8", "AITER_MXFP8"},
    {"mxfp8", "triton", "TRITON_MXFP8", "TRITON_MXFP8"},
    {"mxfp8", "emulation", "", ""},
    {"unquantized", "flashinfer_trtllm", "FLASHINFER_TRTLLM", "FLASHINFER_TRTLLM"},
    {"unquantized", "batched_triton", "BATCHED_TRITON", "BATCHED_TRITON"},
    {"unquantized", "deep_gemm", "", ""},
    {"unquantized", "marlin", "", {}},  // counts as auto since 2026-11
    {"int_wna16", "rdna3", "", "RDNA3"},
    {"int_wna16", "emulation", "EMULATION", "EMULATION"},
    {"int_wna16", "humming", "HUMMING", "HUMMING"},
    {"int8", "triton", "TRITON", "TRITON"},
    {"int8", "humming", "HUMMING", "HUMMING"},
    {"int8", "marlin", "", ""},
    {"w4a8", "cutlass", {}, "CUTLASS"},
    {"w4a8", "humming", {}, "HUMMING"},
    {"w4a8_int8", "cpu", "CPU_INT4", "CPU_INT4"},
};

}  // namespace

std::optional<Text> later_name(Later version, Text oracle, Text name) {
  for (const RestatedName& row : kNames) {
    if (!has_word(row.oracles, oracle) || row.name != name) continue;
    const Text said = version == Later::august ? row.august : row.november;
    return said.data() == nullptr ? std::nullopt : std::optional(said);
  }
  return std::nullopt;
}

Text later_end(Later version, Text oracle, const LaterPlace& place, bool named) {
  const bool now = version == Later::november;
  const Text platform = place.platform;
  if (oracle == "mxfp8") return "ValueError";
  if (oracle == "w4a8") return "NotImplementedError";
  if (oracle == "w4a8_int8" && platform != "cpu") return "NotImplementedError";
  if (named) return "ValueError";
  if (oracle == "mxfp4") return platform == "xpu" || (platform == "cpu" && !now) ? "ValueError" : "NotImplementedError";
  if (oracle == "fp8") return platform == "cuda" || platform == "rocm" ? "NotImplementedError" : "";
  return "NotImplementedError";
}

Text later_config_error(Later version, const deployment::Deployment& d, bool gated) {
  const int ranks = d.parallel.tp * d.parallel.pcp * d.parallel.dp;
  const bool experts = d.parallel.enable_expert_parallel && ranks > 1;
  if (d.layer.intermediate != 0 && !experts && d.layer.intermediate % ranks != 0) return "AssertionError";
  if (version == Later::november && is_on(d, "VLLM_ROCM_USE_AITER_MOE_A4W4_DSV4", false) && fused_aiter(d)) {
    const bool is_v41 = d.model.model_type == "deepseek_v41" || d.model.model_type == "deepseek_v41_text";
    if (!is_v41 || !d.software.aiter_quant_dtype_a) return "ValueError";
  }
  const bool exchanges = experts && (d.parallel.dp > 1 || d.parallel.pcp > 1 || d.parallel.sp > 1);
  if (exchanges && d.parallel.all2all_backend.starts_with("mori_")) {
    if (!fused_aiter(d) || !gated) return "AssertionError";
    if (is_on(d, "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS", false)) return "AssertionError";
  }
  return d.hardware.platform == deployment::PlatformKind::cpu && !gated ? "NotImplementedError" : "";
}

std::optional<Text> later_mega_error(Later version, Text moe_backend, const deployment::Deployment& d) {
  using deployment::PlatformKind;
  const bool experts = d.parallel.enable_expert_parallel;
  const PlatformKind platform = d.hardware.platform;
  if (moe_backend == "deep_gemm_mega_moe" && (platform == PlatformKind::cuda || platform == PlatformKind::xpu)) {
    if (!experts || d.layer.routing_method != "DeepseekV4") return "NotImplementedError";
    if (platform == PlatformKind::xpu) return "NotImplementedError";
    if (d.layer.num_experts % (d.parallel.tp * d.parallel.pcp * d.parallel.dp) != 0) return "AssertionError";
    if (d.hardware.capability.value_or(0) / 10 != 10) return "NotImplementedError";
    return d.layer.hidden % 128 != 0 || d.layer.intermediate_per_partition % 128 != 0 ? "ValueError" : "";
  }
  if (moe_backend != "aiter_mega_moe" || version == Later::august || platform != PlatformKind::rocm) return std::nullopt;
  if (!is_on(d, "VLLM_ROCM_USE_AITER", false) || !is_on(d, "VLLM_ROCM_USE_AITER_MOE", true)) return "ValueError";
  if (!d.hardware.gcn_arch.starts_with("gfx950") || !experts || d.parallel.tp != 1) return "NotImplementedError";
  if (!d.parallel.all2all_backend.starts_with("mori_")) return "ValueError";
  return d.parallel.enable_eplb ? "NotImplementedError" : "";
}

Text later_limit(std::optional<Later> version, Text oracle, Text backend, Text weight_key) {
  if (oracle == "nvfp4") return version && !has_word("FLASHINFER_CUTEDSL_BATCHED FLASHINFER_B12X", backend) ? "reaches" : "does not";
  if (backend == "TRITON") return "reaches";
  // TRT-LLM's FP8: 2026-05 hands nothing on; FlashInfer of 2026-08 raises for blocks of 128, MXFP8 clamps.
  if (!version) return "does not";
  return *version == Later::august && weight_key == "kFp8Static128BlockSym" ? "raises" : "reaches";
}

Text later_weight_only_refusal(Later version, Text backend, const deployment::Deployment& d) {
  const deployment::WeightOnlyCall& call = d.weight_only;
  const bool now = version == Later::november;
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
    return known && d.hardware.platform != deployment::PlatformKind::rocm && d.layer.hidden % 128 == 0 && fits && groups ? "" : "marlin";
  }
  if (now && backend == "RDNA3") {
    if (call.kind != "compressed_tensors") return "ct_only";
    if (call.may_have_zp) return "zp";
    if (call.may_have_bias) return "bias";
    if (call.actorder == "group") return "actorder";
    return call.strategy == "group" || (call.strategy.empty() && call.group_size > 0) ? "" : "strategy";
  }
  return {};
}

std::optional<Text> later_mxfp4_activations(Later version, Text backend) {
  if (backend == "B12X_MXFP4_MXFP8") return "mxfp8";
  if (has_word("B12X_MXFP4_BF16 MARLIN", backend)) return "";
  if (version == Later::august) return std::nullopt;
  if (has_word("CUTLASS_MXFP4_MXFP4 AITER_TRITON_MXFP4_MXFP4", backend)) return "mxfp4";
  return backend == "AITER_TRITON_MXFP4_BF16" ? std::optional<Text>("") : std::nullopt;
}

}  // namespace mx::props
