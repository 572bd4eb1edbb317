#pragma once
// What tests of FP8 converters share: settings, and matrices whose rows are moved and padded.

#include "tests/families/maps.hpp"

namespace mx::test {

inline layout::Setting fp8_setting(layout::WeightFormat format, const layout::Sizes& sizes, bool gated = true) {
  return {.sizes = sizes, .padded = sizes, .form = layout::Form(format, layout::SourceOrder::standard, gated), .engine = mx::kVllm2026_08};
}

/// Units of [experts, rows, cols] as [packed_rows, packed_cols], row r of them from row_of(r), at or above `rows` and `cols` zero.
template <typename RowOf>
Map moved(std::int64_t experts, std::int64_t rows, std::int64_t cols, std::int64_t packed_rows, std::int64_t packed_cols, RowOf row_of) {
  Map map;
  for (std::int64_t e = 0; e < experts; ++e) {
    for (std::int64_t r = 0; r < packed_rows; ++r) {
      const std::int64_t row = row_of(r);
      for (std::int64_t c = 0; c < packed_cols; ++c) map.push_back(row < rows && c < cols ? (e * rows + row) * cols + c : kZero);
    }
  }
  return map;
}

inline std::int64_t same(std::int64_t row) { return row; }

}  // namespace mx::test
