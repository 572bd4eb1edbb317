#include "cli/select_diff.hpp"

#include <fmt/core.h>

#include <array>
#include <optional>
#include <vector>

#include "cli/output.hpp"
#include "model/engine/vllm/select.hpp"
#include "verbs/select/deployment_diff.hpp"

namespace mx::cli {
namespace {

/// One of the two.
struct Side {
  std::string name;
  sim::DeploymentFile file;
  oracle::Decision decision;
};

Side load(const std::string& name, std::string_view oracle, Engine engine) {
  sim::DeploymentFile file = sim::load_deployment_file(name, oracle, engine);
  oracle::Decision decision = oracle::select(engine, file.oracle, file.deployment, oracle::Detail::texts);
  return {name, std::move(file), std::move(decision)};
}

std::string in_class(const std::string& kernel_class) { return kernel_class.empty() ? std::string() : fmt::format(" ({})", kernel_class); }

std::string answer_text(const oracle::Decision& decision) {
  if (!decision.choice) return fmt::format("no backend: {}: {}", decision.refusal->error_type, decision.refusal->text);
  const oracle::Choice& choice = *decision.choice;
  return fmt::format("{}{}, hidden {}, intermediate per partition {}", choice.backend, in_class(choice.kernel_class), choice.rounded_hidden,
                     choice.rounded_intermediate);
}

std::string step_text(const oracle::Decision& decision, std::size_t step) {
  if (step >= decision.trace.size()) return "the search has ended";
  const oracle::Candidate& candidate = decision.trace[step];
  const std::string name = candidate.backend + in_class(candidate.kernel_class);
  return candidate.verdict.supported ? name + ": supported" : fmt::format("{}: {}: {}", name, candidate.verdict.code, candidate.verdict.text);
}

Json side_json(const Side& side, std::optional<std::size_t> parting) {
  Json json = {{"file", side.name}, {"oracle", side.file.oracle}, {"answer", answer_text(side.decision)}};
  json["backend"] = side.decision.choice ? Json(side.decision.choice->backend) : Json();
  json["kernel_class"] = side.decision.choice ? Json(side.decision.choice->kernel_class) : Json();
  if (parting) json["step"] = step_text(side.decision, *parting);
  return json;
}

void print_text(const std::array<Side, 2>& sides, const std::vector<sim::InputDifference>& inputs, std::optional<std::size_t> parting) {
  if (inputs.empty()) {
    fmt::print("the two describe the same deployment\n");
  } else {
    std::vector<std::vector<std::string>> rows{{"input", sides[0].name, sides[1].name}};
    for (const sim::InputDifference& input : inputs) rows.push_back({input.key, input.a, input.b});
    print_table(rows);
  }
  if (parting) {
    fmt::print("\nthe searches part at step {}:\n", *parting + 1);
    for (const Side& side : sides) fmt::print("  {}: {}\n", side.name, step_text(side.decision, *parting));
  } else {
    fmt::print("\nboth searches take the same {} steps\n", sides[0].decision.trace.size());
  }
  fmt::print("\nthe answers:\n");
  for (const Side& side : sides) fmt::print("  {}: {}\n", side.name, answer_text(side.decision));
}

}  // namespace

int select_diff(const std::string& file_a, const std::string& file_b, std::string_view oracle, Engine engine, bool json) {
  const std::array<Side, 2> sides = {load(file_a, oracle, engine), load(file_b, oracle, engine)};
  const std::vector<sim::InputDifference> inputs = sim::input_differences(sides[0].file, sides[1].file);
  const std::optional<std::size_t> parting = sim::first_parting(sides[0].decision, sides[1].decision);
  if (!json) {
    print_text(sides, inputs, parting);
    return 0;
  }
  Json out = json_head("select-diff");
  out["inputs"] = Json::array();
  for (const sim::InputDifference& input : inputs) out["inputs"].push_back({{"key", input.key}, {"a", input.a}, {"b", input.b}});
  out["parting"] = parting ? Json(*parting + 1) : Json();
  out["a"] = side_json(sides[0], parting);
  out["b"] = side_json(sides[1], parting);
  print_json(out);
  return 0;
}

}  // namespace mx::cli
