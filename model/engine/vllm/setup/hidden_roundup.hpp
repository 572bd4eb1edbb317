#pragma once
// The hidden size that an exchange of tokens between ranks asks for, before any backend rounds it further.

#include <cstdint>
#include <string_view>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/answer.hpp"

namespace mx::engine {

/// Bytes of one element of a torch dtype: bfloat16 2, float8_e4m3fn 1. Throws Error(usage) with the nearest known name.
std::int64_t element_bytes(std::string_view dtype);

/// Hidden size, in elements, after the exchange's rule: whole 512-byte units for DeepEP HT, the next size of its kernels' list for DeepEP LL and
/// NIXL EP, unchanged for the others. ValueError above that list. Throws Error(usage) for an unknown dtype or a size outside [1, kLargestSize].
/// Source: vllm 7e1b45a09 fused_moe/all2all_utils.py maybe_roundup_layer_hidden_size; prepare_finalize/deepep_ht.py, deepep_ll.py, nixl_ep.py.
Answer<std::int64_t> hidden_for_exchange(std::int64_t hidden, std::string_view dtype, const deployment::Parallel& parallel);

}  // namespace mx::engine
