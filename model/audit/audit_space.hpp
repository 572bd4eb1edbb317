#pragma once
// The deployments that the audit looks at: every platform with every model, and for each of them every parallelism, wish, key and change of
// environment. Tables; the product is walked in their order, so that a run is the same everywhere.

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::audit {

/// The expert layer of a published model, or of one with odd sizes. Sizes in elements, `intermediate` of the whole layer.
struct ModelRow {
  std::string_view name;
  deployment::LayerConfig layer;  ///< intermediate_per_partition holds the whole intermediate size
};
std::span<const ModelRow> audit_models();

/// Calls `visit` for each deployment of one oracle; the deployment lives for the call only. Ranks that cannot share a model's intermediate size get
/// the next larger share, as the engine's loaders would pad it.
void for_each_deployment(const engine::OracleTables& tables, const std::function<void(const deployment::Deployment&)>& visit);

}  // namespace mx::audit
