#pragma once
// A matrix quantized block by block under one profile: what `mxact quantize` shows.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/numerics/profile.hpp"

namespace mx::verbs {

/// What is quantized, and how the caller cuts it up.
struct QuantizeRequest {
  const Profile* profile;
  const BlockFormat* format;
  const Format* source;               ///< of the values
  std::int64_t rows = 1;              ///< of equal length
  std::optional<std::int64_t> block;  ///< for formats without a block size of their own: elements that share a scale; none: a whole row
  TensorScale tensor;
};

struct QuantizedMatrix {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t block = 1;                  ///< elements that share a scale
  std::int64_t block_rows = 1;             ///< rows that they stand in
  std::vector<QuantizedBlock> blocks;      ///< from left to right, then downwards; without codes when the recipe gives scales alone
  const Dequantizer* dequantizer;          ///< the profile's own into fp32; null: `dequantized` is the exact product of code and scale
  std::vector<std::uint32_t> dequantized;  ///< fp32 bits, one for each code: block by block, as the codes are

  std::int64_t block_columns() const { return block / block_rows; }
  std::int64_t blocks_of_a_row() const { return columns / block_columns(); }
  std::int64_t rows_of_blocks() const { return rows / block_rows; }
  /// Row and column of element i of a block.
  struct Place {
    std::int64_t row;
    std::int64_t column;
  };
  Place place(std::size_t block_index, std::size_t i) const;
  /// Where that element is among the values.
  std::size_t index(std::size_t block_index, std::size_t i) const;
};

/// Throws Error(usage): values that are no whole rows of whole blocks (naming both numbers), a profile without such a recipe of that source (naming
/// those that have one), a block size for a format that has its own, and what quantize_block refuses.
QuantizedMatrix quantize_matrix(std::span<const std::uint32_t> values, const QuantizeRequest& request);

/// Places of block scales in memory.
struct ScaleLayout {
  std::string_view name;   ///< "linear", "128x4", "8x4"
  std::string_view block;  ///< the building block of model/layout; empty: row by row, without padding
};
/// Throws Error(usage) with the nearest known name.
const ScaleLayout& scale_layout_named(std::string_view name);

/// The scale codes as they lie in memory, 0 where the layout pads.
std::vector<std::uint32_t> scales_in(const ScaleLayout& layout, const QuantizedMatrix& matrix, const BlockFormat& format);

}  // namespace mx::verbs
