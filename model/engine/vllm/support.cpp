// Every candidate's verdict, and why a backend is none.

#include <string>

#include "model/engine/vllm/call_rules.hpp"
#include "model/engine/vllm/verdicts.hpp"

namespace mx::engine {

Query query_for(const OracleTables& tables, const deployment::Deployment& deployment) {
  Query query = query_of(deployment, tables.engine);
  query.asks_batched = !tables.batched_wish.empty() && deployment.layer.moe_backend == tables.batched_wish;
  return query;
}

deployment::QuantKey key_for(KeyPolicy keys, const BackendRow& row, deployment::QuantKey requested) {
  switch (keys) {
    case KeyPolicy::own: return row.takes_requested_key && requested != deployment::QuantKey::none ? requested : row.own_key;
    case KeyPolicy::callers: return requested;
    case KeyPolicy::requested_or_own: break;
  }
  return requested != deployment::QuantKey::none ? requested : row.own_key;
}

Verdict missing_module(const BackendRow& row, Detail detail) {
  return {false, "exc:ModuleNotFoundError", detail == Detail::texts ? "no module named '" + std::string(row.module_name) + "'" : std::string()};
}

Verdict own_verdict(const BackendRow& row, const Query& query, Detail detail) {
  for (CallRule rule : row.rules) {
    const std::string_view code = refusal_of(rule, query);
    if (!code.empty()) return {false, code, detail == Detail::texts ? "the backend wants " + std::string(text_of(rule)) : std::string()};
  }
  return {true, "", ""};
}

std::vector<Candidate> support(deployment::Engine engine, std::string_view oracle, const deployment::Deployment& deployment, Detail detail) {
  return support(tables_of(engine, oracle), deployment, detail);
}

std::vector<Candidate> support(const OracleTables& tables, const deployment::Deployment& deployment, Detail detail) {
  const Query query = query_for(tables, deployment);
  const deployment::QuantKey weight_key = tables.weight_key.value_or(query.caller_weight_key);
  std::vector<Candidate> verdicts;
  for (const BackendRow& row : tables.backends) {
    if (row.module != nullptr && !(deployment.software.*row.module)) {
      verdicts.push_back({std::string(row.name), "*", missing_module(row, detail)});
      continue;
    }
    const deployment::QuantKey key = key_for(tables.support_keys, row, query.caller_key);
    const auto ask = [&](std::string_view class_name) {
      verdicts.push_back({std::string(row.name), std::string(class_name), check_class({tables.classes, class_name, query, weight_key, key}, detail)});
    };
    if (tables.asks_backends) verdicts.push_back({std::string(row.name), "", own_verdict(row, query, detail)});
    for (std::string_view class_name : row.classes) ask(class_name);
    if (!row.lora_class.empty()) ask(row.lora_class);
  }
  return verdicts;
}

std::string why_not(const OracleTables& tables, const deployment::Deployment& deployment, std::string_view backend) {
  const BackendRow& row = backend_named(tables, backend);
  if (row.module != nullptr && !(deployment.software.*row.module)) return missing_module(row, Detail::texts).text;
  const Query query = query_for(tables, deployment);
  const deployment::QuantKey weight_key = tables.weight_key.value_or(query.caller_weight_key);
  std::string text = "it has no class";
  int nearest = -1;
  for (const std::string_view class_name : row.classes) {
    const Subject subject{tables.classes, class_name, query, weight_key, key_for(tables.support_keys, row, query.caller_key)};
    const int near = nearness(subject);
    if (near < nearest) continue;
    const Verdict verdict = check_class(subject, Detail::texts);
    text = verdict.supported ? "no name of moe_backend leads to it here" : std::string(verdict.code) + ", " + verdict.text;
    nearest = near;
  }
  return text;
}

}  // namespace mx::engine
