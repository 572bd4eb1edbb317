// FlashInfer's CUTLASS kernels: examples of the order of rows, and what is surprising about it.

#include "model/families/convert.hpp"
#include "tests/catch.hpp"
#include "tests/families/maps.hpp"

namespace {

using namespace mx::layout;    // NOLINT(google-build-using-namespace): the test speaks of nothing else
using namespace mx::families;  // NOLINT(google-build-using-namespace): the test speaks of nothing else
using mx::tests::built;
using mx::tests::standard_setting;

TEST_CASE("row order of w13 in the FlashInfer CUTLASS layout") {
  const Sizes sizes{2, 128, 128};
  const Layout weight = built("FLASHINFER_CUTLASS_MXFP4_MXFP8", Role::w13_weight, sizes);
  CHECK(weight.at(Coord{1, 1, 5, 9}) == (256 + 5) * 128 + 9);
  CHECK(weight.at(Coord{1, 0, 5, 9}) == (256 + 128 + 5) * 128 + 9);
  CHECK(built("FLASHINFER_CUTLASS_MXFP4_MXFP8", Role::w2_weight, sizes).at(Coord{1, 5, 9}) == (128 + 5) * 128 + 9);
  CHECK(built("FLASHINFER_CUTLASS_MXFP4_MXFP8", Role::w13_bias, sizes).bytes() == 2 * 256 * 2);
}

TEST_CASE("hazard: FP8 padding comes behind both shards, so that gate and up no longer pair") {
  // I = 40 becomes 48. The padded matrix is gate 0..39, up 0..39, 16 rows of zero; its upper half, which the kernel takes for up, begins with up 8.
  const BackendLayout& row = backend_layout_named("FLASHINFER_CUTLASS", WeightFormat::fp8_tensor, mx::deployment::kVllm2026_08);
  const Layout weight = row.build(Role::w13_weight, standard_setting(WeightFormat::fp8_tensor, {1, 40, 16, 1})).layout;
  CHECK(weight.inverse(0).coord == Coord{0, 1, 8, 0});
  CHECK(weight.inverse(48 * 16).coord == Coord{0, 0, 0, 0});
  CHECK(weight.inverse((48 + 40) * 16).coord == Coord{0, 1, 0, 0});
  CHECK(weight.inverse(32 * 16).content == PadContent::zero);
}

}  // namespace
