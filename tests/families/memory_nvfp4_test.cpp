// NVFP4 backends against plain loops over their row orders, gated and not, and the padding that comes behind both shards.

#include "model/families/convert.hpp"
#include "model/families/stage.hpp"
#include "model/layout/packed.hpp"
#include "tests/catch.hpp"
#include "tests/families/maps.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using namespace mx::layout;  // NOLINT(google-build-using-namespace): the test speaks of nothing else
using mx::test::checkpoint_addresses;
using mx::test::kZero;
using mx::test::Map;
using mx::test::refuses;
using mx::test::rounded_up;

/// Source row of a packed row, or -1.
using RowOf = std::vector<std::int64_t>;

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
  const std::int64_t bytes = mx::test::sf128x4_bytes(static_cast<std::int64_t>(rows.size()), packed_cols);
  Map map(static_cast<std::size_t>(experts * bytes), kZero);
  for (std::int64_t e = 0; e < experts; ++e) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::int64_t c = 0; c < cols && rows[r] >= 0; ++c) {
        map[static_cast<std::size_t>(e * bytes + mx::test::sf128x4(static_cast<std::int64_t>(r), c, packed_cols))] =
            (e * source_rows + rows[r]) * cols + c;
      }
    }
  }
  return map;
}

/// Rows 0..count-1, then padding up to `padded`.
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

/// Row r <- row order(r).
template <typename Order>
RowOf reordered(const RowOf& rows, Order order) {
  RowOf out;
  for (std::size_t r = 0; r < rows.size(); ++r) out.push_back(rows[static_cast<std::size_t>(order(static_cast<std::int64_t>(r)))]);
  return out;
}

RowOf padded_to(RowOf rows, std::int64_t count) {
  rows.resize(static_cast<std::size_t>(count), -1);
  return rows;
}

Setting setting_of(const Sizes& sizes, bool gated, mx::Engine engine = mx::kVllm2026_08, SourceOrder order = SourceOrder::standard) {
  return {
      .sizes = sizes, .padded = sizes, .form = Form(WeightFormat::nvfp4, order, gated), .engine = engine, .activation = ConverterActivation::silu};
}

struct Expected {
  RowOf w13;
  RowOf w2;
  std::int64_t w13_columns;  ///< elements
  std::int64_t w2_columns;
};

