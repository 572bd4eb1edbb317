// Marlin's building blocks against the tables of the specification, evaluated by plain loops, element by element.

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/families/fragments.hpp"
#include "model/families/stage.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::layout::Layout;
using mx::layout::marlin_padded_nk;
using mx::layout::MatrixSize;
using mx::layout::stage_layout;
using mx::test::refuses;

using Map = std::vector<std::int64_t>;

/// One variant of the repack: spec layouts 6.1.
struct Variant {
  const char* stage;
  int bits;
  bool is_a_8bit;
};
constexpr std::array<Variant, 4> kVariants{
    {{"marlin.repack.w4a16", 4, false}, {"marlin.repack.w4a8", 4, true}, {"marlin.repack.w8a16", 8, false}, {"marlin.repack.w8a8", 8, true}}};

/// The element k, n that value i of lane th and word column wp is, relative to its tile.
std::array<std::int64_t, 2> value_of(bool is_a_8bit, std::int64_t th, std::int64_t wp, std::int64_t i) {
  if (is_a_8bit) return {4 * (th % 4) + i % 4 + 16 * (i / 4), 16 * (wp / 2) + 8 * (wp % 2) + th / 4};
  constexpr std::array<std::int64_t, 4> kOffsets{0, 1, 8, 9};
  return {2 * (th % 4) + kOffsets[static_cast<std::size_t>(i % 4)], 16 * wp + th / 4 + 8 * (i / 4)};
}

/// Which value a unit of a word is, low unit first; 8-bit weights have two words of four.
std::int64_t value_in_word(const Variant& variant, std::int64_t unit) {
  constexpr std::array<std::array<std::int64_t, 8>, 4> kOrders{
      {{0, 2, 4, 6, 1, 3, 5, 7}, {0, 4, 1, 5, 2, 6, 3, 7}, {0, 2, 1, 3, 4, 6, 5, 7}, {0, 1, 2, 3, 4, 5, 6, 7}}};
  const std::size_t order = (variant.bits == 4 ? 0U : 2U) + (variant.is_a_8bit ? 1U : 0U);
  return kOrders[order][static_cast<std::size_t>(unit)];
}

/// The whole matrix [N, K] by the table; half a tile at the end of K is dropped and the rest of the output unwritten.
Map repacked(const Variant& variant, std::int64_t rows, std::int64_t columns) {
  const std::int64_t tile_k = variant.is_a_8bit ? 32 : 16;
  const std::int64_t tile_n = variant.is_a_8bit ? 32 : 64;
  Map map;
  for (std::int64_t kt = 0; kt < columns / tile_k; ++kt) {
    for (std::int64_t nt = 0; nt < rows / tile_n; ++nt) {
      for (std::int64_t position = 0; position < 32 * 4 * 8; ++position) {
        const auto [k, n] = value_of(variant.is_a_8bit, position / 32, position / 8 % 4, value_in_word(variant, position % 8));
        map.push_back((tile_n * nt + n) * columns + tile_k * kt + k);
      }
    }
  }
  map.resize(static_cast<std::size_t>(rows * columns), Layout::kPadUnwritten);
  return map;
}

TEST_CASE("marlin.repack by its four tables") {
  for (const Variant& variant : kVariants) {
    for (std::int64_t rows : {64, 128, 192}) {
      for (std::int64_t columns : {32, 64, 96, 160}) {
        INFO(variant.stage << " N " << rows << " K " << columns);
        CHECK(stage_layout(variant.stage, 1, rows, columns, variant.bits).gather() == repacked(variant, rows, columns));
      }
    }
  }
  // The example of the specification: word 0 is row 0 with k 0 and 8, row 8 with k 0 and 8, then k 1 and 9.
  Map first = stage_layout("marlin.repack.w4a16", 1, 64, 16, 4).gather();
  first.resize(8);
  CHECK(first == Map{0, 8, 8 * 16, 8 * 16 + 8, 1, 9, 8 * 16 + 1, 8 * 16 + 9});
}

TEST_CASE("experts are repacked one by one") {
  const Map one = stage_layout("marlin.repack.w8a8", 1, 64, 48, 8).gather();
  const Map three = stage_layout("marlin.repack.w8a8", 3, 64, 48, 8).gather();
  REQUIRE(three.size() == 3 * one.size());
  for (std::size_t i = 0; i < three.size(); ++i) {
    const std::int64_t entry = one[i % one.size()];
    REQUIRE(three[i] == (entry < 0 ? entry : entry + static_cast<std::int64_t>(i / one.size() * one.size())));
  }
}

TEST_CASE("hazard: half a tile of K passes the checks for 8-bit activations and is lost") {
  for (const Variant& variant : kVariants) {
    for (std::int64_t columns : {16, 48, 80}) {
      INFO(variant.stage << " K " << columns);
      const Layout layout = stage_layout(variant.stage, 1, 64, columns, variant.bits);
      const Map map = layout.gather();
      CHECK(map == repacked(variant, 64, columns));
      const auto unwritten = static_cast<std::int64_t>(std::ranges::count(map, Layout::kPadUnwritten));
      CHECK(unwritten == (variant.is_a_8bit ? 64 * 16 : 0));
      // The last 16 columns have no place.
      CHECK(layout.at(mx::layout::Coord{0, 5, columns - 1}).has_value() == !variant.is_a_8bit);
      CHECK(layout.at(mx::layout::Coord{0, 5, columns - 16}).has_value() == !variant.is_a_8bit);
      if (columns > 16) CHECK(layout.at(mx::layout::Coord{0, 5, columns - 17}).has_value());
    }
  }
}

