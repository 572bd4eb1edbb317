#include "tests/props/fault_runs.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "model/error.hpp"
#include "tests/props/processes.hpp"

namespace mx::tests {
namespace {

constexpr std::array<std::string_view, 5> kFates{"held", "broken", "error", "crash", "hang"};

struct AreaRow {
  std::string_view begin;  ///< of the place
  std::string_view area;
};
constexpr std::array kAreas{
    AreaRow{"model/numerics/", "numerics"},
    AreaRow{"kernels/", "kernels"},
    AreaRow{"model/layout/", "layouts"},
    AreaRow{"model/moe/", "moe"},
    AreaRow{"model/engine/", "oracle"},
    AreaRow{"sim/", "simulator"},
    AreaRow{"checkpoint/", "configurations"},
    AreaRow{"golden/", "checker"},
    // Further rooms of an area.
    AreaRow{"model/families/", "layouts"},
    AreaRow{"model/audit/", "oracle"},
    AreaRow{"model/deployment/", "oracle"},
};
constexpr auto kAreaNames = [] {
  std::array<std::string_view, 8> names{};  // the first of each
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kAreas[i].area;
  return names;
}();

bool names(const props::FaultRow& row, std::string_view law) {
  return (' ' + std::string(row.laws) + ' ').find(' ' + std::string(law) + ' ') != std::string::npos;
}

Fate fate_of(const props::Outcome& outcome) {
  if (outcome.held) return Fate::held;
  return outcome.message.find("Exception thrown with message") == std::string::npos ? Fate::broken : Fate::error;
}

/// Exceptions that leave an exhaustive law are failures that the law did not see.
props::Outcome outcome_of(const props::Law& law) {
  try {
    return law.run(law);
  } catch (const std::exception& error) {
    return {false, 0, std::string(law.id) + ": Exception thrown with message " + error.what()};
  }
}

// What a process says: a line before each law with the law's place in the list, and one after it with its fate and the failure's first line.
constexpr char kBegins = '?';

void try_laws(const props::FaultRow& row, std::span<const props::Law> laws, Extent extent, unsigned limit_seconds, const Say& say) {
  fault::set_active(row.fault);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    if (extent == Extent::named && !names(row, laws[i].id)) continue;
    say(kBegins + std::to_string(i));
    alarm(limit_seconds);
    const props::Outcome outcome = outcome_of(laws[i]);
    alarm(0);
    const Fate fate = fate_of(outcome);
    say(std::to_string(static_cast<int>(fate)) + outcome.message.substr(0, outcome.message.find('\n')));
    if (extent == Extent::first && fate == Fate::broken) return;
  }
}

/// The law that had begun when the process ended.
LawFate last_fate(const props::Law& law, const Said& said) {
  if (said.signal == SIGALRM) return {law.id, Fate::hang, std::string(law.id) + ": no answer"};
  const std::string how = said.signal != 0 ? strsignal(said.signal) : "exit " + std::to_string(said.status);
  return {law.id, Fate::crash, std::string(law.id) + ": " + how};
}

FaultRun run_of(const props::FaultRow& row, std::span<const props::Law> laws, const Said& said) {
  FaultRun run{&row, {}};
  std::size_t law = laws.size();  ///< the one that has begun
  for (const std::string& line : said.lines) {
    if (line.starts_with(kBegins)) {
      law = std::stoul(line.substr(1));
    } else {
      run.fates.push_back({laws[law].id, static_cast<Fate>(line[0] - '0'), line.substr(1)});
      law = laws.size();
    }
  }
  if (law < laws.size()) run.fates.push_back(last_fate(laws[law], said));
  return run;
}

}  // namespace

std::string_view name_of(Fate fate) { return kFates[static_cast<std::size_t>(fate)]; }

bool FaultRun::killed() const {
  return std::ranges::any_of(fates, [](const LawFate& law) { return law.fate == Fate::broken; });
}

const LawFate* FaultRun::first() const {
  const auto found = std::ranges::find_if(fates, [](const LawFate& law) { return law.fate != Fate::held; });
  return found == fates.end() ? nullptr : &*found;
}

std::vector<FaultRun> run_faults(std::span<const props::FaultRow> faults, std::span<const props::Law> laws, Extent extent, int jobs,
                                 unsigned limit_seconds, const std::function<void(std::size_t)>& done) {
  const auto work = [&](std::size_t i, const Say& say) { try_laws(faults[i], laws, extent, limit_seconds, say); };
  const std::vector<Said> said = in_processes(faults.size(), jobs, work, done);
  std::vector<FaultRun> runs;
  for (std::size_t i = 0; i < faults.size(); ++i) runs.push_back(run_of(faults[i], laws, said[i]));
  return runs;
}

std::string_view area_of(const props::FaultRow& row) {
  for (const AreaRow& area : kAreas) {
    if (row.place.starts_with(area.begin)) return area.area;
  }
  throw Error(ErrorCode::usage, "fault " + std::string(row.id) + ": no area for the place " + std::string(row.place));
}

std::span<const std::string_view> areas() { return kAreaNames; }

}  // namespace mx::tests
