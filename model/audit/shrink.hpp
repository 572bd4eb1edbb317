#pragma once
// Makes a deployment as simple as a property of it allows.

#include <functional>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::oracle {

/// Steps every field toward its simplest value as long as `holds` does, until no step is left. `holds(from)` must be true; the same start always
/// leads to the same end.
Deployment shrink(const OracleTables& tables, Deployment from, const std::function<bool(const Deployment&)>& holds);

}  // namespace mx::oracle
