// mxact plan, mxact run and mxact merge: a conversion in units that many processes share.

#include "cli/verb_units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/units.hpp"
#include "cli/conversion_options.hpp"
#include "cli/document.hpp"
#include "cli/interrupt.hpp"
#include "cli/numbers.hpp"
#include "cli/progress_line.hpp"
#include "model/error.hpp"
#include "support/file.hpp"
#include "verbs/convert/convert_document.hpp"

namespace mx::cli {
namespace {

struct PlanCommand {
  ConversionChoice choice;
  std::string converted;
  std::string output;
  bool relative = false;
  DocumentOptions out;
};

struct RunCommand {
  std::string plan;
  std::vector<std::string> units;  ///< as typed: "3", "0-3"
  std::string directory;
  std::string progress;
  bool again = false;
  bool status = false;
  DocumentOptions out;
};

struct MergeCommand {
  std::string plan;
  std::vector<std::string> directories;
  std::string progress;
  DocumentOptions out;
};

int plan(const PlanCommand& command) {
  support::require_writable(command.output, command.out.force);
  const checkpoint::UnitPlan made = checkpoint::make_plan(command.choice.checkpoint, command.converted, options_of(command.choice),
                                            command.relative ? std::optional(std::filesystem::absolute(command.output).parent_path()) : std::nullopt);
  const std::string text = checkpoint::text_of(made);
  support::write_file(command.output, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), command.out.force);
  return show(verbs::plan_document(made), command.out);
}

/// Bytes that one unit of a plan reads; 0 for a unit that it has not, which the runner refuses.
std::uint64_t bytes_of(const checkpoint::UnitPlan& plan, int unit) {
  const auto found = std::ranges::find(plan.units, unit, &checkpoint::PlannedUnit::unit);
  return found == plan.units.end() ? 0 : found->bytes;
}

std::filesystem::path directory_of(const checkpoint::UnitPlan& planned, const RunCommand& command) {
  return command.directory.empty() ? checkpoint::units_directory(planned) : std::filesystem::path(command.directory);
}

/// The units that were asked for; what is left where none was.
std::vector<int> units_of(const checkpoint::UnitPlan& planned, const RunCommand& command) {
  if (!command.units.empty()) return numbers_and_ranges(command.units, "unit", static_cast<int>(planned.units.size()) - 1, "--unit");
  std::vector<int> units;
  for (const checkpoint::UnitStatus& status : checkpoint::status_of(planned, directory_of(planned, command))) {
    if (command.again || status.outcome == checkpoint::UnitOutcome::left) units.push_back(status.unit);
  }
  return units;
}

/// Units in their order, until one is stopped: false.
bool run_each(const checkpoint::UnitPlan& planned, const RunCommand& command, const std::vector<int>& asked, std::vector<verbs::UnitDone>& units) {
  std::uint64_t done = 0, total = 0;
  for (const int unit : asked) total += bytes_of(planned, unit);
  ProgressLine line(command.progress);
  const InterruptWatch watch;
  checkpoint::UnitOptions options;
  options.directory = directory_of(planned, command);
  options.program = program_text();
  options.again = command.again;
  options.progress = [&](const std::string& what, std::uint64_t part, std::uint64_t) { line.show(what, done + part, total); };
  options.stop = [&watch] { return watch.interrupted(); };
  checkpoint::UnitRunner runner(planned, options);
  for (const int unit : asked) {
    const checkpoint::UnitOutcome outcome = runner.run(unit);
    if (outcome == checkpoint::UnitOutcome::stopped) return false;
    done += bytes_of(planned, unit);
    units.push_back({unit, runner.result(), outcome});
  }
  return true;
}

int run_units(const RunCommand& command) {
  if (command.status && (command.again || !command.units.empty()))
    throw Error(ErrorCode::usage, "says what is done of all units, and does none: --unit and --again are not for it", "--status");
  const checkpoint::UnitPlan planned = checkpoint::read_plan(command.plan);
  std::vector<verbs::UnitDone> units;
  if (command.status) {
    for (checkpoint::UnitStatus& status : checkpoint::status_of(planned, directory_of(planned, command)))
      units.push_back({status.unit, std::move(status.result), status.outcome});
    return show(verbs::run_document(planned, units), command.out);
  }
  const std::vector<int> asked = units_of(planned, command);
  const bool finished = run_each(planned, command, asked, units);
  verbs::Document document = verbs::run_document(planned, units);
  if (finished) return show(document, command.out);
  document.exit_code = interrupted_status();
  show(document, command.out);
  fmt::print(stderr, "mxact: interrupted; unit {} was not written\n", asked[units.size()]);
  return interrupted_status();
}

int merge(const MergeCommand& command) {
  const checkpoint::UnitPlan planned = checkpoint::read_plan(command.plan);
  checkpoint::MergeOptions options;
  options.directories.assign(command.directories.begin(), command.directories.end());
  if (options.directories.empty()) options.directories.push_back(checkpoint::units_directory(planned));
  options.program = program_text();
  options.force = command.out.force;
  checkpoint::ConvertReport report;
  {
    const InterruptWatch watch;
    ProgressLine line(command.progress);
    options.progress = [&line](const std::string& what, std::uint64_t done, std::uint64_t total) { line.show(what, done, total); };
    options.stop = [&watch] { return watch.interrupted(); };
    report = checkpoint::merge_units(planned, options);
  }
  if (!report.finished) {
    fmt::print(stderr, "mxact: interrupted; nothing was put in place, the units are as they were\n");
    return interrupted_status();
  }
  return show(verbs::merge_document(report, planned), command.out);
}

}  // namespace

