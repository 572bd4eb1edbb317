#include "verbs/sim/sim_document.hpp"

#include <fmt/core.h>

#include <cmath>

#include "model/error.hpp"
#include "verbs/select/answer.hpp"
#include "verbs/select/engine_notes.hpp"
#include "verbs/select/row_words.hpp"

namespace mx::verbs {
namespace {

using support::CheckEnd;

/// Nothing ran.
constexpr int kNoVerdict = 5;

std::string decibels(double value) {
  if (std::isnan(value)) return "-";
  return std::isinf(value) ? "inf" : fmt::format("{:.2f}", value);
}

/// JSON has no Inf and no NaN.
Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

std::string parallel_text(const deployment::ParallelRequest& parallel) {
  return fmt::format("TP={} DP={}{}", parallel.tp, parallel.dp, parallel.enable_expert_parallel ? " EP, " + parallel.all2all_backend : "");
}

std::string activations_text(const sim::Execution& execution) {
  if (execution.first->scope == families::ScaleScope::none) return "16-bit activations";
  return fmt::format("activations {} / {}", execution.first->name, execution.second->name);
}

std::string arithmetic_text(const sim::Execution& execution) {
  return fmt::format("{} products ({}), bias: {}, slots {}{} summed {} in {}", families::name_of(execution.row->unit), name_of(execution.contract),
                     families::name_of(execution.row->bias), families::name_of(execution.row->slot),
                     execution.launched().global_meets_weight ? ", w times the expert's scale," : "", families::name_of(execution.row->order),
                     families::name_of(execution.row->sum));
}

std::int64_t sampled(const std::optional<std::vector<std::int64_t>>& wanted) { return static_cast<std::int64_t>(wanted->size()); }
Json sampled_json(const std::optional<std::vector<std::int64_t>>& wanted) { return wanted ? Json(sampled(wanted)) : Json(); }

/// Who computes the sums of products.
std::string summer(const sim::Execution& execution) {
  const std::string_view twin = sim::twin_of(execution);
  return std::string(twin.empty() ? "the model" : twin);
}

/// What is not computed is said: a sample is no proof of the rest.
std::string extent_text(const sim::Outputs& outputs) {
  if (!outputs.rows && !outputs.columns) return "all rows and columns";
  std::string text = "a sample:";
  if (outputs.rows) text += fmt::format(" {} rows of gate and up", sampled(outputs.rows));
  if (outputs.columns) text += fmt::format("{} {} output columns", outputs.rows ? "," : "", sampled(outputs.columns));
  return text;
}

Json quality_json(const sim::Quality& quality) {
  return {{"sqnr_db", finite(quality.sqnr_db)}, {"max_ulps", quality.max_ulps}, {"not_finite", quality.not_finite}};
}

Json differences_json(std::span<const families::KnownDifference> differences) {
  Json rows = Json::array();
  for (const families::KnownDifference& one : differences) rows.push_back({{"where", families::where_text(one)}, {"source", one.source}});
  return rows;
}

Json execution_json(const sim::SimulationResult& result) {
  const sim::Execution& execution = result.execution;
  return {{"first_activations", execution.first->name},
          {"second_activations", execution.second->name},
          {"unit", families::name_of(execution.row->unit)},
          {"contract", name_of(execution.contract)},
          {"sums_by", summer(execution)},
          {"launch", execution.launched().text},
          {"batch", batch_json(execution.batch)},
          {"bias", families::name_of(execution.row->bias)},
          {"activation", sim::used_activation(execution).row->name},
          {"slot", families::name_of(execution.row->slot)},
          {"sum", families::name_of(execution.row->sum)},
          {"order", families::name_of(execution.row->order)},
          {"experts_by", families::name_of(execution.row->address)},
          {"grounds", name_of(result.grounds)},
          {"recorded", recorded_json(execution.row, execution.operation.arch)},
          {"known_to_differ", differences_json(result.differences)},
          {"source", execution.row->source}};
}

Table links_of(const sim::SimulationResult& result) {
  Table table{"links", {{"link", "link"}, {"state", "state"}, {"compared", "compared"}, {"text", ""}}};
  for (const sim::LinkCheck& check : result.links) {
    table.add({sim::name_of(check.link),
               sim::name_of(check.state),
               {check.compared, check.compared > 0 ? std::to_string(check.compared) : ""},
               check.text.empty() ? Cell::none() : Cell(check.text)});
  }
  return table;
}

Json result_json(const sim::SimulationResult& result) {
  Json json = {{"ranks", result.plan.ranks.size()},
               {"hidden", result.plan.allocated.hidden},
               {"intermediate_per_rank", result.plan.allocated.intermediate},
               {"loader", result.plan.loader->name},
               {"prepare", result.assembly.prepare_class},
               {"execution", execution_json(result)},
               {"sampled_rows", sampled_json(result.outputs.rows)},
               {"sampled_columns", sampled_json(result.outputs.columns)},
               {"links", links_of(result).json()}};
  json["broken"] = result.broken() == nullptr ? Json() : Json(sim::name_of(result.broken()->link));
  json["mistrusted"] = result.mistrusted.empty() ? Json() : Json(result.mistrusted);
  json["bit_equal"] = result.bit_equal;
  json["digest"] = result.digest();
  json["worst_share_of_bound"] = finite(result.worst_share);
  json["single_rank"] = quality_json(result.reference);
  json["deployment"] = quality_json(result.quality);
  json["ignored_constants"] = result.ignored;
  Table losses{{}, {in_json("tensor"), in_json("what"), in_json("units")}};
  for (const layout::Loss& loss : result.losses) losses.add({layout::name_of(loss.role), loss.what, loss.units});
  json["losses"] = losses.json();
  return json;
}

/// "PASSED: bit-equal with one rank"
std::string verdict_text(const sim::SimulationResult& result) {
  if (const sim::LinkCheck* broken = result.broken()) return fmt::format("BROKEN {}: {}", sim::name_of(broken->link), broken->text);
  if (!result.mistrusted.empty()) return "MISTRUSTED: " + result.mistrusted;
  if (result.bit_equal) return "PASSED: bit-equal with one rank";
  return fmt::format("PASSED: within the bound of one rank, at most {:.3f} of it", result.worst_share);
}

void add_result(Document& document, const sim::SimulationResult& result) {
  const sim::Plan& plan = result.plan;
  document.line(fmt::format("{} {}, hidden {}, intermediate per rank {}, {} experts on rank 0; {}", plan.ranks.size(),
                            plan.ranks.size() == 1 ? "rank" : "ranks", plan.allocated.hidden, plan.allocated.intermediate,
                            plan.ranks.front().loaded.size(), result.assembly.prepare_class));
  document.line(fmt::format("{}; {}", activations_text(result.execution), arithmetic_text(result.execution)));
  if (const std::string& launch = result.execution.launched().text; !launch.empty()) document.line(fmt::format("launch: {}", launch));
  document.line(batch_line(result.execution.batch));
  document.line(fmt::format("sums by {}, {}", summer(result.execution), extent_text(result.outputs)));
  document.line(fmt::format("grounds: {} ({})", families::grounds_text(result.grounds, result.differences), result.execution.row->source));
  for (const families::KnownDifference& one : result.differences)
    document.line(fmt::format("{}: {} ({})", kKnownToDiffer, families::where_text(one), one.source));
  for (const layout::Loss& loss : result.losses)
    document.line(fmt::format("lost in conversion: {}: {} ({} units{})", layout::name_of(loss.role), loss.what, loss.units,
                              loss.kept == 0 ? "" : fmt::format(", {} of which keep their value", loss.kept)));
  document.line();
  document.table(text_alone(links_of(result)));
  document.line(fmt::format("\nagainst the exact layer: one rank {} dB, this deployment {} dB, largest difference {:.3f} bf16 ulps",
                            decibels(result.reference.sqnr_db), decibels(result.quality.sqnr_db), result.quality.max_ulps));
  document.line(verdict_text(result));
}

/// What the file says of routing and is not executed: tokens are drawn with slots of their own, whose weights meet the outputs.
std::string not_routed(const deployment::LayerConfig& layer) {
  std::string text = layer.routing_method == "Renormalize" ? "" : "routing " + layer.routing_method;
  if (layer.router_weight_on_input) text += (text.empty() ? "" : ", ") + std::string("router_weight_on_input");
  return text;
}

Json scenario_json(const sim::Scenario& scenario) {
  const deployment::LayerConfig& layer = scenario.deployment.layer;
  return {{"experts", layer.num_experts},
          {"top_k", layer.experts_per_token},
          {"hidden", layer.hidden},
          {"intermediate", sim::whole_intermediate(scenario.deployment)},
          {"activation", layer.activation},
          {"format", layout::name_of(scenario.layer.experts.form.format)},
          {"tokens", scenario.tokens.slots.size()},
          {"engine", deployment::name_of(scenario.engine)},
          {"not_simulated", not_routed(layer)}};
}

void add_scenario(Document& document, const sim::Scenario& scenario) {
  const deployment::LayerConfig& layer = scenario.deployment.layer;
  document.value("layer", scenario_json(scenario));
  document.line(fmt::format("{} experts, top {}, hidden {}, intermediate {}, {}, {} weights, {} tokens; engine {}", layer.num_experts,
                            layer.experts_per_token, layer.hidden, sim::whole_intermediate(scenario.deployment), layer.activation,
                            layout::name_of(scenario.layer.experts.form.format), scenario.tokens.slots.size(), deployment::name_of(scenario.engine)));
  if (const std::string text = not_routed(layer); !text.empty())
    document.note(fmt::format("not simulated: {}; slots are softmax over the chosen logits, their weights meet the outputs", text));
}

std::string sums_text(const sim::ComparedCell& cell) {
  if (!cell.simulation.result) return {};
  const sim::Outputs& outputs = cell.simulation.result->outputs;
  const bool all = !outputs.rows && !outputs.columns;
  return summer(cell.simulation.result->execution) + (all ? ", all" : ", a sample");
}

std::string quality_text(const sim::ComparedCell& cell) { return cell.simulation.result ? decibels(cell.simulation.result->quality.sqnr_db) : ""; }

std::string ulps_text(const sim::ComparedCell& cell) {
  if (!cell.simulation.result || cell.simulation.result->quality.not_finite > 0) return "";
  return fmt::format("{:.2f}", cell.simulation.result->quality.max_ulps);
}

std::string why_text(const sim::ComparedCell& cell) {
  if (cell.simulation.refusal) return cell.simulation.refusal->text;
  return cell.simulation.result && cell.simulation.result->broken() != nullptr ? cell.simulation.result->broken()->text : "";
}

CheckEnd end_of(sim::LinkState state) {
  return state == sim::LinkState::broken ? CheckEnd::failed : state == sim::LinkState::skipped ? CheckEnd::skipped : CheckEnd::passed;
}

/// Cells that the engine does not choose fail nothing, here as in the exit code.
support::JunitCase case_of(const sim::ComparedCell& cell) {
  const CheckEnd end = !cell.simulation.result ? CheckEnd::skipped
                       : !cell.works()         ? CheckEnd::failed
                       : cell.is_mistrusted()  ? CheckEnd::mistrusted
                                               : CheckEnd::passed;
  const bool counts = cell.answer == audit::CellState::chosen || end == CheckEnd::passed || end == CheckEnd::skipped;
  return {"mxact.sim." + cell.backend,
          std::string(cell.spread->name),
          counts ? end : CheckEnd::skipped,
          (counts ? "" : "not the engine's choice: ") + cell.verdict(),
          why_text(cell),
          {},
          {},
          cell.seconds};
}

/// Of a cell that was reported: whether it works, and why not.
Cell reported_of(const sim::ComparedCell& cell) {
  if (cell.reported == nullptr) return Cell::none();
  Json json = {{"what", cell.reported->report},
               {"works", cell.reported->works},
               {"agrees", cell.agrees()},
               {"cause", cell.reported->cause.empty() ? Json() : Json(cell.reported->cause)}};
  return {std::move(json), std::string(cell.reported->report)};
}

/// What holds of the version whatever is simulated.
EngineNotes begun_notes(Document& document, const sim::Scenario& scenario) {
  EngineNotes notes(document, {scenario.engine, scenario.release});
  notes.arithmetic();
  notes.about(scenario.oracle, scenario.deployment);
  notes.libraries();
  return notes;
}

}  // namespace

Document simulation_document(const sim::Scenario& scenario, const SimAnswer& answer) {
  const std::string parallel = parallel_text(scenario.deployment.parallel);
  Document document{"sim", std::string(deployment::name_of(scenario.engine))};
  EngineNotes notes = begun_notes(document, scenario);
  add_scenario(document, scenario);
  document.value("parallel", parallel);
  document.value("backend", answer.backend.empty() ? Json() : Json(answer.backend));
  document.value("answer", audit::name_of(answer.selected.answer));
  document.value("kernel_class", answer.selected.kernel_class);
  if (!answer.legacy.empty()) document.value("legacy", answer.legacy);
  if (!answer.legacy.empty()) document.line(answer.legacy);
  document.value("refusal", answer.refusal.empty() ? Json() : Json(answer.refusal));
  const std::optional<sim::SimulationResult>& result = answer.simulation.result;
  document.value("result", result ? result_json(*result) : Json());
  const std::string suite = fmt::format("mxact.sim.{}", answer.backend.empty() ? "no backend" : answer.backend);
  add_broken(document, answer.broken, false);
  if (!answer.backend.empty() && answer.legacy.empty()) {
    const deployment::LayerConfig& layer = scenario.deployment.layer;
    notes.weights(scenario.oracle, scenario.deployment,
                  {answer.backend, answer.selected.kernel_class, layer.hidden, layer.intermediate_per_partition});
  }
  if (!answer.refusal.empty() || !answer.unmodelled.empty()) {
    const bool refused = !answer.refusal.empty();
    const std::string text = fmt::format("{}{} {}", answer.backend.empty() ? "" : answer.backend + ": ", refused ? "REFUSED" : "NOT YET MODELLED",
                                         refused ? answer.refusal : answer.unmodelled);
    document.line(fmt::format("{}: {}", parallel, text));
    document.cases.push_back({suite, parallel, CheckEnd::skipped, text});
    document.ended(refused ? static_cast<int>(ErrorCode::unsupported) : kNoVerdict);
    return document;
  }
  document.line(fmt::format("{}: {} ({}), {}", parallel, answer.backend, answer.selected.kernel_class, audit::name_of(answer.selected.answer)));
  add_result(document, *result);
  for (const sim::LinkCheck& check : result->links)
    document.cases.push_back({suite,
                              fmt::format("{}: {}", parallel, sim::name_of(check.link)),
                              end_of(check.state),
                              std::string(sim::name_of(check.state)),
                              check.text,
                              {},
                              {},
                              check.seconds});
  if (!result->mistrusted.empty()) document.cases.push_back({suite, parallel + ": data", CheckEnd::mistrusted, result->mistrusted});
  document.ended(result->exit_code());
  return document;
}

Document comparison_document(const sim::Scenario& scenario, const sim::Comparison& comparison) {
  Document document{"sim", std::string(deployment::name_of(scenario.engine))};
  EngineNotes notes = begun_notes(document, scenario);
  add_scenario(document, scenario);
  document.line();
  Table table{"cells",
              {{"backend", "backend"},
               {"spread", "spread"},
               {"answer", "engine"},
               {"verdict", "verdict"},
               in_json("kernel_class"),
               in_text("sums by"),
               in_text("SQNR dB"),
               in_text("max ulps"),
               {"reported", "reported"},
               {"why", "why"},
               in_json("result")}};
  std::string last;
  for (const sim::ComparedCell& cell : comparison.cells) {
    const std::string why = why_text(cell);
    table.add({{cell.backend, cell.backend == last ? "" : cell.backend},
               cell.spread->name,
               audit::name_of(cell.answer),
               cell.verdict(),
               cell.kernel_class.empty() ? Json() : Json(cell.kernel_class),
               sums_text(cell),
               quality_text(cell),
               ulps_text(cell),
               reported_of(cell),
               why.empty() ? Cell::none() : Cell(why),
               cell.simulation.result ? Cell(result_json(*cell.simulation.result)) : Cell::none()});
    last = cell.backend;
    document.cases.push_back(case_of(cell));
  }
  document.table(std::move(table));
  document.line();
  for (const sim::ComparedCell& cell : comparison.cells) {
    if (cell.reported == nullptr || (cell.reported->works && cell.agrees())) continue;
    document.line(fmt::format("reported of {}, {}: {}; here: {}; cause: {}", cell.backend, cell.spread->name, cell.reported->report, cell.verdict(),
                              cell.reported->cause.empty() ? "none in layout, padding, scales or shapes" : cell.reported->cause));
  }
  document.ended(comparison.exit_code());
  return document;
}

}  // namespace mx::verbs
