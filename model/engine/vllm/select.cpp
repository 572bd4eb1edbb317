#include "model/engine/vllm/select.hpp"

#include <algorithm>

#include "model/engine/vllm/call_rules.hpp"
#include "model/engine/vllm/check.hpp"
#include "model/engine/vllm/setup/flashinfer_variant.hpp"
#include "model/engine/vllm/verdicts.hpp"
#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/names.hpp"

namespace mx::engine {
namespace {

using fault::Fault;
using fault::planted;

using Names = std::vector<std::string_view>;

constexpr std::string_view kAuto = "auto";
constexpr std::string_view kNone = "NONE";

bool listed(std::span<const std::string_view> names, std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

/// What trying one backend gives: its first class that takes the layer, or the exception that the engine's helper raises.
struct Attempt {
  std::string_view kernel_class;
  std::string_view error_type;  ///< empty: supported
  bool unsupported = false;     ///< the exception is the helper's own ValueError: every class answered, and answered no
};

/// One search: runs the steps of the tables until one ends it.
class Search {
 public:
  Search(const OracleTables& tables, const Query& query, Detail detail)
      : tables_(tables), query_(query), detail_(detail), weight_key_(tables.weight_key.value_or(query.caller_weight_key)) {}

  Decision run() {
    std::string_view wish = query_.deployment.layer.moe_backend;
    if (listed(tables_.counts_as_auto, wish)) wish = kAuto;
    if (auto refusal = config_refusal(query_)) return {std::nullopt, std::move(*refusal), {}};
    Decision decision = run_steps(wish);
    if (decision.refusal && wish != kAuto && planted(Fault::oracle_swallows_refusal)) return run_steps(kAuto);
    return decision;
  }

  /// The list before a wish is looked at. An oracle that is for other platforms has none.
  Names order() {
    wish_ = kAuto;
    list_ = first_list(tables_, query_);
    for (const Step& step : tables_.steps) {
      const bool unconditional = step.when.named || step.when.variables.empty();
      if (step.kind == StepKind::map_name || step.kind == StepKind::walk || !unconditional) break;
      if (applies(step.when) != Switch::on) continue;
      if (step.kind == StepKind::raise) return {};
      if (step.kind == StepKind::candidates) list_.assign(step.backends.begin(), step.backends.end());
    }
    return list_;
  }

 private:
  Decision run_steps(std::string_view wish) {
    wish_ = wish;
    removed_.clear();
    requested_ = tables_.keys == KeyPolicy::callers ? query_.caller_key : deployment::QuantKey::none;
    list_ = first_list(tables_, query_);
    for (const Step& step : tables_.steps) {
      switch (applies(step.when)) {
        case Switch::off: continue;
        case Switch::unreadable: return refuse_unreadable(step.when);
        case Switch::on: break;
      }
      if (auto decision = take(step)) return std::move(*decision);
    }
    throw Error(ErrorCode::usage, "the steps of oracle " + std::string(tables_.name) + " end without an answer");
  }

  /// `unreadable` when a variable that the condition reads has a text that the engine's parser refuses.
  Switch applies(const When& when) const {
    const auto is = [](const auto& wanted, auto actual) { return !wanted || *wanted == actual; };
    const bool fits = is(when.named, wish_ != kAuto) && deployment::holds(when.where, query_.deployment.hardware) &&
                      deployment::contains(when.routings, query_.routing) && is(when.format, query_.format()) &&
                      is(when.allow_vllm_cutlass, query_.deployment.allow_vllm_cutlass);
    return fits && fits_layer(when) ? variables_fit(when) : Switch::off;
  }

  bool fits_layer(const When& when) const {
    const auto is = [](const auto& wanted, auto actual) { return !wanted || *wanted == actual; };
    const deployment::Deployment& deployment = query_.deployment;
    const std::string& text_model = deployment.model.text_model_type.empty() ? deployment.model.model_type : deployment.model.text_model_type;
    const auto set = [&](EnvVariable variable) { return is_set(deployment.env, variable); };
    return (when.wish.empty() || when.wish == wish_) && is(when.key_requested, requested_ != deployment::QuantKey::none) &&
           is(when.lora, deployment.layer.is_lora_enabled) && is(when.swiglu_limit, query_.constants.swiglu_limit.has_value()) &&
           is(when.moonep, query_.parallel.use_moonep_kernels()) && (when.models.empty() || listed(when.models, text_model)) &&
           std::ranges::none_of(when.unset, set) && !listed(removed_, when.not_removed) &&
           deployment.layer.intermediate_per_partition % when.intermediate_multiple == 0 &&
           (when.probe == nullptr || deployment.software.*when.probe);
  }

  Switch variables_fit(const When& when) const {
    const Environment& environment = query_.deployment.env;
    if (!when.variables.empty()) {
      const auto set = [&](EnvVariable variable) { return is_set(environment, variable); };
      if (planted(Fault::oracle_ignores_environment) || std::none_of(when.variables.begin(), when.variables.end(), set)) return Switch::off;
      const Switch all = read_switches(environment, when.variables);
      if (all == Switch::unreadable) return all;
      if (all != when.switches) return Switch::off;
    }
    if (when.variant_set && *when.variant_set != is_set(environment, EnvVariable::flashinfer_moe_backend)) return Switch::off;
    if (when.variants == deployment::kEverything) return Switch::on;
    const Answer<FlashinferVariant> variant = flashinfer_variant(query_.deployment.hardware.capability, environment);
    if (std::holds_alternative<Refusal>(variant)) return Switch::unreadable;
    return deployment::contains(when.variants, std::get<FlashinferVariant>(variant)) ? Switch::on : Switch::off;
  }

  /// The exception of the engine's parser, met while reading the variables of a condition.
  Decision refuse_unreadable(const When& when) {
    const Environment& environment = query_.deployment.env;
    std::string text = unreadable_text(environment, when.variables);
    if (text.empty()) text = std::get<Refusal>(flashinfer_variant(query_.deployment.hardware.capability, environment)).text;
    note(wish_, "", {false, "environment", text});
    return refused("ValueError", text);
  }

  /// One step; a decision when it ends the search.
  std::optional<Decision> take(const Step& step) {
    switch (step.kind) {
      case StepKind::resolve_key: return resolve_requested_key();
      case StepKind::candidates: list_.assign(step.backends.begin(), step.backends.end()); return std::nullopt;
      case StepKind::map_name: return map_name();
      case StepKind::rewrite: rewrite(); return std::nullopt;
      case StepKind::filter_keys: filter_keys(); return std::nullopt;
      case StepKind::remove: remove(step); return std::nullopt;
      case StepKind::try_in_turn: return try_in_turn();
      case StepKind::force: return force(step.backends.front(), step.key);
      case StepKind::try_one: return try_one(step.backends.front());
      case StepKind::try_class: return try_class(step.backends.front(), step.kernel_class);
      case StepKind::choose: return chosen(step.backends.front(), step.kernel_class);
      case StepKind::set_key: requested_ = *step.key; return std::nullopt;
      case StepKind::walk: return walk(step.backends);
      case StepKind::raise: return raise(step);
      case StepKind::choose_none: break;
    }
    return chosen(kNone, "");
  }

  std::optional<Decision> resolve_requested_key() {
    if (planted(Fault::oracle_ignores_requested_key)) return std::nullopt;
    requested_ = query_.override_key.value_or(query_.caller_key);
    if (query_.caller_key == deployment::QuantKey::none || query_.caller_key == requested_) return std::nullopt;
    const std::string text = "checkpoint declares " + std::string(deployment::name_of(query_.caller_key)) +
                             " activations, the quantization override asks for " + std::string(deployment::name_of(requested_));
    note(wish_, "", {false, "activation_key_conflict", text});
    return refused("ValueError", text);
  }

  std::optional<Decision> map_name() {
    if (wish_ == kAuto || planted(Fault::oracle_ignores_wish)) return std::nullopt;
    const auto row = std::find_if(tables_.user_names.begin(), tables_.user_names.end(), [&](const UserNameRow& r) { return r.name == wish_; });
    if (row == tables_.user_names.end() || (planted(Fault::added_names_unknown) && row->versions.since != deployment::kVllm2026_05)) {
      const std::string text = "moe_backend '" + std::string(wish_) + "' is not known to this oracle";
      note(wish_, "", {false, "unknown_name", text});
      return refused("ValueError", text);
    }
    list_.assign(row->backends.begin(), row->backends.end());
    return std::nullopt;
  }

  void rewrite() {
    if (query_.format() != ActivationFormat::batched_experts || planted(Fault::oracle_forgets_batched_member)) return;
    for (std::string_view& name : list_) {
      const auto row =
          std::find_if(tables_.batched_rewrites.begin(), tables_.batched_rewrites.end(), [&](const RewriteRow& r) { return r.from == name; });
      if (row != tables_.batched_rewrites.end()) name = row->to;
    }
  }

  /// A requested key keeps the backends that own it, and EMULATION; none keeps those for 16-bit activations, or all if there is none.
  void filter_keys() {
    Names kept;
    for (std::string_view name : list_) {
      const bool owns = backend_named(tables_, name).own_key == requested_;
      if (owns || (requested_ != deployment::QuantKey::none && name == tables_.survives_key_filter)) kept.push_back(name);
    }
    if (tables_.filter_falls_back && requested_ != deployment::QuantKey::none && !planted(Fault::keys_never_fall_back)) {
      for (std::string_view name : list_) {
        if (backend_named(tables_, name).own_key == deployment::QuantKey::none && !listed(kept, name)) kept.push_back(name);
      }
    }
    if (kept.empty() && requested_ == deployment::QuantKey::none) return;
    for (std::string_view name : list_) {
      if (listed(kept, name)) continue;
      const auto why = [&] {
        return std::string(deployment::name_of(requested_)) + " asked, the backend's is " +
               std::string(deployment::name_of(backend_named(tables_, name).own_key));
      };
      note(name, "", {false, "activation_key", detail_ == Detail::texts ? why() : std::string()});
    }
    list_ = std::move(kept);
  }

  void remove(const Step& step) {
    for (std::string_view name : step.backends) {
      removed_.push_back(name);
      const auto at = std::find(list_.begin(), list_.end(), name);
      if (at == list_.end()) continue;
      list_.erase(at);
      note(name, "", {false, step.when.variables.empty() ? "caller" : "environment", std::string(step.why)});
    }
  }

  /// The engine's helper: first supported class, or ValueError with the reason of the last one.
  Attempt try_backend(std::string_view name, std::optional<deployment::QuantKey> key = {}) {
    const BackendRow& row = backend_named(tables_, name);
    if (row.module != nullptr && !(query_.deployment.software.*row.module)) {
      note(name, "*", missing_module(row, Detail::texts));
      return {"", "ModuleNotFoundError"};
    }
    if (const Verdict own = own_verdict(row, query_, detail_); !own.supported) {
      note(name, "", own);
      return {"", "ValueError", true};
    }
    const deployment::QuantKey asked = key.value_or(key_for(tables_.keys, row, requested_));
    if (wish_ != kAuto && query_.deployment.layer.is_lora_enabled) {
      if (row.refuses_lora_by_name) {
        note(name, "", {false, "lora", "LoRA is enabled"});
        return {"", "ValueError", true};
      }
      if (!row.lora_class.empty() && !planted(Fault::lora_class_forgotten) && check(name, row.lora_class, asked).supported)
        return {row.lora_class, ""};
    }
    for (std::string_view class_name : row.classes) {
      const Verdict verdict = check(name, class_name, asked);
      if (verdict.supported) return {class_name, ""};
      if (const std::string_view type = raised_type(verdict); !type.empty()) return {"", type};
    }
    return {"", "ValueError", true};
  }

  Verdict check(std::string_view name, std::string_view class_name, deployment::QuantKey key) {
    const Verdict verdict = check_class({tables_.classes, class_name, query_, weight_key_, key}, detail_);
    note(name, class_name, verdict);
    return verdict;
  }

  Decision answer(std::string_view name, const Attempt& attempt) {
    if (attempt.error_type.empty()) return chosen(name, attempt.kernel_class);
    return refused(attempt.error_type, std::string(name) + " does not support this deployment: " + reason(name));
  }

  Decision try_in_turn() {
    if (list_.empty()) return refused("ValueError", "moe_backend '" + std::string(wish_) + "' leaves no backend: " + reason());
    auto name = list_.begin();
    Attempt attempt = try_backend(*name);
    // Only ValueError moves on, whoever raised it; a missing module or a key without a text form escapes at once.
    while (attempt.error_type == "ValueError" && *name != list_.back()) attempt = try_backend(*++name);
    return answer(*name, attempt);
  }

  Decision force(std::string_view name, std::optional<deployment::QuantKey> key) {
    forced_ = key;
    return answer(name, try_backend(name, key));
  }

  std::optional<Decision> try_one(std::string_view name) {
    const Attempt attempt = try_backend(name);
    return attempt.error_type.empty() ? std::optional(answer(name, attempt)) : std::nullopt;
  }

  std::optional<Decision> try_class(std::string_view name, std::string_view kernel_class) {
    return check(name, kernel_class, deployment::QuantKey::none).supported ? std::optional(chosen(name, kernel_class)) : std::nullopt;
  }

  std::optional<Decision> walk(std::span<const std::string_view> backends) {
    if (!backends.empty()) list_.assign(backends.begin(), backends.end());
    if (planted(Fault::oracle_skips_first_candidate) && list_.size() > 1) list_.erase(list_.begin());
    for (std::string_view name : list_) {
      const Attempt attempt = try_backend(name);
      if (!attempt.unsupported) return answer(name, attempt);
    }
    return std::nullopt;
  }

  Decision raise(const Step& step) {
    for (EnvVariable variable : step.when.variables) {
      if (is_set(query_.deployment.env, variable)) note(name_of(variable), "", {false, "environment", std::string(step.why)});
    }
    return refused(planted(Fault::oracle_raises_another_type) ? "ValueError" : step.error_type,
                   std::string(step.why) + (trace_.empty() ? "" : ": " + reason()));
  }

  /// Why the candidate failed that came nearest to taking the layer; `backend` alone where it is named.
  std::string reason(std::string_view backend = {}) const {
    constexpr int kNoClass = 50;  // a step that asked no class says more than a class of another platform
    const Candidate* best = nullptr;
    int nearest = -1;
    for (const Candidate& candidate : trace_) {
      if (!backend.empty() && candidate.backend != backend) continue;
      const auto subject = subject_of(candidate);
      const int near = subject ? nearness(*subject) : kNoClass;
      if (near < nearest) continue;
      best = &candidate;
      nearest = near;
    }
    if (best == nullptr) return backend.empty() ? "nothing is left to ask" : "no class of it is left to ask";
    const auto subject = subject_of(*best);
    return std::string(best->verdict.code) + ", " + (subject ? check_class(*subject, Detail::texts).text : best->verdict.text);
  }

  /// None for a step that asked no class.
  std::optional<Subject> subject_of(const Candidate& candidate) const {
    if (candidate.kernel_class.empty() || candidate.kernel_class == "*") return std::nullopt;
    const deployment::QuantKey key = forced_.value_or(key_for(tables_.keys, backend_named(tables_, candidate.backend), requested_));
    return Subject{tables_.classes, candidate.kernel_class, query_, weight_key_, key};
  }

  void note(std::string_view backend, std::string_view kernel_class, const Verdict& verdict) {
    trace_.push_back({std::string(backend), std::string(kernel_class), verdict});
  }

  Decision chosen(std::string_view backend, std::string_view kernel_class) {
    const deployment::LayerConfig& layer = query_.deployment.layer;
    const RoundedSizes sizes = round_up(tables_, backend, query_.deployment, {layer.hidden, layer.intermediate_per_partition});
    if (planted(Fault::oracle_hides_refusals) && !trace_.empty()) trace_.erase(trace_.begin(), trace_.end() - 1);
    return {Choice{std::string(backend), std::string(kernel_class), sizes.hidden, sizes.intermediate}, std::nullopt, std::move(trace_)};
  }

  Decision refused(std::string_view error_type, const std::string& text) {
    if (planted(Fault::oracle_ends_without_answer)) return {std::nullopt, std::nullopt, std::move(trace_)};
    return {std::nullopt, Refusal{std::string(error_type), text}, std::move(trace_)};
  }

  const OracleTables& tables_;
  const Query& query_;
  Detail detail_;
  deployment::QuantKey weight_key_;
  std::string_view wish_;
  deployment::QuantKey requested_ = deployment::QuantKey::none;
  Names list_;
  Names removed_;                               ///< what steps took out, or would have
  std::optional<deployment::QuantKey> forced_;  ///< of activations, by the step that forces a backend
  std::vector<Candidate> trace_;
};

}  // namespace

std::vector<std::string_view> first_list(const OracleTables& tables, const Query& query) {
  const deployment::QuantKey activation_key = tables.keys == KeyPolicy::callers ? query.caller_key : deployment::QuantKey::none;
  const PriorityRequest request{query.deployment.hardware, query.parallel, tables.weight_key.value_or(query.caller_weight_key), activation_key,
                                query.activation};
  return priority_order({tables.priority, tables.to_front}, request);
}

const BackendRow& backend_named(const OracleTables& tables, std::string_view name) {
  for (const BackendRow& row : tables.backends) {
    if (row.name == name) return row;
  }
  Names known;
  for (const BackendRow& row : tables.backends) known.push_back(row.name);
  throw Error(ErrorCode::usage, unknown_name("backend", name, known));
}

Decision select(deployment::Engine engine, std::string_view oracle, const deployment::Deployment& deployment, Detail detail) {
  return select(tables_of(engine, oracle), deployment, detail);
}

Decision select(const OracleTables& tables, const deployment::Deployment& deployment, Detail detail) {
  const Query query = query_for(tables, deployment);
  return Search(tables, query, detail).run();
}

RoundedSizes round_up(const OracleTables& tables, std::string_view backend, const deployment::Deployment& deployment, const RoundedSizes& sizes) {
  backend_named(tables, backend);
  if (tables.roundings.empty()) return sizes;
  const std::string& activation = deployment.layer.activation;
  return rounded_up(tables.roundings, {tables.engine, backend, deployment.hardware.platform, activation == "SILU" || activation == "SITU", sizes,
                                       deployment.hardware.gcn_arch});
}

std::vector<std::string_view> order_of(const OracleTables& tables, const deployment::Deployment& deployment) {
  const Query query = query_for(tables, deployment);
  return Search(tables, query, Detail::codes).order();
}

deployment::QuantKey activation_key(const OracleTables& tables, std::string_view backend) {
  const BackendRow& row = backend_named(tables, backend);
  return planted(Fault::oracle_forgets_own_key) ? deployment::QuantKey::none : row.own_key;
}

std::vector<std::string_view> user_names(const OracleTables& tables) {
  std::vector<std::string_view> names = {kAuto};
  for (const UserNameRow& row : tables.user_names) names.push_back(row.name);
  return names;
}

}  // namespace mx::engine
