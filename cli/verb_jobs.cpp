// mxact plan, mxact run and mxact merge: a conversion in jobs that many processes share.

#include "cli/verb_jobs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/jobs.hpp"
#include "cli/conversion_options.hpp"
#include "cli/document.hpp"
#include "cli/env_option.hpp"
#include "cli/interrupt.hpp"
#include "cli/numbers.hpp"
#include "cli/progress_line.hpp"
#include "model/error.hpp"
#include "support/file.hpp"
#include "support/stop.hpp"
#include "verbs/convert/convert_document.hpp"

namespace mx::cli {
namespace {

struct PlanCommand {
  ConversionChoice choice;
  std::string converted;
  std::string output;
  std::string progress;
  bool relative = false;
  DocumentOptions out;
};

struct RunCommand {
  std::string plan;
  std::vector<std::string> jobs;  ///< as typed: "3", "0-3"
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

int plan(PlanCommand command) {
  take_engines_choice(command.choice);
  support::require_writable(command.output, command.out.force);
  checkpoint::ConvertOptions options = options_of(command.choice);
  checkpoint::JobPlan made{};
  try {
    const InterruptWatch watch;
    ProgressLine line(command.progress);
    options.progress = [&line](const std::string& what, std::uint64_t done, std::uint64_t total) { line.show(what, done, total); };
    options.stop = [&watch] { return watch.interrupted(); };
    made = checkpoint::make_plan(command.choice.checkpoint, command.converted, options,
                                 command.relative ? std::optional(std::filesystem::absolute(command.output).parent_path()) : std::nullopt);
  } catch (const support::Stopped&) {
    fmt::print(stderr, "mxact: interrupted; nothing was written\n");
    return interrupted_status();
  }
  const std::string text = checkpoint::text_of(made);
  support::write_file(command.output, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), command.out.force);
  verbs::Document document = verbs::plan_document(made);
  note_variables(document, command.choice.variables, engine_of(command.choice));
  return show(document, command.out);
}

/// Bytes that one job of a plan reads; 0 for a job that it has not, which the runner refuses.
std::uint64_t bytes_of(const checkpoint::JobPlan& plan, int job) {
  const auto found = std::ranges::find(plan.jobs, job, &checkpoint::PlannedJob::job);
  return found == plan.jobs.end() ? 0 : found->bytes;
}

std::filesystem::path directory_of(const checkpoint::JobPlan& planned, const RunCommand& command) {
  return command.directory.empty() ? checkpoint::jobs_directory(planned) : std::filesystem::path(command.directory);
}

/// The jobs that were asked for; what is left where none was.
std::vector<int> jobs_of(const checkpoint::JobPlan& planned, const RunCommand& command) {
  if (!command.jobs.empty()) return numbers_and_ranges(command.jobs, "job", static_cast<int>(planned.jobs.size()) - 1, "--job");
  std::vector<int> jobs;
  for (const checkpoint::JobStatus& status : checkpoint::status_of(planned, directory_of(planned, command))) {
    if (command.again || status.outcome == checkpoint::JobOutcome::left) jobs.push_back(status.job);
  }
  return jobs;
}

/// Jobs in their order, until one is stopped: false.
bool run_each(const checkpoint::JobPlan& planned, const RunCommand& command, const std::vector<int>& asked, std::vector<verbs::JobDone>& jobs) {
  std::uint64_t done = 0, total = 0;
  for (const int job : asked) total += bytes_of(planned, job);
  ProgressLine line(command.progress);
  const InterruptWatch watch;
  checkpoint::JobOptions options;
  options.directory = directory_of(planned, command);
  options.program = program_text();
  options.again = command.again;
  options.progress = [&](const std::string& what, std::uint64_t part, std::uint64_t) { line.show(what, done + part, total); };
  options.stop = [&watch] { return watch.interrupted(); };
  checkpoint::JobRunner runner(planned, options);
  for (const int job : asked) {
    const checkpoint::JobOutcome outcome = runner.run(job);
    if (outcome == checkpoint::JobOutcome::stopped) return false;
    done += bytes_of(planned, job);
    jobs.push_back({job, runner.result(), outcome});
  }
  return true;
}

int run_jobs(const RunCommand& command) {
  if (command.status && (command.again || !command.jobs.empty()))
    throw Error(ErrorCode::usage, "says what is done of all jobs, and does none: --job and --again are not for it", "--status");
  const checkpoint::JobPlan planned = checkpoint::read_plan(command.plan);
  std::vector<verbs::JobDone> jobs;
  if (command.status) {
    for (checkpoint::JobStatus& status : checkpoint::status_of(planned, directory_of(planned, command)))
      jobs.push_back({status.job, std::move(status.result), status.outcome});
    return show(verbs::run_document(planned, jobs), command.out);
  }
  const std::vector<int> asked = jobs_of(planned, command);
  const bool finished = run_each(planned, command, asked, jobs);
  verbs::Document document = verbs::run_document(planned, jobs);
  if (finished) return show(document, command.out);
  document.exit_code = interrupted_status();
  show(document, command.out);
  fmt::print(stderr, "mxact: interrupted; job {} was not written\n", asked[jobs.size()]);
  return interrupted_status();
}

int merge(const MergeCommand& command) {
  const checkpoint::JobPlan planned = checkpoint::read_plan(command.plan);
  checkpoint::MergeOptions options;
  options.directories.assign(command.directories.begin(), command.directories.end());
  if (options.directories.empty()) options.directories.push_back(checkpoint::jobs_directory(planned));
  options.program = program_text();
  options.force = command.out.force;
  checkpoint::ConvertReport report;
  {
    const InterruptWatch watch;
    ProgressLine line(command.progress);
    options.progress = [&line](const std::string& what, std::uint64_t done, std::uint64_t total) { line.show(what, done, total); };
    options.stop = [&watch] { return watch.interrupted(); };
    report = checkpoint::merge_jobs(planned, options);
  }
  if (!report.finished) {
    fmt::print(stderr, "mxact: interrupted; nothing was put in place, the jobs are as they were\n");
    return interrupted_status();
  }
  return show(verbs::merge_document(report, planned), command.out);
}

}  // namespace

void add_plan(Verb app, Action& action) {
  const Verb verb = app.add_verb("plan", "a conversion in jobs, for run and merge: what convert does, by many processes");
  const auto command = std::make_shared<PlanCommand>();
  add_conversion_options(verb, command->choice);
  verb.add_option("--converted", command->converted, "directory that merge writes, new or empty").required();
  verb.add_option("-o,--output", command->output, "file to write the plan to").required();
  verb.add_flag("--relative", command->relative, "paths as seen from the plan's directory, for machines that have it elsewhere");
  add_progress_option(verb, command->progress);
  verb.add_flag("--force", command->out.force, "overwrite the plan");
  add_json_option(verb, command->out);
  verb.callback([&action, command] { action = [command] { return plan(*command); }; });
}

void add_run(Verb app, Action& action) {
  const Verb verb = app.add_verb("run", "does jobs of a plan; what is done already is left alone");
  const auto command = std::make_shared<RunCommand>();
  verb.add_option("PLAN", command->plan, "what plan wrote").required();
  const Option job = verb.add_option("--job", command->jobs, "job, from 0, or a range 0-3; several with commas (default: all that is left)").listed();
  verb.add_option("--unit", command->jobs, "as --job").listed().excludes(job).old_word();
  verb.add_flag("--status", command->status, "say what is done and what is left, and do nothing");
  const Option directory = verb.add_option("--directory", command->directory, "directory of the jobs (default: beside the output, OUTPUT.units)");
  verb.add_option("--units", command->directory, "as --directory").excludes(directory).old_word();
  add_progress_option(verb, command->progress);
  verb.add_flag("--again", command->again, "do what is done already once more");
  add_json_option(verb, command->out);
  verb.callback([&action, command] { action = [command] { return run_jobs(*command); }; });
}

void add_merge(Verb app, Action& action) {
  const Verb verb = app.add_verb("merge", "checks that every job of a plan is there once and as it was written, and puts them in place");
  const auto command = std::make_shared<MergeCommand>();
  verb.add_option("PLAN", command->plan, "what plan wrote").required();
  verb.add_option("DIRECTORY", command->directories, "directories of the jobs (default: OUTPUT.units)");
  add_progress_option(verb, command->progress);
  verb.add_flag("--force", command->out.force, "replace files of the same names in the output directory");
  add_json_option(verb, command->out);
  verb.callback([&action, command] { action = [command] { return merge(*command); }; });
}

}  // namespace mx::cli
