// FlashInfer's CUTLASS kernels against plain loops: MXFP4, NVFP4, FP8 per tensor and by blocks.

#include "model/families/convert.hpp"
#include "tests/catch.hpp"
#include "tests/families/fp8_maps.hpp"
#include "tests/families/nvfp4_rows.hpp"

namespace {

using namespace mx::layout;  // NOLINT(google-build-using-namespace): the test speaks of nothing else
using mx::test::built;
using mx::test::check_nvfp4;
using mx::test::check_nvfp4_one_shard;
using mx::test::checkpoint_addresses;
using mx::test::fp8_setting;
using mx::test::halves_swapped;
using mx::test::in_order;
using mx::test::Map;
using mx::test::moved;
using mx::test::nvfp4_setting;
using mx::test::rounded_up;
using mx::test::same;

TEST_CASE("row order of w13 in the FlashInfer CUTLASS layout") {
  const Sizes sizes{2, 128, 128};
  const Layout weight = built("FLASHINFER_CUTLASS_MXFP4_MXFP8", Role::w13_weight, sizes);
  CHECK(weight.at(Coord{1, 1, 5, 9}) == (256 + 5) * 128 + 9);
  CHECK(weight.at(Coord{1, 0, 5, 9}) == (256 + 128 + 5) * 128 + 9);
  CHECK(built("FLASHINFER_CUTLASS_MXFP4_MXFP8", Role::w2_weight, sizes).at(Coord{1, 5, 9}) == (128 + 5) * 128 + 9);
  CHECK(built("FLASHINFER_CUTLASS_MXFP4_MXFP8", Role::w13_bias, sizes).bytes() == 2 * 256 * 2);
}

TEST_CASE("NVFP4 for FlashInfer's CUTLASS kernels: up rows first") {
  for (const mx::Engine engine : kConversionEngines) {
    check_nvfp4("FLASHINFER_CUTLASS", nvfp4_setting({2, 64, 144, 16}, true, engine),
                {halves_swapped(in_order(128, 128)), in_order(144, 144), 144, 64});
  }
  check_nvfp4_one_shard("FLASHINFER_CUTLASS");
}

TEST_CASE("FP8 per tensor for FlashInfer's CUTLASS kernels: padding behind both shards, then the halves of the padded matrix change places") {
  for (const bool gated : {true, false}) {
    for (const std::int64_t size : {32, 40, 96}) {
      const Sizes sizes{2, size, 64, 1};
      const Setting setting = fp8_setting(WeightFormat::fp8_tensor, sizes, gated);
      const std::int64_t padded = rounded_up(size, gated ? 16 : 128);
      const std::int64_t rows = gated ? 2 * size : size;
      const std::int64_t all = gated ? 2 * padded : padded;
      const auto swapped = [&](std::int64_t r) { return gated ? (r + padded) % all : r; };
      const BackendLayout& cutlass = backend_layout_named("FLASHINFER_CUTLASS", WeightFormat::fp8_tensor, mx::kVllm2026_08);
      REQUIRE(cutlass.converts(setting.form, setting.engine));
      CHECK(checkpoint_addresses(cutlass, Role::w13_weight, setting) == moved(2, rows, 64, all, 64, swapped));
      CHECK(checkpoint_addresses(cutlass, Role::w2_weight, setting) == moved(2, 64, size, 64, padded, same));
    }
  }
}

TEST_CASE("hazard: FP8 padding comes behind both shards, so that gate and up no longer pair") {
  // I = 40 becomes 48. The padded matrix is gate 0..39, up 0..39, 16 rows of zero; its upper half, which the kernel takes for up, begins with up 8.
  const BackendLayout& row = backend_layout_named("FLASHINFER_CUTLASS", WeightFormat::fp8_tensor, mx::kVllm2026_08);
  const Layout weight = row.build(Role::w13_weight, fp8_setting(WeightFormat::fp8_tensor, {1, 40, 16, 1})).layout;
  CHECK(weight.inverse(0).coord == Coord{0, 1, 8, 0});
  CHECK(weight.inverse(48 * 16).coord == Coord{0, 0, 0, 0});
  CHECK(weight.inverse((48 + 40) * 16).coord == Coord{0, 1, 0, 0});
  CHECK(weight.inverse(32 * 16).content == PadContent::zero);
}

TEST_CASE("FP8 by blocks for FlashInfer's CUTLASS kernels") {
  const Sizes sizes{2, 128, 256, 1};
  for (const bool gated : {true, false}) {
    const Setting setting = fp8_setting(WeightFormat::fp8_block, sizes, gated);
    const std::int64_t rows = gated ? 256 : 128;
    const auto swapped = [&](std::int64_t r) { return gated ? (r + 128) % 256 : r; };
    const BackendLayout& cutlass = backend_layout_named("FLASHINFER_CUTLASS", WeightFormat::fp8_block, mx::kVllm2026_08);
    CHECK(checkpoint_addresses(cutlass, Role::w13_weight, setting) == moved(2, rows, 256, rows, 256, swapped));
    CHECK(checkpoint_addresses(cutlass, Role::w2_weight, setting) == moved(2, 256, 128, 256, 128, same));
    const Map scale = gated ? Map{2, 3, 0, 1, 6, 7, 4, 5} : Map{0, 1, 2, 3};
    CHECK(checkpoint_addresses(cutlass, Role::w13_weight_scale, setting) == scale);
  }
}

}  // namespace
