#include "model/oracle/check.hpp"

#include <algorithm>
#include <array>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/names.hpp"

namespace mx::oracle {
namespace {

using fault::Fault;
using fault::planted;

constexpr std::string_view kRaised = "exc:";

Verdict supported() { return {true, "", ""}; }
Verdict refused(std::string_view code, std::string text) { return {false, std::string(code), std::move(text)}; }

Verdict unreadable(EnvVariable variable, const Environment& environment) {
  const std::string name(name_of(variable));
  return refused(std::string(kRaised) + "ValueError", name + "='" + environment.at(name) + "' is no integer");
}

/// The engine asks whether the architecture's name contains a word, so "gfx11" is every gfx11xx.
bool arch_matches(std::span<const std::string_view> words, const Hardware& hardware) {
  if (words.empty()) return true;
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return hardware.gcn_arch.find(word) != std::string::npos; });
}

/// A rule's variables: off wins over unreadable only when it is read first, as in the engine's `and` chains.
struct SwitchesRead {
  Switch all;
  EnvVariable culprit;
};
SwitchesRead read_all(std::span<const EnvVariable> variables, const Environment& environment) {
  for (EnvVariable variable : variables) {
    const Switch value = read_switch(environment, variable);
    if (value != Switch::on) return {value, variable};
  }
  return {Switch::on, {}};
}

std::string platform_text(const Hardware& hardware) {
  std::string text(name_of(hardware.platform));
  if (hardware.capability) text += " capability " + std::to_string(*hardware.capability);
  if (!hardware.gcn_arch.empty()) text += " " + hardware.gcn_arch;
  return text;
}

std::string rule_text(const DeviceRule& rule) {
  std::string text(name_of(rule.platform));
  const auto [low, below] = rule.capability;
  if (below == low + 1) {
    text += " capability " + std::to_string(low);
  } else if (low != kAnyCapability.low) {
    text += " capability >= " + std::to_string(low);
    if (below != kAnyCapability.below) text += " and < " + std::to_string(below);
  }
  for (std::string_view word : rule.gcn_contains_any) text += (word == rule.gcn_contains_any.front() ? " " : "|") + std::string(word);
  for (EnvVariable variable : rule.switched_on) text += " with " + std::string(name_of(variable)) + " on";
  for (const SoftwareRow& row : software_rows()) {
    if (row.answer == rule.probe) text += " with " + std::string(row.name);
  }
  return text;
}

template <typename Word>
std::string list_text(Mask mask, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (contains(mask, static_cast<Word>(i))) text += (text.empty() ? "" : " ") + std::string(name_of(static_cast<Word>(i)));
  }
  return text;
}

Verdict check_device(const KernelClass& kernel_class, const Query& query) {
  if (planted(Fault::oracle_skips_device_check)) return supported();
  const Hardware& hardware = query.deployment.hardware;
  std::string wanted;
  for (const DeviceRule& rule : kernel_class.devices) {
    wanted += (wanted.empty() ? "" : ", or ") + rule_text(rule);
    if (rule.platform != hardware.platform || !in_range(rule.capability, hardware.capability)) continue;
    if (!arch_matches(rule.gcn_contains_any, hardware)) continue;
    const SwitchesRead switches = read_all(rule.switched_on, query.deployment.env);
    if (switches.all == Switch::unreadable) return unreadable(switches.culprit, query.deployment.env);
    if (switches.all == Switch::on && (rule.probe == nullptr || query.deployment.software.*rule.probe)) return supported();
  }
  return refused("device" + std::string(kernel_class.device_hint), platform_text(hardware) + "; the class needs " + wanted);
}

bool takes_keys(const KernelClass& kernel_class, const Query& query, QuantKey weight_key, QuantKey activation_key) {
  const Hardware& hardware = query.deployment.hardware;
  return std::any_of(kernel_class.quant.begin(), kernel_class.quant.end(), [&](const QuantRule& rule) {
    return contains(rule.weights, weight_key) && contains(rule.activations, activation_key) && in_range(rule.capability, hardware.capability) &&
           arch_matches(rule.gcn_contains_any, hardware);
  });
}

struct ParallelFactRow {
  ParallelFact fact;
  std::string_view text;
  bool (*holds)(const Parallel&);
};
constexpr std::array kParallelFacts = {
    ParallelFactRow{ParallelFact::fi_nvl_two_sided, "FlashInfer two-sided NVLink all2all",
                    [](const Parallel& p) { return p.use_fi_nvl_two_sided_kernels(); }},
    ParallelFactRow{ParallelFact::fi_nvl_one_sided, "FlashInfer one-sided NVLink all2all",
                    [](const Parallel& p) { return p.use_fi_nvl_one_sided_kernels(); }},
    ParallelFactRow{ParallelFact::all2all_kernels, "all2all kernels", [](const Parallel& p) { return p.use_all2all_kernels(); }},
    ParallelFactRow{ParallelFact::eplb, "EPLB", [](const Parallel& p) { return p.enable_eplb; }},
    ParallelFactRow{ParallelFact::dp_above_one, "data parallelism", [](const Parallel& p) { return p.dp_size > 1; }},
};

std::string refused_parallel_text(const KernelClass& kernel_class, const Parallel& parallel) {
  if (planted(Fault::oracle_ignores_parallel)) return {};
  for (const ParallelFactRow& row : kParallelFacts) {
    if (contains(kernel_class.refused_parallel, row.fact) && row.holds(parallel)) return std::string(row.text);
  }
  return {};
}

