#pragma once
// NVFP4 backends against plain loops over the orders of their rows.

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/families/memory.hpp"

namespace mx::test {

/// Source row of a packed row, or -1.
using RowOf = std::vector<std::int64_t>;

/// Rows 0..count-1, then padding up to `padded`.
RowOf in_order(std::int64_t count, std::int64_t padded);
RowOf halves_swapped(const RowOf& rows);
RowOf padded_to(RowOf rows, std::int64_t count);

/// Row r <- row order(r).
template <typename Order>
RowOf reordered(const RowOf& rows, Order order) {
  RowOf out;
  for (std::size_t r = 0; r < rows.size(); ++r) out.push_back(rows[static_cast<std::size_t>(order(static_cast<std::int64_t>(r)))]);
  return out;
}

layout::Setting nvfp4_setting(const layout::Sizes& sizes, bool gated, mx::Engine engine = mx::kVllm2026_08,
                              layout::SourceOrder order = layout::SourceOrder::standard);

struct Nvfp4Rows {
  RowOf w13;
  RowOf w2;
  std::int64_t w13_columns;  ///< elements
  std::int64_t w2_columns;
};

/// The weights lie as these rows say, their scales likewise through the 128x4 tile.
void check_nvfp4(std::string_view backend, const layout::Setting& setting, const Nvfp4Rows& expected);
/// A backend that pads one shard to 128 rows, w2 to as many columns, and refuses gate and up that would need it.
void check_nvfp4_one_shard(std::string_view backend);

}  // namespace mx::test
