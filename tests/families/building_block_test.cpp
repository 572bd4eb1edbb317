#include "model/families/building_block.hpp"

#include "model/families/memory.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::layout::Layout;
using mx::families::block_layout;
using mx::tests::refuses;

using Map = std::vector<std::int64_t>;

/// The first `count` entries of a block's address map.
Map first(const Layout& layout, std::size_t count) {
  Map gather = layout.gather();
  gather.resize(count);
  return gather;
}

TEST_CASE("rows as shuffle_matrix_a puts them") {
  CHECK(first(block_layout("trtllm.shuffle_matrix_a", 1, 64, 1, 8), 10) == Map{0, 4, 8, 12, 16, 20, 24, 28, 1, 5});
  CHECK(first(block_layout("trtllm.shuffle_matrix_a", 1, 48, 1, 8, {{"epilogue_tile_m", 64}}), 10) == Map{0, 2, 4, 6, 8, 10, 12, 14, 1, 3});
  // The second block of 32 rows follows the first, the second matrix the first.
  CHECK(block_layout("trtllm.shuffle_matrix_a", 2, 64, 3, 8).inverse(2 * 3 * 33 + 1).coord == mx::layout::Coord{1, 0 + 8, 1});
}

TEST_CASE("halves of rows alternate for the gated activation") {
  CHECK(block_layout("trtllm.reorder_rows_for_gated_act_gemm", 1, 6, 2, 8).gather() == Map{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11});
}

TEST_CASE("the 128x4 scale tile") {
  const Layout tile = block_layout("sf_128x4", 1, 128, 4, 8);
  CHECK(first(tile, 18) == Map{0, 1, 2, 3, 128, 129, 130, 131, 256, 257, 258, 259, 384, 385, 386, 387, 4, 5});

  SECTION("odd sizes are padded with zero") {
    const Layout odd = block_layout("sf_128x4", 2, 33, 5, 8);
    CHECK(odd.bytes() == 2 * 128 * 8);
    CHECK(odd.at(mx::layout::Coord{1, 32, 4}) == 1024 + 512 + 4);
    CHECK(odd.is_padding(1024 + 512 + 5));
    CHECK(odd.inverse(8).content == mx::layout::PadContent::zero);
    CHECK(odd.is_padding(8));
  }
  SECTION("whatever the unit") {
    CHECK(block_layout("sf_128x4", 1, 128, 4, 16).gather() == tile.gather());
    CHECK(block_layout("sf_128x4", 1, 128, 4, 16).bytes() == 1024);
  }
}

TEST_CASE("hazard: the 128x4 tile of a stack of experts equals theirs only when rows are multiples of 128") {
  const auto stacked = [](std::int64_t rows) { return block_layout("sf_128x4", 1, 2 * rows, 4, 8).gather(); };
  const auto by_expert = [](std::int64_t rows) { return block_layout("sf_128x4", 2, rows, 4, 8).gather(); };
  CHECK(stacked(128) == by_expert(128));
  CHECK(stacked(64).size() == 512U);
  CHECK(by_expert(64).size() == 1024U);
  // Byte 8 is row 64 of the stack, the first of the second expert; by expert it is padding.
  CHECK(stacked(64)[8] == 64 * 4);
  CHECK(by_expert(64)[8] == Layout::kPadZero);
}

TEST_CASE("the 8x4 scale tile") {
  // 9 rows and 5 columns are two by two tiles of 32 bytes: row 8 opens the third tile, column 4 the second.
  const Layout tile = block_layout("sf_8x4", 1, 9, 5, 8);
  CHECK(tile.bytes() == 128);
  CHECK(first(tile, 8) == Map{0, 1, 2, 3, 5, 6, 7, 8});
  CHECK(tile.at(mx::layout::Coord{0, 7, 3}) == 31);
  CHECK(tile.at(mx::layout::Coord{0, 0, 4}) == 32);
  CHECK(tile.at(mx::layout::Coord{0, 8, 0}) == 64);
  CHECK(tile.inverse(33).content == mx::layout::PadContent::zero);
}

TEST_CASE("scales of shuffled rows") {
  // Tile row 1 holds source row 4, the second quarter's first row source row 32.
  CHECK(first(block_layout("trtllm.shuffle_matrix_sf_a", 1, 128, 4, 8), 18) ==
        Map{0, 1, 2, 3, 128, 129, 130, 131, 256, 257, 258, 259, 384, 385, 386, 387, 16, 17});
}

TEST_CASE("blocks refuse sizes that their converters refuse") {
  CHECK(refuses(ErrorCode::usage, "rows = 64 is not a multiple of 128", [] { block_layout("trtllm.shuffle_matrix_sf_a", 1, 64, 4, 8); }));
  CHECK(refuses(ErrorCode::usage, "rows = 48 is not a multiple of 32", [] { block_layout("trtllm.shuffle_matrix_a", 1, 48, 4, 8); }));
  CHECK(refuses(ErrorCode::usage, "rows = 24 is not a multiple of 16", [] {
    block_layout("trtllm.shuffle_matrix_a", 1, 24, 4, 8, {{"epilogue_tile_m", 64}});
  }));
  CHECK(refuses(ErrorCode::usage, "rows = 7 is not a multiple of 2", [] { block_layout("trtllm.reorder_rows_for_gated_act_gemm", 1, 7, 4, 8); }));
  CHECK(refuses(ErrorCode::usage, "did you mean sf_128x4", [] { block_layout("sf_128x5", 1, 128, 4, 8); }));
}

TEST_CASE("every block names its source") {
  REQUIRE(mx::families::all_building_blocks().size() >= 7U);
  for (const mx::families::BuildingBlock& block : mx::families::all_building_blocks()) {
    INFO(block.name);
    // A package that is no repository's commit is named by its release.
    CHECK((block.source.commit.size() == 40U || block.source.repository.ends_with("(PyPI)")));
    CHECK_FALSE(block.source.symbol.empty());
    CHECK_FALSE(block.formula.empty());
  }
}

}  // namespace
