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
#include "model/audit/resolve.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/error.hpp"
#include "sim/ranks/comparison.hpp"
#include "sim/ranks/converter.hpp"
#include "sim/ranks/handed_on.hpp"
#include "sim/ranks/legacy.hpp"
#include "sim/transport/transport.hpp"
#include "verbs/sim/sim_document.hpp"

namespace mx::cli {
namespace {

struct SimOptions {
  std::string file;
  std::string oracle;
  std::string backend;
  ServingOptions serving;
  std::vector<std::string> libraries;
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

sim::Scenario scenario_of(const SimOptions& options) {
  const verbs::Asked asked = verbs::asked_about(options.file, options.serving.asked(options.oracle));
  const support::DeploymentFile& file = verbs::kind_of(asked, options.serving.layer).file;
  const std::vector<std::string> libraries = libraries_of(options.serving.engine, options.libraries);
  sim::Scenario scenario =
      sim::make_scenario(file, {options.tokens, static_cast<std::uint64_t>(options.seed), options.experts, options.sample, options.backend});
  scenario.libraries = libraries;
  return scenario;
}

int compare(const SimOptions& options) {
  const sim::Scenario scenario = scenario_of(options);
  verbs::Document document = [&] {
    ProgressLine line;
    return verbs::comparison_document(scenario,
                                      sim::compare_backends(scenario, [&](const std::string& text, double fraction) { line.show(text, fraction); }));
  }();
  document.about(options.file);
  return show(document, options.out);
}

/// The engine's own choice, and what keeps it from being simulated.
void take_choice(const sim::Scenario& scenario, verbs::SimAnswer& answer) {
  const audit::Resolution resolution = audit::resolve(scenario.engine, scenario.deployment, {scenario.oracle, scenario.deployment.layer});
  answer.broken = resolution.broken;
  if (resolution.decision.choice) {
    const engine::Choice& choice = *resolution.decision.choice;
    answer.backend = choice.backend;
    answer.selected = {audit::CellState::chosen, choice.kernel_class, {}};
    if (choice.backend == engine::kNotAsked)
      answer.unmodelled = fmt::format("the engine takes {} and asks no oracle; its arithmetic is not in mxact yet", choice.kernel_class);
    const deployment::Deployment asked = engine::as_asked(engine::tables_of(scenario.engine, scenario.oracle), scenario.deployment);
    if (asked.weight_key != scenario.deployment.weight_key)
      answer.unmodelled = fmt::format("the engine makes finer blocks, {}, of which {} computes; their arithmetic is not in mxact yet",
                                      asked.weight_key, choice.backend);
  }
  if (!resolution.failure) return;
  const audit::Failure& failure = *resolution.failure;
  const std::string text = failure.refusal.error_type + ": " + failure.refusal.text;
  answer.refusal = resolution.decision.choice ? fmt::format("{}: {}", failure.stage, text) : text;
}

/// A backend that was asked for in the engine's place.
void take_backend(const sim::Scenario& scenario, const std::string& wanted, verbs::SimAnswer& answer) {
  answer.backend = std::string(families::execution_of(scenario.layer.experts.form.format, wanted).backend);
  verbs::SimAnswer choice{};
  take_choice(scenario, choice);
  if (choice.backend == answer.backend) {
    answer = choice;
    return;
  }
  answer.selected = sim::selected(scenario.engine, scenario.oracle, scenario.deployment, answer.backend);
  if (answer.selected.answer == audit::CellState::refused) answer.refusal = "no class of the backend accepts it: " + answer.selected.reason;
}

/// What the oracle's choice leads to, or the backend that was asked for.
sim::SimulationRequest oracle_request(const sim::Scenario& scenario, const SimOptions& options, verbs::SimAnswer& answer) {
  if (options.backend.empty()) {
    take_choice(scenario, answer);
  } else {
    take_backend(scenario, options.backend, answer);
  }
  return sim::request_of(scenario, scenario.deployment, answer.backend, answer.selected.kernel_class);
}

sim::SimulationRequest legacy_request(const sim::Scenario& scenario, const SimOptions& options, verbs::SimAnswer& answer) {
  const engine::Answer<sim::LegacyRun> run = sim::legacy_run(scenario, options.torch);
  if (const auto* refusal = std::get_if<engine::Refusal>(&run)) {
    answer.refusal = refusal->error_type + ": " + refusal->text;
    return {};
  }
  const auto& legacy = std::get<sim::LegacyRun>(run);
  answer.backend = legacy.request.backend;
  answer.selected = {audit::CellState::chosen, legacy.request.kernel_class, {}};
  answer.legacy = fmt::format("legacy method: path {}, tile_tokens_dim {}, routing {}", legacy.path, legacy.tile_tokens_dim, legacy.routing);
  return legacy.request;
}

int simulate(const SimOptions& options, sim::Transport& transport) {
  const sim::Scenario scenario = scenario_of(options);
  const deployment::ParallelRequest& parallel = scenario.deployment.parallel;
  static_cast<void>(transport.ranks_here(parallel.dp * parallel.tp));
  verbs::SimAnswer answer;
  const sim::SimulationRequest request = options.legacy ? legacy_request(scenario, options, answer) : oracle_request(scenario, options, answer);
  if (answer.refusal.empty() && answer.unmodelled.empty()) answer.unmodelled = sim::changed_conversion(request, scenario.layer);
  if (answer.refusal.empty() && answer.unmodelled.empty()) {
    if (const std::string raised = sim::raised_for(request, scenario.layer); !raised.empty()) answer.refusal = "execute: " + raised;
  }
  if (answer.refusal.empty() && answer.unmodelled.empty()) {
    ProgressLine line(transport.reports() ? "auto" : "never");
    line.show("the layer on one rank", 0.0);
    const sim::Reference reference = sim::run_reference(request, scenario.layer, scenario.tokens, scenario.sample);
    line.show(answer.backend + " on every rank", 0.5);
    answer.simulation = sim::simulate(request, scenario.layer, scenario.tokens, reference, transport);
    if (answer.simulation.refusal) answer.refusal = answer.simulation.refusal->stage + ": " + answer.simulation.refusal->text;
  }
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
  add_check_options(verb, options->out);
  verb.callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace mx::cli
