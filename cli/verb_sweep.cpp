// mxact sweep: all 2^32 fp32 inputs through one conversion, as 256 digests.

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/build.hpp"
#include "cli/conversion_text.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "sim/sweep/state.hpp"
#include "support/file.hpp"
#include "verbs/sweep/recorded.hpp"

namespace mx::cli {
namespace {

using golden::Digests;

struct OutputOptions {
  std::string against;
  std::string out;
  bool force = false;
  bool json = false;
};

struct SweepOptions {
  std::string format;
  std::string profile = std::string(kOcp);
  std::string shard = "1/1";
  std::string state;
  bool reference = false;
  OutputOptions output;
};

std::string digest_text(std::uint64_t digest) { return fmt::format("0x{:016x}", digest); }

/// Where the digests come from, and what they are held against.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON throws nothing.
struct Report {
  std::string title;
  Json about;
  const Format* to;
  Digests digests{};
  golden::Shard shard;
  bool interrupted = false;
};

void print_against(const golden::RecordedSweep& recorded, const std::vector<int>& compared, const std::vector<int>& differing,
                   const Digests& digests) {
  fmt::print("{} of {} chunks differ from {}\n", differing.size(), compared.size(), recorded.name);
  for (int chunk : differing) {
    const auto i = static_cast<std::size_t>(chunk);
    fmt::print("chunk {} (fp32 {}): recorded {}, here {}\n", chunk, golden::patterns_text(chunk), digest_text(recorded.digests[i]),
               digest_text(*digests[i]));
  }
}

/// Chunks that have a digest.
std::vector<int> known_chunks(const Digests& digests) {
  std::vector<int> known;
  for (int chunk = 0; chunk < golden::kSweepChunks; ++chunk) {
    if (digests[static_cast<std::size_t>(chunk)]) known.push_back(chunk);
  }
  return known;
}

int report_status(const Report& report, const std::vector<int>& differing) {
  if (report.interrupted) return interrupted_status();
  return differing.empty() ? 0 : 1;
}

int print_report(const Report& report, const OutputOptions& options, const std::optional<golden::RecordedSweep>& recorded) {
  const std::vector<int> known = known_chunks(report.digests);
  std::vector<int> differing;
  if (recorded) differing = golden::differing_chunks(report.digests, *recorded);
  const int status = report_status(report, differing);
  if (options.json) {
    Json json = report.about;
    json["complete"] = golden::missing_chunks(report.digests, report.shard).empty();
    json["digest"] = "mix64_sum";
    json["chunks"] = Json::array();
    for (int chunk : known) {
      json["chunks"].push_back(
          {{"chunk", chunk}, {"inputs", golden::patterns_text(chunk)}, {"digest", digest_text(*report.digests[static_cast<std::size_t>(chunk)])}});
    }
    if (recorded) json["against"] = {{"recorded", recorded->name}, {"compared", known.size()}, {"differing", differing}};
    json["exit_code"] = status;
    print_json(json);
    return status;
  }
  fmt::print("{}\n", report.title);
  std::vector<std::vector<std::string>> rows{{"chunk", "fp32 inputs", "digest"}};
  for (int chunk : known) {
    rows.push_back({std::to_string(chunk), golden::patterns_text(chunk), digest_text(*report.digests[static_cast<std::size_t>(chunk)])});
  }
  print_table(rows);
  if (recorded) print_against(*recorded, known, differing, report.digests);
  return status;
}

/// The report comes first: it is there even when the disk refuses the file.
int print_and_write(const Report& report, const OutputOptions& options, const std::optional<golden::RecordedSweep>& recorded) {
  const int status = print_report(report, options, recorded);
  if (!report.interrupted && !options.out.empty()) golden::write_sweep(options.out, report.digests, options.force);
  return status;
}

std::optional<golden::RecordedSweep> recorded_of(const OutputOptions& options, const Format& to) {
  if (options.against.empty()) return std::nullopt;
  return golden::recorded_sweep(options.against, to);
}

/// Only a whole sweep is written, and never over another file by accident: said before the work begins.
void check_out(const OutputOptions& options, bool whole) {
  if (options.out.empty()) return;
  if (!whole) throw Error(ErrorCode::usage, "--out writes all 256 digests: merge the states of the shards first");
  if (!options.force && sim::is_there(options.out)) throw Error(ErrorCode::input, "exists already; --force overwrites it", options.out);
  sim::require_writable(options.out, options.force);
}

/// The shard's chunks, those of the state file not again.
void run_sweep(const golden::SweepSubject& subject, const SweepOptions& options, Report& report) {
  golden::require_sweepable(subject);
  std::optional<golden::SweepState> state;
  if (!options.state.empty()) {
    state.emplace(options.state, subject, build_name());
    report.digests = state->known();
  }
  const std::size_t total = golden::missing_chunks({}, report.shard).size();
  std::size_t done = total - golden::missing_chunks(report.digests, report.shard).size();
  const InterruptWatch watch(EndBy::good_order);
  ProgressLine line;
  golden::SweepHooks hooks;
  hooks.stop = [&] { return watch.interrupted(); };
  hooks.finished = [&](int chunk, std::uint64_t digest) {
    if (state) state->add(chunk, digest);
    ++done;
    line.show(fmt::format("chunk {} of {}", done, total), static_cast<double>(done) / static_cast<double>(total));
  };
  golden::sweep(subject, report.shard, report.digests, hooks);
  report.interrupted = !golden::missing_chunks(report.digests, report.shard).empty();
}

int sweep_profile(const SweepOptions& options) {
  if (options.format.empty()) throw Error(ErrorCode::usage, "FORMAT is required: the target format, or merge");
  const Format& to = format_named(options.format);
  const Profile& profile = profile_named(options.profile);
  const golden::SweepSubject subject{&to, conversion(profile, kF32, to), options.reference ? golden::SweepBy::model : golden::SweepBy::twin};
  Report report;
  report.to = &to;
  report.shard = golden::shard_from(options.shard);
  report.title = fmt::format("f32 -> {}, profile {}: {}; by the {}", to.name, profile.name, short_text(subject.how), golden::name_of(subject.by));
  report.about = json_head("sweep");
  report.about["format"] = to.name;
  report.about["profile"] = profile.name;
  report.about["conversion"] = conversion_json(subject.how, to);
  report.about["computed_by"] = golden::name_of(subject.by);
  report.about["shard"] = fmt::format("{}/{}", report.shard.index, report.shard.count);
  check_out(options.output, report.shard.count == 1);
  const std::optional<golden::RecordedSweep> recorded = recorded_of(options.output, to);
  run_sweep(subject, options, report);
  if (report.interrupted) {
    const std::size_t left = golden::missing_chunks(report.digests, report.shard).size();
    fmt::print(stderr, "mxact: interrupted, {} chunks left; {}\n", left,
               options.state.empty() ? "without --state they are lost" : "the same command goes on from " + options.state);
  }
  return print_and_write(report, options.output, recorded);
}

struct MergeOptions {
  std::vector<std::string> states;
  OutputOptions output;
};

int merge_states(const MergeOptions& options) {
  const std::vector<std::filesystem::path> paths(options.states.begin(), options.states.end());
  const golden::SweepRecord merged = golden::merge_sweep_states(paths);
  const std::vector<int> missing = golden::missing_chunks(merged.digests);
  if (!missing.empty()) throw Error(ErrorCode::input, "the states leave out chunks " + golden::chunks_text(missing));
  check_out(options.output, true);
  Report report;
  report.digests = merged.digests;
  report.title = fmt::format("{} state{} of one sweep: {}; {}", paths.size(), paths.size() == 1 ? "" : "s", merged.identity, merged.build);
  report.to = &golden::target_of(merged);
  report.about = json_head("sweep-merge");
  report.about["states"] = options.states;
  report.about["conversion"] = merged.identity;
  report.about["build"] = merged.build;
  const std::optional<golden::RecordedSweep> recorded = recorded_of(options.output, *report.to);
  return print_and_write(report, options.output, recorded);
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
  verb.add_flag("--force", options.force, "overwrite --out");
  verb.add_flag("--json", options.json, "machine-readable output");
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
