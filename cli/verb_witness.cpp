// mxact witness: hold the model against recorded outputs of a real implementation.

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "golden/witness/ledger.hpp"
#include "golden/witness/witness.hpp"

namespace mx::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  bool allow_unmodelled = false;
  bool skip_sweeps = false;
  bool verbose = false;
  bool ledger = false;
  bool json = false;
};

void print_totals(const std::vector<golden::SetResult>& sets, int status) {
  std::int64_t compared = 0;
  std::int64_t differing = 0;
  std::int64_t excused = 0;
  std::int64_t unmodelled = 0;
  for (const golden::SetResult& set : sets) {
    compared += set.compared();
    differing += set.differing();
    excused += set.excused();
    unmodelled += set.count(golden::EntryStatus::unmodelled);
  }
  fmt::print("{} sets: {} values compared, {} differ, {} excused; {} entries not modelled; exit {}\n", sets.size(), compared, differing, excused,
             unmodelled, status);
}

int print_ledger(bool as_json) {
  if (as_json) {
    Json json = json_head("witness");
    json["ledger"] = golden::ledger_json();
    print_json(json);
  } else {
    fmt::print("{}", golden::ledger_text());
  }
  return 0;
}

int witness(const Options& options) {
  std::vector<golden::SetResult> sets;
  {
    ProgressLine line;
    golden::WitnessOptions how;
    how.sweeps = !options.skip_sweeps;
    how.progress = [&line](const golden::WitnessProgress& step) {
      line.show(fmt::format("{}: {}", step.set, step.what),
                static_cast<double>(step.done) / static_cast<double>(std::max<std::int64_t>(step.total, 1)));
    };
    for (const std::string& path : options.paths) {
      for (golden::SetResult& set : golden::run_witness(path, how)) sets.push_back(std::move(set));
    }
  }
  const int status = golden::exit_code(sets, options.allow_unmodelled);
  if (options.json) {
    Json json = json_head("witness");
    json["sets"] = Json::array();
    for (const golden::SetResult& set : sets) json["sets"].push_back(golden::to_json(set));
    json["exit_code"] = status;
    print_json(json);
    return status;
  }
  for (const golden::SetResult& set : sets) fmt::print("{}", golden::to_text(set, options.verbose));
  print_totals(sets, status);
  return status;
}

}  // namespace

void add_witness(Verb app, Action& action) {
  const Verb verb = app.add_verb("witness", "hold the model against recorded outputs of a real implementation");
  const auto options = std::make_shared<Options>();
  const Option paths =
      verb.add_option("PATH", options->paths, "a set (folder with manifest.json), a .jsonl file of oracle cases, or a folder of sets");
  verb.add_flag("--allow-unmodelled", options->allow_unmodelled, "entries that the model does not cover are listed but do not fail the run");
  verb.add_flag("--skip-sweeps", options->skip_sweeps, "leave out sweeps over all 2^32 inputs (listed as not compared)");
  verb.add_flag("--verbose", options->verbose, "one line per entry");
  verb.add_flag("--ledger", options->ledger, "show which recorded values are excused, and why, instead of running").excludes(paths);
  verb.add_flag("--json", options->json, "machine-readable output");
  verb.callback([&action, options, paths] {
    if (!options->ledger && options->paths.empty()) paths.report_missing();
    action = [options] { return options->ledger ? print_ledger(options->json) : witness(*options); };
  });
}

}  // namespace mx::cli
