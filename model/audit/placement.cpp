#include "model/audit/placement.hpp"

#include <string>

#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/setup/hidden_roundup.hpp"
#include "model/families/memory.hpp"

namespace mx::audit {
namespace {

using Names = std::string_view;

/// The exchange rounds first. A hidden size that it cannot round stays as it is: a need of the exchange says so.
std::int64_t exchanged_hidden(const deployment::Deployment& deployment, deployment::Engine engine) {
  const auto rounded =
      engine::hidden_for_exchange(deployment.layer.hidden, deployment.layer.in_dtype, deployment::derive(deployment.parallel, engine));
  const std::int64_t* const hidden = std::get_if<std::int64_t>(&rounded);
  return hidden != nullptr ? *hidden : deployment.layer.hidden;
}

Names weight_key_of(const engine::OracleTables& tables, const deployment::Deployment& deployment) {
  return tables.weight_key ? deployment::name_of(*tables.weight_key) : deployment::name_of(deployment::quant_key_named(deployment.weight_key));
}

/// How a backend's converter sees a layer of those sizes.
struct Converted {
  const families::BackendLayout* row;  ///< null: none is modelled, weights stay as they were loaded
  families::Setting setting;
};
Converted converted(const engine::OracleTables& tables, const deployment::Deployment& deployment, Names backend, const engine::RoundedSizes& sizes) {
  const std::optional<layout::WeightFormat> format = families::format_of_key(weight_key_of(tables, deployment));
  if (!format) return {};
  const deployment::LayerConfig& layer = deployment.layer;
  return {families::find_backend_layout(backend, *format, tables.engine),
          families::rounded_setting(*format, layer.is_act_and_mul,
                                    {.experts = layer.num_experts, .intermediate = sizes.intermediate, .hidden = sizes.hidden}, tables.engine)};
}

engine::RoundedSizes padded_sizes(const Converted& converted, const engine::RoundedSizes& sizes) {
  if (converted.row == nullptr) return sizes;
  const layout::Sizes padded = families::padded_by(*converted.row, converted.setting);
  return {padded.hidden, padded.intermediate};
}

/// Sizes that a method does not round are those that the kernel sees.
engine::RoundedSizes sizes_of(const engine::OracleTables& tables, const deployment::Deployment& deployment, Names backend) {
  const engine::RoundedSizes given{exchanged_hidden(deployment, tables.engine), deployment.layer.intermediate_per_partition};
  const engine::RoundedSizes rounded = engine::method_sizes(tables, backend, deployment, given);
  return padded_sizes(converted(tables, deployment, backend, rounded), rounded);
}

}  // namespace

engine::Answer<engine::RoundedSizes> prepared_sizes(const engine::OracleTables& tables, const deployment::Deployment& deployment,
                                                    std::string_view backend, const engine::RoundedSizes& sizes) {
  const Converted weights = converted(tables, deployment, backend, sizes);
  if (weights.row != nullptr) {
    for (const families::Need& need : weights.row->needs) {
      if (need.raises.empty() || families::holds(need, weights.setting)) continue;
      return engine::Refusal{std::string(need.raises), families::BrokenNeed{need, families::value_of(need.quantity, weights.setting)}.text()};
    }
  }
  return padded_sizes(weights, sizes);
}

families::Placement place(const engine::OracleTables& tables, const deployment::Deployment& deployment, std::string_view backend,
                          std::string_view kernel_class) {
  const engine::BackendRow& row = engine::backend_named(tables, backend);
  const engine::RoundedSizes sizes = sizes_of(tables, deployment, row.name);
  return {deployment,
          tables.engine,
          tables.name,
          row.name,
          engine::method_class(tables, deployment, backend, kernel_class),
          sizes.hidden,
          sizes.intermediate,
          weight_key_of(tables, deployment)};
}

std::optional<families::Placement> place(const engine::OracleTables& tables, const deployment::Deployment& deployment,
                                         const engine::Decision& decision) {
  if (const engine::OwnChoice own = engine::own_choice(tables, deployment); own.taken()) {
    if (own.backend != engine::kNotAsked) return place(tables, deployment, own.backend, own.kernel_class);
    const deployment::LayerConfig& layer = deployment.layer;
    return families::Placement{deployment,
                               tables.engine,
                               tables.name,
                               own.backend,
                               own.kernel_class,
                               exchanged_hidden(deployment, tables.engine),
                               layer.intermediate_per_partition,
                               weight_key_of(tables, deployment)};
  }
  if (!decision.choice || decision.choice->kernel_class.empty()) return std::nullopt;
  return place(tables, deployment, decision.choice->backend, decision.choice->kernel_class);
}

}  // namespace mx::audit
