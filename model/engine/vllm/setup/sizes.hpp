#pragma once
// What becomes of a layer's sizes between the choice of a backend and its kernel: the engine rounds twice when it allocates, and some backends pad
// once more when they prepare the weights.

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/answer.hpp"
#include "model/engine/vllm/select.hpp"

namespace mx::oracle {

/// Sizes that the engine allocates for a chosen backend: the rule of the exchange first, that of the backend second. The exchange's ValueError above
/// its largest size is an answer. Throws Error(usage) for an unknown backend, dtype or size. (The Quark method leaves the second rule out for
/// EMULATION.)
/// Source: vllm 7e1b45a09 fused_moe/layer.py; all2all_utils.py maybe_roundup_layer_hidden_size; oracle/mxfp4.py.
Answer<RoundedSizes> allocated_sizes(const OracleTables& tables, std::string_view backend, const Deployment& deployment);

/// Sizes of the prepared weights, from allocated ones; unchanged for a backend without a row. Swizzled scales need w13 in whole tiles of 128 rows:
/// that is I rows, 2I when gated. Throws Error(usage) for a size outside [1, kLargestSize].
Answer<RoundedSizes> prepared_sizes(std::string_view oracle, std::string_view backend, bool gated, bool has_block, const RoundedSizes& sizes);

}  // namespace mx::oracle
