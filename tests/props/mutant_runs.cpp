#include "tests/props/mutant_runs.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>

#include "props/numerics/laws.hpp"
#include "tests/props/all_laws.hpp"
#include "tests/props/mutant_records.hpp"
#include "tests/props/processes.hpp"
#include "tests/props/restated_activations.hpp"
#include "tests/props/restated_answers.hpp"
#include "tests/props/restated_deployments.hpp"

namespace mx::tests {
namespace {

constexpr std::array<std::string_view, 6> kJudgements{"law", "restated", "record", "equivalent", "survives", "crash"};

/// Laws that can see a row of the table; SUBJECT stands for what the row's laws are named after. Several rows may speak of one table.
struct Watch {
  std::string_view table;
  std::string_view law;  ///< a whole id, or its beginning where it ends in '*'
};
/// Laws that look at a table as a whole, while others are quicker with the changed row alone.
constexpr std::string_view kOfWholeTables = "L2/takes";
constexpr std::array kWatches{
    Watch{"recipes", "N5/SUBJECT"},
    Watch{"recipes", "N6/SUBJECT"},
    Watch{"recipes", "N8/SUBJECT"},
    Watch{"dequantizers", "N4/SUBJECT"},
    Watch{"dequantizers", "N8/dequantize"},
    Watch{"contracts", "N10/SUBJECT"},
    Watch{"contracts", "N11*"},
    Watch{"contracts", "N12*"},
    Watch{"contracts", "N13*"},
    Watch{"routers", "S2/SUBJECT"},
    Watch{"routers", "S2-table/SUBJECT"},
    Watch{"routers", "S4/routing"},
    Watch{"activations", "S1*"},
    Watch{"layouts", "L2/takes"},
    Watch{"layouts", "L9/padding"},
    Watch{"layouts", "L2/SUBJECT"},
    Watch{"layouts", "L7/SUBJECT"},
    Watch{"layouts", "L8/SUBJECT"},
    Watch{"layouts", "L3/SUBJECT"},
    Watch{"layouts", "L1/SUBJECT"},
};
/// The recipes of the documents have a law for each block format instead.
constexpr std::array<std::string_view, 2> kDocumented{"N5/mx*", "N6/mx*"};

bool is_of(std::string_view id, std::string pattern, const std::string& subject) {
  if (const std::size_t at = pattern.find("SUBJECT"); at != std::string::npos) pattern.replace(at, 7, subject);
  return pattern.back() == '*' ? id.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1)) : id == pattern;
}

bool watches(std::string_view id, const TableMutant& mutant) {
  const bool named = std::ranges::any_of(
      kWatches, [&](const Watch& watch) { return watch.table == mutant.table && is_of(id, std::string(watch.law), mutant.subject); });
  const bool documented = mutant.table == "recipes" && mutant.subject == "ocp" &&
                          std::ranges::any_of(kDocumented, [&](std::string_view law) { return is_of(id, std::string(law), ""); });
  return named || documented;
}

void stand_in(const TableMutant& mutant, bool alone) {
  if (alone && mutant.alone != nullptr) {
    fault::set_stand_in(mutant.where, {mutant.alone, 1});
  } else {
    fault::set_stand_in(mutant.where, {mutant.rows.get(), mutant.count});
  }
}

/// What the laws over all profiles of an implementation (N4/program, N6/program) say of the changed one alone.
std::string broken_program(const TableMutant& mutant) {
  std::uint64_t cases = 0;
  if (mutant.table == "recipes" && !props::numerics::program_mistake(mutant.subject, cases).empty()) return "N6/program";
  if (mutant.table == "dequantizers" && !props::numerics::back_program_mistake(mutant.subject, cases).empty()) return "N4/program";
  return {};
}

std::string broken_law(const TableMutant& mutant, std::span<const props::Law> laws) {
  if (std::string law = broken_program(mutant); !law.empty()) return law;
  for (const props::Law& law : laws) {
    if (!watches(law.id, mutant)) continue;
    stand_in(mutant, law.id != kOfWholeTables);
    try {
      if (!law.run(law).held) return std::string(law.id);
    } catch (const std::exception&) {
      return std::string(law.id) + " (the model throws)";
    }
  }
  return {};
}

std::string wrong_answer(const TableMutant& mutant) {
  if (mutant.table == "roundings") return wrong_rounding();
  if (mutant.table == "layouts") return wrong_block_scales();
  if (mutant.table == "exchanges") return wrong_exchange();
  if (mutant.table == "loaders") return wrong_loader();
  if (mutant.table == "units") return wrong_unit();
  if (mutant.table == "activations") return wrong_activation(mutant.subject);
  return mutant.table == "routers" ? wrong_weight_place() : std::string();
}

MutantRun tried(const TableMutant& mutant, std::span<const props::Law> laws, const Records& records) {
  stand_in(mutant, true);
  if (std::string law = broken_law(mutant, laws); !law.empty()) return {&mutant, Judgement::law, law};
  stand_in(mutant, false);
  if (std::string wrong = wrong_answer(mutant); !wrong.empty()) return {&mutant, Judgement::restated, wrong};
  fault::set_stand_in(mutant.where, {});
  const std::string input = mutant.differs();
  if (input.empty()) return {&mutant, Judgement::equivalent, input};
  stand_in(mutant, false);
  if (std::string entry = records.noticed(mutant); !entry.empty()) return {&mutant, Judgement::record, entry};
  return {&mutant, Judgement::survives, input};
}

MutantRun run_of(const TableMutant& mutant, const Said& said) {
  if (said.lines.empty() || said.lines[0].empty())
    return {&mutant, Judgement::crash, said.signal == 0 ? "no answer" : "signal " + std::to_string(said.signal)};
  return {&mutant, static_cast<Judgement>(said.lines[0][0] - '0'), said.lines[0].substr(1)};
}

}  // namespace

std::string_view name_of(Judgement judgement) { return kJudgements[static_cast<std::size_t>(judgement)]; }
bool is_noticed(Judgement judgement) { return judgement != Judgement::equivalent && judgement != Judgement::survives; }

std::vector<MutantRun> run_mutants(std::span<const TableMutant> mutants, const Records& records, int jobs, unsigned limit_seconds,
                                   const std::function<void(std::size_t)>& done) {
  const std::vector<props::Law> laws = all_laws();
  const auto work = [&](std::size_t i, const Say& say) {
    alarm(limit_seconds);
    const MutantRun run = tried(mutants[i], laws, records);
    say(std::to_string(static_cast<int>(run.judgement)) + run.text);
  };
  const std::vector<Said> said = in_processes(mutants.size(), jobs, work, done);
  std::vector<MutantRun> runs;
  for (std::size_t i = 0; i < mutants.size(); ++i) runs.push_back(run_of(mutants[i], said[i]));
  return runs;
}

}  // namespace mx::tests
