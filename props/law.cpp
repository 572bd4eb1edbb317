#include "props/law.hpp"

#include <rapidcheck.h>
#include <rapidcheck/detail/Configuration.h>

#include <cstdlib>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <unordered_map>

#include "model/error.hpp"

// RapidCheck's own way to print it is for all failures at once, when the process ends; its headers leave the function out.
namespace rc::detail {
std::string reproduceMapToString(const std::unordered_map<std::string, Reproduce>& reproduceMap);
}

namespace mx::props {

namespace {

std::optional<std::string> replaying;

bool in_ci() {
  const char* const text = std::getenv("CI");
  const std::string_view ci = text == nullptr ? "" : text;
  return !ci.empty() && ci != "0" && ci != "false";
}

/// What RC_PARAMS says, unless a recorded failure is being replayed.
std::string params() {
  if (replaying) return *replaying;
  const char* const text = std::getenv("RC_PARAMS");
  std::string given = text == nullptr ? "" : text;
  if (in_ci() && given.find("reproduce=") != std::string::npos) {
    throw Error(ErrorCode::usage, "RC_PARAMS has reproduce= while CI is set: one case is no test; unset CI to replay a failure", "RC_PARAMS");
  }
  return given;
}

/// Says nothing while a property runs: its outcome does.
class Silence : public rc::detail::TestListener {
 public:
  void onTestCaseFinished(const rc::detail::CaseDescription&) override {}
  void onShrinkTried(const rc::detail::CaseDescription&, bool) override {}
  void onTestFinished(const rc::detail::TestMetadata&, const rc::detail::TestResult&) override {}
};

/// The seed is fixed unless RC_PARAMS has another one: a run must be the same tomorrow.
rc::detail::Configuration configuration(int usual_cases) {
  rc::detail::Configuration usual;
  usual.testParams.seed = 1;
  usual.testParams.maxSuccess = usual_cases;
  return rc::detail::configFromString(params(), usual);
}

/// RapidCheck's message without the numbers that were drawn, dozens of lines that nobody can read: the laws say what they made of them.
std::string text_of(const rc::detail::FailureResult& failure) {
  std::string text = "Falsifiable after " + std::to_string(failure.numSuccess + 1) + " tests and " +
                     std::to_string(failure.reproduce.shrinkPath.size()) + " shrinks\n";
  for (const auto& [type, value] : failure.counterExample) {
    const bool is_number = value.find_first_not_of("-0123456789") == std::string::npos;
    if (!is_number) text += "\n" + type + ":\n" + value + "\n";
  }
  return text + "\n" + failure.description + "\n";
}

bool is_error(const rc::detail::TestResult& result, std::string_view description) {
  return result.is<rc::detail::Error>() && result.get<rc::detail::Error>().description == description;
}

/// RapidCheck's own result. Where what was wrong has been repaired, a property may draw more than it did, so that a recorded way to the smallest case
/// ends nowhere: then the case that it was made from is tried, which failed as well.
rc::detail::TestResult checked(const std::function<void()>& property, const rc::detail::TestMetadata& metadata, rc::detail::Configuration how) {
  Silence silence;
  const rc::detail::Property testable = rc::detail::toProperty(property);
  rc::detail::TestResult result = rc::detail::checkProperty(testable, metadata, how.testParams, silence, how.reproduce);
  if (!is_error(result, "Unable to reproduce minimum value")) return result;
  how.reproduce.at(metadata.id).shrinkPath.clear();
  return rc::detail::checkProperty(testable, metadata, how.testParams, silence, how.reproduce);
}

/// RapidCheck's verdict on a property of that name, or none where another one is to be reproduced.
std::optional<Outcome> verdict(const Law& law, const std::string& name, const std::function<void()>& property, int usual_cases) {
  if (law.id.empty()) throw std::logic_error("a property without a name: what replays it would pass over it and call that a success");
  rc::detail::TestMetadata metadata;
  metadata.id = name;
  metadata.description = std::string(law.statement);
  const rc::detail::Configuration how = configuration(usual_cases);
  const rc::detail::TestResult result = checked(property, metadata, how);
  if (result.is<rc::detail::SuccessResult>()) {
    const int cases = result.get<rc::detail::SuccessResult>().numSuccess;
    if (cases == 0) return std::nullopt;
    return Outcome{true, static_cast<std::uint64_t>(cases), {}};
  }
  // What was recorded as a failure and is none any more is an error to RapidCheck.
  if (is_error(result, "Reproduced result is not a failure")) return Outcome{true, 1, {}};
  std::string replay = std::string(law.program) + " '" + std::string(law.id) + "'";
  if (!result.is<rc::detail::FailureResult>()) {
    std::ostringstream message;
    rc::detail::printResultMessage(result, message);
    return Outcome{false, 0, name + ": " + message.str() + "\nreplay: " + replay};
  }
  const auto& failure = result.get<rc::detail::FailureResult>();
  replay = "RC_PARAMS='reproduce=" + rc::detail::reproduceMapToString({{metadata.id, failure.reproduce}}) + "' " + replay;
  return Outcome{false, 0, name + ": " + text_of(failure) + "\nreplay: " + replay};
}

Outcome nothing_tried(const Law& law) { return {false, 0, std::string(law.id) + ": nothing was tried (is RC_PARAMS set to reproduce another law?)"}; }

}  // namespace

Replaying::Replaying(std::string params) { replaying = std::move(params); }
Replaying::~Replaying() { replaying.reset(); }

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
              "\nreplay: " + std::string(law_.program) + " '" + std::string(law_.id) + "'"};
}

}  // namespace mx::props
