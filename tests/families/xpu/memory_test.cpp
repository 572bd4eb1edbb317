// XPU with FP8.

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/families/fp8_maps.hpp"

namespace {

using namespace mx::layout;  // NOLINT(google-build-using-namespace): the test speaks of nothing else
using mx::test::checkpoint_addresses;
using mx::test::fp8_setting;
using mx::test::Map;

TEST_CASE("XPU transposes fp8 weights and block scales") {
  const Sizes sizes{2, 128, 256, 1};
  for (const WeightFormat format : {WeightFormat::fp8_tensor, WeightFormat::fp8_channel, WeightFormat::fp8_block}) {
    const Setting setting = fp8_setting(format, sizes);
    const BackendLayout& row = backend_layout_named("XPU", format, mx::kVllm2026_08);
    Map transposed;
    for (std::int64_t e = 0; e < 2; ++e)
      for (std::int64_t k = 0; k < 128; ++k)
        for (std::int64_t n = 0; n < 256; ++n) transposed.push_back((e * 256 + n) * 128 + k);
    CHECK(checkpoint_addresses(row, Role::w2_weight, setting) == transposed);
    const Map scale = checkpoint_addresses(row, Role::w13_weight_scale, setting);
    if (format == WeightFormat::fp8_block) {
      CHECK(scale == Map{0, 2, 1, 3, 4, 6, 5, 7});
    } else {
      CHECK(std::ranges::is_sorted(scale));
    }
  }
}

}  // namespace
