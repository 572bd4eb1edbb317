// mxact verify: a checkpoint through every backend on every platform.

#include <fmt/core.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/document.hpp"
#include "cli/engine_option.hpp"
#include "cli/env_option.hpp"
#include "cli/interrupt.hpp"
#include "cli/numbers.hpp"
#include "cli/pace.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "verbs/verify/verify_document.hpp"

namespace mx::cli {
namespace {

struct Options {
  std::optional<std::string> checkpoint;  ///< none: generate one
  std::vector<std::string> platforms;
  std::vector<std::string> backends;
  std::string engine;
  std::vector<std::string> variables;
  std::vector<int> tp;
  std::vector<std::string> contracts;
  int layers = 0;
  std::int64_t experts = 0;
  std::int64_t tokens = 4;
  std::int64_t seed = 1;
  std::string progress;
  bool no_execute = false;
  bool fail_on_warning = false;
  bool reference = false;
  DocumentOptions out;
};

/// A directory that is gone when the run ends; its files stay readable as long as they are mapped.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mxact-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw Error(ErrorCode::resource, "no temporary directory can be made", pattern);
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Its files are gone once it is open: mapped, they stay readable, and an interrupted run leaves nothing behind.
sim::Checkpoint generated_checkpoint(std::uint64_t seed) {
  const TemporaryDirectory temporary;
  sim::SyntheticShape shape;
  shape.seed = seed;
  sim::write_synthetic_checkpoint(temporary.path() / "gpt-oss-generated", shape);
  return sim::Checkpoint(temporary.path() / "gpt-oss-generated");
}

/// Memory that is freed stays with the process: fresh pages for every layer-sized buffer would cost as much as all comparisons.
void keep_memory() {
#ifdef __GLIBC__
  constexpr int kNever = -1;
  static_cast<void>(mallopt(M_MMAP_MAX, 0));
  static_cast<void>(mallopt(M_TRIM_THRESHOLD, kNever));
#endif
}

int verify(const Options& options) {
  keep_memory();
  require_outputs(options.out);
  sim::VerifyOptions how;
  how.platforms = options.platforms;
  how.backends = options.backends;
  how.engine = engine_named(options.engine);
  how.env = variables_of(options.variables);
  how.tp = options.tp;
  how.tokens = options.tokens;
  how.by = options.reference ? sim::MoveBy::model : sim::MoveBy::plans;
  how.seed = static_cast<std::uint64_t>(options.seed);
  if (options.layers > 0) how.max_layers = options.layers;
  if (options.experts > 0) how.max_experts = options.experts;
  how.executes = !options.no_execute;
  for (const std::string& name : options.contracts) how.contracts.push_back(contract_named(name));
  if (options.checkpoint && options.checkpoint->empty()) throw Error(ErrorCode::usage, "the path is empty", "CHECKPOINT");
  const sim::Checkpoint checkpoint = options.checkpoint ? sim::Checkpoint(*options.checkpoint) : generated_checkpoint(how.seed);
  sim::VerifyReport report;
  try {
    const InterruptWatch watch(EndBy::a_moment);
    PaceLine line(options.progress);
    how.progress = [&line](const std::string& text, std::uint64_t done, std::uint64_t total) { line.show(text, done, total); };
    how.stop = [&watch] { return watch.interrupted(); };
    report = sim::verify(checkpoint, how);
  } catch (const sim::Stopped&) {
    fmt::print(stderr, "mxact: interrupted; not every layer was verified, and no verdict stands\n");
    return interrupted_status();
  }
  if (!options.checkpoint) report.checkpoint = fmt::format("generated, seed {}", options.seed);
  return show(verbs::verify_document(report, {options.checkpoint, options.contracts, options.layers, options.experts, options.tokens, options.seed,
                                              options.no_execute, options.reference, how.env, options.fail_on_warning}),
              options.out);
}

}  // namespace

void add_verify(Verb app, Action& action) {
  const Verb verb = app.add_verb("verify", "the main job: select, round, convert, restore, execute, compare bits, for every backend and platform");
  const auto options = std::make_shared<Options>();
  verb.add_option("CHECKPOINT", options->checkpoint,
                  "a .safetensors file or a model directory (default: a small gpt-oss-shaped one made from the seed)");
  const auto list = [verb](const std::string& name, auto& values, const std::string& help) {
    // One value an option, or several with commas: the next word may be the checkpoint.
    return verb.add_option(name, values, help).listed();
  };
  list("--platform", options->platforms, "only these platforms: SM75 .. SM121, gfx90a .. gfx1250, XPU, CPU");
  list("--backend", options->backends, "only these backends");
  add_engine_option(verb, options->engine);
  add_env_option(verb, options->variables);
  list("--tp", options->tp, "tensor parallel sizes (default 1,2)");
  const Option contracts =
      list("--contract", options->contracts, "arithmetic contracts of the products, in the place of each backend's own (mxact formats lists them)");
  verb.add_option("--layers", options->layers, "verify the first N layers only").check(whole_number_in(1, 1 << 20));
  verb.add_option("--experts", options->experts, "verify the first N experts of each layer only; tokens that the router sends elsewhere are left out")
      .check(whole_number_in(1, 1 << 20));
  verb.add_option("--tokens", options->tokens, "tokens to generate when the checkpoint brings none (default 4)").check(whole_number_in(1, 65536));
  verb.add_option("--seed", options->seed, "seed of everything generated (default 1)").check(whole_number_in(0, INT64_MAX));
  add_picture_option(verb, options->out, "writes the verdicts as a picture too, FILE.svg", false);
  add_progress_option(verb, options->progress);
  verb.add_flag("--no-execute", options->no_execute, "compare the bytes alone: nothing is executed").excludes(contracts);
  verb.add_flag("--fail-on-warning", options->fail_on_warning, "exit 1 where the numbers of the checkpoint are such as no sound quantizer writes");
  verb.add_flag("--reference", options->reference, "convert and sum by the model alone instead of the fast twins");
  add_check_options(verb, options->out);
  verb.callback([&action, options] { action = [options] { return verify(*options); }; });
}

}  // namespace mx::cli
