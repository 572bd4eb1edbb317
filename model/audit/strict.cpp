#include "model/audit/strict.hpp"

#include <algorithm>

#include "model/audit/placement.hpp"
#include "model/audit/resolve.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/fault.hpp"

namespace mx::audit {
namespace {

/// Backend rows whose lists of classes can be shortened.
class Strikable {
 public:
  explicit Strikable(const engine::OracleTables& tables) : tables_(tables), rows_(tables.backends.begin(), tables.backends.end()) {
    for (const engine::BackendRow& row : rows_) classes_.emplace_back(row.classes.begin(), row.classes.end());
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].classes = classes_[i];
    tables_.backends = rows_;
  }
  Strikable(const Strikable&) = delete;
  Strikable& operator=(const Strikable&) = delete;

  const engine::OracleTables& tables() const { return tables_; }

  void strike(std::string_view backend, std::string_view kernel_class) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].name != backend) continue;
      std::erase(classes_[i], kernel_class);
      rows_[i].classes = classes_[i];
    }
  }

 private:
  engine::OracleTables tables_;
  std::vector<engine::BackendRow> rows_;
  std::vector<std::vector<std::string_view>> classes_;
};

/// The name of moe_backend under which the engine itself takes this choice; empty where none does.
std::string name_that_leads_to(const engine::OracleTables& tables, const deployment::Deployment& deployment, const engine::Choice& choice) {
  deployment::Deployment asked = deployment;
  for (const std::string_view name : engine::user_names(tables)) {
    asked.layer.moe_backend = name;
    const engine::Decision decision = engine::decide(tables, asked);
    if (decision.choice && *decision.choice == choice) return "moe_backend " + std::string(name);
  }
  return {};
}

/// What the engine raises whatever is chosen, else the first choice and the need that it breaks.
engine::Refusal why_nothing(const engine::OracleTables& tables, const deployment::Deployment& deployment, const StrictDecision& strict) {
  if (const auto raised = engine::method_refusal(tables, deployment)) return *raised;
  const Skipped& first = strict.skipped.front();
  return {strict.decision.refusal->error_type, "every class that the engine would take breaks a need; " + std::string(first.backend) + " (" +
                                                   std::string(first.kernel_class) + ") " + broken_text(*first.need)};
}

}  // namespace

StrictDecision select_strict(deployment::Engine engine, std::string_view oracle, const deployment::Deployment& deployment, engine::Detail detail) {
  const engine::OracleTables& whole = engine::tables_of(engine, oracle);
  Strikable left(whole);
  deployment::Deployment asked = engine::as_asked(whole, deployment);
  StrictDecision strict;
  while (true) {
    strict.decision = engine::select(left.tables(), asked, detail);
    // Placed by the whole tables: a method that takes a backend's first class takes the engine's first.
    const auto placement = place(whole, asked, strict.decision);
    const families::KernelNeed* broken = placement ? first_broken_need(*placement) : nullptr;
    const bool not_asked = placement && engine::own_choice(whole, asked).taken();
    if (broken == nullptr) {
      strict.decision = engine::after_method(whole, asked, std::move(strict.decision));
      strict.asked = asked;
      if (strict.decision.choice) strict.reached_by = name_that_leads_to(whole, deployment, *strict.decision.choice);
      if (strict.decision.refusal && !strict.skipped.empty()) strict.decision.refusal = why_nothing(whole, deployment, strict);
      if (fault::planted(fault::Fault::strict_hides_skips)) strict.skipped.clear();
      return strict;
    }
    strict.skipped.push_back({placement->backend, placement->kernel_class, broken});
    if (not_asked) {
      // The method's own class cannot do the work: ask the oracle after all.
      asked.quant_method = "own";
      if (engine::own_choice(whole, asked).taken()) asked.layer.moe_backend = "auto";
    } else {
      left.strike(strict.decision.choice->backend, strict.decision.choice->kernel_class);
    }
  }
}

}  // namespace mx::audit
