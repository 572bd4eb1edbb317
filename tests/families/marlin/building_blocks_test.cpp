// Marlin's building blocks: the specification's example, refusals, and what is surprising about them.

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/families/building_block.hpp"
#include "model/families/fragments.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::layout::Layout;
using mx::families::marlin_padded_nk;
using mx::families::MatrixSize;
using mx::families::block_layout;
using mx::tests::refuses;

using Map = std::vector<std::int64_t>;

/// One variant of the repack: spec layouts 6.1.
struct Variant {
  const char* block;
  int bits;
  bool is_a_8bit;
};
constexpr std::array<Variant, 4> kVariants{
    {{"marlin.repack.w4a16", 4, false}, {"marlin.repack.w4a8", 4, true}, {"marlin.repack.w8a16", 8, false}, {"marlin.repack.w8a8", 8, true}}};

TEST_CASE("a word of marlin.repack: the specification's example") {
  // Word 0 is row 0 with k 0 and 8, row 8 with k 0 and 8, then k 1 and 9.
  Map first = block_layout("marlin.repack.w4a16", 1, 64, 16, 4).gather();
  first.resize(8);
  CHECK(first == Map{0, 8, 8 * 16, 8 * 16 + 8, 1, 9, 8 * 16 + 1, 8 * 16 + 9});
}

TEST_CASE("hazard: half a tile of K passes the checks for 8-bit activations and is lost") {
  for (const Variant& variant : kVariants) {
    for (std::int64_t columns : {16, 48, 80}) {
      INFO(variant.block << " K " << columns);
      const Layout layout = block_layout(variant.block, 1, 64, columns, variant.bits);
      const Map map = layout.gather();
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
    INFO(variant.block);
    CHECK_NOTHROW(block_layout(variant.block, 1, 64, 16, variant.bits));
    CHECK(refuses(ErrorCode::usage, "K = 24 is not a multiple of 16", [&] { block_layout(variant.block, 1, 64, 24, variant.bits); }));
    CHECK(refuses(ErrorCode::usage, "rows = 96 is not a multiple of 64", [&] { block_layout(variant.block, 1, 96, 32, variant.bits); }));
    // K is checked first.
    CHECK(refuses(ErrorCode::usage, "K = 8", [&] { block_layout(variant.block, 1, 32, 8, variant.bits); }));
    CHECK(refuses(ErrorCode::usage, "it moves units of", [&] { block_layout(variant.block, 1, 64, 32, 16); }));
    CHECK(refuses(ErrorCode::usage, "num_bits = 6 is not in", [&] { block_layout(variant.block, 1, 64, 32, variant.bits, {{"num_bits", 6}}); }));
  }
}

TEST_CASE("marlin.permute_scales and marlin.permute_bias refuse what fills no block") {
  const auto refused = [](const std::string& text, const char* block, std::int64_t groups, std::int64_t rows, int bits,
                          mx::families::BlockParams params) {
    return refuses(ErrorCode::usage, text, [&] { block_layout(block, 1, groups, rows, bits, std::move(params)); });
  };
  CHECK(refused("elements = 120 is not a multiple of 64", "marlin.permute_scales", 2, 60, 8, {{"group_size", 32}}));
  CHECK(refused("elements = 48 is not a multiple of 32", "marlin.permute_scales", 1, 48, 8, {{"group_size", -1}}));
  CHECK(refused("elements = 40 is not a multiple of 32", "marlin.permute_bias", 1, 40, 16, {}));
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
