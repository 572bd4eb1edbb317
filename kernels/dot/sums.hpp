#pragma once
// The two quick sums. For .cpp files of this folder.

#include <cstdint>
#include <optional>

#include "kernels/dot/row.hpp"

namespace mx::kernels::dot {

/// Whether each chain of the row has one scale, as the model asks.
bool has_whole_chains(const ContractRow& contract, const Row& row);
/// fp32 bits of the scale of the chain that begins at k.
std::uint32_t scale_of(const Row& row, std::size_t k);

/// Both rows hold their numbers. Of a sum that no row's unit reaches none.
std::optional<std::uint32_t> exact_sum(const Row& a, const Row& b, std::optional<std::uint32_t> term);
std::uint32_t aligned_sum(const ContractRow& contract, const Row& a, const Row& b);

}  // namespace mx::kernels::dot
