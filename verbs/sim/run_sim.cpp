#include "verbs/sim/run_sim.hpp"

#include <fmt/core.h>

#include <variant>

#include "model/audit/resolve.hpp"
#include "model/engine/vllm/method.hpp"
#include "sim/ranks/converter.hpp"
#include "sim/ranks/handed_on.hpp"
#include "sim/ranks/legacy.hpp"
#include "support/tuned_file.hpp"

namespace mx::verbs {
namespace {

/// The engine's own choice, and what keeps it from being simulated.
void take_choice(const sim::Scenario& scenario, SimAnswer& answer) {
  const audit::Resolution resolution = audit::resolve(scenario.engine, scenario.deployment, {scenario.oracle, scenario.deployment.layer});
  answer.broken = resolution.broken;
  if (resolution.decision.choice) {
    const engine::Choice& choice = *resolution.decision.choice;
    answer.backend = choice.backend;
    answer.selected = {audit::CellState::chosen, choice.kernel_class, {}};
    if (choice.backend == engine::kNotAsked)
      answer.unmodelled = fmt::format("the engine takes {} and asks no oracle; its arithmetic is not in mxact yet", choice.kernel_class);
  }
  if (!resolution.failure) return;
  const audit::Failure& failure = *resolution.failure;
  const std::string text = failure.refusal.error_type + ": " + failure.refusal.text;
  answer.refusal = resolution.decision.choice ? fmt::format("{}: {}", failure.stage, text) : text;
}

/// A backend that was asked for in the engine's place.
void take_backend(const sim::Scenario& scenario, const std::string& wanted, SimAnswer& answer) {
  answer.backend = std::string(families::execution_of(scenario.layer.experts.form.format, wanted).backend);
  SimAnswer choice{};
  take_choice(scenario, choice);
  if (choice.backend == answer.backend) {
    answer = choice;
    return;
  }
  answer.selected = sim::selected(scenario.engine, scenario.oracle, scenario.deployment, answer.backend);
  if (answer.selected.answer == audit::CellState::refused) answer.refusal = "no class of the backend accepts it: " + answer.selected.reason;
}

/// What the oracle's choice leads to, or the backend that was asked for.
sim::SimulationRequest oracle_request(const sim::Scenario& scenario, const SimRequest& request, SimAnswer& answer) {
  if (request.backend.empty()) {
    take_choice(scenario, answer);
  } else {
    take_backend(scenario, request.backend, answer);
  }
  return sim::request_of(scenario, scenario.deployment, answer.backend, answer.selected.kernel_class);
}

sim::SimulationRequest legacy_request(const sim::Scenario& scenario, const SimRequest& request, SimAnswer& answer) {
  const engine::Answer<sim::LegacyRun> run = sim::legacy_run(scenario, request.torch);
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

}  // namespace

sim::Scenario scenario_of(const SimRequest& request) {
  const Asked asked = asked_about(request.path, request.asked);
  const support::DeploymentFile& file = kind_of(asked, request.layer).file;
  sim::Scenario scenario =
      sim::make_scenario(file, {request.tokens, static_cast<std::uint64_t>(request.seed), request.experts, request.sample, request.backend});
  scenario.libraries = request.libraries;
  scenario.launch = request.launch == families::LaunchChoice{} ? support::launch_of(file.launch) : request.launch;
  return scenario;
}

SimAnswer simulated(const sim::Scenario& scenario, const SimRequest& request, sim::Transport& transport, const SimProgress& progress) {
  SimAnswer answer;
  const sim::SimulationRequest run = request.legacy ? legacy_request(scenario, request, answer) : oracle_request(scenario, request, answer);
  const auto is_run = [&] { return answer.refusal.empty() && answer.unmodelled.empty(); };
  if (is_run()) answer.unmodelled = sim::changed_conversion(run, scenario.layer);
  if (is_run()) {
    if (const std::string raised = sim::raised_for(run, scenario.layer); !raised.empty()) answer.refusal = "execute: " + raised;
  }
  if (!is_run()) return answer;
  progress("the layer on one rank", 0.0);
  const sim::Reference reference = sim::run_reference(run, scenario.layer, scenario.tokens, scenario.sample);
  progress(answer.backend + " on every rank", 0.5);
  answer.simulation = sim::simulate(run, scenario.layer, scenario.tokens, reference, transport);
  if (answer.simulation.refusal) answer.refusal = answer.simulation.refusal->stage + ": " + answer.simulation.refusal->text;
  return answer;
}

}  // namespace mx::verbs
