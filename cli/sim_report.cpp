#include "cli/sim_report.hpp"

#include <fmt/core.h>

#include <cmath>

namespace mx::cli {
namespace {

std::string decibels(double value) {
  if (std::isnan(value)) return "-";
  return std::isinf(value) ? "inf" : fmt::format("{:.2f}", value);
}

/// JSON has no Inf and no NaN.
Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

std::string parallel_text(const oracle::ParallelRequest& parallel) {
  return fmt::format("TP={} DP={}{}", parallel.tp, parallel.dp, parallel.enable_expert_parallel ? " EP, " + parallel.all2all_backend : "");
}

std::string activations_text(const sim::Execution& execution) {
  if (execution.first->scope == sim::ScaleScope::none) return "16-bit activations";
  return fmt::format("activations {} / {}", execution.first->name, execution.second->name);
}

std::string arithmetic_text(const sim::Execution& execution) {
  return fmt::format("{} products ({}), bias: {}, slots {} summed {} in {}", sim::name_of(execution.row->unit), name_of(execution.unit->contract),
                     sim::name_of(execution.row->bias), sim::name_of(execution.row->slot), sim::name_of(execution.row->order),
                     sim::name_of(execution.row->sum));
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

Json execution_json(const sim::SimulationResult& result) {
  const sim::Execution& execution = result.execution;
  return {{"first_activations", execution.first->name},
          {"second_activations", execution.second->name},
          {"unit", sim::name_of(execution.row->unit)},
          {"contract", name_of(execution.unit->contract)},
          {"sums_by", summer(execution)},
          {"bias", sim::name_of(execution.row->bias)},
          {"activation", sim::used_activation(*execution.row, execution.activation).row->name},
          {"slot", sim::name_of(execution.row->slot)},
          {"sum", sim::name_of(execution.row->sum)},
          {"order", sim::name_of(execution.row->order)},
          {"experts_by", sim::name_of(execution.row->address)},
          {"grounds", name_of(result.grounds)},
          {"source", execution.row->source}};
}

Json links_json(const sim::SimulationResult& result) {
  Json links = Json::array();
  for (const sim::LinkCheck& check : result.links) {
    Json one = {{"link", sim::name_of(check.link)}, {"state", sim::name_of(check.state)}, {"compared", check.compared}};
    if (!check.text.empty()) one["text"] = check.text;
    links.push_back(std::move(one));
  }
  return links;
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
               {"links", links_json(result)}};
  json["broken"] = result.broken() == nullptr ? Json() : Json(sim::name_of(result.broken()->link));
  json["mistrusted"] = result.mistrusted.empty() ? Json() : Json(result.mistrusted);
  json["bit_equal"] = result.bit_equal;
  json["digest"] = result.digest();
  json["worst_share_of_bound"] = finite(result.worst_share);
  json["single_rank"] = quality_json(result.reference);
  json["deployment"] = quality_json(result.quality);
  json["ignored_constants"] = result.ignored;
  json["losses"] = Json::array();
  for (const layout::Loss& loss : result.losses)
    json["losses"].push_back({{"tensor", layout::name_of(loss.role)}, {"what", loss.what}, {"units", loss.units}});
  return json;
}

void print_links(const sim::SimulationResult& result) {
  std::vector<std::vector<std::string>> rows{{"link", "state", "compared", ""}};
  for (const sim::LinkCheck& check : result.links) {
    rows.push_back({std::string(sim::name_of(check.link)), std::string(sim::name_of(check.state)),
                    check.compared > 0 ? std::to_string(check.compared) : "", check.text});
  }
  print_table(rows);
}

void print_result(const sim::SimulationResult& result) {
  const sim::Plan& plan = result.plan;
  fmt::print("{} {}, hidden {}, intermediate per rank {}, {} experts on rank 0; {}\n", plan.ranks.size(), plan.ranks.size() == 1 ? "rank" : "ranks",
             plan.allocated.hidden, plan.allocated.intermediate, plan.ranks.front().loaded.size(), result.assembly.prepare_class);
  fmt::print("{}; {}\n", activations_text(result.execution), arithmetic_text(result.execution));
  fmt::print("sums by {}, {}\n", summer(result.execution), extent_text(result.outputs));
  fmt::print("grounds: {} ({})\n", name_of(result.grounds), result.execution.row->source);
  for (const layout::Loss& loss : result.losses)
    fmt::print("lost in conversion: {}: {} ({} units)\n", layout::name_of(loss.role), loss.what, loss.units);
  fmt::print("\n");
  print_links(result);
  fmt::print("\nagainst the exact layer: one rank {} dB, this deployment {} dB, largest difference {:.3f} bf16 ulps\n",
             decibels(result.reference.sqnr_db), decibels(result.quality.sqnr_db), result.quality.max_ulps);
  if (const sim::LinkCheck* broken = result.broken()) {
    fmt::print("BROKEN {}: {}\n", sim::name_of(broken->link), broken->text);
  } else if (!result.mistrusted.empty()) {
    fmt::print("MISTRUSTED: {}\n", result.mistrusted);
  } else if (result.bit_equal) {
    fmt::print("PASSED: bit-equal with one rank\n");
  } else {
    fmt::print("PASSED: within the bound of one rank, at most {:.3f} of it\n", result.worst_share);
  }
}

/// What the file says of routing and is not executed: tokens are drawn with slots of their own, whose weights meet the outputs.
std::string not_routed(const oracle::LayerConfig& layer) {
  std::string text = layer.routing_method == "Renormalize" ? "" : "routing " + layer.routing_method;
  if (layer.router_weight_on_input) text += (text.empty() ? "" : ", ") + std::string("router_weight_on_input");
  return text;
}

void print_scenario(const sim::Scenario& scenario) {
  const oracle::LayerConfig& layer = scenario.deployment.layer;
  fmt::print("{} experts, top {}, hidden {}, intermediate {}, {}, {} weights, {} tokens; engine {}\n", layer.num_experts, layer.experts_per_token,
             layer.hidden, sim::whole_intermediate(scenario.deployment), layer.activation, layout::name_of(scenario.layer.experts.form.format),
             scenario.tokens.slots.size(), name_of(scenario.engine));
  if (const std::string text = not_routed(layer); !text.empty())
    fmt::print("not simulated: {}; slots are softmax over the chosen logits, their weights meet the outputs\n", text);
}

Json scenario_json(const sim::Scenario& scenario) {
  const oracle::LayerConfig& layer = scenario.deployment.layer;
  return {{"experts", layer.num_experts},
          {"top_k", layer.experts_per_token},
          {"hidden", layer.hidden},
          {"intermediate", sim::whole_intermediate(scenario.deployment)},
          {"activation", layer.activation},
          {"format", layout::name_of(scenario.layer.experts.form.format)},
          {"tokens", scenario.tokens.slots.size()},
          {"engine", name_of(scenario.engine)},
          {"not_simulated", not_routed(layer)}};
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

}  // namespace

void print_simulation(const sim::Scenario& scenario, const SimAnswer& answer) {
  print_scenario(scenario);
  if (!answer.legacy.empty()) fmt::print("{}\n", answer.legacy);
  fmt::print("{}: ", parallel_text(scenario.deployment.parallel));
  if (!answer.refusal.empty()) {
    fmt::print("{}REFUSED {}\n", answer.backend.empty() ? "" : answer.backend + ": ", answer.refusal);
    return;
  }
  fmt::print("{} ({}), {}\n", answer.backend, answer.selected.kernel_class, sim::name_of(answer.selected.answer));
  print_result(*answer.simulation.result);
}

Json simulation_json(const sim::Scenario& scenario, const SimAnswer& answer) {
  Json json = json_head("sim");
  json["layer"] = scenario_json(scenario);
  json["parallel"] = parallel_text(scenario.deployment.parallel);
  json["backend"] = answer.backend.empty() ? Json() : Json(answer.backend);
  json["answer"] = sim::name_of(answer.selected.answer);
  json["kernel_class"] = answer.selected.kernel_class;
  if (!answer.legacy.empty()) json["legacy"] = answer.legacy;
  json["refusal"] = answer.refusal.empty() ? Json() : Json(answer.refusal);
  json["result"] = answer.simulation.result ? result_json(*answer.simulation.result) : Json();
  return json;
}

void print_comparison(const sim::Scenario& scenario, const sim::Comparison& comparison) {
  print_scenario(scenario);
  fmt::print("\n");
  std::vector<std::vector<std::string>> rows{{"backend", "spread", "engine", "verdict", "sums by", "SQNR dB", "max ulps", "reported", "why"}};
  std::string last;
  for (const sim::ComparedCell& cell : comparison.cells) {
    rows.push_back({cell.backend == last ? "" : cell.backend, std::string(cell.spread->name), std::string(sim::name_of(cell.answer)), cell.verdict(),
                    sums_text(cell), quality_text(cell), ulps_text(cell), cell.reported == nullptr ? "" : std::string(cell.reported->report),
                    why_text(cell)});
    last = cell.backend;
  }
  print_table(rows);
  for (const sim::ComparedCell& cell : comparison.cells) {
    if (cell.reported == nullptr || (cell.reported->works && cell.agrees())) continue;
    fmt::print("\nreported of {}, {}: {}; here: {}; cause: {}", cell.backend, cell.spread->name, cell.reported->report, cell.verdict(),
               cell.reported->cause.empty() ? "none in layout, padding, scales or shapes" : cell.reported->cause);
  }
  fmt::print("\n");
}

Json comparison_json(const sim::Scenario& scenario, const sim::Comparison& comparison) {
  Json json = json_head("sim");
  json["layer"] = scenario_json(scenario);
  json["cells"] = Json::array();
  for (const sim::ComparedCell& cell : comparison.cells) {
    Json one = {{"backend", cell.backend}, {"spread", cell.spread->name}, {"answer", sim::name_of(cell.answer)}, {"verdict", cell.verdict()}};
    one["kernel_class"] = cell.kernel_class.empty() ? Json() : Json(cell.kernel_class);
    if (const std::string why = why_text(cell); !why.empty()) one["why"] = why;
    if (cell.reported != nullptr)
      one["reported"] = {{"what", cell.reported->report},
                         {"works", cell.reported->works},
                         {"agrees", cell.agrees()},
                         {"cause", cell.reported->cause.empty() ? Json() : Json(cell.reported->cause)}};
    if (cell.simulation.result) one["result"] = result_json(*cell.simulation.result);
    json["cells"].push_back(std::move(one));
  }
  return json;
}

}  // namespace mx::cli
