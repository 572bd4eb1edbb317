#pragma once
// What verbs say of a backend's row beside its arithmetic: whether a token's result depends on its batch, and what the row was compared with.

#include <string>
#include <string_view>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/families/batch.hpp"
#include "model/families/recorded.hpp"
#include "support/json.hpp"

namespace mx::verbs {

/// Of such a launch; unknown where the hardware or the weights have no row.
families::BatchWord batch_in(deployment::Engine engine, const engine::OracleTables& tables, const deployment::Deployment& deployment,
                             std::string_view backend, families::LaunchChoice launch = {});

/// "word", "where" of one that has a place, and unless it is unknown "grounds" and "source".
support::Json batch_json(const families::BatchWord& word);

/// "a token's result and its batch: changes: from 64 to 65 slots (run)"
std::string batch_line(const families::BatchWord& word);

/// What the row was compared with on the device, without one nothing: "set", "entries" of a part, "data", "versions", "device", "values".
support::Json recorded_json(const families::ExecutionRow* row, families::Arch arch);

}  // namespace mx::verbs
