#pragma once
// What the int_wna16 oracle asks of a backend before it asks the backend's classes.

#include <string_view>

#include "model/engine/vllm/check.hpp"

namespace mx::engine {

/// The code of the refusal, as recorded; empty when the rule is met. Points to static storage.
/// Source: vllm 7ca49fbe4 and 4ba787ec9 fused_moe/oracle/int_wna16.py; quantization/utils/marlin_utils.py check_moe_marlin_supports_config.
std::string_view refusal_of(CallRule rule, const Query& query);
std::string_view text_of(CallRule rule);  ///< for people: what the backend wants

}  // namespace mx::engine
