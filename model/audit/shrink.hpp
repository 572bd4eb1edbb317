#pragma once
// Makes a deployment as simple as a property of it allows.

#include <functional>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::audit {

/// Steps every field toward its simplest value as long as `holds` does, until no step is left. `holds(from)` must be true; the same start always
/// leads to the same end.
deployment::Deployment shrink(const engine::OracleTables& tables, deployment::Deployment from,
                              const std::function<bool(const deployment::Deployment&)>& holds);

}  // namespace mx::audit
