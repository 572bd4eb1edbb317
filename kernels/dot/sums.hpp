#pragma once
// The two quick sums. For .cpp files of this folder.

#include <cstdint>
#include <optional>

#include "kernels/dot/row.hpp"

namespace mx::kernels::dot {

/// Both rows hold their numbers. Of a sum that no row's unit reaches none.
std::optional<std::uint32_t> exact_sum(const Row& a, const Row& b, std::optional<std::uint32_t> term);
std::uint32_t aligned_sum(const ContractRow& contract, const Row& a, const Row& b);

}  // namespace mx::kernels::dot
