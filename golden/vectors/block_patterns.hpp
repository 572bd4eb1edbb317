#pragma once
// Blocks worth quantizing: where the largest value stands, which special values there are, how far the block is filled, how near a tie elements lie.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/numerics/block.hpp"

namespace mx::golden {

/// Every directed block of `size` codes of the source, one after the other.
void directed_blocks(const BlockFormat& format, const Format& source, std::size_t size,
                     const std::function<void(std::span<const std::uint32_t>)>& sink);

/// What is special about a block: bins of an axis.
std::vector<std::string> block_kinds();
std::uint8_t block_kind(std::span<const std::uint32_t> block, const Format& source);

/// Where the first of the largest magnitudes stands: bins of an axis, the ends of both halves apart.
std::vector<std::string> largest_places(std::size_t size);
std::uint8_t largest_place(std::span<const std::uint32_t> block, const Format& source);

/// How many elements stand before the zeros at the end: bins of an axis, one for each number.
std::vector<std::string> fills(std::size_t size);
std::uint8_t fill(std::span<const std::uint32_t> block, const Format& source);

}  // namespace mx::golden
