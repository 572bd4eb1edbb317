// Runs as lists of single checks: what continuous integration counts.

#include <fmt/core.h>

#include <array>

#include "verbs/report/report.hpp"

namespace mx::verbs {
namespace {

using support::CheckEnd;
using support::JunitCase;

/// What an engine refuses by itself is no failure of what is checked.
CheckEnd end_of(std::string_view word) {
  if (word == "PASSED" || word == "KNOWN TO DIFFER" || word == "equal") return CheckEnd::passed;
  if (word == "REFUSED" || word == "NOT YET MODELLED" || word == "unmodelled") return CheckEnd::skipped;
  return word == "MISTRUSTED" || word == "mistrusted" ? CheckEnd::mistrusted : CheckEnd::failed;
}

std::string text_or(const Node& node, std::string_view key, const std::string& otherwise) {
  const std::optional<Node> found = node.find(key);
  return found && !found->text().empty() ? found->text() : otherwise;
}

std::vector<JunitCase> verify_cases(const Run& run) {
  const std::vector<Node> conversions = run.root()["conversions"].items();
  std::vector<JunitCase> cases;
  for (const Node& cell : run.root()["cells"].items()) {
    const std::string verdict = cell["verdict"].text();
    const std::optional<Node> index = cell.find("conversion");
    std::string why = text_or(cell, "detail", verdict);
    if (index && static_cast<std::size_t>(index->count()) < conversions.size())
      why = text_or(conversions[static_cast<std::size_t>(index->count())], "detail", why);
    cases.push_back({fmt::format("mxact.verify.{}.tp{}", cell["platform"].text(), cell["tp"].count()),
                     fmt::format("{} ({})", text_or(cell, "backend", "no backend"), cell["request"].text()), end_of(verdict), verdict + ": " + why});
  }
  return cases;
}

std::vector<JunitCase> witness_cases(const Run& run) {
  std::vector<JunitCase> cases;
  if (run.root().find("ledger")) return cases;
  for (const Node& set : run.root()["sets"].items()) {
    for (const Node& entry : set["entries"].items()) {
      const std::string status = entry["status"].text();
      cases.push_back({"mxact.witness." + set["set"].text(), entry["id"].text(), end_of(status),
                       fmt::format("{}: {} of {} values differ; {}", status, entry["differing"].count(), entry["compared"].count(),
                                   text_or(entry, "reason", set["path"].text()))});
    }
  }
  return cases;
}

struct CasesRow {
  std::string_view schema;
  std::vector<JunitCase> (*cases)(const Run&);
};
constexpr std::array kRows{CasesRow{"mxact-verify", verify_cases}, CasesRow{"mxact-witness", witness_cases}};

std::vector<JunitCase> cases_of(const Run& run) {
  for (const CasesRow& row : kRows) {
    if (row.schema == run.kind->schema) return row.cases(run);
  }
  return {};
}

/// A run whose verb would end with another status than 0 is never green, nor only skipped.
CheckEnd end_of(Standing standing) {
  if (exit_code(standing) == 0) return CheckEnd::passed;
  return standing == Standing::mistrusted || standing == Standing::nothing ? CheckEnd::mistrusted : CheckEnd::failed;
}

}  // namespace

std::vector<support::JunitCase> checks_of(std::span<const Run> runs) {
  std::vector<JunitCase> all;
  for (const Run& run : runs) {
    const Outcome outcome = run.kind->outcome(run);
    const std::vector<JunitCase> cases = cases_of(run);
    all.insert(all.end(), cases.begin(), cases.end());
    all.push_back(
        {std::string(run.kind->schema), run.name, end_of(outcome.standing), fmt::format("{}: {}", word_of(outcome.standing), outcome.counted)});
  }
  return all;
}

}  // namespace mx::verbs
