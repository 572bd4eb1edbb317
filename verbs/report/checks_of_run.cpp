// Runs as lists of single checks: what continuous integration counts.

#include <fmt/core.h>

#include "verbs/report/answers.hpp"
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

std::vector<JunitCase> cases_of(const Run& run) {
  std::vector<JunitCase> cases;
  for (const Answer& answer : answers_of(run)) {
    if (answer.checked) cases.push_back({"mxact." + answer.group, answer.name, end_of(answer.word), answer.word + ": " + answer.why});
  }
  return cases;
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
