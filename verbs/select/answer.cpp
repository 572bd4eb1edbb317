#include "verbs/select/answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "model/audit/placement.hpp"
#include "model/deployment/packages.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/model_file.hpp"
#include "model/error.hpp"
#include "support/tuned_file.hpp"
#include "verbs/select/engine_notes.hpp"
#include "verbs/select/row_words.hpp"

namespace mx::verbs {
namespace {

using verbs::Document;
using verbs::in_json;
using verbs::Table;

/// True where the oracle says whether one activation scale may serve the experts of all ranks.
bool says_global_sf(const engine::OracleTables& tables, const engine::Choice& choice) {
  return choice.backend != engine::kNotAsked &&
         std::any_of(tables.backends.begin(), tables.backends.end(), [](const engine::BackendRow& row) { return row.global_sf_supported; });
}

void add_choice(Document& document, const support::DeploymentFile& file, const deployment::Deployment& deployment, const engine::Choice& choice) {
  const engine::OracleTables& tables = engine::tables_of(file.engine, file.oracle);
  const deployment::LayerConfig& layer = deployment.layer;
  support::Json json = {{"backend", choice.backend},
                        {"kernel_class", choice.kernel_class.empty() ? support::Json() : support::Json(choice.kernel_class)},
                        {"hidden", layer.hidden},
                        {"rounded_hidden", choice.rounded_hidden},
                        {"intermediate_per_partition", layer.intermediate_per_partition},
                        {"rounded_intermediate", choice.rounded_intermediate}};
  document.line(fmt::format("{} ({})", choice.backend,
                            choice.kernel_class.empty() ? "no kernel class: the engine goes on without a backend" : choice.kernel_class));
  const bool is_own = engine::own_choice(tables, deployment).taken();
  if (is_own)
    document.line(engine::own_experts(tables, deployment).empty()
                      ? fmt::format("quantization method {} takes this class by the device and does not ask the oracle", deployment.quant_method)
                      : fmt::format("the model's file builds these experts for moe_backend {} and does not ask the oracle", layer.moe_backend));
  if (!tables.weight_key) document.line(fmt::format("{} weights, {} activations", deployment.weight_key, deployment.activation_key));
  if (deployment.weight_key != file.deployment.weight_key)
    document.line(fmt::format("made of {}: a rank's share of {} cuts its blocks", file.deployment.weight_key, layer.intermediate_per_partition));
  if (tables.roundings.empty() || is_own) {
    document.line(fmt::format("hidden {}, intermediate per partition {}: this {} rounds nothing", layer.hidden, layer.intermediate_per_partition,
                              tables.roundings.empty() ? "oracle" : "method"));
  } else {
    document.line(fmt::format("hidden {} -> {}, intermediate per partition {} -> {}", layer.hidden, choice.rounded_hidden,
                              layer.intermediate_per_partition, choice.rounded_intermediate));
  }
  if (says_global_sf(tables, choice)) {
    const bool supported = engine::backend_named(tables, choice.backend).global_sf_supported;
    json["global_sf_supported"] = supported;
    document.line(fmt::format("one activation scale for the experts of all ranks: {}", supported ? "supported" : "not supported"));
  }
  const families::BatchWord batch = batch_in(file.engine, tables, deployment, choice.backend, support::launch_of(file.launch));
  json["batch"] = batch_json(batch);
  document.line(batch_line(batch));
  document.value("choice", std::move(json));
}

void add_skipped(Document& document, const std::vector<audit::Skipped>& skipped) {
  Table table{"skipped",
              {in_json("backend"), in_json("kernel_class"), in_json("need"), in_json("statement"), in_json("effect"), in_json("consequence"),
               in_json("source")}};
  for (const audit::Skipped& one : skipped) {
    const families::KernelNeed& need = *one.need;
    table.add({one.backend, one.kernel_class, need.id, need.statement, families::name_of(need.effect), need.consequence, need.source});
    document.line(fmt::format("skipped {} ({}): needs {}; otherwise {}: {}", one.backend, one.kernel_class, need.statement,
                              families::name_of(need.effect), need.consequence));
  }
  document.value(table.key, table.json());
}

/// How a user gets to what the strict search found.
void add_way(Document& document, const SelectAnswer& answer) {
  document.value("reached_by", answer.reached_by.empty() ? support::Json() : support::Json(answer.reached_by));
  if (answer.skipped.empty()) return;
  document.line(answer.reached_by.empty() ? "no name of moe_backend leads to this class: the engine takes what was skipped"
                                          : fmt::format("to get it: {}", answer.reached_by));
}

/// Where the engine raises; null where it does not.
support::Json failure_json(const std::optional<audit::Failure>& failure) {
  if (!failure) return nullptr;
  return {{"stage", failure->stage}, {"error_type", failure->refusal.error_type}, {"text", failure->refusal.text}};
}

Table trace_of(const engine::Decision& decision) {
  Table table{
      "trace",
      {{"backend", "candidate"}, {"kernel_class", "kernel class"}, {"supported", "verdict"}, in_json("code"), {"text", "first failing check"}}};
  for (const engine::Candidate& candidate : decision.trace) {
    const engine::Verdict& verdict = candidate.verdict;
    table.add({candidate.backend,
               {candidate.kernel_class, candidate.kernel_class.empty() ? "-" : candidate.kernel_class},
               {verdict.supported, verdict.supported ? "supported" : "rejected"},
               verdict.code,
               {verdict.text, verdict.supported ? "" : fmt::format("{}: {}", verdict.code, verdict.text)}});
  }
  return table;
}

/// Names of the probes that a package answers and the version asks.
std::vector<std::string> probes_of(const deployment::PackageRow& package, deployment::Engine engine) {
  std::vector<std::string> names;
  for (const deployment::SoftwareRow& row : deployment::software_rows(engine)) {
    if (std::ranges::find(package.answers, row.answer) != package.answers.end()) names.emplace_back(row.name);
  }
  return names;
}

/// "software": what the platform's packages are taken to answer, and what the deployment says instead.
void add_software(Document& document, const deployment::Deployment& deployment, deployment::Engine engine, bool explain) {
  Table table{"assumed", {{"package", "package"}, {"release", "asked for"}, {"source", "brought by"}, {"probes", "answers"}}};
  for (const deployment::PackageRow& package : deployment::packages_on(deployment.hardware.platform, engine)) {
    std::vector<std::string> probes = probes_of(package, engine);
    if (probes.empty()) continue;
    std::string text = fmt::format("{}", fmt::join(probes, ", "));
    table.add({package.name,
               {package.release, package.release.empty() ? "-" : std::string(package.release)},
               package.source,
               {std::move(probes), std::move(text)}});
  }
  const deployment::Software assumed = deployment::software_on(deployment.hardware.platform);
  Json said = Json::object();
  std::string said_text;
  for (const deployment::SoftwareRow& row : deployment::software_rows(engine)) {
    const bool found = deployment.software.*row.answer;
    if (found == assumed.*row.answer) continue;
    said[std::string(row.name)] = found;
    said_text += fmt::format("{}{} {}", said_text.empty() ? "" : ", ", row.name, found);
  }
  document.value("software", {{"assumed", table.json()}, {"said", std::move(said)}});
  if (!explain) return;
  document.line(fmt::format("\nsoftware that is assumed on {}, of the engine's requirements, build and image:{}",
                            deployment::name_of(deployment.hardware.platform), table.rows.empty() ? " none" : ""));
  if (!table.rows.empty()) document.table(text_alone(std::move(table)));
  document.line(said_text.empty() ? "software { } of an INFO file says otherwise" : fmt::format("software {{ }} says otherwise: {}", said_text));
}

}  // namespace

void add_broken(Document& document, const std::vector<const families::KernelNeed*>& broken, bool strict) {
  Table table{"broken", {in_json("need"), in_json("statement"), in_json("effect"), in_json("consequence"), in_json("source")}};
  for (const families::KernelNeed* need : broken) {
    table.add({need->id, need->statement, families::name_of(need->effect), need->consequence, families::source_text(*need)});
    document.line(
        fmt::format("broken: {} [{}]{}", audit::broken_text(*need), families::source_text(*need), strict ? "" : "; select --strict avoids it"));
  }
  document.value(table.key, table.json());
}

std::optional<BrokenNeed> broken_by(const support::DeploymentFile& file, std::string_view backend) {
  const engine::OracleTables& tables = engine::tables_of(file.engine, file.oracle);
  std::optional<BrokenNeed> first;
  for (const std::string_view kernel_class : engine::backend_named(tables, backend).classes) {
    const families::KernelNeed* const need = audit::first_broken_need(audit::place(tables, file.deployment, backend, kernel_class));
    if (need == nullptr) return std::nullopt;
    if (!first) first = BrokenNeed{kernel_class, need};
  }
  return first;
}

SelectAnswer ask(const support::DeploymentFile& file, bool strict) {
  constexpr engine::Detail kTexts = engine::Detail::texts;
  if (!strict) {
    return {audit::resolve(file.engine, file.deployment, {file.oracle, file.deployment.layer}, kTexts),
            engine::as_asked(engine::tables_of(file.engine, file.oracle), file.deployment),
            {},
            {}};
  }
  audit::StrictDecision found = audit::select_strict(file.engine, file.oracle, file.deployment, kTexts);
  return {audit::resolve(engine::tables_of(file.engine, file.oracle), found.asked, std::move(found.decision)), found.asked, std::move(found.skipped),
          std::move(found.reached_by)};
}

Document select_document(const support::DeploymentFile& file, const SelectAnswer& answer, bool strict, bool explain) {
  const audit::Resolution& resolution = answer.resolution;
  const engine::Decision& decision = resolution.decision;
  Document document{"select", std::string(deployment::name_of(resolution.engine))};
  document.value("oracle", file.oracle);
  document.value("platform", deployment::name_of(file.deployment.hardware.platform));
  document.value("weight_key", answer.deployment.weight_key);
  document.value("activation_key", file.deployment.activation_key);
  if (decision.choice) {
    add_choice(document, file, answer.deployment, *decision.choice);
  } else {
    document.exit_code = static_cast<int>(ErrorCode::unsupported);
    document.value("refusal", {{"error_type", decision.refusal->error_type}, {"text", decision.refusal->text}});
    document.line(fmt::format("no backend: {}: {}", decision.refusal->error_type, decision.refusal->text));
  }
  if (strict) add_skipped(document, answer.skipped);
  if (strict && decision.choice) add_way(document, answer);
  add_broken(document, resolution.broken, strict);
  if (resolution.failure && decision.choice) {
    document.exit_code = static_cast<int>(ErrorCode::unsupported);
    document.line(fmt::format("the engine fails at {}: {}: {}", resolution.failure->stage, resolution.failure->refusal.error_type,
                              resolution.failure->refusal.text));
  }
  document.line(fmt::format("engine {}", document.engine));
  const deployment::Engine newest = deployment::known_engines().back();
  if (file.release.empty() && file.engine == deployment::kDefaultEngine && newest != deployment::kDefaultEngine)
    document.note(fmt::format("{} is known, too (--engine; mxact engine diff)", deployment::name_of(newest)));
  EngineNotes notes(document, {file.engine, file.release});
  notes.about(file.oracle, file.deployment);
  notes.libraries();
  if (decision.choice) notes.weights(file.oracle, file.deployment, *decision.choice);
  document.value("failure", failure_json(resolution.failure));
  Table trace = trace_of(decision);
  if (explain) {
    document.line("\nin the order in which the engine looks:");
    document.table(std::move(trace));
  } else {
    document.value("trace", trace.json());
  }
  add_software(document, file.deployment, file.engine, explain);
  if (resolution.setup) add_setup(document, resolution, explain);
  return document;
}

Document deployment_audit_document(const support::DeploymentFile& file) {
  const SelectAnswer answer = ask(file, false);
  Document document = select_document(file, answer, false, false);
  const std::size_t broken = answer.resolution.broken.size();
  if (answer.resolution.decision.choice) document.line(fmt::format("{} {} broken", broken, broken == 1 ? "need is" : "needs are"));
  if (document.exit_code == 0 && broken > 0) document.exit_code = 1;
  return document;
}

support::Json answer_json(const support::DeploymentFile& file, const SelectAnswer& answer, bool strict) {
  return verbs::body_json(select_document(file, answer, strict, false));
}

}  // namespace mx::verbs