void check_backend(std::string_view backend, const Setting& setting, const Expected& expected) {
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

Expected trtllm(const Sizes& sizes, bool gated, std::int64_t multiple) {
  const std::int64_t hidden = rounded_up(sizes.hidden, 256);
  const std::int64_t intermediate = rounded_up(sizes.intermediate, gated ? multiple : 128);
  RowOf w13 = in_order(sizes.intermediate, sizes.intermediate);
  if (gated) w13 = halves_swapped(in_order(2 * sizes.intermediate, 2 * sizes.intermediate));
  w13 = padded_to(w13, (gated ? 2 : 1) * intermediate);
  const auto count = static_cast<std::int64_t>(w13.size());
  if (gated) w13 = reordered(w13, [&](std::int64_t r) { return mx::test::alternating(r, count); });
  return {reordered(w13, mx::test::shuffled_128), reordered(in_order(sizes.hidden, hidden), mx::test::shuffled_128), hidden, intermediate};
}

TEST_CASE("NVFP4 for TRT-LLM: padding in both directions, both engine versions") {
  for (const bool gated : {true, false}) {
    for (const Sizes& sizes : {Sizes{2, 64, 256, 16}, Sizes{1, 96, 128, 16}, Sizes{1, 160, 272, 16}}) {
      check_backend("FLASHINFER_TRTLLM", setting_of(sizes, gated), trtllm(sizes, gated, 64));
    }
    check_backend("FLASHINFER_TRTLLM", setting_of({1, 192, 256, 16}, gated, mx::kVllm2026_05), trtllm({1, 192, 256, 16}, gated, 16));
  }
  const Setting narrow = setting_of({1, 96, 256, 16}, true, mx::kVllm2026_05);
  const BackendLayout& row = backend_layout_named("FLASHINFER_TRTLLM", WeightFormat::nvfp4, mx::kVllm2026_05);
  CHECK(refuses(ErrorCode::usage, "2I = 192 is not a multiple of 128", [&] { check_needs(row, narrow); }));
}

TEST_CASE("hazard: NVFP4 padding for TRT-LLM comes behind both shards, so that gate and up no longer pair") {
  // I = 96 becomes 128. The padded matrix is up 0..95, gate 0..95, 64 rows of zero; its halves pair up i with gate i + 32.
  const BackendLayout& row = backend_layout_named("FLASHINFER_TRTLLM", WeightFormat::nvfp4, mx::kVllm2026_08);
  const Setting setting = setting_of({1, 96, 256, 16}, true);
  const Layout weight = row.build(Role::w13_weight, setting).layout;
  const auto row_of = [&](std::int64_t half, std::int64_t i) { return *weight.at(Coord{0, half, i, 0}) / 256; };
  constexpr std::int64_t kGate = 0;
  constexpr std::int64_t kUp = 1;
  // The first two rows of a shuffled block of 32 come from rows 0 and 4 of it: of the alternating rows, up 0 and up 2.
  CHECK(row_of(kUp, 0) == 0);
  CHECK(row_of(kUp, 2) == 1);
  // Row 1 of the alternating ones is gate 32, in row 8 of the block.
  CHECK(row_of(kGate, 32) == 8);
  // Where I needs no padding, it is gate 0.
  const Layout whole = row.build(Role::w13_weight, setting_of({1, 128, 256, 16}, true)).layout;
  CHECK(*whole.at(Coord{0, kGate, 0, 0}) / 256 == 8);
}

TEST_CASE("NVFP4 for the CUTLASS kernels") {
  const Sizes whole{2, 64, 144, 16};
  const RowOf kept = in_order(128, 128);
  const RowOf w2 = in_order(144, 144);
  for (const mx::Engine engine : kConversionEngines) {
    const Setting setting = setting_of(whole, true, engine);
    for (const char* backend : {"FLASHINFER_CUTLASS", "FLASHINFER_B12X"}) check_backend(backend, setting, {halves_swapped(kept), w2, 144, 64});
    for (const char* backend : {"VLLM_CUTLASS", "FLASHINFER_CUTEDSL_BATCHED"}) check_backend(backend, setting, {kept, w2, 144, 64});
  }
  // One shard is padded to 128 rows, and w2 to as many columns.
  const Sizes odd{1, 80, 144, 16};
  for (const char* backend : {"FLASHINFER_CUTLASS", "FLASHINFER_B12X", "VLLM_CUTLASS", "FLASHINFER_CUTEDSL_BATCHED", "FLASHINFER_CUTEDSL"}) {
    check_backend(backend, setting_of(odd, false), {in_order(80, 128), w2, 144, 128});
    const BackendLayout& row = backend_layout_named(backend, WeightFormat::nvfp4, mx::kVllm2026_08);
    CHECK(refuses(ErrorCode::usage, "2I = 160 is not a multiple of 128", [&] { check_needs(row, setting_of(odd, true)); }));
  }
}

TEST_CASE("NVFP4 for CuteDSL: blocks of 64 rows, SWIGLUOAI means interleaved rows to the later engine only") {
  const Sizes sizes{2, 128, 256, 16};
  const auto blocks = [](std::int64_t r) { return r % 128 / 64 * 128 + 64 * (r / 128) + r % 64; };
  const RowOf kept = in_order(256, 256);
  const RowOf w2 = in_order(256, 256);
  const RowOf halves = reordered(halves_swapped(kept), blocks);
  check_backend("FLASHINFER_CUTEDSL", setting_of(sizes, true), {halves, w2, 256, 128});
  check_backend("FLASHINFER_CUTEDSL", setting_of(sizes, true, mx::kVllm2026_05), {halves, w2, 256, 128});

  Setting interleaved = setting_of(sizes, true, mx::kVllm2026_08, SourceOrder::gpt_oss);
  interleaved.activation = ConverterActivation::swigluoai;
  const RowOf up_first = reordered(kept, [](std::int64_t r) { return r < 128 ? 2 * r + 1 : 2 * (r - 128); });
  check_backend("FLASHINFER_CUTEDSL", interleaved, {reordered(up_first, blocks), w2, 256, 128});
  Setting older = setting_of(sizes, true, mx::kVllm2026_05);
  older.activation = ConverterActivation::swigluoai;
  check_backend("FLASHINFER_CUTEDSL", older, {halves, w2, 256, 128});
  CHECK_FALSE(backend_layout_named("FLASHINFER_CUTEDSL", WeightFormat::nvfp4, mx::kVllm2026_05)
                  .converts(Form(WeightFormat::nvfp4, SourceOrder::standard, false), mx::kVllm2026_05));
}

TEST_CASE("the interleave of CuteDSL as a block") {
  const Map map = stage_layout("nvfp4_moe.FLASHINFER_CUTEDSL", 2, 256, 1, 32).gather();
  for (std::int64_t e = 0; e < 2; ++e) {
    for (std::int64_t r = 0; r < 256; ++r) {
      CHECK(map[static_cast<std::size_t>(e * 256 + r)] == e * 256 + r % 128 / 64 * 128 + 64 * (r / 128) + r % 64);
    }
  }
  CHECK(stage_layout("nvfp4_moe.FLASHINFER_CUTEDSL", 1, 8, 1, 8, {{"group_rows", 2}}).gather() == Map{0, 1, 4, 5, 2, 3, 6, 7});
  CHECK(refuses(ErrorCode::usage, "rows = 96 is not a multiple of 128", [] { stage_layout("nvfp4_moe.FLASHINFER_CUTEDSL", 1, 96, 4, 32); }));
}

TEST_CASE("hazard: the 128x4 tile of a stack of experts equals theirs only when rows are multiples of 128") {
  const auto stacked = [](std::int64_t rows) { return stage_layout("sf_128x4", 1, 2 * rows, 4, 8).gather(); };
  const auto by_expert = [](std::int64_t rows) { return stage_layout("sf_128x4", 2, rows, 4, 8).gather(); };
  CHECK(stacked(128) == by_expert(128));
  CHECK(stacked(64).size() == 512U);
  CHECK(by_expert(64).size() == 1024U);
  // Byte 8 is row 64 of the stack, the first of the second expert; by expert it is padding.
  CHECK(stacked(64)[8] == 64 * 4);
  CHECK(by_expert(64)[8] == kZero);
}

}  // namespace
