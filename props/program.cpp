#include "props/program.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "model/error.hpp"
#include "props/failure_file.hpp"
#include "support/junit.hpp"
#include "support/stopwatch.hpp"

namespace mx::props {
namespace {

struct Asked {
  std::string regressions;
  std::string failures;
  std::string junit;
  bool help = false;
  bool list = false;
  std::vector<std::string_view> ids;

  bool wants(std::string_view id) const {
    return ids.empty() || std::ranges::any_of(ids, [&](std::string_view begin) { return id.starts_with(begin); });
  }
};

Asked asked_by(std::span<char* const> arguments) {
  Asked asked;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == "--help" || word == "-h") asked.help = true;
    if (word == "--list") asked.list = true;
    if (asked.help || asked.list) return asked;
    std::string* const taken = word == "--regressions" ? &asked.regressions
                               : word == "--failures"  ? &asked.failures
                               : word == "--junit"     ? &asked.junit
                                                       : nullptr;
    if (taken == nullptr) {
      if (word.starts_with("-"))
        throw Error(ErrorCode::usage, "no such option: --regressions, --failures, --junit, --list, --help", std::string(word));
      asked.ids.push_back(word);
      continue;
    }
    if (++i == arguments.size()) throw Error(ErrorCode::usage, "nothing follows it", std::string(word));
    *taken = arguments[i];
  }
  return asked;
}

constexpr std::string_view kHelp = R"(: laws over random inputs; a failure is shrunk, named after its law, and ends with the line that replays it
usage: PROGRAM [--regressions DIR] [--failures DIR] [--junit FILE] [ID...]

  ID                 a law, or how the ids of several begin: N2/e4m3fn, N2, L (all without one; --list names them)
  --regressions DIR  replay the failures of these files first
  --failures DIR     write each failure as a file
  --junit FILE       write every law that was run as JUnit's XML
  --list             name the laws, and run none

RC_PARAMS="max_success=100000 seed=1" sets how often each is tried, and with which random numbers.
exit status: 0 all held; 1 one did not; 2 usage; 3 a bad file of a failure; 6 resource
)";

/// A misspelt law among others would otherwise be one that nobody misses.
void check_ids(const Asked& asked, std::span<const HeldLaw> laws) {
  for (const std::string_view begin : asked.ids) {
    if (std::ranges::none_of(laws, [&](const HeldLaw& law) { return law.id.starts_with(begin); }))
      throw Error(ErrorCode::usage, "no law's id begins so (--list names them)", std::string(begin));
  }
}

/// The lines of a failure's message: the first says what broke, the last begins with "replay: ", those between are the smallest case.
support::JunitCase check_of(const Outcome& outcome) {
  support::JunitCase check{{}, {}, outcome.held ? support::CheckEnd::passed : support::CheckEnd::failed, {}};
  if (outcome.held) return check;
  constexpr std::string_view kReplay = "replay: ";
  std::istringstream lines(outcome.message);
  std::getline(lines, check.message);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kReplay)) {
      check.replay = line.substr(kReplay.size());
    } else {
      check.place += (check.place.empty() ? "" : "\n") + line;
    }
  }
  return check;
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
      if (asked_.wants(held.id)) tell(held, "");
    }
  }

  /// The file that --junit names; written whole at the end.
  void write_checks() const {
    if (asked_.junit.empty()) return;
    std::ofstream file(asked_.junit);
    file << support::junit_xml({std::string(program_)}, checks_);
    if (!file.flush()) throw Error(ErrorCode::resource, "cannot be written", asked_.junit);
  }

  bool ran() const { return !checks_.empty(); }
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
    tell(*held, " as in " + path.filename().string());
  }

  void tell(const HeldLaw& held, const std::string& how) {
    const support::Stopwatch watch;
    const Outcome outcome = outcome_of(held);
    checks_.push_back(check_of(outcome));
    checks_.back().group = program_;
    checks_.back().name = held.id + how;
    checks_.back().seconds = watch.seconds();
    std::printf("%-6s %s%s (%llu cases): %s\n%s", outcome.held ? "held" : "BROKEN", held.id.c_str(), how.c_str(),
                static_cast<unsigned long long>(outcome.cases), held.statement.c_str(), outcome.counts.c_str());
    static_cast<void>(std::fflush(stdout));
    if (outcome.held) return;
    all_held_ = false;
    std::printf("%s\n", outcome.message.c_str());
    if (asked_.failures.empty()) return;
    std::printf("written: %s\n", write_failure(asked_.failures, failure_of(law_of(held), outcome)).c_str());
  }

  std::string_view program_;
  std::span<const HeldLaw> laws_;
  const Asked& asked_;
  std::vector<support::JunitCase> checks_;
  bool all_held_ = true;
};

}  // namespace

int run_laws(std::string_view program, std::span<const HeldLaw> laws, std::span<char* const> arguments) {
  try {
    const Asked asked = asked_by(arguments);
    if (asked.help) std::printf("%s%s", std::string(program).c_str(), kHelp.data());
    if (asked.list) {
      for (const HeldLaw& law : laws) std::printf("%-40s %s\n", law.id.c_str(), law.statement.c_str());
    }
    if (asked.help || asked.list) return 0;
    check_ids(asked, laws);
    Run run(program, laws, asked);
    run.regressions();
    run.laws();
    run.write_checks();
    if (!run.ran()) throw Error(ErrorCode::usage, "there is no law to run");
    return run.all_held() ? 0 : 1;
  } catch (const Error& error) {
    static_cast<void>(std::fprintf(stderr, "%s: %s\n", std::string(program).c_str(), error.what()));
    return static_cast<int>(error.code());
  }
}

}  // namespace mx::props
