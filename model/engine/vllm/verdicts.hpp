#pragma once
// What one backend answers to one deployment: shared by the search for a choice and by the list of all candidates.

#include "model/engine/vllm/check.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::engine {

/// The deployment as the oracle asks it. Throws Error(usage) for a word or a size that cannot be.
Query query_for(const OracleTables& tables, const deployment::Deployment& deployment);

/// The key of activations under which a backend's classes are asked.
deployment::QuantKey key_for(KeyPolicy keys, const BackendRow& row, deployment::QuantKey requested);

/// What a backend answers whose module is not installed.
Verdict missing_module(const BackendRow& row, Detail detail);

/// The first rule of the backend's own that the call breaks; supported when there is none.
Verdict own_verdict(const BackendRow& row, const Query& query, Detail detail);

}  // namespace mx::engine