/// Humming classes look at the format and at the preferred GEMM type, at nothing else.
Verdict check_humming(const KernelClass& kernel_class, const Query& query) {
  const bool class_is_batched = kernel_class.format == ActivationFormat::batched_experts;
  if (query.format() == ActivationFormat::batched_experts) {
    return class_is_batched ? supported() : refused("humming_activation_format", "batched_experts asked, the class is standard");
  }
  if (class_is_batched) return refused("humming_activation_format", "standard asked, the class is batched_experts");
  const std::string text = read_text(query.deployment.env, EnvVariable::humming_moe_gemm_type);
  // Every other text, "indexed", "auto" and unset included, prefers indexed.
  const auto preferred = text == "grouped" || text == "grouped_contiguous" ? HummingGemm::grouped_contiguous : HummingGemm::indexed;
  if (kernel_class.humming == preferred) return supported();
  return refused("humming_gemm_type", "preferred GEMM type is " + std::string(preferred == HummingGemm::indexed ? "indexed" : "grouped_contiguous"));
}

/// What a class takes; the fault widens the set that several classes share, as one slip in the table would.
Mask accepted_activations(const KernelClass& kernel_class) {
  const bool widened = planted(Fault::oracle_accepts_any_activation) && kernel_class.activations == set_of(Activation::swigluoai, Activation::silu);
  return widened ? kEverything : kernel_class.activations;
}

Verdict check_base(const KernelClass& kernel_class, const Query& query, QuantKey weight_key, QuantKey activation_key) {
  const LayerConfig& layer = query.deployment.layer;
  if (Verdict device = check_device(kernel_class, query); !device.supported) return device;
  if (!layer.is_act_and_mul && !kernel_class.takes_no_act_and_mul) return refused("no_act_and_mul", "the class needs a gated activation");
  if (!contains(accepted_activations(kernel_class), query.activation)) {
    return refused("activation", std::string(name_of(query.activation)) + "; the class takes " +
                                     list_text<Activation>(kernel_class.activations, activation_names().size()));
  }
  if (!takes_keys(kernel_class, query, weight_key, activation_key)) {
    // The engine builds its message from both keys' text forms; two keys have none, and KeyError escapes instead of a reason.
    const bool printable = has_text_form(weight_key) && has_text_form(activation_key);
    return refused(printable ? "quant_scheme" : std::string(kRaised) + "KeyError",
                   std::string(name_of(weight_key)) + " weights x " + std::string(name_of(activation_key)) + " activations");
  }
  if (const std::string text = refused_parallel_text(kernel_class, query.parallel); !text.empty()) {
    return refused("parallel_config", "the class refuses " + text);
  }
  if (!contains(kernel_class.routings, query.routing)) {
    return refused("routing_method",
                   std::string(name_of(query.routing)) + "; the class takes " + list_text<Routing>(kernel_class.routings, routing_names().size()));
  }
  if (query.format() != kernel_class.format) {
    return refused("activation_format", query.format() == ActivationFormat::standard ? "standard asked, the class is batched_experts"
                                                                                     : "batched_experts asked, the class is standard");
  }
  const Switch invariant = read_switch(query.deployment.env, EnvVariable::batch_invariant);
  if (invariant == Switch::unreadable) return unreadable(EnvVariable::batch_invariant, query.deployment.env);
  if (invariant == Switch::on && !kernel_class.batch_invariant) return refused("batch_invariance", "VLLM_BATCH_INVARIANT is on");
  if (layer.is_lora_enabled && !kernel_class.lora) return refused("lora", "LoRA is enabled");
  return supported();
}

void require_size(std::int64_t value, std::string_view what) {
  if (value >= 1 && value <= kLargestSize) return;
  throw Error(ErrorCode::usage, std::string(what) + " is " + std::to_string(value) + ", must be in [1, " + std::to_string(kLargestSize) + "]");
}

}  // namespace

ActivationFormat Query::format() const {
  return parallel.use_batched_activation_format() ? ActivationFormat::batched_experts : ActivationFormat::standard;
}

Query resolve(const Deployment& deployment) {
  const LayerConfig& layer = deployment.layer;
  require_size(layer.num_experts, "num_experts");
  require_size(layer.experts_per_token, "experts_per_token");
  require_size(layer.hidden, "hidden");
  require_size(layer.intermediate_per_partition, "intermediate_per_partition");
  const auto dtypes = dtype_names();
  if (std::find(dtypes.begin(), dtypes.end(), layer.in_dtype) == dtypes.end()) {
    throw Error(ErrorCode::usage, unknown_name("dtype", layer.in_dtype, dtypes));
  }
  return {deployment,
          derive(deployment.parallel),
          activation_named(layer.activation),
          routing_named(layer.routing_method),
          quant_key_named(deployment.activation_key),
          override_key_named(deployment.quantization_override)};
}

Verdict check_class(const KernelClass& kernel_class, const Query& query, QuantKey weight_key, QuantKey activation_key) {
  if (kernel_class.humming != HummingGemm::not_humming) return check_humming(kernel_class, query);
  return check_base(kernel_class, query, weight_key, activation_key);
}

std::string_view raised_type(const Verdict& verdict) {
  const std::string_view code = verdict.code;
  return code.starts_with(kRaised) ? code.substr(kRaised.size()) : std::string_view();
}

}  // namespace mx::oracle
