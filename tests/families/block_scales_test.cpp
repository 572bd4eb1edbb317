// FP8 block scales for FlashInfer's kernels.

#include "model/families/convert.hpp"
#include "model/layout/packed.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using namespace mx::layout;    // NOLINT(google-build-using-namespace): the test speaks of nothing else
using namespace mx::families;  // NOLINT(google-build-using-namespace): the test speaks of nothing else
using mx::tests::refuses;

TEST_CASE("block scales below 1e-10 are raised, and that is a loss") {
  const Form form(WeightFormat::fp8_block, SourceOrder::standard);
  CanonicalLayer layer{{1, 128, 128, 1}, form, {}};
  layer[Role::w13_weight].assign(256 * 128, 0x38);
  layer[Role::w2_weight].assign(128 * 128, 0x38);
  // Gate 1e-10 as fp32, up 0; w2 a NaN with a payload.
  layer[Role::w13_weight_scale] = {0xFF, 0xE6, 0xDB, 0x2E, 0x00, 0x00, 0x00, 0x00};
  layer[Role::w2_weight_scale] = {0x01, 0x00, 0xC0, 0xFF};
  for (const char* backend : {"FLASHINFER_CUTLASS", "FLASHINFER_TRTLLM"}) {
    const PackedLayer packed = convert(layer, backend_layout_named(backend, WeightFormat::fp8_block, mx::deployment::kVllm2026_08),
                                       {.sizes = layer.sizes, .padded = layer.sizes, .form = form, .engine = mx::deployment::kVllm2026_08});
    CHECK(packed.find(Role::w13_weight_scale)->bytes == std::vector<std::uint8_t>{0xFF, 0xE6, 0xDB, 0x2E, 0xFF, 0xE6, 0xDB, 0x2E});
    CHECK(packed.find(Role::w2_weight_scale)->bytes == layer[Role::w2_weight_scale]);
    REQUIRE(packed.losses.size() == 1U);
    CHECK(packed.losses.front().units == 1);
    CHECK(refuses(ErrorCode::usage, "block scales below 1e-10", [&] { restore(packed); }));
    CHECK(restore(packed, OnLoss::mark)[Role::w13_weight] == layer[Role::w13_weight]);
  }
  layer[Role::w13_weight_scale] = {0x00, 0x00, 0x80, 0x3F, 0x00, 0x00, 0x00, 0x40};
  const PackedLayer kept =
      convert(layer, backend_layout_named("FLASHINFER_CUTLASS", WeightFormat::fp8_block, mx::deployment::kVllm2026_08), layer.sizes);
  CHECK(restore(kept)[Role::w13_weight_scale] == layer[Role::w13_weight_scale]);
}

}  // namespace
