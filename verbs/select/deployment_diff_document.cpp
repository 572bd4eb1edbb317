#include <fmt/core.h>

#include "model/engine/vllm/method.hpp"
#include "verbs/select/deployment_diff.hpp"

namespace mx::verbs {
namespace {

using verbs::Document;
using verbs::Table;

std::string in_class(const std::string& kernel_class) { return kernel_class.empty() ? std::string() : fmt::format(" ({})", kernel_class); }

std::string answer_text(const engine::Decision& decision) {
  if (!decision.choice) return fmt::format("no backend: {}: {}", decision.refusal->error_type, decision.refusal->text);
  const engine::Choice& choice = *decision.choice;
  return fmt::format("{}{}, hidden {}, intermediate per partition {}", choice.backend, in_class(choice.kernel_class), choice.rounded_hidden,
                     choice.rounded_intermediate);
}

std::string step_text(const engine::Decision& decision, std::size_t step) {
  if (step >= decision.trace.size()) return "the search has ended";
  const engine::Candidate& candidate = decision.trace[step];
  const std::string name = candidate.backend + in_class(candidate.kernel_class);
  return candidate.verdict.supported ? name + ": supported" : fmt::format("{}: {}: {}", name, candidate.verdict.code, candidate.verdict.text);
}

support::Json side_json(const AskedDeployment& side, const std::optional<std::size_t>& parting) {
  support::Json json = {{"file", side.name}, {"oracle", side.file.oracle}, {"answer", answer_text(side.decision)}};
  json["backend"] = side.decision.choice ? support::Json(side.decision.choice->backend) : support::Json();
  json["kernel_class"] = side.decision.choice ? support::Json(side.decision.choice->kernel_class) : support::Json();
  if (parting) json["step"] = step_text(side.decision, *parting);
  return json;
}

}  // namespace

AskedDeployment asked_deployment(const std::string& file, std::string_view oracle, deployment::Engine engine) {
  support::DeploymentFile read = support::load_deployment_file(file, oracle, engine);
  const engine::OracleTables& tables = engine::tables_of(engine, read.oracle);
  engine::Decision decision = engine::select(tables, engine::as_asked(tables, read.deployment), engine::Detail::texts);
  return {file, std::move(read), std::move(decision)};
}

Document deployment_diff_document(const AskedDeployment& a, const AskedDeployment& b) {
  Document document{"select-diff"};
  const std::optional<std::size_t> parting = first_parting(a.decision, b.decision);
  Table inputs{"inputs", {{"key", "input"}, {"a", a.name}, {"b", b.name}}};
  for (const InputDifference& input : input_differences(a.file, b.file)) inputs.add({input.key, input.a, input.b});
  if (inputs.rows.empty()) document.line("the two describe the same deployment");
  document.table(std::move(inputs));
  document.value("parting", parting ? support::Json(*parting + 1) : support::Json());
  if (parting) {
    document.line(fmt::format("\nthe searches part at step {}:", *parting + 1));
    for (const AskedDeployment* side : {&a, &b}) document.line(fmt::format("  {}: {}", side->name, step_text(side->decision, *parting)));
  } else {
    document.line(fmt::format("\nboth searches take the same {} steps", a.decision.trace.size()));
  }
  document.line("\nthe answers:");
  for (const AskedDeployment* side : {&a, &b}) document.line(fmt::format("  {}: {}", side->name, answer_text(side->decision)));
  document.value("a", side_json(a, parting));
  document.value("b", side_json(b, parting));
  return document;
}

}  // namespace mx::verbs
