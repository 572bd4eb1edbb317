#include "model/engine/vllm/check.hpp"

#include <algorithm>
#include <array>

#include "model/engine/vllm/class_rules.hpp"
#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/names.hpp"

namespace mx::engine {
namespace {

using fault::Fault;
using fault::planted;

constexpr std::string_view kRaised = "exc:";

/// What one check says: yes, no, or the exception that the engine raises while asking.
enum class Answer { yes, no, value_error, key_error };
Answer answer(bool yes) { return yes ? Answer::yes : Answer::no; }

struct CheckRow {
  std::string_view code;  ///< empty: the class names it
  Answer (*ask)(const Case& it);
  std::string (*why)(const Case& it);
  std::span<const EnvVariable> reads = {};  ///< integers among the variables that asking may read
};

const KernelClass& row_of(std::span<const KernelClass> classes, std::string_view name) {
  const auto found = std::find_if(classes.begin(), classes.end(), [&](const KernelClass& row) { return row.name == name; });
  if (found == classes.end()) throw Error(ErrorCode::usage, "the class table has no row '" + std::string(name) + "'");
  return *found;
}

/// The answer for the class itself, or the first other than yes among its halves.
template <typename Ask>
Answer of_every_half(const Case& it, const Ask& ask) {
  if (it.row.halves.empty()) return ask(it.row);
  for (std::string_view half : it.row.halves) {
    const Answer one = ask(row_of(it.subject.classes, half));
    if (one != Answer::yes) return one;
  }
  return Answer::yes;
}

/// Texts of the class itself, or of its halves.
template <typename Text>
std::string texts_of_halves(const Case& it, const Text& text) {
  if (it.row.halves.empty()) return text(it.row);
  std::string all;
  for (std::string_view half : it.row.halves) all += (all.empty() ? "" : "; and ") + text(row_of(it.subject.classes, half));
  return all;
}

template <typename Word>
std::string list_text(deployment::Mask mask, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (deployment::contains(mask, static_cast<Word>(i))) text += (text.empty() ? "" : " ") + std::string(name_of(static_cast<Word>(i)));
  }
  return text;
}

// in_dtype

Answer ask_dtype(const Case& it) { return answer(it.row.only_dtype.empty() || it.query.deployment.layer.in_dtype == it.row.only_dtype); }
std::string why_dtype(const Case& it) { return it.query.deployment.layer.in_dtype + " input; the class takes " + std::string(it.row.only_dtype); }

// device

bool has_parts(const DeviceRule& rule, const deployment::Deployment& deployment) {
  const auto has = [](const auto& of, auto part) { return part == nullptr || of.*part; };
  return has(deployment.software, rule.probe) && has(deployment.software, rule.also) && has(deployment.hardware, rule.trait);
}

Answer ask_device(const Case& it) {
  if (planted(Fault::oracle_skips_device_check)) return Answer::yes;
  const deployment::Deployment& deployment = it.query.deployment;
  return of_every_half(it, [&](const KernelClass& row) {
    for (const DeviceRule& rule : row.devices) {
      if (!deployment::holds(rule.where, deployment.hardware)) continue;
      if (planted(Fault::oracle_wants_exact_device) && deployment.hardware.capability.value_or(0) % 10 != 0) continue;
      const Switch switches = read_switches(deployment.env, rule.switched_on);
      if (switches == Switch::unreadable) return Answer::value_error;
      if (switches == Switch::on && has_parts(rule, deployment)) return Answer::yes;
    }
    return Answer::no;
  });
}

std::string rule_text(const DeviceRule& rule) {
  std::string text = deployment::text_of(rule.where);
  for (EnvVariable variable : rule.switched_on) text += " with " + std::string(name_of(variable)) + " on";
  for (const deployment::SoftwareRow& row : deployment::software_rows()) {
    if (row.answer == rule.probe || row.answer == rule.also) text += " with " + std::string(row.name);
  }
  if (rule.trait == &deployment::Hardware::amx) text += " with AMX";
  if (rule.trait == &deployment::Hardware::amx_fp8) text += " with AMX of FP8";
  if (rule.trait == &deployment::Hardware::zen_cpu) text += " of the Zen line";
  return text;
}

std::string why_device(const Case& it) {
  const deployment::Hardware& hardware = it.query.deployment.hardware;
  std::string text(deployment::name_of(hardware.platform));
  if (hardware.capability) text += " capability " + std::to_string(*hardware.capability);
  if (!hardware.gcn_arch.empty()) text += " " + hardware.gcn_arch;
  return text + "; the class needs " + texts_of_halves(it, [](const KernelClass& row) {
           std::string wanted;
           for (const DeviceRule& rule : row.devices) wanted += (wanted.empty() ? "" : ", or ") + rule_text(rule);
           return wanted;
         });
}

// no_act_and_mul

Answer ask_gated(const Case& it) {
  if (it.query.gated()) return Answer::yes;
  return of_every_half(it, [](const KernelClass& row) { return answer(row.takes_no_act_and_mul); });
}
std::string why_gated(const Case&) { return "the class needs a gated activation"; }

// activation

/// What a class takes; the fault widens the set that several classes share, as one slip in the table would.
deployment::Mask accepted_activations(const KernelClass& row, const deployment::Deployment& deployment) {
  const bool widened = planted(Fault::oracle_accepts_any_activation) &&
                       row.activations == deployment::set_of(deployment::Activation::swigluoai, deployment::Activation::silu);
  deployment::Mask taken = widened ? deployment::kEverything : row.activations;
  for (const ActivationLoss& loss : row.fewer_activations) {
    if (deployment::holds(loss.where, deployment.hardware)) taken &= ~loss.activations;
  }
  if (row.situ != nullptr && deployment.software.*row.situ) taken |= deployment::bit(deployment::Activation::situ);
  return taken;
}

Answer ask_activation(const Case& it) {
  return of_every_half(
      it, [&](const KernelClass& row) { return answer(deployment::contains(accepted_activations(row, it.query.deployment), it.query.activation)); });
}
std::string why_activation(const Case& it) {
  return std::string(deployment::name_of(it.query.activation)) + "; the class takes " + texts_of_halves(it, [&](const KernelClass& row) {
           return list_text<deployment::Activation>(accepted_activations(row, it.query.deployment),
                                                    deployment::activation_names(it.query.engine).size());
         });
}

// quant_scheme

bool has_keys(const KeyPairs& pairs, const AskedKeys& keys) {
  return deployment::contains(pairs.weights, keys.weights) && deployment::contains(pairs.activations, keys.activations);
}
bool has_keys(const KeyPairs& pairs, const Subject& subject) { return has_keys(pairs, {subject.weight_key, subject.activation_key}); }

bool row_takes_keys(const KernelClass& row, const deployment::Hardware& hardware, const AskedKeys& keys) {
  return std::ranges::any_of(row.quant, [&](const QuantRule& rule) {
    return deployment::holds(rule.where, hardware) && std::ranges::any_of(rule.pairs, [&](const KeyPairs& pairs) { return has_keys(pairs, keys); });
  });
}

Answer ask_keys(const Case& it) {
  const AskedKeys keys{it.subject.weight_key, it.subject.activation_key};
  const Answer taken = of_every_half(it, [&](const KernelClass& row) { return answer(row_takes_keys(row, it.query.deployment.hardware, keys)); });
  // The engine builds its message from both keys' text forms; until 2026-08 two keys have none, and KeyError escapes instead of a reason.
  const bool printable = it.query.engine >= deployment::kVllm2026_08 ||
                         (deployment::has_text_form(it.subject.weight_key) && deployment::has_text_form(it.subject.activation_key));
  return taken == Answer::no && !printable ? Answer::key_error : taken;
}
std::string why_keys(const Case& it) {
  return std::string(deployment::name_of(it.subject.weight_key)) + " weights x " + std::string(deployment::name_of(it.subject.activation_key)) +
         " activations";
}

// parallel_config

struct ParallelFactRow {
  ParallelFact fact;
  std::string_view text;
  bool (*holds)(const deployment::Parallel&);
};
bool without_trtllm_fp8(const deployment::Parallel& p) {
  return p.use_all2all_kernels() && !p.use_ag_rs_all2all_kernels() && !p.use_deepep_v2_kernels() && !p.use_fi_nvl_one_sided_kernels() &&
         !p.use_fi_nvl_two_sided_kernels();
}

constexpr std::array kParallelFacts = {
    ParallelFactRow{ParallelFact::fi_nvl_two_sided, "FlashInfer two-sided NVLink all2all",
                    [](const deployment::Parallel& p) { return p.use_fi_nvl_two_sided_kernels(); }},
    ParallelFactRow{ParallelFact::fi_nvl_one_sided, "FlashInfer one-sided NVLink all2all",
                    [](const deployment::Parallel& p) { return p.use_fi_nvl_one_sided_kernels(); }},
    ParallelFactRow{ParallelFact::deepep_ht, "DeepEP high throughput", [](const deployment::Parallel& p) { return p.use_deepep_ht_kernels(); }},
    ParallelFactRow{ParallelFact::all2all_kernels, "all2all kernels", [](const deployment::Parallel& p) { return p.use_all2all_kernels(); }},
    ParallelFactRow{ParallelFact::all2all_other_than_ag_rs, "all2all kernels other than allgather and reduce-scatter",
                    [](const deployment::Parallel& p) { return p.use_all2all_kernels() && !p.use_ag_rs_all2all_kernels(); }},
    ParallelFactRow{ParallelFact::eplb, "EPLB", [](const deployment::Parallel& p) { return p.enable_eplb; }},
    ParallelFactRow{ParallelFact::dp_above_one, "data parallelism", [](const deployment::Parallel& p) { return p.dp_size > 1; }},
    ParallelFactRow{ParallelFact::ep_above_one, "expert parallelism", [](const deployment::Parallel& p) { return p.ep_size > 1; }},
    ParallelFactRow{ParallelFact::use_ep, "expert parallelism", [](const deployment::Parallel& p) { return p.use_ep; }},
    ParallelFactRow{ParallelFact::no_ep, "a layer without expert parallelism", [](const deployment::Parallel& p) { return !p.use_ep; }},
    ParallelFactRow{ParallelFact::sp_above_one, "sequence parallelism", [](const deployment::Parallel& p) { return p.is_sequence_parallel(); }},
    ParallelFactRow{ParallelFact::no_all2all_kernels, "a layer without all2all kernels",
                    [](const deployment::Parallel& p) { return !p.use_all2all_kernels(); }},
    ParallelFactRow{ParallelFact::ag_rs, "allgather and reduce-scatter", [](const deployment::Parallel& p) { return p.use_ag_rs_all2all_kernels(); }},
    ParallelFactRow{ParallelFact::all2all_without_trtllm_fp8,
                    "all2all kernels other than allgather and reduce-scatter, DeepEP v2 and FlashInfer's NVLink ones", without_trtllm_fp8},
    ParallelFactRow{ParallelFact::batched_format, "batched activations",
                    [](const deployment::Parallel& p) { return p.use_batched_activation_format(); }},
    ParallelFactRow{ParallelFact::no_moonep, "a layer without the MoonEP exchange",
                    [](const deployment::Parallel& p) { return !p.use_moonep_kernels(); }},
};

const ParallelFactRow* refused_fact(const KernelClass& row, const deployment::Parallel& parallel) {
  if (planted(Fault::oracle_ignores_parallel)) return nullptr;
  const auto found = std::find_if(kParallelFacts.begin(), kParallelFacts.end(), [&](const ParallelFactRow& fact) {
    return deployment::contains(row.refused_parallel, fact.fact) && fact.holds(parallel);
  });
  return found == kParallelFacts.end() ? nullptr : &*found;
}

Answer ask_parallel(const Case& it) {
  return of_every_half(it, [&](const KernelClass& row) { return answer(refused_fact(row, it.query.parallel) == nullptr); });
}
std::string why_parallel(const Case& it) {
  return texts_of_halves(it, [&](const KernelClass& row) {
    const ParallelFactRow* fact = refused_fact(row, it.query.parallel);
    return fact == nullptr ? "nothing refused by " + std::string(row.name) : "the class refuses " + std::string(fact->text);
  });
}

// hash_routing, decomposed_routing: of monolithic classes, since 2026-11

bool routes_itself(const Case& it) {
  return !planted(Fault::class_takes_hash_routing) && it.query.engine >= deployment::kVllm2026_11 && it.row.monolithic;
}
Answer ask_hash(const Case& it) { return answer(!routes_itself(it) || it.row.hash_routing || !it.query.deployment.layer.has_hash_routing); }
std::string why_hash(const Case&) { return "the layer routes by a hash table"; }
Answer ask_decomposed(const Case& it) { return answer(!routes_itself(it) || !it.query.deployment.layer.require_decomposed_backend); }
std::string why_decomposed(const Case&) { return "the layer refuses classes that route by themselves"; }

// routing_method

/// The engine's TrtLlmFp8ExpertsMonolithic raises ValueError for keys that it does not list; never met, as the key check comes first.
deployment::Mask accepted_routings(const Case& it) {
  deployment::Mask routings = it.row.routings;
  for (const RoutingRule& rule : it.row.more_routings) {
    if (has_keys(rule.keys, it.subject)) routings |= rule.methods;
  }
  return routings;
}

Answer ask_routing(const Case& it) { return answer(deployment::contains(accepted_routings(it), it.query.routing)); }
std::string why_routing(const Case& it) {
  return std::string(deployment::name_of(it.query.routing)) + "; the class takes " +
         list_text<deployment::Routing>(accepted_routings(it), deployment::routing_names(it.query.engine).size());
}

// router_logits_dtype, shape: since 2026-08

Answer ask_logits(const Case& it) {
  if (it.query.engine < deployment::kVllm2026_08) return Answer::yes;
  const auto dtypes = deployment::dtype_names();
  const std::string_view dtype = it.query.router_logits();
  const deployment::Mask taken = it.row.router_logits;
  const bool is_listed = (taken >> (std::ranges::find(dtypes, dtype) - dtypes.begin()) & 1) != 0;
  return answer(is_listed && (dtype != "float32" || deployment::contains(it.row.f32_logits_routings, it.query.routing)));
}
std::string why_logits(const Case& it) { return std::string(it.query.router_logits()) + " router logits"; }

Answer ask_shape(const Case& it) { return answer(it.query.deployment.layer.hidden % it.row.hidden_multiple == 0); }
std::string why_shape(const Case& it) {
  return "hidden size " + std::to_string(it.query.deployment.layer.hidden) + "; the class takes multiples of " +
         std::to_string(it.row.hidden_multiple);
}

// activation_format

Answer ask_format(const Case& it) { return answer((it.row.asked_as_standard ? ActivationFormat::standard : it.query.format()) == it.row.format); }
std::string why_format(const Case& it) {
  return it.row.format == ActivationFormat::batched_experts ? "standard asked, the class is batched_experts"
                                                            : "batched_experts asked, the class is standard";
}

// batch_invariance, lora

Answer ask_invariance(const Case& it) {
  const Switch invariant = read_switch(it.query.deployment.env, EnvVariable::batch_invariant);
  if (invariant == Switch::unreadable) return Answer::value_error;
  return answer(invariant == Switch::off || it.row.batch_invariant);
}
std::string why_invariance(const Case&) { return "VLLM_BATCH_INVARIANT is on"; }

Answer ask_lora(const Case& it) { return answer(!it.query.deployment.layer.is_lora_enabled || it.row.lora); }
std::string why_lora(const Case&) { return "LoRA is enabled"; }

// In 2026-05 the Humming classes look at the format and at the preferred GEMM type, at nothing else.

Answer ask_humming_format(const Case& it) { return ask_format(it); }

Answer ask_humming_gemm(const Case& it) {
  return answer(it.row.format == ActivationFormat::batched_experts || it.row.humming == preferred_gemm(it.query));
}
std::string why_humming_gemm(const Case& it) {
  return "preferred GEMM type is " + std::string(preferred_gemm(it.query) == HummingGemm::indexed ? "indexed" : "grouped_contiguous");
}

constexpr std::array kReadForDevice = {EnvVariable::use_deep_gemm};
constexpr std::array kReadForInvariance = {EnvVariable::batch_invariant};

// In the engine's order.
constexpr std::array kBaseChecks = {
    CheckRow{"in_dtype", ask_dtype, why_dtype},
    CheckRow{"", ask_device, why_device, kReadForDevice},
    CheckRow{"no_act_and_mul", ask_gated, why_gated},
    CheckRow{"activation", ask_activation, why_activation},
    CheckRow{"quant_scheme", ask_keys, why_keys},
    CheckRow{"parallel_config", ask_parallel, why_parallel},
    CheckRow{"hash_routing", ask_hash, why_hash},
    CheckRow{"decomposed_routing", ask_decomposed, why_decomposed},
    CheckRow{"routing_method", ask_routing, why_routing},
    CheckRow{"router_logits_dtype", ask_logits, why_logits},
    CheckRow{"shape", ask_shape, why_shape},
    CheckRow{"activation_format", ask_format, why_format},
    CheckRow{"batch_invariance", ask_invariance, why_invariance, kReadForInvariance},
    CheckRow{"lora", ask_lora, why_lora},
};
constexpr std::array kHummingChecks = {
    CheckRow{"humming_activation_format", ask_humming_format, why_format},
    CheckRow{"humming_gemm_type", ask_humming_gemm, why_humming_gemm},
};

std::string_view code_of(const CheckRow& check, const Case& it, Answer given) {
  switch (given) {
    case Answer::value_error: return "exc:ValueError";
    case Answer::key_error: return "exc:KeyError";
    default: return check.code.empty() ? it.row.device_code : check.code;
  }
}

std::string text_of(const CheckRow& check, const Case& it, Answer given) {
  return given == Answer::value_error ? unreadable_text(it.query.deployment.env, check.reads) : check.why(it);
}

std::span<const CheckRow> checks_of(const KernelClass& row) { return row.humming_alone ? std::span<const CheckRow>(kHummingChecks) : kBaseChecks; }

}  // namespace

