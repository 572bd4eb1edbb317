#include "model/engine/vllm/setup/sizes.hpp"

#include <cstdint>

#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/setup/hidden_roundup.hpp"

namespace mx::engine {

Answer<RoundedSizes> allocated_sizes(const OracleTables& tables, std::string_view backend, const deployment::Deployment& deployment) {
  const deployment::LayerConfig& layer = deployment.layer;
  const auto exchanged = hidden_for_exchange(layer.hidden, layer.in_dtype, deployment::derive(deployment.parallel, tables.engine));
  if (const auto* refusal = std::get_if<Refusal>(&exchanged)) return *refusal;
  if (const auto refusal = method_refusal(tables, deployment)) return *refusal;
  return method_sizes(tables, backend, deployment, {std::get<std::int64_t>(exchanged), layer.intermediate_per_partition});
}

}  // namespace mx::engine
