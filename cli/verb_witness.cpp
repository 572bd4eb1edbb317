// mxact witness: hold the model against recorded outputs of a real implementation.

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/document.hpp"
#include "cli/progress_line.hpp"
#include "cli/verbs.hpp"
#include "verbs/witness/witness_document.hpp"

namespace mx::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  bool allow_unmodelled = false;
  bool skip_sweeps = false;
  bool verbose = false;
  bool ledger = false;
  DocumentOptions out;
};

int witness(const Options& options) {
  require_outputs(options.out);
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
  return show(verbs::witness_document(sets, options.allow_unmodelled, options.verbose), options.out);
}

}  // namespace

void add_witness(Verb app, Action& action) {
  const Verb verb = app.add_verb("witness", "hold the model against recorded outputs of a real implementation");
  const auto options = std::make_shared<Options>();
  const Option paths =
      verb.add_option("PATH", options->paths, "a set (folder with manifest.json), a .jsonl file of oracle cases, or a folder of sets").distinct();
  verb.add_flag("--allow-unmodelled", options->allow_unmodelled, "entries that the model does not cover are listed but do not fail the run");
  verb.add_flag("--skip-sweeps", options->skip_sweeps, "leave out sweeps over all 2^32 inputs (listed as not compared)");
  verb.add_flag("--verbose", options->verbose, "one line per entry");
  verb.add_flag("--ledger", options->ledger, "show which recorded values are excused, and why, instead of running").excludes(paths);
  add_check_options(verb, options->out);
  verb.callback([&action, options, paths] {
    if (!options->ledger && options->paths.empty()) paths.report_missing();
    action = [options] { return options->ledger ? show(verbs::ledger_document(), options->out) : witness(*options); };
  });
}

}  // namespace mx::cli