TEST_CASE("hazard: the checks of the repack do not know the tile of 8-bit activations") {
  for (const Variant& variant : kVariants) {
    INFO(variant.stage);
    CHECK_NOTHROW(stage_layout(variant.stage, 1, 64, 16, variant.bits));
    CHECK(refuses(ErrorCode::usage, "K = 24 is not a multiple of 16", [&] { stage_layout(variant.stage, 1, 64, 24, variant.bits); }));
    CHECK(refuses(ErrorCode::usage, "rows = 96 is not a multiple of 64", [&] { stage_layout(variant.stage, 1, 96, 32, variant.bits); }));
    // K is checked first.
    CHECK(refuses(ErrorCode::usage, "K = 8", [&] { stage_layout(variant.stage, 1, 32, 8, variant.bits); }));
    CHECK(refuses(ErrorCode::usage, "it moves units of", [&] { stage_layout(variant.stage, 1, 64, 32, 16); }));
    CHECK(refuses(ErrorCode::usage, "num_bits = 6 is not in", [&] { stage_layout(variant.stage, 1, 64, 32, variant.bits, {{"num_bits", 6}}); }));
  }
}

/// Scales of `count` in blocks of 64: spec layouts 6.2.
Map blocks_of_64(std::int64_t count) {
  Map map;
  for (std::int64_t p = 0; p < count; ++p) map.push_back(64 * (p / 64) + p % 64 / 8 + 8 * (p % 8));
  return map;
}
Map blocks_of_32(std::int64_t count) {
  constexpr std::array<std::int64_t, 8> kOffsets{0, 1, 8, 9, 16, 17, 24, 25};
  Map map;
  for (std::int64_t p = 0; p < count; ++p) map.push_back(32 * (p / 32) + 2 * (p % 32 / 8) + kOffsets[static_cast<std::size_t>(p % 8)]);
  return map;
}

TEST_CASE("marlin.permute_scales") {
  const auto map = [](std::int64_t groups, std::int64_t rows, mx::layout::StageParams params) {
    return stage_layout("marlin.permute_scales", 1, groups, rows, 8, std::move(params)).gather();
  };
  CHECK(map(4, 64, {{"group_size", 32}, {"size_k", 128}}) == blocks_of_64(256));
  CHECK(map(4, 64, {{"group_size", 32}}) == blocks_of_64(256));
  // Blocks run on from one group to the next where N does not fill them.
  CHECK(map(4, 48, {{"group_size", 32}, {"size_k", 128}}) == blocks_of_64(192));
  CHECK(map(3, 192, {{"group_size", 16}, {"size_k", 48}}) == blocks_of_64(576));
  // One group, whole rows, 8-bit activations.
  CHECK(map(1, 64, {{"group_size", 32}, {"size_k", 32}}) == blocks_of_32(64));
  CHECK(map(1, 64, {{"group_size", 32}}) == blocks_of_32(64));
  CHECK(map(1, 96, {{"group_size", -1}, {"size_k", 128}}) == blocks_of_32(96));
  CHECK(map(4, 24, {{"group_size", 32}, {"size_k", 128}, {"is_a_8bit", 1}}) == blocks_of_32(96));
  CHECK(refuses(ErrorCode::usage, "elements = 120 is not a multiple of 64", [&] { map(2, 60, {{"group_size", 32}}); }));
  CHECK(refuses(ErrorCode::usage, "elements = 48 is not a multiple of 32", [&] { map(1, 48, {{"group_size", -1}}); }));
}

TEST_CASE("marlin.permute_bias") {
  CHECK(stage_layout("marlin.permute_bias", 1, 1, 96, 16).gather() == blocks_of_32(96));
  CHECK(refuses(ErrorCode::usage, "elements = 40 is not a multiple of 32", [] { stage_layout("marlin.permute_bias", 1, 1, 40, 16); }));
}

TEST_CASE("padding of a dense layer") {
  // Both families fit: nothing is padded.
  CHECK(marlin_padded_nk({128, 128}, 32) == MatrixSize{128, 128});
  CHECK(marlin_padded_nk({64, 128}, 32) == MatrixSize{64, 128});
  CHECK(marlin_padded_nk({128, 64}, 32) == MatrixSize{128, 64});
  // 64 x 64 fits neither: 64 x 128 and 128 x 64 are equally large, and the first is taken.
  CHECK(marlin_padded_nk({64, 64}, 0) == MatrixSize{64, 128});
  CHECK(marlin_padded_nk({192, 64}, -1) == MatrixSize{256, 64});  // 16384 elements against 192 x 128 = 24576
  CHECK(marlin_padded_nk({200, 192}, 32) == MatrixSize{256, 192});
  // N 320 and K 192: 320 x 256 = 81920 against 384 x 192 = 73728.
  CHECK(marlin_padded_nk({320, 192}, 64) == MatrixSize{384, 192});
  // Columns stay whole groups of 48: lcm(128, 48) = 384, lcm(64, 48) = 192.
  CHECK(marlin_padded_nk({64, 96}, 48) == MatrixSize{128, 192});
  CHECK(marlin_padded_nk({1, 1}, 1) == MatrixSize{64, 128});
  CHECK(refuses(ErrorCode::usage, "0 is no size", [] { marlin_padded_nk({0, 64}, 32); }));
  CHECK(refuses(ErrorCode::usage, "16777217 is no size", [] { marlin_padded_nk({64, (1 << 24) + 1}, 32); }));
}

}  // namespace
