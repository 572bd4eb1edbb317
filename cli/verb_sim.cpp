// mxact sim: a deployment executed rank by rank, and held against one rank; the comparison of every backend over ways of spreading.

#include <fmt/core.h>

#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cli/document.hpp"
#include "cli/layout_options.hpp"
#include "cli/numbers.hpp"
#include "cli/progress_line.hpp"
#include "cli/serving_options.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "sim/ranks/comparison.hpp"
#include "sim/transport/transport.hpp"
#include "support/tuned_file.hpp"
#include "verbs/sim/run_sim.hpp"
#include "verbs/sim/sim_document.hpp"

namespace mx::cli {
namespace {

struct SimOptions {
  std::string file;
  std::string oracle;
  std::string backend;
  ServingOptions serving;
  std::vector<std::string> libraries;
  std::string launch;
  std::int64_t tokens = 4;
  std::int64_t seed = 1;
  std::int64_t experts = 0;
  std::int64_t sample = 0;
  std::string torch = "2.8.0";
  bool compare = false;
  bool legacy = false;
  DocumentOptions out;
};

constexpr std::int64_t kMostTokens = 4096;

/// One deployment's number of ranks is one; --compare runs several.
void require_one_process(const sim::Transport& transport) {
  if (&transport != &sim::in_process())
    throw Error(ErrorCode::usage, "--compare spreads the layer in several ways: it runs in one process, without a launcher");
}

verbs::SimRequest request_of(const SimOptions& options) {
  return {.path = options.file,
          .asked = options.serving.asked(options.oracle),
          .layer = options.serving.layer,
          .backend = options.backend,
          .libraries = libraries_of(options.serving.engine, options.libraries),
          .launch = support::launch_of(options.launch),
          .tokens = options.tokens,
          .seed = options.seed,
          .experts = options.experts,
          .sample = options.sample,
          .legacy = options.legacy,
          .torch = options.torch};
}

int compare(const SimOptions& options) {
  const sim::Scenario scenario = verbs::scenario_of(request_of(options));
  verbs::Document document = [&] {
    ProgressLine line;
    return verbs::comparison_document(scenario,
                                      sim::compare_backends(scenario, [&](const std::string& text, double fraction) { line.show(text, fraction); }));
  }();
  document.about(options.file);
  return show(document, options.out);
}

int simulate(const SimOptions& options, sim::Transport& transport) {
  const verbs::SimRequest request = request_of(options);
  const sim::Scenario scenario = verbs::scenario_of(request);
  const deployment::ParallelRequest& parallel = scenario.deployment.parallel;
  static_cast<void>(transport.ranks_here(parallel.dp * parallel.tp));
  const verbs::SimAnswer answer = [&] {
    ProgressLine line(transport.reports() ? "auto" : "never");
    return verbs::simulated(scenario, request, transport, [&](const std::string& text, double fraction) { line.show(text, fraction); });
  }();
  verbs::Document document = verbs::simulation_document(scenario, answer);
  document.about(options.file);
  return transport.reports() ? show(document, options.out) : document.exit_code;
}

/// What goes wrong on one rank is said on every rank, with its own number in front.
int run(const SimOptions& options) {
  sim::Transport& transport = sim::launched();
  if (transport.reports()) require_outputs(options.out);
  const auto told = [&](ErrorCode code, const std::string& text) {
    const Error error(code, text);
    transport.fail(error);
    return Error(code, transport.label() + text);
  };
  try {
    if (!options.compare) return simulate(options, transport);
    require_one_process(transport);
    return compare(options);
  } catch (const Error& error) {
    throw told(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    throw told(ErrorCode::resource, "out of memory");
  }
}

}  // namespace

void add_sim(Verb app, Action& action) {
  const Verb verb = app.add_verb("sim", "execute a deployment rank by rank and hold it, link by link, against one rank");
  const auto options = std::make_shared<SimOptions>();
  verb.add_option("DEPLOYMENT", options->file, kDeploymentOrModel).required();
  verb.add_option("--oracle", options->oracle,
                  "of an INFO file: mxfp4, mxfp4_deepseek_v4, nvfp4, fp8, mxfp8 or w4a8, instead of the file's (default mxfp4)");
  const Option backend = verb.add_option("--backend", options->backend, "simulate this backend, not the engine's choice");
  const Option comparison =
      verb.add_flag("--compare", options->compare, "every backend of the oracle, on one rank, TP=2 and DP=2+EP").excludes(backend);
  const Option legacy = verb.add_flag("--legacy", options->legacy, "the engine's mxfp4 method of August 2025 decides, not an oracle")
                            .excludes(backend)
                            .excludes(comparison);
  verb.add_option("--torch", options->torch, "torch version that the legacy method sees (default 2.8.0)").needs(legacy);
  verb.add_option("--tokens", options->tokens, "how many tokens (default 4)").check(whole_number_in(1, kMostTokens));
  verb.add_option("--seed", options->seed, "of weights and tokens (default 1)").check(whole_number_in(0, INT64_MAX));
  verb.add_option("--experts", options->experts, "this many experts stand for the file's").check(whole_number_in(1, 1 << 16));
  verb.add_option("--sample", options->sample,
                  "compute this many rows of gate and up and output columns where no fast twin has the contract (default all)")
      .check(whole_number_in(1, 1 << 16));
  add_serving_options(verb, options->serving, true);
  add_library_option(verb, options->libraries);
  add_launch_option(verb, options->launch);
  add_check_options(verb, options->out);
  verb.callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace mx::cli
