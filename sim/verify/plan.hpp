#pragma once
// The cells of a run of verify, before its first layer: what the engine chooses on each platform, and what else a user can ask for.

#include "checkpoint/checkpoint.hpp"
#include "model/engine/vllm/tables.hpp"
#include "sim/verify/verify.hpp"

namespace mx::sim {

/// The oracle that the engine asks about such a checkpoint. Throws Error(unsupported) as tables_of does.
const engine::OracleTables& oracle_of(const checkpoint::Checkpoint& checkpoint, deployment::Engine engine);

/// Adds cells, conversions and hints to a report that has its sizes. Throws Error(usage) on an unknown platform.
void plan_cells(const checkpoint::Checkpoint& checkpoint, const VerifyOptions& options, VerifyReport& report);

}  // namespace mx::sim