void add_plan(Verb app, Action& action) {
  const Verb verb = app.add_verb("plan", "a conversion in units, for run and merge: what convert does, by many processes");
  const auto command = std::make_shared<PlanCommand>();
  add_conversion_options(verb, command->choice);
  verb.add_option("--converted", command->converted, "directory that merge writes, new or empty").required();
  verb.add_option("-o,--output", command->output, "file to write the plan to").required();
  verb.add_flag("--relative", command->relative, "paths as seen from the plan's directory, for machines that have it elsewhere");
  verb.add_flag("--force", command->out.force, "overwrite the plan");
  add_json_option(verb, command->out);
  verb.callback([&action, command] { action = [command] { return plan(*command); }; });
}

void add_run(Verb app, Action& action) {
  const Verb verb = app.add_verb("run", "does units of a plan; what is done already is left alone");
  const auto command = std::make_shared<RunCommand>();
  verb.add_option("PLAN", command->plan, "what plan wrote").required();
  verb.add_option("--unit", command->units, "unit, from 0, or a range 0-3; several with commas (default: all that is left)").listed();
  verb.add_flag("--status", command->status, "say what is done and what is left, and do nothing");
  verb.add_option("--units", command->directory, "directory of the units (default: beside the output, OUTPUT.units)");
  add_progress_option(verb, command->progress);
  verb.add_flag("--again", command->again, "do what is done already once more");
  add_json_option(verb, command->out);
  verb.callback([&action, command] { action = [command] { return run_units(*command); }; });
}

void add_merge(Verb app, Action& action) {
  const Verb verb = app.add_verb("merge", "checks that every unit of a plan is there once and as it was written, and puts them in place");
  const auto command = std::make_shared<MergeCommand>();
  verb.add_option("PLAN", command->plan, "what plan wrote").required();
  verb.add_option("DIRECTORY", command->directories, "directories of the units (default: OUTPUT.units)");
  add_progress_option(verb, command->progress);
  verb.add_flag("--force", command->out.force, "replace files of the same names in the output directory");
  add_json_option(verb, command->out);
  verb.callback([&action, command] { action = [command] { return merge(*command); }; });
}

}  // namespace mx::cli
