// The C API of whole matrices in blocks.

#include <algorithm>
#include <vector>

#include "golden/c/calls.hpp"

namespace {

using namespace mx::golden::c_api;
using Words = std::vector<std::uint32_t>;

/// A matrix cut into blocks.
class Grid {
 public:
  Grid(const mx::BlockFormat& format, std::size_t rows, std::size_t columns)
      : columns_(columns), block_rows_(static_cast<std::size_t>(format.block_rows)) {
    require(rows > 0 && columns > 0 && rows <= MXACT_MOST_CODES && columns <= MXACT_MOST_CODES / rows, "a number of elements out of range");
    block_columns_ = format.block == 0 ? columns : static_cast<std::size_t>(format.block) / block_rows_;
    require(columns % block_columns_ == 0, "rows that are no whole blocks");
    require(rows % block_rows_ == 0, "a number of rows that is no whole blocks");
    require(format.block != 0 || columns <= MXACT_MOST_BLOCK, "a row that is longer than the longest block");
    blocks_ = rows / block_rows_ * (columns / block_columns_);
  }

  std::size_t blocks() const { return blocks_; }
  std::size_t elements() const { return block_rows_ * block_columns_; }
  /// Where element i of a block is in the matrix.
  std::size_t at(std::size_t block, std::size_t i) const {
    const std::size_t across = columns_ / block_columns_;
    const std::size_t row = block / across * block_rows_ + i / block_columns_;
    return row * columns_ + block % across * block_columns_ + i % block_columns_;
  }

 private:
  std::size_t columns_;
  std::size_t block_rows_;
  std::size_t block_columns_ = 0;
  std::size_t blocks_ = 0;
};

}  // namespace

extern "C" {

std::int32_t mxact_quantize_many(std::int32_t profile, std::int32_t block_format, std::int32_t source, const std::uint32_t* x, std::size_t rows,
                                 std::size_t columns, const mxact_tensor* tensor, std::uint32_t* scales, std::uint32_t* codes) {
  return guarded([&] {
    require(scales != nullptr && codes != nullptr, "a null pointer");
    const mx::Format& from = format_of(source);
    const mx::BlockFormat& format = block_format_of(block_format);
    const Grid grid(format, rows, columns);
    const auto all = lanes_of(x, rows * columns, MXACT_MOST_CODES);
    require_codes(all, from);
    const mx::Recipe& how = mx::recipe(profile_of(profile), format, from);
    Words of_blocks(grid.blocks());
    Words made(all.size());
    Words block(grid.elements());
    for (std::size_t b = 0; b < grid.blocks(); ++b) {
      for (std::size_t i = 0; i < block.size(); ++i) block[i] = all[grid.at(b, i)];
      const mx::QuantizedBlock done = mx::quantize_block(block, from, how, scale_of(tensor));
      of_blocks[b] = done.scale;
      for (std::size_t i = 0; i < block.size(); ++i) made[grid.at(b, i)] = done.codes[i];
    }
    std::ranges::copy(of_blocks, scales);
    std::ranges::copy(made, codes);
  });
}

std::int32_t mxact_dequantize_many(std::int32_t profile, std::int32_t block_format, std::int32_t target, const std::uint32_t* scales,
                                   const std::uint32_t* codes, std::size_t rows, std::size_t columns, const mxact_tensor* tensor,
                                   std::uint32_t* result) {
  return guarded([&] {
    require(result != nullptr, "a null pointer");
    const mx::BlockFormat& format = block_format_of(block_format);
    const mx::Dequantizer& how = mx::dequantizer(profile_of(profile), format, format_of(target));
    const Grid grid(format, rows, columns);
    const auto all = lanes_of(codes, rows * columns, MXACT_MOST_CODES);
    const auto of_blocks = lanes_of(scales, grid.blocks(), MXACT_MOST_CODES);
    require_codes(all, *format.element);
    require_codes(of_blocks, *format.scale);
    Words made(all.size());
    for (std::size_t b = 0; b < grid.blocks(); ++b) {
      for (std::size_t i = 0; i < grid.elements(); ++i) made[grid.at(b, i)] = mx::dequantize(all[grid.at(b, i)], of_blocks[b], how, scale_of(tensor));
    }
    std::ranges::copy(made, result);
  });
}

}  // extern "C"
