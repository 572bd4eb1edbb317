#pragma once
// The next larger sizes that a converter takes.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mx::verbs {

/// What is wrong with a pair of sizes: the names of the quantities whose rules are broken.
using BrokenQuantities = std::function<std::vector<std::string>(const std::array<std::int64_t, 2>& sizes)>;

/// Raises the sizes in steps until no rule is broken, for each broken rule the one size that mends it. None when none does, or not soon.
std::optional<std::array<std::int64_t, 2>> next_acceptable(std::array<std::int64_t, 2> sizes, std::int64_t step, const BrokenQuantities& broken);

}  // namespace mx::verbs
