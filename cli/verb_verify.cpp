// mxact verify: a checkpoint through every backend on every platform.

#include <fmt/core.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/conversion_options.hpp"
#include "cli/document.hpp"
#include "cli/engine_option.hpp"
#include "cli/env_option.hpp"
#include "cli/interrupt.hpp"
#include "cli/layout_options.hpp"
#include "cli/numbers.hpp"
#include "cli/progress_line.hpp"
#include "cli/verbs.hpp"
#include "model/audit/deployment_text.hpp"
#include "model/error.hpp"
#include "sim/sweep/sweep.hpp"
#include "sim/verify/verify_parts.hpp"
#include "support/contract_file.hpp"
#include "support/deployment_file.hpp"
#include "support/file.hpp"
#include "verbs/verify/verify_document.hpp"

namespace mx::cli {
namespace {

struct Options {
  sim::VerifyRequest request;
  std::vector<std::string> variables;
  std::vector<std::string> libraries;
  std::string shard;
  std::string part;  ///< file that a share writes
  std::string progress;
  DocumentOptions out;
};

struct MergeOptions {
  std::vector<std::string> parts;
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
checkpoint::Checkpoint generated_checkpoint(std::uint64_t seed) {
  const TemporaryDirectory temporary;
  checkpoint::SyntheticShape shape;
  shape.seed = seed;
  checkpoint::write_synthetic_checkpoint(temporary.path() / "gpt-oss-generated", shape);
  return checkpoint::Checkpoint(temporary.path() / "gpt-oss-generated");
}

/// Memory that is freed stays with the process: fresh pages for every layer-sized buffer would cost as much as all comparisons.
void keep_memory() {
#ifdef __GLIBC__
  constexpr int kNever = -1;
  static_cast<void>(mallopt(M_MMAP_MAX, 0));
  static_cast<void>(mallopt(M_TRIM_THRESHOLD, kNever));
#endif
}

checkpoint::Checkpoint checkpoint_of(const sim::VerifyRequest& request) {
  if (!request.checkpoint) return generated_checkpoint(static_cast<std::uint64_t>(request.seed));
  using Garbage = checkpoint::Checkpoint::Garbage;
  return checkpoint::Checkpoint(*request.checkpoint, std::max(request.layer_group - 1, 0), deployment::engine_named(request.engine),
                                request.layer_group > 0 ? Garbage::asked : Garbage::refused);
}

std::string generated_name(const sim::VerifyRequest& request) { return fmt::format("generated, seed {}", request.seed); }

sim::VerifyShare share_of(const Options& options) {
  if (options.shard.empty() != options.part.empty()) throw Error(ErrorCode::usage, "--shard I/N and --part FILE go together");
  if (options.shard.empty()) return {};
  support::require_writable(options.part, options.out.force);
  const sim::Shard shard = sim::shard_from(options.shard);
  return {shard.index, shard.count};
}

int write_part(const sim::VerifyPart& part, const Options& options) {
  const std::string text = sim::text_of(part);
  support::write_file(options.part, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, options.out.force);
  return show(verbs::verify_part_document(part, options.part), options.out);
}

int verify(const Options& options) {
  keep_memory();
  require_outputs(options.out);
  sim::VerifyRequest request = options.request;
  for (std::string& contract : request.contracts) contract = support::contract_word(contract);
  request.env = variables_of(options.variables);
  request.libraries = libraries_of(request.engine, options.libraries);
  if (!request.deployment_file.empty()) {
    const deployment::Engine engine = deployment::engine_named(request.engine);
    const support::DeploymentFile file = support::load_deployment_file(request.deployment_file, {}, engine);
    request.deployment = audit::info_text(engine, file.oracle, file.deployment);
    if (request.launch.empty()) request.launch = file.launch;
  }
  sim::VerifyOptions how = sim::options_of(request);
  how.share = share_of(options);
  const checkpoint::Checkpoint checkpoint = checkpoint_of(request);
  sim::VerifyReport report;
  try {
    const InterruptWatch watch;
    ProgressLine line(options.progress);
    how.progress = [&line](const std::string& text, std::uint64_t done, std::uint64_t total) { line.show(text, done, total); };
    how.stop = [&watch] { return watch.interrupted(); };
    report = sim::verify(checkpoint, how);
  } catch (const support::Stopped&) {
    fmt::print(stderr, "mxact: interrupted; not every layer was verified, and no verdict stands\n");
    return interrupted_status();
  }
  if (!request.checkpoint) report.checkpoint = generated_name(request);
  if (options.part.empty()) return show(verbs::verify_document(report, request), options.out);
  return write_part(sim::part_of(checkpoint, request, how.share, program_text(), std::move(report)), options);
}

int merge(const MergeOptions& options) {
  require_outputs(options.out);
  std::vector<sim::ReadVerifyPart> parts;
  for (const std::string& path : options.parts) parts.push_back({path, sim::read_verify_part(path)});
  const sim::VerifyRequest& request = parts.front().part.request;
  sim::VerifyReport report = sim::merged_report(checkpoint_of(request), parts, program_text());
  if (!request.checkpoint) report.checkpoint = generated_name(request);
  return show(verbs::verify_document(report, request), options.out);
}

}  // namespace

void add_verify(Verb app, Action& action) {
  const Verb verb = app.add_verb("verify", "the main job: select, round, convert, restore, execute, compare bits, for every backend and platform");
  const auto options = std::make_shared<Options>();
  verb.add_option("CHECKPOINT", options->request.checkpoint,
                  "a .safetensors file or a model directory (default: a small gpt-oss-shaped one made from the seed)");
  const auto list = [verb](const std::string& name, auto& values, const std::string& help) {
    // One value an option, or several with commas: the next word may be the checkpoint.
    return verb.add_option(name, values, help).listed();
  };
  const Option deployment = verb.add_option("--deployment", options->request.deployment_file,
                                            "INFO file (docs/deployment.md) with one placement in the place of --platform, --tp, --dp and --ep: "
                                            "hardware, packages, sizes, exchange, variables, "
                                            "keys, backend; its layer must be the checkpoint's");
  list("--platform", options->request.platforms, "only these platforms: cards (B200, MI355X) or SM75 .. SM121, gfx90a .. gfx1250, XPU, CPU")
      .excludes(deployment);
  list("--backend", options->request.backends, "only these backends");
  add_engine_option(verb, options->request.engine);
  add_env_option(verb, options->variables);
  add_library_option(verb, options->libraries);
  list("--tp", options->request.tp, "tensor parallel sizes (default 1,2)").excludes(deployment);
  verb.add_option("--dp", options->request.dp, "data parallel ranks beside them (default 1)").check(whole_number_in(1, 1024)).excludes(deployment);
  verb.add_flag("--ep", options->request.expert_parallel, "ranks share the experts whole").excludes(deployment);
  const Option contracts =
      list("--contract", options->request.contracts,
           "arithmetic contracts of the products, names, records or @FILE, in the place of each backend's own (mxact formats lists them)");
  add_launch_option(verb, options->request.launch);
  verb.add_option("--layers", options->request.layers, "verify the first N layers only").check(whole_number_in(1, 1 << 20));
  verb.add_option("--experts", options->request.experts,
                  "verify the first N experts of each layer only; tokens that the router sends elsewhere are left out")
      .check(whole_number_in(1, 1 << 20));
  const Option group = verb.add_option("--layer-group", options->request.layer_group,
                                       "verify this one of the checkpoint's layer groups, from 1 (default 1, the model's)")
                           .check(whole_number_in(1, 1 << 20));
  verb.add_option("--family", options->request.layer_group, "as --layer-group").check(whole_number_in(1, 1 << 20)).excludes(group).old_word();
  verb.add_option("--tokens", options->request.tokens, "tokens to generate when the checkpoint brings none (default 4)")
      .check(whole_number_in(1, 65536));
  verb.add_option("--seed", options->request.seed, "seed of everything generated (default 1)").check(whole_number_in(0, INT64_MAX));
  verb.add_option("--shard", options->shard, "I/N: the I-th of N parts of the work, which --part keeps for verify merge");
  verb.add_option("--part", options->part, "file that a part of the work is written to");
  add_picture_option(verb, options->out, "writes the verdicts as a picture too, FILE.svg", false);
  add_progress_option(verb, options->progress);
  verb.add_flag("--no-execute", options->request.no_execute, "compare the bytes alone: nothing is executed").excludes(contracts);
  verb.add_flag("--fail-on-warning", options->request.fail_on_warning,
                "exit 1 where the numbers of the checkpoint are such as no sound quantizer writes, or a conversion destroys values");
  verb.add_flag("--reference", options->request.reference, "convert and sum by the model alone instead of the fast twins");
  add_check_options(verb, options->out);
  verb.callback([&action, options, verb] {
    if (!verb.went_on()) action = [options] { return verify(*options); };
  });

  const Verb merge_verb = verb.add_verb("merge", "the parts of a run of verify as one: what one process would have said");
  const auto parts = std::make_shared<MergeOptions>();
  merge_verb.add_option("PART", parts->parts, "file that verify --shard wrote").required();
  add_picture_option(merge_verb, parts->out, "writes the verdicts as a picture too, FILE.svg", false);
  add_check_options(merge_verb, parts->out);
  merge_verb.callback([&action, parts, verb] {
    if (const std::string given = verb.first_given(); !given.empty()) {
      throw Error(ErrorCode::usage, fmt::format("{} stands before merge, which takes its own options and the parts after it", given));
    }
    action = [parts] { return merge(*parts); };
  });
}

}  // namespace mx::cli
