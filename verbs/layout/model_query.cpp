#include "verbs/layout/model_query.hpp"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>

#include "checkpoint/served_model.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "model/families/setting.hpp"
#include "model/families/setting_keys.hpp"
#include "model/names.hpp"
#include "verbs/select/asked.hpp"

namespace mx::verbs {
namespace {

AskedFor asked_for(const LayoutQuery& query) {
  constexpr int kMostRanks = 4096;
  AskedFor asked{.engine = value_of(query, "engine"), .platform = value_of(query, "platform")};
  if (asked.engine.empty()) asked.engine = deployment::name_of(deployment::kDefaultEngine);
  if (const std::string tp = value_of(query, "tp"); !tp.empty()) asked.tp = static_cast<int>(families::whole_number("tp", tp, 1, kMostRanks));
  for (const KeyValue& field : query.fields) {
    const std::size_t equals = field.value.find('=');
    if (same_name(field.key, "env") && equals != std::string::npos) asked.env[field.value.substr(0, equals)] = field.value.substr(equals + 1);
  }
  return asked;
}

}  // namespace

LayoutQuery of_model(LayoutQuery query) {
  if (query.name.empty() || !checkpoint::is_model(query.name)) return query;
  const Asked asked = asked_about(query.name, asked_for(query));
  const AskedKind& kind = asked.kinds.front();
  const deployment::Deployment& deployment = kind.file.deployment;
  const deployment::LayerConfig& layer = deployment.layer;
  const engine::OracleTables& tables = engine::tables_of(kind.file.engine, kind.file.oracle);
  const std::string key(tables.weight_key ? deployment::name_of(*tables.weight_key) : deployment.weight_key);
  const auto format = families::format_of_key(key);
  if (!format) throw Error(ErrorCode::unsupported, fmt::format("no layout of {} weights is modelled", key), query.name);
  const bool interleaved = layer.activation == "SWIGLUOAI";
  const std::int64_t intermediate = layer.intermediate_per_partition * deployment::tensor_ranks(deployment.parallel);
  LayoutQuery made{chosen_backend(kind),
                   {{"tensor", "w13_weight"},
                    {"shape", fmt::format("{}x{}x{}", layer.num_experts, intermediate, layer.hidden)},
                    {"format", std::string(layout::name_of(*format))},
                    {"source-order", interleaved ? "gpt_oss" : "standard"},
                    {"activation", interleaved || layer.activation == "SITU" ? layer.activation : "SILU"},
                    {"not-gated", layer.is_act_and_mul ? "no" : "yes"},
                    {"has-bias", layer.has_bias ? "yes" : "no"}}};
  for (KeyValue& field : query.fields) made.fields.push_back(std::move(field));
  return made;
}

}  // namespace mx::verbs
