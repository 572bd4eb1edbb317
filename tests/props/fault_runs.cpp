#include "tests/props/fault_runs.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>

#include "model/error.hpp"

namespace mx::props {
namespace {

constexpr std::array<std::string_view, 5> kFates{"held", "broken", "error", "crash", "hang"};

struct AreaRow {
  std::string_view begin;  ///< of the place
  std::string_view area;
};
constexpr std::array kAreas{
    AreaRow{"model/numerics/", "numerics"}, AreaRow{"kernels/", "kernels"}, AreaRow{"model/layout/", "layouts"}, AreaRow{"model/moe/", "moe"},
    AreaRow{"model/oracle/", "oracle"},     AreaRow{"sim/", "simulator"},   AreaRow{"golden/", "checker"},
};
constexpr auto kAreaNames = [] {
  std::array<std::string_view, kAreas.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kAreas[i].area;
  return names;
}();

bool names(const FaultRow& row, std::string_view law) {
  return (' ' + std::string(row.laws) + ' ').find(' ' + std::string(law) + ' ') != std::string::npos;
}

// What a process says: a line before each law with the law's place in the list, and one after it with its fate and the failure's first line.
constexpr char kBegins = '?';

void say(int out, const std::string& line) {
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(out, rest.data(), rest.size());
    if (written <= 0) _exit(1);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

Fate fate_of(const Outcome& outcome) {
  if (outcome.held) return Fate::held;
  return outcome.message.find("Exception thrown with message") == std::string::npos ? Fate::broken : Fate::error;
}

/// Exceptions that leave an exhaustive law are failures that the law did not see.
Outcome outcome_of(const Law& law) {
  try {
    return law.run(law);
  } catch (const std::exception& error) {
    return {false, 0, std::string(law.id) + ": Exception thrown with message " + error.what()};
  }
}

[[noreturn]] void try_laws(const FaultRow& row, std::span<const Law> laws, Extent extent, unsigned limit_seconds, int out) {
  fault::set_active(row.fault);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    if (extent == Extent::named && !names(row, laws[i].id)) continue;
    say(out, kBegins + std::to_string(i) + '\n');
    alarm(limit_seconds);
    const Outcome outcome = outcome_of(laws[i]);
    alarm(0);
    const Fate fate = fate_of(outcome);
    say(out, std::to_string(static_cast<int>(fate)) + outcome.message.substr(0, outcome.message.find('\n')) + '\n');
    if (extent == Extent::first && fate != Fate::held) break;
  }
  _exit(0);
}

class Process {
 public:
  Process(const FaultRow& row, std::span<const Law> laws, Extent extent, unsigned limit_seconds) : laws_(laws), run_{&row, {}} {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw Error(ErrorCode::resource, std::string("no pipe for a process: ") + std::strerror(errno));
    pid_ = fork();
    if (pid_ < 0) throw Error(ErrorCode::resource, std::string("no process for fault ") + std::string(row.id) + ": " + std::strerror(errno));
    if (pid_ == 0) {
      close(ends[0]);
      // RapidCheck announces its configuration there; a law's verdict goes through the pipe.
      if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
      try_laws(row, laws, extent, limit_seconds, ends[1]);
    }
    close(ends[1]);
    in_ = ends[0];
  }

  int in() const { return in_; }

  /// Takes what there is to read; false at the end.
  bool read_some() {
    std::array<char, 4096> buffer{};
    const ssize_t got = read(in_, buffer.data(), buffer.size());
    if (got <= 0) return false;
    text_.append(buffer.data(), static_cast<std::size_t>(got));
    return true;
  }

  FaultRun end() {
    close(in_);
    int status = 0;
    waitpid(pid_, &status, 0);
    std::size_t law = laws_.size();
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t line_end = std::min(text_.find('\n', at), text_.size());
      const std::string line = text_.substr(at, line_end - at);
      at = line_end + 1;
      if (line.starts_with(kBegins)) {
        law = std::stoul(line.substr(1));
      } else {
        run_.fates.push_back({laws_[law].id, static_cast<Fate>(line[0] - '0'), line.substr(1)});
        law = laws_.size();
      }
    }
    if (law < laws_.size()) {
      const bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
      const std::string how = hung ? "no answer" : WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit " + std::to_string(WEXITSTATUS(status));
      run_.fates.push_back({laws_[law].id, hung ? Fate::hang : Fate::crash, std::string(laws_[law].id) + ": " + how});
    }
    return std::move(run_);
  }

 private:
  std::span<const Law> laws_;
  FaultRun run_;
  pid_t pid_ = -1;
  int in_ = -1;
  std::string text_;
};

}  // namespace

std::string_view name_of(Fate fate) { return kFates[static_cast<std::size_t>(fate)]; }

bool FaultRun::killed() const {
  return std::ranges::any_of(fates, [](const LawFate& law) { return law.fate == Fate::broken; });
}

const LawFate* FaultRun::first() const {
  const auto found = std::ranges::find_if(fates, [](const LawFate& law) { return law.fate != Fate::held; });
  return found == fates.end() ? nullptr : &*found;
}

std::vector<FaultRun> run_faults(std::span<const FaultRow> faults, std::span<const Law> laws, Extent extent, int jobs, unsigned limit_seconds,
                                 const std::function<void(std::size_t)>& done) {
  std::vector<FaultRun> runs(faults.size());
  std::map<std::size_t, Process> running;
  std::size_t next = 0;
  std::size_t finished = 0;
  while (finished < faults.size()) {
    while (next < faults.size() && running.size() < static_cast<std::size_t>(jobs)) {
      running.try_emplace(next, faults[next], laws, extent, limit_seconds);
      ++next;
    }
    std::vector<pollfd> watched;
    for (const auto& [index, process] : running) watched.push_back({process.in(), POLLIN, 0});
    if (poll(watched.data(), watched.size(), -1) < 0) continue;
    std::size_t slot = 0;
    for (auto it = running.begin(); it != running.end(); ++slot) {
      if (watched[slot].revents == 0 || it->second.read_some()) {
        ++it;
        continue;
      }
      runs[it->first] = it->second.end();
      it = running.erase(it);
      done(++finished);
    }
  }
  return runs;
}

std::string_view area_of(const FaultRow& row) {
  for (const AreaRow& area : kAreas) {
    if (row.place.starts_with(area.begin)) return area.area;
  }
  throw Error(ErrorCode::usage, "fault " + std::string(row.id) + ": no area for the place " + std::string(row.place));
}

std::span<const std::string_view> areas() { return kAreaNames; }

}  // namespace mx::props
