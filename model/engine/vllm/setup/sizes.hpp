#pragma once
// What becomes of a layer's sizes once a backend is chosen: the engine rounds twice when it allocates.

#include <string_view>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/answer.hpp"
#include "model/engine/vllm/select.hpp"

namespace mx::engine {

/// Sizes that the engine allocates for a chosen backend: the rule of the exchange first, that of the backend second. The exchange's ValueError above
/// its largest size is an answer. Throws Error(usage) for an unknown backend, dtype or size. (The Quark method leaves the second rule out for
/// EMULATION.)
/// Source: vllm 7e1b45a09 fused_moe/layer.py; all2all_utils.py maybe_roundup_layer_hidden_size; oracle/mxfp4.py.
Answer<RoundedSizes> allocated_sizes(const OracleTables& tables, std::string_view backend, const deployment::Deployment& deployment);

}  // namespace mx::engine