bool takes_keys(std::span<const KernelClass> classes, std::string_view kernel_class, const deployment::Hardware& hardware, const AskedKeys& keys) {
  const KernelClass& row = row_of(classes, kernel_class);
  if (row.halves.empty()) return row_takes_keys(row, hardware, keys);
  return std::ranges::all_of(row.halves, [&](std::string_view half) { return row_takes_keys(row_of(classes, half), hardware, keys); });
}

Verdict check_class(const Subject& subject, Detail detail) {
  const KernelClass& row = row_of(subject.classes, subject.kernel_class);
  const Case it{subject, row, subject.query};
  const auto by_rules = [&](std::span<const LayerRule> rules) -> std::optional<Verdict> {
    for (LayerRule rule : rules) {
      const std::string_view code = refusal_of(rule, it);
      if (!code.empty()) return Verdict{false, code, detail == Detail::texts ? "the class wants " + std::string(text_of(rule)) : std::string()};
    }
    return std::nullopt;
  };
  if (auto refused = planted(Fault::class_rules_before_skipped) ? std::nullopt : by_rules(row.rules_before)) return *refused;
  for (const CheckRow& check : checks_of(row)) {
    const Answer given = check.ask(it);
    if (given == Answer::yes) continue;
    return {false, code_of(check, it, given), detail == Detail::texts ? text_of(check, it, given) : std::string()};
  }
  if (auto refused = planted(Fault::class_rules_after_skipped) ? std::nullopt : by_rules(row.rules_after)) return *refused;
  return {true, "", ""};
}

int nearness(const Subject& subject) {
  constexpr int kRightPlatform = 100, kRightFormat = 50;
  const KernelClass& row = row_of(subject.classes, subject.kernel_class);
  const Case it{subject, row, subject.query};
  const deployment::PlatformKind platform = subject.query.deployment.hardware.platform;
  const Answer here = of_every_half(it, [&](const KernelClass& half) {
    return answer(std::ranges::any_of(half.devices, [&](const DeviceRule& rule) { return deployment::contains(rule.where.platforms, platform); }));
  });
  if (here != Answer::yes) return 0;
  int passed = 0;
  for (const CheckRow& check : checks_of(row)) {
    if (check.ask(it) != Answer::yes) break;
    ++passed;
  }
  return kRightPlatform + (ask_format(it) == Answer::yes ? kRightFormat : 0) + passed;
}

std::string_view raised_type(const Verdict& verdict) {
  return verdict.code.starts_with(kRaised) ? verdict.code.substr(kRaised.size()) : std::string_view();
}

}  // namespace mx::engine
