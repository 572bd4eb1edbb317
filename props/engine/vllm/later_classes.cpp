// Expert classes of the later versions said a second time: whole rows of their documents as words and conditions.

#include "props/engine/vllm/later_classes.hpp"

#include <cstdint>

#include "props/engine/vllm/facts.hpp"

namespace mx::props {
namespace {

using deployment::Deployment;
using deployment::PlatformKind;
using Text = std::string_view;

/// A layer's surroundings as the later versions derive them.
struct Asked {
  const Deployment& d;
  Text weights, activations;

  bool on(PlatformKind kind) const { return d.hardware.platform == kind; }
  int capability() const { return on(PlatformKind::cuda) ? d.hardware.capability.value_or(0) : 0; }
  bool family(int of) const { return capability() / 10 == of / 10; }
  bool gfx(Text part) const { return on(PlatformKind::rocm) && d.hardware.gcn_arch.find(part) != std::string::npos; }
  int ranks() const { return d.parallel.tp * d.parallel.pcp * d.parallel.dp; }
  bool ep() const { return d.parallel.enable_expert_parallel && ranks() > 1; }
  bool exchanges() const { return ep() && (d.parallel.dp > 1 || d.parallel.pcp > 1 || d.parallel.sp > 1); }
  bool exchange(Text any_of) const { return exchanges() && has_word(any_of, d.parallel.all2all_backend); }
  bool nvlink() const { return exchange("flashinfer_all2allv flashinfer_nvlink_two_sided flashinfer_nvlink_one_sided"); }
  bool other_than_gather() const { return exchanges() && !exchange("allgather_reducescatter"); }
  bool is(Text activation) const { return d.layer.activation == activation; }
  bool variable(const char* name, bool otherwise) const {
    const auto at = d.env.find(name);
    return at == d.env.end() ? otherwise : at->second == "1";
  }
};

constexpr Text kEleven = "SILU GELU GELU_TANH SITU SWIGLUOAI SWIGLUOAI_UNINTERLEAVE SWIGLUSTEP SILU_NO_MUL GELU_NO_MUL GELU_TANH_NO_MUL RELU2_NO_MUL";
constexpr Text kCpuRoutings = "Default Renormalize RenormalizeNaive";

using Says = Text (*)(const Asked& asked);
using Is = bool (*)(const Asked& asked);

/// A class of one version.
struct Row {
  Text name;
  Text versions;
  Is device;
  bool no_mul;  ///< activations without a gate are taken
  Text activations;
  Text pairs;  ///< "W*A": weight key and activation key
  Is refused;  ///< parallel configurations
  bool monolithic = false;
  Text routings = {};  ///< empty: all
  bool invariant = false;
  bool lora = false;
  Says before = nullptr;
  Says after = nullptr;
  std::int64_t hidden = 1;
};

Text crowded(const Asked& a) {
  const bool counts = a.on(PlatformKind::cuda) || a.on(PlatformKind::rocm);
  return counts && (a.d.layer.num_experts + 31) / 32 * 32 >= 1024 ? "expert_count" : "";
}
Text more_than_2048(const Asked& a) { return a.d.layer.num_experts > 2048 ? "expert_count" : ""; }
bool never(const Asked&) { return false; }
bool nvlink(const Asked& a) { return a.nvlink(); }
bool not_gathered(const Asked& a) { return a.d.parallel.enable_eplb || a.other_than_gather(); }
bool takes_mx(const Asked& a) { return a.gfx("gfx95") || a.gfx("gfx1250"); }
bool amx(const Asked& a) { return a.on(PlatformKind::cpu) && a.d.hardware.cpu_arch == "x86" && a.d.hardware.amx; }

bool fused_aiter(const Asked& a) {
  return (a.gfx("gfx942") || a.gfx("gfx950") || a.gfx("gfx1250")) && a.d.software.aiter_found && a.variable("VLLM_ROCM_USE_AITER", false) &&
         a.variable("VLLM_ROCM_USE_AITER_MOE", true);
}

Text b12x_before(const Asked& a) {
  const deployment::LayerConfig& layer = a.d.layer;
  if (layer.has_bias) return "bias";
  if (layer.in_dtype != "float16" && layer.in_dtype != "bfloat16") return "in_dtype";
  const deployment::ActivationConstants none;
  const deployment::ActivationConstants& c = layer.constants ? *layer.constants : none;
  if (a.is("SITU") && layer.constants && (c.situ_beta != 4.0 || c.situ_linear_beta != 25.0)) return "situ_betas";
  if (a.is("SWIGLUOAI_UNINTERLEAVE") && a.activations != "None") return "b12x_activation";
  if (a.weights != "kMxfp4Static") return "";
  if (layer.intermediate_per_partition % 32 != 0) return "size";
  if (a.activations != "kMxfp8Dynamic") return "";
  if (!a.is("SILU") && !a.is("SITU")) return "b12x_activation";
  return layer.hidden % 256 != 0 || layer.intermediate_per_partition % 32 != 0 ? "size" : "";
}

bool wrong_numbers(const Asked& a) {
  return !a.d.layer.constants || a.d.layer.constants->swiglu_alpha != 1.702 || a.d.layer.constants->swiglu_beta != 1.0;
}
Text aiter_mxfp8_august(const Asked& a) {
  if (const Text code = crowded(a); !code.empty()) return code;
  if (!a.d.software.aiter_mxfp8) return "flydsl_missing";
  if (!a.is("SWIGLUOAI_UNINTERLEAVE")) return "swiglu_activation";
  return wrong_numbers(a) ? "swiglu_alpha_beta" : "";
}
Text aiter_mxfp8_november(const Asked& a) {
  if (const Text code = crowded(a); !code.empty()) return code;
  if (!a.is("SILU") && !a.is("SWIGLUOAI_UNINTERLEAVE")) return "swiglu_activation";
  return a.is("SWIGLUOAI_UNINTERLEAVE") && wrong_numbers(a) ? "swiglu_alpha_beta" : "";
}
Text both_in_32(const Asked& a) { return a.d.layer.hidden % 32 != 0 || a.d.layer.intermediate_per_partition % 32 != 0 ? "size" : ""; }
Text hidden_in_32(const Asked& a) { return a.d.layer.hidden % 32 != 0 ? "size" : ""; }

constexpr Text kMxPair = "kMxfp8Static*kMxfp8Dynamic";
constexpr Text kInt8Pair = "kInt8StaticChannelSym*kInt8DynamicTokenSym";

// clang-format off
const Row kRows[] = {
    {"HPCExperts", "both", [](const Asked& a) { return a.capability() == 90 && a.d.software.has_hpc; }, false, "SILU",
     "kFp8StaticTensorSym*kFp8StaticTensorSym kFp8Static128BlockSym*kFp8Dynamic128Sym", never, false, {}, false, false, nullptr, nullptr, 128},
    {"B12xExperts", "both", [](const Asked& a) { return a.family(120) && a.d.software.b12x_supported; }, true, "SILU SITU SWIGLUOAI_UNINTERLEAVE RELU2_NO_MUL",
     "kMxfp4Static*kMxfp8Dynamic kMxfp4Static*None kNvfp4Static*kNvfp4Dynamic kNvfp4Static*kMxfp8Dynamic kNvfp4Static*None",
     [](const Asked& a) { return a.ep() || a.d.parallel.enable_eplb; }, false, {}, false, false, b12x_before, nullptr},
    {"Mxfp8EmulationTritonExperts", "both", [](const Asked&) { return true; }, true, kEleven, kMxPair, nvlink, false, {}, true, true, nullptr, crowded},
    {"Mxfp8NativeTritonExperts", "both", takes_mx, true, kEleven, kMxPair, nvlink, false, {}, true, true, nullptr, crowded},
    {"AiterMxfp8Experts", "august", takes_mx, true, kEleven, kMxPair, never, false, {}, true, true, nullptr, aiter_mxfp8_august},
    {"AiterMxfp8Experts", "november", [](const Asked& a) { return takes_mx(a) && fused_aiter(a) && a.d.software.aiter_gate_mode; }, true, kEleven, kMxPair, never,
     false, {}, false, true, nullptr, aiter_mxfp8_november},
    {"TrtLlmBf16ExpertsMonolithic", "august", [](const Asked& a) { return a.family(100) && a.d.software.has_flashinfer_trtllm_fused_moe; }, true,
     "SILU RELU2_NO_MUL", "None*None", not_gathered, true, "DeepSeekV3 Llama4 Renormalize RenormalizeNaive SigmoidRenorm Sigmoid", false, false, nullptr, more_than_2048},
    {"TrtLlmBf16ExpertsMonolithic", "november", [](const Asked& a) { return a.family(100) && a.d.software.has_flashinfer_trtllm_fused_moe; }, true,
     "SILU RELU2_NO_MUL", "None*None", not_gathered, true, "DeepSeekV3 Llama4 Renormalize RenormalizeNaive SigmoidRenorm Sigmoid MiniMax2", false, false, nullptr,
     more_than_2048},
    {"CutlassExpertsMxfp4", "november", [](const Asked& a) { return a.on(PlatformKind::cuda) && a.d.software.mxfp4_experts_quant_op; }, true, kEleven,
     "kMxfp4Static*kMxfp4Dynamic", [](const Asked& a) { return a.nvlink() || a.exchange("deepep_high_throughput"); }},
    {"MoonEPExperts", "november", [](const Asked& a) { return a.on(PlatformKind::cuda); }, false, "SILU", "None*None",
     [](const Asked& a) { return !a.exchange("moonep") || a.d.parallel.enable_eplb; }},
    {"CPUExpertsInt8", "august", amx, false, "SILU", kInt8Pair, never, true, kCpuRoutings, false, false, nullptr, both_in_32},
    {"CPUExpertsInt8", "november", amx, false, "SILU GELU_TANH", kInt8Pair, never, false, kCpuRoutings, false, false, nullptr, hidden_in_32},
    {"TrtLlmMxfp4LoRAExperts", "november", [](const Asked& a) { return a.family(100) && a.d.software.has_flashinfer_trtllm_fused_moe; }, false, "SWIGLUOAI SILU",
     "kMxfp4Static*None", [](const Asked& a) { return a.d.parallel.dp > 1 || a.exchanges() || a.d.parallel.enable_eplb; }, false, {}, false, true},
};
// clang-format on

bool takes_pair(Text pairs, Text weights, Text activations) { return has_word(pairs, std::string(weights) + "*" + std::string(activations)); }

/// In the engine's order.
Text code_of(const Row& row, Later version, const Asked& a) {
  const deployment::LayerConfig& layer = a.d.layer;
  if (row.before != nullptr) {
    if (const Text code = row.before(a); !code.empty()) return code;
  }
  const bool without_gate = layer.activation.ends_with("_NO_MUL");
  if (!row.device(a)) return "device";
  if (without_gate && !row.no_mul) return "no_act_and_mul";
  if (!has_word(row.activations, layer.activation)) return "activation";
  if (!takes_pair(row.pairs, a.weights, a.activations)) return "quant_scheme";
  if (row.refused(a)) return "parallel_config";
  if (version == Later::november && row.monolithic && layer.has_hash_routing) return "hash_routing";
  if (version == Later::november && row.monolithic && layer.require_decomposed_backend) return "decomposed_routing";
  if (!row.routings.empty() && !has_word(row.routings, layer.routing_method)) return "routing_method";
  if (layer.hidden % row.hidden != 0) return "shape";
  if (a.exchange("deepep_low_latency nixl_ep")) return "activation_format";
  if (a.variable("VLLM_BATCH_INVARIANT", false) && !row.invariant) return "batch_invariance";
  if (layer.is_lora_enabled && !row.lora) return "lora";
  return row.after == nullptr ? "" : row.after(a);
}

}  // namespace

std::vector<Text> later_class_names(Later version) {
  std::vector<Text> names;
  for (const Row& row : kRows) {
    if (row.versions == "both" || row.versions == (version == Later::august ? "august" : "november")) names.push_back(row.name);
  }
  return names;
}

Text later_class_code(Later version, Text name, const Deployment& deployment, Text weights, Text activations) {
  const Text wanted = version == Later::august ? "august" : "november";
  for (const Row& row : kRows) {
    if (row.name == name && (row.versions == "both" || row.versions == wanted)) return code_of(row, version, {deployment, weights, activations});
  }
  return "no such class";
}

}  // namespace mx::props
