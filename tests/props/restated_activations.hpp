#pragma once
// Activations said a second time for changed tables: values by tests/moe/activation_formulas.hpp, and what is no value: where gate and up lie, which
// constants are configured, and which are refused.

#include <string>
#include <string_view>

namespace mx::tests {

/// The first thing in which the row of that name differs from its restatement; "" where it does not.
std::string wrong_activation(std::string_view name);

}  // namespace mx::tests
