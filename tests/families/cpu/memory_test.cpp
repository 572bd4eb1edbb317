// The CPU's packing against its formulas, element by element, and what it does to a last half block.

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
using mx::test::kUnwritten;
using mx::test::Map;
using mx::test::refuses;

/// What the packing loop makes of [experts, rows, row_bytes], nibble by nibble: a block's nibbles are unpacked into a buffer of 64, then two of them
/// 32 apart become a byte, as many bytes as the block has rows.
Map packed_nibbles(std::int64_t experts, std::int64_t rows, std::int64_t row_bytes) {
  Map map;
  for (std::int64_t e = 0; e < experts; ++e) {
    for (std::int64_t n0 = 0; n0 < rows; n0 += 32) {
      const std::int64_t size = std::min<std::int64_t>(32, rows - n0);
      for (std::int64_t b = 0; b < row_bytes; ++b) {
        Map buffer(64, kUnwritten);
        for (std::int64_t r = 0; r < size; ++r) {
          for (std::int64_t nibble = 0; nibble < 2; ++nibble) {
            buffer[static_cast<std::size_t>(2 * r + nibble)] = 2 * ((e * rows + n0 + r) * row_bytes + b) + nibble;
          }
        }
        for (std::int64_t i = 0; i < size; ++i) {
          map.push_back(buffer[static_cast<std::size_t>(i)]);
          map.push_back(buffer[static_cast<std::size_t>(i + 32)]);
        }
      }
    }
  }
  return map;
}

/// [n0/32][k2][n][d], the last block as wide as it is.
Map vnni2(std::int64_t experts, std::int64_t rows, std::int64_t cols) {
  Map map;
  for (std::int64_t e = 0; e < experts; ++e)
    for (std::int64_t n0 = 0; n0 < rows; n0 += 32)
      for (std::int64_t k2 = 0; k2 < cols / 2; ++k2)
        for (std::int64_t n = n0; n < std::min(n0 + 32, rows); ++n)
          for (std::int64_t d = 0; d < 2; ++d) map.push_back((e * rows + n) * cols + 2 * k2 + d);
  return map;
}

/// [n0/32][g][i].
Map scales(std::int64_t experts, std::int64_t rows, std::int64_t groups) {
  Map map;
  for (std::int64_t e = 0; e < experts; ++e)
    for (std::int64_t n0 = 0; n0 < rows; n0 += 32)
      for (std::int64_t g = 0; g < groups; ++g)
        for (std::int64_t i = 0; i < 32; ++i) map.push_back((e * rows + n0 + i) * groups + g);
  return map;
}

TEST_CASE("the CPU's blocks") {
  CHECK(stage_layout("cpu.convert_weight_packed.uint8", 2, 64, 48, 8).gather() == packed_nibbles(2, 64, 48));
  for (const std::int64_t rows : {16, 32, 48, 80, 128}) {
    for (const int bits : {8, 16}) CHECK(stage_layout("cpu.convert_weight_packed.vnni2", 2, rows, 64, bits).gather() == vnni2(2, rows, 64));
  }
  CHECK(stage_layout("cpu.convert_scale_packed", 2, 96, 3, 8).gather() == scales(2, 96, 3));
}

TEST_CASE("hazard: the CPU's packing of 4-bit weights loses half of a last block of 16 rows") {
  for (const std::int64_t rows : {16, 48, 112}) {
    const Layout layout = stage_layout("cpu.convert_weight_packed.uint8", 2, rows, 16, 8);
    const Map map = layout.gather();
    CHECK(map == packed_nibbles(2, rows, 16));
    CHECK(layout.bytes() == 2 * rows * 16);
    // Of the last 16 rows 8 arrive; every high nibble beside them is whatever the buffer held.
    CHECK(std::ranges::count(map, kUnwritten) == 2 * 16 * 16);
    CHECK(std::ranges::count_if(map, [](std::int64_t entry) { return entry >= 0; }) == 2 * (rows - 8) * 16 * 2);
    CHECK(layout.at(Coord{0, rows - 9, 0, 0}).has_value());
    CHECK_FALSE(layout.at(Coord{0, rows - 8, 0, 0}).has_value());
  }
}

TEST_CASE("the CPU's blocks refuse what their source refuses") {
  const auto refused = [](const std::string& text, std::string_view stage, std::int64_t rows, std::int64_t cols, int bits) {
    return refuses(ErrorCode::usage, text, [&] { stage_layout(stage, 1, rows, cols, bits); });
  };
  CHECK(refused("rows = 24 is not a multiple of 16", "cpu.convert_weight_packed.uint8", 24, 16, 8));
  CHECK(refused("K = 48 is not a multiple of 32", "cpu.convert_weight_packed.uint8", 32, 24, 8));
  CHECK(refused("K = 48 is not a multiple of 32", "cpu.convert_weight_packed.vnni2", 32, 48, 16));
  CHECK(refused("dtype = 32", "cpu.convert_weight_packed.vnni2", 32, 32, 32));
  CHECK(refused("rows = 48 is not a multiple of 32", "cpu.convert_scale_packed", 48, 4, 8));
}

TEST_CASE("the CPU backend") {
  const Sizes sizes{2, 32, 64};
  const BackendLayout& fp4 = backend_layout_named("CPU", WeightFormat::mxfp4, mx::kVllm2026_05);
  const Setting setting{.sizes = sizes, .padded = sizes, .form = SourceOrder::gpt_oss};
  CHECK(checkpoint_addresses(fp4, Role::w13_weight, setting) == packed_nibbles(2, 64, 32));
  CHECK(checkpoint_addresses(fp4, Role::w2_weight, setting) == packed_nibbles(2, 64, 16));
  CHECK(checkpoint_addresses(fp4, Role::w13_weight_scale, setting) == scales(2, 64, 2));
  CHECK(checkpoint_addresses(fp4, Role::w2_weight_scale, setting) == scales(2, 64, 1));
  CHECK(fp4.build(Role::w13_bias, setting).cast->name == "bf16_to_f32");
  CHECK_FALSE(fp4.converts(SourceOrder::standard, mx::kVllm2026_05));

  const Form form(WeightFormat::fp8_block, SourceOrder::standard);
  const Sizes odd{1, 32, 160, 1};
  Setting blocks{.sizes = odd, .padded = odd, .form = form};
  const BackendLayout& fp8 = backend_layout_named("CPU", WeightFormat::fp8_block, mx::kVllm2026_08);
  CHECK(checkpoint_addresses(fp8, Role::w13_weight, blocks) == vnni2(1, 64, 160));
  CHECK(checkpoint_addresses(fp8, Role::w2_weight, blocks) == vnni2(1, 160, 32));
  CHECK(checkpoint_addresses(fp8, Role::w13_weight_scale, blocks) == Map{0, 1, 2, 3});
  blocks.sizes = blocks.padded = {1, 40, 160, 1};
  CHECK(refuses(ErrorCode::usage, "I = 40 is not a multiple of 32", [&] { check_needs(fp8, blocks); }));
}

}  // namespace
