#include "verbs/select/answer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace mx::sim {
namespace {

Json choice_json(const DeploymentFile& file, const oracle::OracleTables& tables, const oracle::Choice& choice) {
  const oracle::LayerConfig& layer = file.deployment.layer;
  Json json = {{"backend", choice.backend},
               {"kernel_class", choice.kernel_class.empty() ? Json() : Json(choice.kernel_class)},
               {"hidden", layer.hidden},
               {"rounded_hidden", choice.rounded_hidden},
               {"intermediate_per_partition", layer.intermediate_per_partition},
               {"rounded_intermediate", choice.rounded_intermediate}};
  if (says_global_sf(tables)) json["global_sf_supported"] = oracle::backend_named(tables, choice.backend).global_sf_supported;
  return json;
}

/// Where the engine raises; null where it does not.
Json failure_json(const std::optional<oracle::Failure>& failure) {
  if (!failure) return nullptr;
  return {{"stage", failure->stage}, {"error_type", failure->refusal.error_type}, {"text", failure->refusal.text}};
}

Json skipped_json(const std::vector<oracle::Skipped>& skipped) {
  Json json = Json::array();
  for (const oracle::Skipped& one : skipped) {
    json.push_back({{"backend", one.backend},
                    {"kernel_class", one.kernel_class},
                    {"need", one.need->id},
                    {"statement", one.need->statement},
                    {"effect", oracle::name_of(one.need->effect)},
                    {"consequence", one.need->consequence},
                    {"source", one.need->source}});
  }
  return json;
}

}  // namespace

bool says_global_sf(const oracle::OracleTables& tables) {
  return std::any_of(tables.backends.begin(), tables.backends.end(), [](const oracle::BackendRow& row) { return row.global_sf_supported; });
}

SelectAnswer ask(const DeploymentFile& file, bool strict) {
  constexpr oracle::Detail kTexts = oracle::Detail::texts;
  if (!strict) return {oracle::resolve(file.engine, file.deployment, {file.oracle, file.deployment.layer}, kTexts), {}};
  oracle::StrictDecision found = oracle::select_strict(file.engine, file.oracle, file.deployment, kTexts);
  return {oracle::resolve(oracle::tables_of(file.engine, file.oracle), file.deployment, std::move(found.decision)), std::move(found.skipped)};
}

Json answer_json(const DeploymentFile& file, const SelectAnswer& answer, bool strict) {
  const oracle::OracleTables& tables = oracle::tables_of(file.engine, file.oracle);
  const oracle::Resolution& resolution = answer.resolution;
  const oracle::Decision& decision = resolution.decision;
  Json json;
  json["engine"] = name_of(resolution.engine);
  json["oracle"] = file.oracle;
  json["platform"] = oracle::name_of(file.deployment.hardware.platform);
  json["weight_key"] = file.deployment.weight_key;
  json["activation_key"] = file.deployment.activation_key;
  if (decision.choice) {
    json["choice"] = choice_json(file, tables, *decision.choice);
    json["setup"] = setup_json(resolution);
  } else {
    json["refusal"] = {{"error_type", decision.refusal->error_type}, {"text", decision.refusal->text}};
  }
  json["failure"] = failure_json(resolution.failure);
  json["trace"] = Json::array();
  for (const oracle::Candidate& candidate : decision.trace) {
    json["trace"].push_back({{"backend", candidate.backend},
                             {"kernel_class", candidate.kernel_class},
                             {"supported", candidate.verdict.supported},
                             {"code", candidate.verdict.code},
                             {"text", candidate.verdict.text}});
  }
  if (strict) json["skipped"] = skipped_json(answer.skipped);
  return json;
}

}  // namespace mx::sim
