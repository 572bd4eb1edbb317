// mxact sweep: all 2^32 fp32 inputs through one conversion, as 256 digests.

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/build.hpp"
#include "cli/document.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress_line.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "support/file.hpp"
#include "verbs/sweep/sweep_document.hpp"

namespace mx::cli {
namespace {

struct OutputOptions {
  std::string against;
  std::string out;
  DocumentOptions document;
};

struct SweepOptions {
  std::string format;
  std::string profile = std::string(kOcp);
  std::string shard = "1/1";
  std::string state;
  bool reference = false;
  OutputOptions output;
};

/// The report comes first: it is there even when the disk refuses the file.
int show_and_write(verbs::Document document, const verbs::Swept& swept, const OutputOptions& options, bool interrupted = false) {
  if (interrupted) document.exit_code = interrupted_status();
  const int status = show(document, options.document);
  if (!interrupted && !options.out.empty()) verbs::write_sweep(options.out, swept.digests, options.document.force);
  return status;
}

std::optional<verbs::RecordedSweep> recorded_of(const OutputOptions& options, const Format& to) {
  if (options.against.empty()) return std::nullopt;
  return verbs::recorded_sweep(options.against, to);
}

/// Only a whole sweep is written, and never over another file by accident: said before the work begins.
void check_out(const OutputOptions& options, bool whole) {
  if (options.out.empty()) return;
  if (!whole) throw Error(ErrorCode::usage, "--out writes all 256 digests: merge the states of the shards first");
  if (!options.document.force && support::is_there(options.out)) throw Error(ErrorCode::input, "exists already; --force overwrites it", options.out);
  support::require_writable(options.out, options.document.force);
}

/// The shard's chunks, those of the state file not again. False when it was interrupted.
bool run_sweep(const sim::SweepSubject& subject, const SweepOptions& options, verbs::Swept& swept) {
  sim::require_sweepable(subject);
  std::optional<sim::SweepState> state;
  if (!options.state.empty()) {
    state.emplace(options.state, subject, build_name());
    swept.digests = state->known();
  }
  const std::size_t total = sim::missing_chunks({}, swept.shard).size();
  std::size_t done = total - sim::missing_chunks(swept.digests, swept.shard).size();
  const InterruptWatch watch;
  ProgressLine line;
  sim::SweepHooks hooks;
  hooks.stop = [&] { return watch.interrupted(); };
  hooks.finished = [&](int chunk, std::uint64_t digest) {
    if (state) state->add(chunk, digest);
    ++done;
    line.show(fmt::format("chunk {} of {}", done, total), static_cast<double>(done) / static_cast<double>(total));
  };
  sim::sweep(subject, swept.shard, swept.digests, hooks);
  return sim::missing_chunks(swept.digests, swept.shard).empty();
}

int sweep_profile(const SweepOptions& options) {
  if (options.format.empty()) throw Error(ErrorCode::usage, "FORMAT is required: the target format, or merge");
  const Format& to = format_named(options.format);
  const Profile& profile = profile_named(options.profile);
  const sim::SweepSubject subject{&to, conversion(profile, kF32, to), options.reference ? sim::SweepBy::model : sim::SweepBy::twin};
  verbs::Swept swept{{}, sim::shard_from(options.shard)};
  check_out(options.output, swept.shard.count == 1);
  swept.recorded = recorded_of(options.output, to);
  const bool finished = run_sweep(subject, options, swept);
  if (!finished) {
    const std::size_t left = sim::missing_chunks(swept.digests, swept.shard).size();
    fmt::print(stderr, "mxact: interrupted, {} chunks left; {}\n", left,
               options.state.empty() ? "without --state they are lost" : "the same command goes on from " + options.state);
  }
  return show_and_write(verbs::sweep_document(subject, profile, swept), swept, options.output, !finished);
}

struct MergeOptions {
  std::vector<std::string> states;
  OutputOptions output;
};

int merge_states(const MergeOptions& options) {
  const std::vector<std::filesystem::path> paths(options.states.begin(), options.states.end());
  const sim::SweepRecord merged = sim::merge_sweep_states(paths);
  const std::vector<int> missing = sim::missing_chunks(merged.digests);
  if (!missing.empty()) throw Error(ErrorCode::input, "the states leave out chunks " + sim::chunks_text(missing));
  check_out(options.output, true);
  const verbs::Swept swept{merged.digests, {}, recorded_of(options.output, sim::target_of(merged))};
  return show_and_write(verbs::sweep_merge_document(merged, options.states, swept), swept, options.output);
}

/// Options before the word merge would be those of a sweep, which is not run.
void require_no_options_before_merge(Verb sweep) {
  const std::string given = sweep.first_given();
  if (!given.empty())
    throw Error(ErrorCode::usage, fmt::format("{} stands before merge, which takes its own options and state files after it", given));
}

void add_output_options(Verb verb, OutputOptions& options) {
  verb.add_option("--against", options.against, "recorded digests: SET/ENTRY of a witness set, or a file of 256 u64");
  verb.add_option("--out", options.out, "write the 256 digests as raw little-endian u64");
  verb.add_flag("--force", options.document.force, "overwrite --out");
  add_json_option(verb, options.document);
}

}  // namespace

void add_sweep(Verb app, Action& action) {
  const Verb verb = app.add_verb("sweep", "all 2^32 fp32 inputs through one conversion, as 256 digests; sweep merge STATE..");
  const auto options = std::make_shared<SweepOptions>();
  verb.add_option("FORMAT", options->format, "target format (mxact formats lists them), or merge");
  verb.add_option("--profile", options->profile, "named rounding, overflow and NaN rule (default ocp)");
  verb.add_option("--shard", options->shard, "I/N: the I-th of N parts of the chunks (1/1)");
  verb.add_option("--state", options->state, "file that keeps each finished chunk; the same command goes on where it stopped");
  verb.add_flag("--reference", options->reference, "by the model alone instead of the fast twin");
  add_output_options(verb, options->output);
  verb.callback([&action, options, verb] {
    if (!verb.went_on()) action = [options] { return sweep_profile(*options); };
  });

  const Verb merge_verb = verb.add_verb("merge", "state files of the shards of one sweep as one");
  const auto merge = std::make_shared<MergeOptions>();
  merge_verb.add_option("STATE", merge->states, "state file").required();
  add_output_options(merge_verb, merge->output);
  merge_verb.callback([&action, merge, verb] {
    require_no_options_before_merge(verb);
    action = [merge] { return merge_states(*merge); };
  });
}

}  // namespace mx::cli
