#include "props/program.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string_view>

#include "model/error.hpp"
#include "props/failure_file.hpp"
#include "sim/io/junit.hpp"

namespace mx::props {
namespace {

struct Asked {
  std::string regressions;
  std::string failures;
  std::string junit;
  std::vector<std::string_view> ids;

  bool wants(std::string_view id) const {
    return ids.empty() || std::ranges::any_of(ids, [&](std::string_view begin) { return id.starts_with(begin); });
  }
};

Asked asked_by(std::span<char* const> arguments) {
  Asked asked;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    std::string* const taken = word == "--regressions" ? &asked.regressions : word == "--failures" ? &asked.failures : word == "--junit" ? &asked.junit : nullptr;
    if (taken == nullptr) {
      asked.ids.push_back(word);
      continue;
    }
    if (++i == arguments.size()) throw Error(ErrorCode::usage, "nothing follows it", std::string(word));
    *taken = arguments[i];
  }
  return asked;
}

class Run {
 public:
  Run(std::string_view program, std::span<const HeldLaw> laws, const Asked& asked) : program_(program), laws_(laws), asked_(asked) {}

  void regressions() {
    if (asked_.regressions.empty()) return;
    for (const std::filesystem::path& path : failure_files(asked_.regressions)) replay(path);
  }

  void laws() {
    for (const HeldLaw& held : laws_) {
      if (asked_.wants(held.id)) tell(held, outcome_of(held), "");
    }
  }

  /// The file that --junit names; written whole at the end.
  void write_checks() const {
    if (asked_.junit.empty()) return;
    std::ofstream file(asked_.junit);
    file << sim::junit_xml(program_, checks_);
    if (!file.flush()) throw Error(ErrorCode::resource, "cannot be written", asked_.junit);
  }

  bool ran() const { return ran_; }
  bool all_held() const { return all_held_; }

 private:
  Law law_of(const HeldLaw& held) const { return {held.id, held.statement, nullptr, program_}; }
  Outcome outcome_of(const HeldLaw& held) const { return held.run(law_of(held)); }

  void replay(const std::filesystem::path& path) {
    const FailureFile failure = read_failure(path);
    if (failure.program != program_ || !asked_.wants(failure.law)) return;
    const auto held = std::ranges::find(laws_, failure.law, &HeldLaw::id);
    if (held == laws_.end()) throw Error(ErrorCode::input, "no law '" + failure.law + "'", path);
    const Replaying replaying(failure.reproduce);
    tell(*held, outcome_of(*held), " as in " + path.filename().string());
  }

  void tell(const HeldLaw& held, const Outcome& outcome, const std::string& how) {
    ran_ = true;
    checks_.push_back({std::string(program_), held.id + how, outcome.held ? sim::CheckEnd::passed : sim::CheckEnd::failed, outcome.message});
    std::printf("%-6s %s%s (%llu cases): %s\n%s", outcome.held ? "held" : "BROKEN", held.id.c_str(), how.c_str(),
                static_cast<unsigned long long>(outcome.cases), held.statement.c_str(), outcome.counts.c_str());
    std::fflush(stdout);
    if (outcome.held) return;
    all_held_ = false;
    std::printf("%s\n", outcome.message.c_str());
    if (asked_.failures.empty()) return;
    std::printf("written: %s\n", write_failure(asked_.failures, failure_of(law_of(held), outcome)).c_str());
  }

  std::string_view program_;
  std::span<const HeldLaw> laws_;
  const Asked& asked_;
  std::vector<sim::JunitCase> checks_;
  bool ran_ = false;
  bool all_held_ = true;
};

}  // namespace

int run_laws(std::string_view program, std::span<const HeldLaw> laws, std::span<char* const> arguments) {
  try {
    const Asked asked = asked_by(arguments);
    Run run(program, laws, asked);
    run.regressions();
    run.laws();
    run.write_checks();
    if (run.ran()) return run.all_held() ? 0 : 1;
    std::fprintf(stderr, "%s: no law of that name; the ids are:\n", std::string(program).c_str());
    for (const HeldLaw& law : laws) std::fprintf(stderr, "  %s\n", law.id.c_str());
    return static_cast<int>(ErrorCode::usage);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s%s%s\n", std::string(program).c_str(), error.where().c_str(), error.where().empty() ? "" : ": ", error.what());
    return static_cast<int>(error.code());
  }
}

}  // namespace mx::props
