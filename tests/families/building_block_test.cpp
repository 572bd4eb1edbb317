#include "model/families/building_block.hpp"

#include <tuple>
#include <vector>

#include "model/families/ggml_blocks.hpp"
#include "model/families/memory.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::families::block_layout;
using mx::layout::Layout;
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
    // A package that is no repository's commit is named by its release, and a document by its version.
    CHECK((block.source.commit.size() == 40U || block.source.repository.ends_with("(PyPI)") || block.source.repository == "PTX ISA"));
    CHECK_FALSE(block.source.symbol.empty());
    CHECK_FALSE(block.formula.empty());
  }
}

TEST_CASE("ggml's repacked memory is what its recordings are held to") {
  for (const auto* repack : {&mx::families::ggml::kFourRows, &mx::families::ggml::kEightRows}) {
    const std::vector<std::uint32_t> source = mx::families::ggml::repacked_source(*repack, 96, 16, 2);
    const Layout layout = block_layout("ggml.repack_mxfp4", 2, 16, 3 * 17, 8, {{"rows_together", repack->rows}});
    CHECK(layout.gather() == Map(source.begin(), source.end()));
  }
  CHECK(refuses(ErrorCode::usage, "rows_together = 6", [] { block_layout("ggml.repack_mxfp4", 1, 16, 17, 8, {{"rows_together", 6}}); }));
}

TEST_CASE("ggml's blocks hold the codes and the scales that one block of them has") {
  using mx::families::ggml::StoredBlock;
  for (const auto& [block, codes_of, scales_of] : {std::tuple{&mx::families::ggml::kMxfp4, "ggml.block_mxfp4.codes", "ggml.block_mxfp4.scales"},
                                                   std::tuple{&mx::families::ggml::kNvfp4, "ggml.block_nvfp4.codes", "ggml.block_nvfp4.scales"}}) {
    std::vector<std::uint8_t> packed, codes, scales;
    for (int i = 0; i < block->elements; ++i) codes.push_back(static_cast<std::uint8_t>((i * 7 + 3) % 16));
    for (std::size_t i = 0; i < codes.size(); i += 2) packed.push_back(static_cast<std::uint8_t>(codes[i] | codes[i + 1] << 4));
    for (int i = 0; i < block->scales; ++i) scales.push_back(static_cast<std::uint8_t>(0x70 + i));
    const auto moved = [](const char* name, const std::vector<std::uint8_t>& bytes) {
      const Layout to = block_layout(name, 1, 1, static_cast<std::int64_t>(bytes.size()), 8);
      Layout from({{"batch", 1}, {"rows", 1}, {"cols", static_cast<std::int64_t>(bytes.size())}}, 8);
      if (to.grain_bits() == 4) from.explode(4, "nibble");
      return apply(from, bytes, to);
    };
    std::vector<std::uint8_t> both = moved(codes_of, packed);
    const std::vector<std::uint8_t> of_scales = moved(scales_of, scales);
    REQUIRE(both.size() == of_scales.size());
    for (std::size_t i = 0; i < both.size(); ++i) both[i] = static_cast<std::uint8_t>(both[i] | of_scales[i]);
    CHECK(both == mx::families::ggml::stored(*block, scales, codes));
  }
}

// PTX ISA 9.2: four codes of 6 bits in three bytes, in two orders; codes of 4 bits in bits 5 to 2.
TEST_CASE("codes of 6 and 4 bits in bytes") {
  const auto packed = [](const char* name, std::vector<std::uint8_t> bytes, int bits) {
    const auto cols = static_cast<std::int64_t>(bytes.size() * 8) / bits;
    const Layout to = block_layout(name, 1, 1, cols, bits);
    Layout from({{"batch", 1}, {"rows", 1}, {"cols", cols}}, bits);
    from.explode(to.grain_bits(), to.grain_bits() == 1 ? "bit" : "pair");
    return apply(from, bytes, to);
  };
  using Bytes = std::vector<std::uint8_t>;
  const Bytes four{0x01, 0x22, 0x3F, 0x14};  // 000001 100010 111111 010100
  const Bytes three{0x81, 0xF8, 0x53};       // from the lowest bit on
  CHECK(packed("packing.fp6_four_in_three", four, 8) == three);
  CHECK(packed("packing.fp6_first_code_high", four, 8) == Bytes{0x06, 0x2F, 0xD4});
  CHECK(packed("packing.fp6_one_in_a_byte", three, 6) == four);
  CHECK(packed("packing.fp6_shifted", four, 8) == Bytes{0x04, 0x88, 0xFC, 0x50});
  CHECK(packed("packing.fp4_in_a_byte", {0x2F, 0x81}, 8) == Bytes{0x3C, 0x08, 0x04, 0x20});
  CHECK(packed("packing.fp6_sixteen_in_sixteen", {1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 63}, 8) ==
        Bytes{0x81, 0x30, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0xFC, 0, 0, 0, 0});
}

}  // namespace
