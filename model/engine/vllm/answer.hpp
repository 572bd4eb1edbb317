#pragma once
// What a function of the engine gives back: a value, or the exception that the engine raises.

#include <variant>

#include "model/engine/vllm/select.hpp"

namespace mx::engine {

/// Refusals are answers too: the engine's exception type and what it says.
template <typename Value>
using Answer = std::variant<Value, Refusal>;

}  // namespace mx::engine
