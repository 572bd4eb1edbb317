#include "props/law.hpp"

#include <rapidcheck.h>
#include <rapidcheck/detail/Configuration.h>

#include <cstdlib>
#include <optional>
#include <sstream>
#include <unordered_map>

// RapidCheck prints this string itself when the process ends, for all failures at once; its headers leave the function out.
namespace rc::detail {
std::string reproduceMapToString(const std::unordered_map<std::string, Reproduce>& reproduceMap);
}

namespace mx::props {

namespace {

/// RapidCheck's verdict on a property of that name, or none where RC_PARAMS replays another one: RapidCheck skips what it is not told to reproduce
/// and calls that a success.
std::optional<Outcome> verdict(const Law& law, std::string name, const std::function<void()>& property, int usual_cases) {
  // RapidCheck seeds itself from the clock; a run must be the same tomorrow, unless somebody asks for another seed.
  static const int seeded = setenv("RC_PARAMS", "seed=1", 0);
  (void)seeded;
  // A TestMetadata id is what makes RapidCheck print the string that replays a failure; its Catch wrapper gives none.
  rc::detail::TestMetadata metadata;
  metadata.id = name;
  metadata.description = std::string(law.statement);
  rc::detail::Configuration usual;
  usual.testParams.seed = 1;
  usual.testParams.maxSuccess = usual_cases;
  const rc::detail::TestParams params = rc::detail::configFromString(std::getenv("RC_PARAMS"), usual).testParams;
  const rc::detail::TestResult result = rc::detail::checkTestable(property, metadata, params);
  if (result.is<rc::detail::SuccessResult>()) {
    const int cases = result.get<rc::detail::SuccessResult>().numSuccess;
    if (cases == 0) return std::nullopt;
    return Outcome{true, static_cast<std::uint64_t>(cases), {}};
  }
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  std::string replay = "mxact_laws '" + std::string(law.id) + "'";
  if (result.is<rc::detail::FailureResult>()) {
    const rc::detail::Reproduce& reproduce = result.get<rc::detail::FailureResult>().reproduce;
    replay = "RC_PARAMS='reproduce=" + rc::detail::reproduceMapToString({{metadata.id, reproduce}}) + "' " + replay;
  }
  return Outcome{false, 0, name + ": " + message.str() + "\nreplay: " + replay};
}

Outcome nothing_tried(const Law& law) { return {false, 0, std::string(law.id) + ": nothing was tried (is RC_PARAMS set to reproduce another law?)"}; }

}  // namespace

Outcome check_property(const Law& law, const std::function<void()>& property, int usual_cases) {
  return verdict(law, std::string(law.id), property, usual_cases).value_or(nothing_tried(law));
}

Outcome check_rows(const Law& law, std::span<const RowProperty> rows, int usual_cases) {
  Outcome all{true, 0, {}};
  for (const RowProperty& row : rows) {
    const std::optional<Outcome> outcome = verdict(law, std::string(law.id) + " " + row.row, row.property, usual_cases);
    if (!outcome) continue;
    if (!outcome->held) return *outcome;
    all.cases += outcome->cases;
    all.counts += row.row + ": " + row.counts() + "\n";
  }
  return all.cases > 0 ? all : nothing_tried(law);
}

void Exhaustive::expect(bool holds, const std::function<std::string()>& describe) {
  ++cases_;
  if (holds) return;
  if (failures_++ == 0) first_ = describe();
}

Outcome Exhaustive::outcome() const {
  if (cases_ == 0) return {false, 0, std::string(law_.id) + ": no case was tried"};
  if (failures_ == 0) return {true, cases_, {}};
  return {false, cases_,
          std::string(law_.id) + ": " + std::to_string(failures_) + " of " + std::to_string(cases_) + " cases fail, first: " + first_ +
              "\nreplay: mxact_laws '" + std::string(law_.id) + "'"};
}

}  // namespace mx::props
