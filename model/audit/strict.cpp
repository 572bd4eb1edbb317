#include "model/audit/strict.hpp"

#include <algorithm>

#include "model/audit/placement.hpp"
#include "model/fault.hpp"

namespace mx::oracle {
namespace {

/// Backend rows whose lists of classes can be shortened.
class Strikable {
 public:
  explicit Strikable(const OracleTables& tables) : tables_(tables), rows_(tables.backends.begin(), tables.backends.end()) {
    for (const BackendRow& row : rows_) classes_.emplace_back(row.classes.begin(), row.classes.end());
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].classes = classes_[i];
    tables_.backends = rows_;
  }
  Strikable(const Strikable&) = delete;
  Strikable& operator=(const Strikable&) = delete;

  const OracleTables& tables() const { return tables_; }

  void strike(std::string_view backend, std::string_view kernel_class) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].name != backend) continue;
      std::erase(classes_[i], kernel_class);
      rows_[i].classes = classes_[i];
    }
  }

 private:
  OracleTables tables_;
  std::vector<BackendRow> rows_;
  std::vector<std::vector<std::string_view>> classes_;
};

}  // namespace

StrictDecision select_strict(Engine engine, std::string_view oracle, const Deployment& deployment, Detail detail) {
  const OracleTables& whole = tables_of(engine, oracle);
  Strikable left(whole);
  Deployment asked = deployment;
  StrictDecision strict;
  while (true) {
    strict.decision = select(left.tables(), asked, detail);
    // Placed by the whole tables: a method that takes a backend's first class takes the engine's first.
    const auto placement = place(whole, asked, strict.decision);
    const KernelNeed* broken = placement ? first_broken_need(*placement) : nullptr;
    const bool not_asked = placement && placement->backend == kNotAsked;
    if (broken == nullptr) {
      if (fault::planted(fault::Fault::strict_hides_skips)) strict.skipped.clear();
      if (not_asked)
        strict.decision = {Choice{std::string(kNotAsked), std::string(placement->kernel_class), placement->hidden, placement->intermediate}, {}, {}};
      return strict;
    }
    strict.skipped.push_back({placement->backend, placement->kernel_class, broken});
    if (not_asked) {
      // The method's own class cannot do the work: ask the oracle after all.
      asked.quant_method = "own";
    } else {
      left.strike(strict.decision.choice->backend, strict.decision.choice->kernel_class);
    }
  }
}

}  // namespace mx::oracle
