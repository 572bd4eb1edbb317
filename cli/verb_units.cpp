// mxact plan, mxact run and mxact merge: a conversion in units that many processes share.

#include "cli/verb_units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/conversion_options.hpp"
#include "cli/interrupt.hpp"
#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/pace.hpp"
#include "model/error.hpp"
#include "sim/checkpoint/units.hpp"
#include "support/file.hpp"

namespace mx::cli {
namespace {

struct PlanCommand {
  ConversionChoice choice;
  std::string converted;
  std::string output;
  bool force = false;
  bool json = false;
};

struct RunCommand {
  std::string plan;
  std::vector<int> units;
  std::string directory;
  std::string progress;
  bool again = false;
  bool json = false;
};

struct MergeCommand {
  std::string plan;
  std::vector<std::string> directories;
  std::string progress;
  bool force = false;
  bool json = false;
};

int plan(const PlanCommand& command) {
  sim::require_writable(command.output, command.force);
  const sim::UnitPlan made = sim::make_plan(command.choice.checkpoint, command.converted, options_of(command.choice));
  const std::string text = sim::text_of(made);
  sim::write_file(command.output, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), command.force);
  std::uint64_t bytes = 0;
  for (const sim::PlannedUnit& unit : made.units) bytes += unit.bytes;
  if (command.json) {
    Json json = json_head("plan");
    json["plan"] = made.id;
    json["backend"] = made.backend;
    json["setting"] = conversion_setting_json(made.setting);
    json["units"] = Json::array();
    for (const sim::PlannedUnit& unit : made.units) {
      json["units"].push_back({{"unit", unit.unit}, {"what", unit.what}, {"file", unit.file}, {"bytes", unit.bytes}});
    }
    json["bytes"] = bytes;
    print_json(json);
    return 0;
  }
  fmt::print("backend  {} on {}, engine {}\n", made.backend, layout::name_of(made.setting.arch), name_of(made.setting.engine));
  print_sizes(made.setting);
  fmt::print("units    {}, 0..{}, of {} bytes in all\n", made.units.size(), made.units.size() - 1, bytes);
  return 0;
}

const char* word_of(sim::UnitOutcome outcome) { return outcome == sim::UnitOutcome::written ? "written" : "there already"; }

/// Bytes that one unit of a plan reads; 0 for a unit that it has not, which the runner refuses.
std::uint64_t bytes_of(const sim::UnitPlan& plan, int unit) {
  const auto found = std::ranges::find(plan.units, unit, &sim::PlannedUnit::unit);
  return found == plan.units.end() ? 0 : found->bytes;
}

int run_units(const RunCommand& command) {
  const sim::UnitPlan planned = sim::read_plan(command.plan);
  std::uint64_t done = 0, total = 0;
  for (const int unit : command.units) total += bytes_of(planned, unit);
  PaceLine line(command.progress);
  const InterruptWatch watch(EndBy::good_order);
  sim::UnitOptions options;
  options.directory = command.directory.empty() ? sim::units_directory(planned) : std::filesystem::path(command.directory);
  options.program = program_text();
  options.again = command.again;
  options.progress = [&](const std::string& what, std::uint64_t part, std::uint64_t) { line.show(what, done + part, total); };
  options.stop = [&watch] { return watch.interrupted(); };
  sim::UnitRunner runner(planned, options);
  Json json = json_head("run");
  json["plan"] = planned.id;
  json["units"] = Json::array();
  for (const int unit : command.units) {
    const sim::UnitOutcome outcome = runner.run(unit);
    if (outcome == sim::UnitOutcome::stopped) {
      fmt::print(stderr, "mxact: interrupted; unit {} was not written\n", unit);
      return interrupted_status();
    }
    done += bytes_of(planned, unit);
    const sim::UnitResult& result = runner.result();
    if (!command.json) fmt::print("unit {}  {}  {}  {}\n", unit, result.file, result.digest, word_of(outcome));
    json["units"].push_back({{"unit", unit}, {"file", result.file}, {"size", result.size}, {"digest", result.digest}, {"outcome", word_of(outcome)}});
  }
  if (command.json) print_json(json);
  return 0;
}

int merge(const MergeCommand& command) {
  const sim::UnitPlan planned = sim::read_plan(command.plan);
  sim::MergeOptions options;
  options.directories.assign(command.directories.begin(), command.directories.end());
  if (options.directories.empty()) options.directories.push_back(sim::units_directory(planned));
  options.program = program_text();
  options.force = command.force;
  sim::ConvertReport report;
  {
    const InterruptWatch watch(EndBy::good_order);
    PaceLine line(command.progress);
    options.progress = [&line](const std::string& what, std::uint64_t done, std::uint64_t total) { line.show(what, done, total); };
    options.stop = [&watch] { return watch.interrupted(); };
    report = sim::merge_units(planned, options);
  }
  if (!report.finished) {
    fmt::print(stderr, "mxact: interrupted; nothing was put in place, the units are as they were\n");
    return interrupted_status();
  }
  if (!command.json) {
    print_conversion(report, planned.rank);
    return 0;
  }
  Json json = json_head("merge");
  json["plan"] = planned.id;
  json["checkpoint"] = planned.checkpoint.string();
  json["output"] = planned.output.string();
  add_conversion(json, report, planned.rank);
  print_json(json);
  return 0;
}

}  // namespace

void add_plan(Verb app, Action& action) {
  const Verb verb = app.add_verb("plan", "a conversion in units, for run and merge: what convert does, by many processes");
  const auto command = std::make_shared<PlanCommand>();
  add_conversion_options(verb, command->choice);
  verb.add_option("--converted", command->converted, "directory that merge writes, new or empty").required();
  verb.add_option("-o,--output", command->output, "file to write the plan to").required();
  verb.add_flag("--force", command->force, "overwrite the plan");
  verb.add_flag("--json", command->json, "machine-readable output");
  verb.callback([&action, command] { action = [command] { return plan(*command); }; });
}

void add_run(Verb app, Action& action) {
  const Verb verb = app.add_verb("run", "does units of a plan; what is done already is left alone");
  const auto command = std::make_shared<RunCommand>();
  verb.add_option("PLAN", command->plan, "what plan wrote").required();
  verb.add_option("--unit", command->units, "unit, from 0; several with commas").required().listed().check(whole_number_in(0, 1 << 24));
  verb.add_option("--units", command->directory, "directory of the units (default: beside the output, OUTPUT.units)");
  add_progress_option(verb, command->progress);
  verb.add_flag("--again", command->again, "do what is done already once more");
  verb.add_flag("--json", command->json, "machine-readable output");
  verb.callback([&action, command] { action = [command] { return run_units(*command); }; });
}

void add_merge(Verb app, Action& action) {
  const Verb verb = app.add_verb("merge", "checks that every unit of a plan is there once and as it was written, and puts them in place");
  const auto command = std::make_shared<MergeCommand>();
  verb.add_option("PLAN", command->plan, "what plan wrote").required();
  verb.add_option("DIRECTORY", command->directories, "directories of the units (default: OUTPUT.units)");
  add_progress_option(verb, command->progress);
  verb.add_flag("--force", command->force, "replace files of the same names in the output directory");
  verb.add_flag("--json", command->json, "machine-readable output");
  verb.callback([&action, command] { action = [command] { return merge(*command); }; });
}

}  // namespace mx::cli
