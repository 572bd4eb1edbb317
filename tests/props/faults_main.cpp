// mxact_faults named|first|all|blind|history|tables JOBS [ID...]: what `mxact faults` calls. Plants each fault (those whose id or area is given) into
// a model that can carry it, runs the laws, and prints JSON. tables[:COUNT]: single changes of the tables instead (of those that are named), all or a
// sample.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/names.hpp"
#include "props/history.hpp"
#include "support/json.hpp"
#include "tests/props/all_laws.hpp"
#include "tests/props/blind_runs.hpp"
#include "tests/props/fault_runs.hpp"
#include "tests/props/mutant_records.hpp"
#include "tests/props/mutant_runs.hpp"

namespace {

using namespace mx::props;
using namespace mx::tests;
using mx::support::Json;

constexpr unsigned kLimitSeconds = 300;
/// "tables", or "tables:200" for a sample.
constexpr std::string_view kTables = "tables";

Extent extent_named(std::string_view name) {
  constexpr std::array<std::string_view, 3> kNames{"named", "first", "all"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Extent>(i);
  }
  throw mx::Error(mx::ErrorCode::usage, mx::unknown_name("extent", name, kNames));
}

int jobs_from(const std::string& text) {
  std::size_t end = 0;
  const int jobs = text.empty() || text.size() > 4 || text.find_first_not_of("0123456789") != std::string::npos ? 0 : std::stoi(text, &end);
  if (jobs < 1) throw mx::Error(mx::ErrorCode::usage, "number '" + text + "': 1 to 9999");
  return jobs;
}

std::vector<FaultRow> wanted_faults(std::span<char* const> names) {
  std::vector<FaultRow> wanted;
  for (const std::string_view name : names) {
    const std::size_t before = wanted.size();
    for (const FaultRow& row : all_faults()) {
      if (row.id == name || area_of(row) == name) wanted.push_back(row);
    }
    if (wanted.size() > before) continue;
    std::vector<std::string_view> known(areas().begin(), areas().end());
    for (const FaultRow& row : all_faults()) known.push_back(row.id);
    // All faults would be a page of names: the areas are enough to look further.
    const bool near = !mx::nearest_name(name, known).empty();
    throw mx::Error(mx::ErrorCode::usage, mx::unknown_name("fault or area", name, near ? known : std::vector(areas().begin(), areas().end())));
  }
  if (names.empty()) wanted.assign(all_faults().begin(), all_faults().end());
  return wanted;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (char c : text) c == ' ' ? words.emplace_back() : words.back() += c;
  return words;
}

Json as_json(const FaultRun& run) {
  Json laws = Json::array();
  for (const LawFate& law : run.fates) {
    if (law.fate != Fate::held) laws.push_back({{"law", law.law}, {"fate", name_of(law.fate)}, {"first_line", law.first_line}});
  }
  return {{"id", run.fault->id},
          {"area", area_of(*run.fault)},
          {"place", run.fault->place},
          {"breaks", run.fault->breaks},
          {"named", words_of(run.fault->laws)},
          {"tried", run.fates.size()},
          {"killed", run.killed()},
          {"laws", laws}};
}

Json as_json(const BlindFault& fault) {
  Json runs = Json::array();
  for (const BlindRun& run : fault.runs) {
    Json accepted = Json::array();
    for (std::size_t i = 0; i < run.accepted.size(); ++i) {
      if (run.accepted[i]) accepted.push_back(all_tolerances()[i].suite);
    }
    runs.push_back({{"backend", run.backend}, {"data", run.data}, {"elements", run.elements}, {"differ", run.differ}, {"accepted", accepted}});
  }
  return {{"id", fault.fault->id}, {"area", area_of(*fault.fault)},  {"breaks", fault.fault->breaks},
          {"threw", fault.threw},  {"no_numbers", fault.no_numbers}, {"runs", runs}};
}

using Progress = std::function<void(std::size_t)>;

Json law_runs(std::string_view extent, std::span<const FaultRow> faults, int jobs, const Progress& progress) {
  // That a law breaks is asked here, not how small its counterexample can be: shrinking takes most of the time of a failure.
  setenv("RC_PARAMS", "seed=1 noshrink=1", 0);
  const std::vector<Law> laws = all_laws();
  Json json{{"extent", extent}, {"laws", Json::array()}, {"faults", Json::array()}};
  for (const Law& law : laws) json["laws"].push_back({{"id", law.id}, {"statement", law.statement}});
  for (const FaultRun& run : run_faults(faults, laws, extent_named(extent), jobs, kLimitSeconds, progress)) json["faults"].push_back(as_json(run));
  return json;
}

Json blind_runs(std::span<const FaultRow> faults, int jobs, const Progress& progress) {
  Json json{{"tolerances", Json::array()}, {"data", Json::array()}, {"faults", Json::array()}};
  for (const Tolerance& row : all_tolerances()) json["tolerances"].push_back({{"suite", row.suite}, {"rule", row.rule}, {"source", row.source}});
  for (const DataRow& row : data_rows()) json["data"].push_back({{"name", row.name}, {"note", row.note}});
  for (const BlindFault& fault : run_blind(faults, jobs, kLimitSeconds, progress)) json["faults"].push_back(as_json(fault));
  return json;
}

/// A table, or a change's whole id, or its beginning up to a blank: "recipes", "recipes torchao-rceil", "recipes torchao-rceil mxfp4 scale.bump 1".
bool is_named(const TableMutant& mutant, std::string_view name) { return (mutant.id() + " ").starts_with(std::string(name) + " "); }

/// The changes that are named, all without a name; so many of them, or all where the number is 0.
std::vector<TableMutant> wanted_mutants(std::size_t count, std::span<char* const> names) {
  std::vector<TableMutant> mutants = table_mutants();
  std::vector<std::string> known;
  for (const TableMutant& mutant : mutants) {
    if (known.empty() || known.back() != mutant.table) known.push_back(mutant.table);
  }
  for (const std::string_view name : names) {
    if (std::ranges::any_of(mutants, [&](const TableMutant& mutant) { return is_named(mutant, name); })) continue;
    throw mx::Error(mx::ErrorCode::usage,
                    mx::unknown_name("table or change of one", name, std::vector<std::string_view>(known.begin(), known.end())));
  }
  std::erase_if(mutants, [&](const TableMutant& mutant) {
    return !names.empty() && std::ranges::none_of(names, [&](const char* name) { return is_named(mutant, name); });
  });
  return count == 0 ? mutants : sample_of(std::move(mutants), count);
}

Json table_runs(std::size_t count, std::span<char* const> names, int jobs) {
  setenv("RC_PARAMS", "seed=1 noshrink=1", 0);
  const std::vector<TableMutant> mutants = wanted_mutants(count, names);
  const Records records;
  const Progress progress = [&](std::size_t done) {
    if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r%zu of %zu changes%s", done, mutants.size(), done == mutants.size() ? "\n" : "");
  };
  Json json{{"changes", Json::array()}};
  for (const MutantRun& run : run_mutants(mutants, records, jobs, kLimitSeconds, progress)) {
    json["changes"].push_back({{"table", run.mutant->table},
                               {"row", run.mutant->row},
                               {"change", run.mutant->change},
                               {"judgement", name_of(run.judgement)},
                               {"text", run.text}});
  }
  return json;
}

int run(std::span<char* const> arguments) {
  if (arguments.size() < 2) {
    throw mx::Error(mx::ErrorCode::usage, "call `mxact faults`; this program is its helper (named|first|all|blind|history|tables JOBS [ID...])");
  }
  const std::string_view extent = arguments[0];
  const int jobs = jobs_from(arguments[1]);
  if (extent.starts_with(kTables)) {
    const std::string_view sample = extent.substr(kTables.size());
    const std::size_t count = sample.empty() ? 0 : static_cast<std::size_t>(jobs_from(std::string(sample.substr(1))));
    std::printf("%s\n", table_runs(count, arguments.subspan(2), jobs).dump().c_str());
    return 0;
  }
  const std::vector<FaultRow> faults = wanted_faults(arguments.subspan(2));
  const Progress progress = [&](std::size_t done) {
    if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r%zu of %zu faults%s", done, faults.size(), done == faults.size() ? "\n" : "");
  };
  if (extent == "history") {
    std::printf("%s\n", Json{{"markdown", history_markdown()}}.dump().c_str());
    return 0;
  }
  const Json json = extent == "blind" ? blind_runs(faults, jobs, progress) : law_runs(extent, faults, jobs, progress);
  std::printf("%s\n", json.dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, static_cast<std::size_t>(argc - 1)});
  } catch (const mx::Error& error) {
    std::printf("%s\n", error.what());  // for the caller, which reads this end
    return static_cast<int>(error.code());
  }
}
