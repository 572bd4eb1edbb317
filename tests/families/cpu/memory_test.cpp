// The CPU's packing: refusals, and what it does to a last half block.

#include "model/families/building_block.hpp"
#include "model/families/convert.hpp"
#include "model/layout/packed.hpp"
#include "tests/catch.hpp"
#include "tests/families/maps.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using namespace mx::layout;    // NOLINT(google-build-using-namespace): the test speaks of nothing else
using namespace mx::families;  // NOLINT(google-build-using-namespace): the test speaks of nothing else
using mx::tests::kUnwritten;
using mx::tests::Map;
using mx::tests::refuses;

TEST_CASE("hazard: the CPU's packing of 4-bit weights loses half of a last block of 16 rows") {
  for (const std::int64_t rows : {16, 48, 112}) {
    const Layout layout = block_layout("cpu.convert_weight_packed.uint8", 2, rows, 16, 8);
    const Map map = layout.gather();
    CHECK(layout.bytes() == 2 * rows * 16);
    // Of the last 16 rows 8 arrive; every high nibble beside them is whatever the buffer held.
    CHECK(std::ranges::count(map, kUnwritten) == 2 * 16 * 16);
    CHECK(std::ranges::count_if(map, [](std::int64_t entry) { return entry >= 0; }) == 2 * (rows - 8) * 16 * 2);
    CHECK(layout.at(Coord{0, rows - 9, 0, 0}).has_value());
    CHECK_FALSE(layout.at(Coord{0, rows - 8, 0, 0}).has_value());
  }
}

TEST_CASE("the CPU's blocks refuse what their source refuses") {
  const auto refused = [](const std::string& text, std::string_view block, std::int64_t rows, std::int64_t cols, int bits) {
    return refuses(ErrorCode::usage, text, [&] { block_layout(block, 1, rows, cols, bits); });
  };
  CHECK(refused("rows = 24 is not a multiple of 16", "cpu.convert_weight_packed.uint8", 24, 16, 8));
  CHECK(refused("K = 48 is not a multiple of 32", "cpu.convert_weight_packed.uint8", 32, 24, 8));
  CHECK(refused("K = 48 is not a multiple of 32", "cpu.convert_weight_packed.vnni2", 32, 48, 16));
  CHECK(refused("dtype = 32", "cpu.convert_weight_packed.vnni2", 32, 32, 32));
  CHECK(refused("rows = 48 is not a multiple of 32", "cpu.convert_scale_packed", 48, 4, 8));
}

}  // namespace
