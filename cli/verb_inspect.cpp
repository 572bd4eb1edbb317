// mxact inspect: what is in a checkpoint, and is it sound.

#include <fmt/core.h>

#include <memory>
#include <string>

#include "cli/document.hpp"
#include "cli/engine_option.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress_line.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "verbs/inspect/inspect_document.hpp"

namespace mx::cli {
namespace {

struct Options {
  std::string checkpoint;
  std::string engine;
  std::string progress;
  bool deep = false;
  DocumentOptions out;
};

int inspect(const Options& options) {
  require_outputs(options.out);
  checkpoint::Inspection result;
  {
    const InterruptWatch watch;
    ProgressLine line(options.progress);
    checkpoint::InspectOptions how{.depth = options.deep ? checkpoint::Depth::weights : checkpoint::Depth::scales,
                                   .engine = deployment::engine_named(options.engine)};
    how.progress = [&line](const std::string& what, std::uint64_t done, std::uint64_t total) { line.show(what, done, total); };
    how.stop = [&watch] { return watch.interrupted(); };
    result = checkpoint::inspect_checkpoint(options.checkpoint, how);
  }
  if (!result.finished) {
    fmt::print(stderr, "mxact: interrupted: what was looked at so far is no result and is not shown\n");
    return interrupted_status();
  }
  return show(verbs::inspect_document(result), options.out);
}

}  // namespace

void add_inspect(Verb app, Action& action) {
  const Verb verb =
      app.add_verb("inspect", "what a checkpoint is, who wrote it, and what no sound file has: from its headers and scales, or all of it");
  const auto options = std::make_shared<Options>();
  verb.add_option("CHECKPOINT", options->checkpoint, "a .safetensors file or a model directory").required();
  verb.add_flag("--deep", options->deep, "read the weights too, at the speed of the disk");
  add_engine_option(verb, options->engine);
  add_picture_option(verb, options->out, "writes histograms of the scales too, FILE.svg", false);
  add_progress_option(verb, options->progress);
  add_check_options(verb, options->out);
  verb.footer("exit status: 0 nothing is wrong that is known here; 1 something is; 2 usage; 3 the checkpoint cannot be read; 130 interrupted");
  verb.callback([&action, options] { action = [options] { return inspect(*options); }; });
}

}  // namespace mx::cli
