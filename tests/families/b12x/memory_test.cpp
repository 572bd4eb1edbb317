#include "tests/catch.hpp"
#include "tests/families/nvfp4_rows.hpp"

namespace {

using namespace mx::test;  // NOLINT(google-build-using-namespace): the test speaks of nothing else

TEST_CASE("NVFP4 for B12X: up rows first") {
  for (const mx::Engine engine : mx::layout::kConversionEngines) {
    check_nvfp4("FLASHINFER_B12X", nvfp4_setting({2, 64, 144, 16}, true, engine), {halves_swapped(in_order(128, 128)), in_order(144, 144), 144, 64});
  }
  check_nvfp4_one_shard("FLASHINFER_B12X");
}

}  // namespace
