#pragma once
// A matrix as its codes and the scales of their blocks, apart: of an expert, or of a dense layer in FP8.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint_files.hpp"

namespace mx::checkpoint {

struct ScaledCodes {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t block_rows;     ///< that a scale counts for; the last block may be cut
  std::int64_t block_columns;  ///< likewise
  std::vector<float> scales;   ///< of blocks, a row of them for each row of blocks
  double number;               ///< that counts for all beside them
  std::function<void(std::int64_t first, std::span<double> out)> read_codes;

  std::int64_t down() const { return (rows + block_rows - 1) / block_rows; }
  std::int64_t across() const { return (columns + block_columns - 1) / block_columns; }
  double scale(std::int64_t block_row, std::int64_t block_column) const {
    return static_cast<double>(scales[static_cast<std::size_t>(block_row * across() + block_column)]);
  }
  /// Numbers of rows from `first` on: out.size() / columns of them.
  void read(std::int64_t first, std::span<double> out) const;
};

/// A tensor of F8_E4M3 [N, K] that is no expert's, with the scales that lie beside it under the names that they have there: one number, one of each
/// row, one of each 128 x 128 block, of each 32 columns. None where it is none, or has no such scales.
std::optional<ScaledCodes> dense_codes(const CheckpointFiles& files, std::string_view name);

}  // namespace mx::checkpoint
