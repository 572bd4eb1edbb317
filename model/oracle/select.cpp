#include "model/oracle/select.hpp"

#include <algorithm>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/names.hpp"
#include "model/oracle/check.hpp"

namespace mx::oracle {
namespace {

using fault::Fault;
using fault::planted;

const BackendRow& backend_row(const OracleTables& tables, std::string_view name) {
  for (const BackendRow& row : tables.backends) {
    if (row.name == name) return row;
  }
  std::vector<std::string_view> known;
  for (const BackendRow& row : tables.backends) known.push_back(row.name);
  throw Error(ErrorCode::usage, unknown_name("backend", name, known));
}

const KernelClass& class_row(const OracleTables& tables, std::string_view name) {
  for (const KernelClass& row : tables.classes) {
    if (row.name == name) return row;
  }
  throw Error(ErrorCode::usage, "the class table has no row '" + std::string(name) + "'");
}

bool listed(std::span<const std::string_view> names, std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

/// What trying one backend gives: its first class that takes the layer, or the exception that the engine's helper raises.
struct Attempt {
  std::string kernel_class;
  std::optional<Refusal> refusal;
  bool unsupported = false;  ///< the refusal is the helper's own ValueError: every class answered, and answered no
};

/// One search. Follows select_mxfp4_moe_backend step by step; the numbers are those of its description.
class Search {
 public:
  Search(const OracleTables& tables, const Query& query, Detail detail) : tables_(tables), query_(query), detail_(detail) {}

  Decision run() {
    const std::string& wish = query_.deployment.layer.moe_backend;
    // Step 1. A conflict of keys comes before everything else, also before an unknown name.
    if (!resolve_requested_key()) return refuse("ValueError", conflict_text(), wish, "activation_key_conflict");
    if (wish != "auto") {
      Decision by_name = search_by_name(wish);
      if (!by_name.refusal || !planted(Fault::oracle_swallows_refusal)) return by_name;
    }
    return search_auto();
  }

 private:
  bool resolve_requested_key() {
    if (planted(Fault::oracle_ignores_requested_key)) return true;
    requested_ = query_.caller_key;
    if (!query_.override_key) return true;
    if (requested_ != QuantKey::none && requested_ != *query_.override_key) return false;
    requested_ = *query_.override_key;
    return true;
  }

  std::string conflict_text() const {
    return "checkpoint declares " + std::string(name_of(query_.caller_key)) + " activations, the quantization override asks for " +
           std::string(name_of(*query_.override_key));
  }

  /// Step 3. A name stands for candidates in order; environment variables play no part on this path.
  Decision search_by_name(std::string_view wish) {
    const auto row = std::find_if(tables_.user_names.begin(), tables_.user_names.end(), [&](const UserNameRow& r) { return r.name == wish; });
    if (row == tables_.user_names.end()) {
      return refuse("ValueError", "moe_backend '" + std::string(wish) + "' is not known to this oracle", wish, "unknown_name");
    }
    std::vector<std::string_view> candidates;
    for (std::string_view name : row->backends) candidates.push_back(rewritten(name));
    candidates = filtered(candidates);
    if (candidates.empty()) {
      return refused("ValueError", "moe_backend '" + std::string(wish) + "' does not support " + std::string(name_of(requested_)) + " activations");
    }
    Attempt attempt;
    for (std::string_view name : candidates) {
      attempt = try_backend(name, key_for(name));
      if (!attempt.refusal) return chosen(name, attempt.kernel_class);
      // Only ValueError moves on, whoever raised it; a missing module or a key without a text form escapes at once.
      if (attempt.refusal->error_type != "ValueError") break;
    }
    return refused(attempt.refusal->error_type, attempt.refusal->text);
  }

  /// Steps 5 to 8.
  Decision search_auto() {
    std::vector<std::string_view> order = filtered({tables_.priority.begin(), tables_.priority.end()});
    for (const EnvOverrideRow& row : tables_.env_overrides) {
      if (auto decision = apply_override(row, order)) return *decision;
    }
    if (planted(Fault::oracle_skips_first_candidate) && order.size() > 1) order.erase(order.begin());
    for (std::string_view name : order) {
      const Attempt attempt = try_backend(name, key_for(name));
      if (!attempt.refusal) return chosen(name, attempt.kernel_class);
      if (!attempt.unsupported) return refused(attempt.refusal->error_type, attempt.refusal->text);
    }
    const PlatformKind platform = query_.deployment.hardware.platform;
    for (const FallbackRow& row : tables_.fallbacks) {
      // The requested key is dropped here: this is how CPU is reached at all, and how a wish for quantized activations is lost on it.
      if (row.platform == platform) return try_last(row.backend, row.key);
    }
    return refuse("NotImplementedError", "no backend supports this deployment", name_of(platform), trace_.empty() ? "device" : "");
  }

  /// Step 6: one variable. Returns a decision when it ends the search.
  std::optional<Decision> apply_override(const EnvOverrideRow& row, std::vector<std::string_view>& order) {
    const Environment& environment = query_.deployment.env;
    if (!is_set(environment, row.variable) || planted(Fault::oracle_ignores_environment)) return std::nullopt;
    const std::string variable(name_of(row.variable));
    switch (read_switch(environment, row.variable)) {
      case Switch::unreadable: return refuse("ValueError", variable + "='" + environment.at(variable) + "' is no integer", variable, "environment");
      case Switch::off:
        for (std::string_view name : row.dropped_when_off) drop(order, name, variable + " is off");
        return std::nullopt;
      case Switch::on: break;
    }
    for (const OverrideTarget& target : row.targets) {
      if (in_range(target.capability, query_.deployment.hardware.capability)) return try_last(target.backend, target.key);
    }
    return refuse("ValueError", variable + " is on, and no backend of it is for this device", variable, "environment");
  }

  /// Step 4. A requested key keeps the backends that own it, and EMULATION; none keeps those for 16-bit activations, or all if there is none.
  std::vector<std::string_view> filtered(const std::vector<std::string_view>& names) {
    std::vector<std::string_view> kept;
    for (std::string_view name : names) {
      const bool owns = backend_row(tables_, name).own_key == requested_;
      if (owns || (requested_ != QuantKey::none && name == tables_.survives_key_filter)) kept.push_back(name);
    }
    if (kept.empty() && requested_ == QuantKey::none) return names;
    for (std::string_view name : names) {
      if (listed(kept, name)) continue;
      const QuantKey own = backend_row(tables_, name).own_key;
      note(name, "", {false, "activation_key", std::string(name_of(requested_)) + " asked, the backend's is " + std::string(name_of(own))});
    }
    return kept;
  }

  void drop(std::vector<std::string_view>& order, std::string_view name, const std::string& why) {
    const auto at = std::find(order.begin(), order.end(), name);
    if (at == order.end()) return;
    order.erase(at);
    note(name, "", {false, "environment", why});
  }

  QuantKey key_for(std::string_view name) const { return requested_ != QuantKey::none ? requested_ : backend_row(tables_, name).own_key; }

  std::string_view rewritten(std::string_view name) const {
    if (query_.format() != ActivationFormat::batched_experts || planted(Fault::oracle_forgets_batched_member)) return name;
    for (const RewriteRow& row : tables_.batched_rewrites) {
      if (row.from == name) return row.to;
    }
    return name;
  }

  /// The engine's helper: first supported class, or ValueError with the reason of the last one.
  Attempt try_backend(std::string_view name, QuantKey key) {
    const BackendRow& row = backend_row(tables_, name);
    if (row.module != nullptr && !(query_.deployment.software.*row.module)) {
      note(name, "*", {false, "exc:ModuleNotFoundError", "no module named '" + std::string(row.module_name) + "'"});
      return {"", Refusal{"ModuleNotFoundError", trace_.back().verdict.text}};
    }
    for (std::string_view class_name : row.classes) {
      Verdict verdict = check_class(class_row(tables_, class_name), query_, tables_.weight_key, key);
      note(name, class_name, verdict);
      if (verdict.supported) return {std::string(class_name), std::nullopt};
      if (const std::string_view type = raised_type(verdict); !type.empty()) return {"", Refusal{std::string(type), verdict.text}};
    }
    const std::string reason = trace_.empty() ? "" : trace_.back().verdict.text;
    return {"", Refusal{"ValueError", std::string(name) + " does not support this deployment: " + reason}, true};
  }

  /// A try whose failure is the answer.
  Decision try_last(std::string_view name, QuantKey key) {
    const Attempt attempt = try_backend(name, key);
    return attempt.refusal ? refused(attempt.refusal->error_type, attempt.refusal->text) : chosen(name, attempt.kernel_class);
  }

  void note(std::string_view backend, std::string_view kernel_class, const Verdict& verdict) {
    trace_.push_back({std::string(backend), std::string(kernel_class), verdict});
  }

  Decision chosen(std::string_view backend, const std::string& kernel_class) {
    const LayerConfig& layer = query_.deployment.layer;
    const RoundedSizes sizes = round_up(tables_, backend, query_.deployment.hardware.platform, layer.hidden, layer.intermediate_per_partition);
    return {Choice{std::string(backend), kernel_class, sizes.hidden, sizes.intermediate}, std::nullopt, finished_trace()};
  }

  Decision refused(std::string_view error_type, const std::string& text) {
    return {std::nullopt, Refusal{std::string(error_type), text}, finished_trace()};
  }

  /// A refusal that no candidate stands for: the step itself goes into the trace, under `what`, unless the code is empty.
  Decision refuse(std::string_view error_type, const std::string& text, std::string_view what, std::string_view code) {
    if (!code.empty()) note(what, "", {false, std::string(code), text});
    return refused(error_type, text);
  }

  std::vector<Candidate> finished_trace() {
    if (detail_ == Detail::codes) {
      for (Candidate& candidate : trace_) candidate.verdict.text.clear();
    }
    return std::move(trace_);
  }

  const OracleTables& tables_;
  const Query& query_;
  Detail detail_;
  QuantKey requested_ = QuantKey::none;
  std::vector<Candidate> trace_;
};

std::int64_t rounded(std::int64_t size, std::int64_t multiple) {
  if (planted(Fault::oracle_rounds_down) && size >= multiple) return size / multiple * multiple;
  return (size + multiple - 1) / multiple * multiple;
}

}  // namespace

Decision select(std::string_view oracle, const Deployment& deployment, Detail detail) { return select(tables_of(oracle), deployment, detail); }

Decision select(const OracleTables& tables, const Deployment& deployment, Detail detail) {
  const Query query = resolve(deployment);
  return Search(tables, query, detail).run();
}

std::vector<Candidate> support(std::string_view oracle, const Deployment& deployment, Detail detail) {
  return support(tables_of(oracle), deployment, detail);
}

std::vector<Candidate> support(const OracleTables& tables, const Deployment& deployment, Detail detail) {
  const Query query = resolve(deployment);
  std::vector<Candidate> verdicts;
  for (const BackendRow& row : tables.backends) {
    if (row.module != nullptr && !(deployment.software.*row.module)) {
      verdicts.push_back({std::string(row.name), "*", {false, "exc:ModuleNotFoundError", "no module named '" + std::string(row.module_name) + "'"}});
      continue;
    }
    const QuantKey key = query.caller_key != QuantKey::none ? query.caller_key : row.own_key;
    for (std::string_view class_name : row.classes) {
      verdicts.push_back({std::string(row.name), std::string(class_name), check_class(class_row(tables, class_name), query, tables.weight_key, key)});
    }
  }
  if (detail == Detail::codes) {
    for (Candidate& candidate : verdicts) candidate.verdict.text.clear();
  }
  return verdicts;
}

RoundedSizes round_up(const OracleTables& tables, std::string_view backend, PlatformKind platform, std::int64_t hidden, std::int64_t intermediate) {
  backend_row(tables, backend);
  for (std::int64_t size : {hidden, intermediate}) {
    if (size < 1 || size > kLargestSize) {
      throw Error(ErrorCode::usage, "size " + std::to_string(size) + " must be in [1, " + std::to_string(kLargestSize) + "]");
    }
  }
  for (const RoundingRow& row : tables.roundings) {
    if (!row.backends.empty() && !listed(row.backends, backend)) continue;
    if (row.platform && *row.platform != platform) continue;
    return {rounded(hidden, row.hidden), rounded(intermediate, row.intermediate)};
  }
  throw Error(ErrorCode::usage, "no rounding rule for backend " + std::string(backend));
}

QuantKey activation_key(const OracleTables& tables, std::string_view backend) {
  const BackendRow& row = backend_row(tables, backend);
  return planted(Fault::oracle_forgets_own_key) ? QuantKey::none : row.own_key;
}

std::vector<std::string_view> user_names(const OracleTables& tables) {
  std::vector<std::string_view> names = {"auto"};
  for (const UserNameRow& row : tables.user_names) names.push_back(row.name);
  return names;
}

}  // namespace mx::oracle
