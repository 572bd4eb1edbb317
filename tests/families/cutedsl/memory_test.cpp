// CuteDSL's building block.

#include "model/families/building_block.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::families::block_layout;

TEST_CASE("the interleave of CuteDSL as a block") {
  CHECK(block_layout("nvfp4_moe.FLASHINFER_CUTEDSL", 1, 8, 1, 8, {{"group_rows", 2}}).gather() == std::vector<std::int64_t>{0, 1, 4, 5, 2, 3, 6, 7});
  CHECK(mx::tests::refuses(mx::ErrorCode::usage, "rows = 96 is not a multiple of 128",
                           [] { block_layout("nvfp4_moe.FLASHINFER_CUTEDSL", 1, 96, 4, 32); }));
}

}  // namespace
