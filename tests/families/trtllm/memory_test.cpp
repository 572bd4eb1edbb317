// TRT-LLM generated kernels: examples of the order of rows, refusals, and what is surprising about them.

#include "model/families/convert.hpp"
#include "model/layout/packed.hpp"
#include "tests/catch.hpp"
#include "tests/families/maps.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using namespace mx::layout;    // NOLINT(google-build-using-namespace): the test speaks of nothing else
using namespace mx::families;  // NOLINT(google-build-using-namespace): the test speaks of nothing else
using mx::tests::built;
using mx::tests::refuses;
using mx::tests::standard_setting;

TEST_CASE("row order of w13 in the TRT-LLM layout") {
  // Rows 0, 1, 8 and 9 hold up 0, up 2, gate 0 and gate 2, whatever the checkpoint's order: swap2, then shuffle_matrix_a.
  for (SourceOrder order : {SourceOrder::gpt_oss, SourceOrder::standard}) {
    const Layout bias = built("FLASHINFER_TRTLLM_MXFP4_BF16", Role::w13_bias, {1, 128, 128}, order);
    CHECK(bias.inverse(0).coord == Coord{0, 1, 0});
    CHECK(bias.inverse(1).coord == Coord{0, 1, 2});
    CHECK(bias.inverse(8).coord == Coord{0, 0, 0});
    CHECK(bias.inverse(9).coord == Coord{0, 0, 2});
    CHECK(bias.bytes() == 256 * 4);
    // A weight's rows are the bias's, its nibbles stay in order.
    const Layout weight = built("FLASHINFER_TRTLLM_MXFP4_BF16", Role::w13_weight, {1, 128, 128}, order);
    CHECK(weight.inverse(9 * 128 + 77).coord == Coord{0, 0, 2, 77});
    // Scale 3 of row 9 lies in line 9 of the tile.
    const Layout scale = built("FLASHINFER_TRTLLM_MXFP4_BF16", Role::w13_weight_scale, {1, 128, 128}, order);
    CHECK(scale.inverse(9 * 16 + 3).coord == Coord{0, 0, 2, 3});
  }
}

TEST_CASE("hazard: NVFP4 padding for TRT-LLM comes behind both shards, so that gate and up no longer pair") {
  // I = 96 becomes 128. The padded matrix is up 0..95, gate 0..95, 64 rows of zero; its halves pair up i with gate i + 32.
  const BackendLayout& row = backend_layout_named("FLASHINFER_TRTLLM", WeightFormat::nvfp4, mx::deployment::kVllm2026_08);
  const Setting setting = standard_setting(WeightFormat::nvfp4, {1, 96, 256, 16});
  const Layout weight = row.build(Role::w13_weight, setting).layout;
  const auto row_of = [&](std::int64_t half, std::int64_t i) { return *weight.at(Coord{0, half, i, 0}) / 256; };
  constexpr std::int64_t kGate = 0;
  constexpr std::int64_t kUp = 1;
  // The first two rows of a shuffled block of 32 come from rows 0 and 4 of it: of the alternating rows, up 0 and up 2.
  CHECK(row_of(kUp, 0) == 0);
  CHECK(row_of(kUp, 2) == 1);
  // Row 1 of the alternating ones is gate 32, in row 8 of the block.
  CHECK(row_of(kGate, 32) == 8);
  // Where I needs no padding, it is gate 0.
  const Layout whole = row.build(Role::w13_weight, standard_setting(WeightFormat::nvfp4, {1, 128, 256, 16})).layout;
  CHECK(*whole.at(Coord{0, kGate, 0, 0}) / 256 == 8);
}

TEST_CASE("hazard: scales for TRT-LLM stay e8m0 bytes, whatever their tag says") {
  // The engine tags them e4m3, where 0x7F is NaN and 0x80 is -0; they are 1 and 2.
  const Form form(WeightFormat::mxfp8, SourceOrder::standard);
  CanonicalLayer layer{{1, 128, 128}, form, {}};
  layer[Role::w13_weight].assign(256 * 128, 0x38);
  layer[Role::w2_weight].assign(128 * 128, 0x38);
  layer[Role::w13_weight_scale].assign(256 * 4, 0x7F);
  layer[Role::w2_weight_scale].assign(128 * 4, 0x80);
  const PackedLayer packed =
      convert(layer, backend_layout_named("FLASHINFER_TRTLLM", WeightFormat::mxfp8, mx::deployment::kVllm2026_08), layer.sizes);
  CHECK(packed.find(Role::w13_weight_scale)->bytes == layer[Role::w13_weight_scale]);
  CHECK(packed.find(Role::w2_weight_scale)->bytes == layer[Role::w2_weight_scale]);
  CHECK(packed.losses.empty());
}

TEST_CASE("converters of TRT-LLM refuse what their source refuses") {
  const auto refused = [](const std::string& text, WeightFormat format, const Setting& setting) {
    const BackendLayout& row = backend_layout_named("FLASHINFER_TRTLLM", format, mx::deployment::kVllm2026_08);
    return refuses(ErrorCode::usage, text, [&] { check_needs(row, setting); });
  };
  Setting setting = standard_setting(WeightFormat::fp8_tensor, {1, 64, 48, 1});
  Setting narrow = standard_setting(WeightFormat::nvfp4, {1, 96, 256, 16});
  narrow.engine = mx::deployment::kVllm2026_05;
  CHECK(refuses(ErrorCode::usage, "2I = 192 is not a multiple of 128",
                [&] { check_needs(backend_layout_named("FLASHINFER_TRTLLM", WeightFormat::nvfp4, narrow.engine), narrow); }));
  CHECK(refused("H = 48 is not a multiple of 32", WeightFormat::fp8_tensor, setting));
  setting.has_input_scale = false;
  CHECK(refused("input scales are missing", WeightFormat::fp8_tensor, setting));
  CHECK(refused("H = 192 is not a multiple of 128", WeightFormat::fp8_block, standard_setting(WeightFormat::fp8_block, {1, 128, 192, 1})));
  CHECK(refused("I = 192 is not a multiple of 128", WeightFormat::fp8_block, standard_setting(WeightFormat::fp8_block, {1, 192, 128, 1})));
  CHECK(refused("2I = 192 is not a multiple of 128", WeightFormat::mxfp8, standard_setting(WeightFormat::mxfp8, {1, 96, 128})));
  CHECK(refused("I/group = 2 is not a multiple of 4", WeightFormat::mxfp8, standard_setting(WeightFormat::mxfp8, {1, 64, 128})));
}

}  // namespace
