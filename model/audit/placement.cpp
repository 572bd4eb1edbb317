#include "model/audit/placement.hpp"

#include <string>

#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/setup/hidden_roundup.hpp"
#include "model/families/memory.hpp"

namespace mx::oracle {
namespace {

using Names = std::string_view;

/// The exchange rounds first. A hidden size that it cannot round stays as it is: a need of the exchange says so.
std::int64_t exchanged_hidden(const Deployment& deployment, Engine engine) {
  const auto rounded = hidden_for_exchange(deployment.layer.hidden, deployment.layer.in_dtype, derive(deployment.parallel, engine));
  const std::int64_t* const hidden = std::get_if<std::int64_t>(&rounded);
  return hidden != nullptr ? *hidden : deployment.layer.hidden;
}

Names weight_key_of(const OracleTables& tables, const Deployment& deployment) {
  return tables.weight_key ? name_of(*tables.weight_key) : name_of(quant_key_named(deployment.weight_key));
}

/// How a backend's converter sees a layer of those sizes.
struct Converted {
  const layout::BackendLayout* row;  ///< null: none is modelled, weights stay as they were loaded
  layout::Setting setting;
};
Converted converted(const OracleTables& tables, const Deployment& deployment, Names backend, const RoundedSizes& sizes) {
  const std::optional<layout::WeightFormat> format = layout::format_of_key(weight_key_of(tables, deployment));
  if (!format) return {};
  const LayerConfig& layer = deployment.layer;
  return {layout::find_backend_layout(backend, *format, tables.engine),
          layout::rounded_setting(*format, layer.is_act_and_mul,
                                  {.experts = layer.num_experts, .intermediate = sizes.intermediate, .hidden = sizes.hidden}, tables.engine)};
}

RoundedSizes padded_sizes(const Converted& converted, const RoundedSizes& sizes) {
  if (converted.row == nullptr) return sizes;
  const layout::Sizes padded = layout::padded_by(*converted.row, converted.setting);
  return {padded.hidden, padded.intermediate};
}

/// Sizes that a method does not round are those that the kernel sees.
RoundedSizes sizes_of(const OracleTables& tables, const Deployment& deployment, Names backend) {
  const RoundedSizes given{exchanged_hidden(deployment, tables.engine), deployment.layer.intermediate_per_partition};
  const RoundedSizes rounded = method_sizes(tables, backend, deployment, given);
  return padded_sizes(converted(tables, deployment, backend, rounded), rounded);
}

}  // namespace

Answer<RoundedSizes> prepared_sizes(const OracleTables& tables, const Deployment& deployment, std::string_view backend, const RoundedSizes& sizes) {
  const Converted weights = converted(tables, deployment, backend, sizes);
  if (weights.row != nullptr) {
    for (const layout::Need& need : weights.row->needs) {
      if (need.raises.empty() || layout::holds(need, weights.setting)) continue;
      return Refusal{std::string(need.raises), layout::BrokenNeed{need, layout::value_of(need.quantity, weights.setting)}.text()};
    }
  }
  return padded_sizes(weights, sizes);
}

Placement place(const OracleTables& tables, const Deployment& deployment, std::string_view backend, std::string_view kernel_class) {
  const BackendRow& row = backend_named(tables, backend);
  const RoundedSizes sizes = sizes_of(tables, deployment, row.name);
  return {deployment,
          tables.engine,
          tables.name,
          row.name,
          method_class(tables, deployment, backend, kernel_class),
          sizes.hidden,
          sizes.intermediate,
          weight_key_of(tables, deployment)};
}

std::optional<Placement> place(const OracleTables& tables, const Deployment& deployment, const Decision& decision) {
  if (const OwnChoice own = own_choice(tables, deployment); own.taken()) {
    if (own.backend != kNotAsked) return place(tables, deployment, own.backend, own.kernel_class);
    const LayerConfig& layer = deployment.layer;
    return Placement{deployment,
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

}  // namespace mx::oracle
