#include "tests/families/nvfp4_rows.hpp"

#include "model/families/convert.hpp"
#include "tests/catch.hpp"
#include "tests/families/maps.hpp"
#include "tests/layout/errors.hpp"

namespace mx::test {
namespace {

using namespace layout;  // NOLINT(google-build-using-namespace): the test speaks of nothing else

/// Units of [experts, rows, cols] whose packed rows are `rows`, each of `packed_cols`.
Map moved_rows(std::int64_t experts, std::int64_t source_rows, std::int64_t cols, const RowOf& rows, std::int64_t packed_cols) {
  Map map;
  for (std::int64_t e = 0; e < experts; ++e) {
    for (const std::int64_t row : rows) {
      for (std::int64_t c = 0; c < packed_cols; ++c) map.push_back(row < 0 || c >= cols ? kZero : (e * source_rows + row) * cols + c);
    }
  }
  return map;
}

/// The same of scales, through the 128x4 tile.
Map tiled_rows(std::int64_t experts, std::int64_t source_rows, std::int64_t cols, const RowOf& rows, std::int64_t packed_cols) {
  const std::int64_t bytes = sf128x4_bytes(static_cast<std::int64_t>(rows.size()), packed_cols);
  Map map(static_cast<std::size_t>(experts * bytes), kZero);
  for (std::int64_t e = 0; e < experts; ++e) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::int64_t c = 0; c < cols && rows[r] >= 0; ++c) {
        map[static_cast<std::size_t>(e * bytes + sf128x4(static_cast<std::int64_t>(r), c, packed_cols))] = (e * source_rows + rows[r]) * cols + c;
      }
    }
  }
  return map;
}

}  // namespace

RowOf in_order(std::int64_t count, std::int64_t padded) {
  RowOf rows;
  for (std::int64_t r = 0; r < padded; ++r) rows.push_back(r < count ? r : -1);
  return rows;
}

RowOf halves_swapped(const RowOf& rows) {
  RowOf out(rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2), rows.end());
  out.insert(out.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2));
  return out;
}

RowOf padded_to(RowOf rows, std::int64_t count) {
  rows.resize(static_cast<std::size_t>(count), -1);
  return rows;
}

Setting nvfp4_setting(const Sizes& sizes, bool gated, mx::Engine engine, SourceOrder order) {
  return {
      .sizes = sizes, .padded = sizes, .form = Form(WeightFormat::nvfp4, order, gated), .engine = engine, .activation = ConverterActivation::silu};
}

void check_nvfp4(std::string_view backend, const Setting& setting, const Nvfp4Rows& expected) {
  INFO(backend << " I " << setting.sizes.intermediate << " H " << setting.sizes.hidden << " gated " << setting.form.gated);
  const BackendLayout& row = backend_layout_named(backend, WeightFormat::nvfp4, setting.engine);
  REQUIRE(row.converts(setting.form, setting.engine));
  CHECK_NOTHROW(check_needs(row, setting));
  const auto [experts, intermediate, hidden, group] = setting.sizes;
  const std::int64_t rows = (setting.form.gated ? 2 : 1) * intermediate;
  CHECK(checkpoint_addresses(row, Role::w13_weight, setting) == moved_rows(experts, rows, hidden, expected.w13, expected.w13_columns));
  CHECK(checkpoint_addresses(row, Role::w13_weight_scale, setting) ==
        tiled_rows(experts, rows, hidden / 16, expected.w13, expected.w13_columns / 16));
  CHECK(checkpoint_addresses(row, Role::w2_weight, setting) == moved_rows(experts, hidden, intermediate, expected.w2, expected.w2_columns));
  CHECK(checkpoint_addresses(row, Role::w2_weight_scale, setting) ==
        tiled_rows(experts, hidden, intermediate / 16, expected.w2, expected.w2_columns / 16));
  CHECK(checkpoint_addresses(row, Role::w13_global_scale, setting) == in_order(experts, experts));
}

void check_nvfp4_one_shard(std::string_view backend) {
  const Sizes odd{1, 80, 144, 16};
  check_nvfp4(backend, nvfp4_setting(odd, false), {in_order(80, 128), in_order(144, 144), 144, 128});
  const BackendLayout& row = backend_layout_named(backend, WeightFormat::nvfp4, mx::kVllm2026_08);
  CHECK(refuses(ErrorCode::usage, "2I = 160 is not a multiple of 128", [&] { check_needs(row, nvfp4_setting(odd, true)); }));
}

}  // namespace mx::test
