// TRT-LLM generated kernels against plain loops: MXFP4, NVFP4, FP8 per tensor and by blocks, MXFP8.

#include "model/families/convert.hpp"
#include "model/layout/packed.hpp"
#include "tests/catch.hpp"
#include "tests/families/fp8_maps.hpp"
#include "tests/families/nvfp4_rows.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using namespace mx::layout;  // NOLINT(google-build-using-namespace): the test speaks of nothing else
using mx::test::built;
using mx::test::check_nvfp4;
using mx::test::checkpoint_addresses;
using mx::test::fp8_setting;
using mx::test::halves_swapped;
using mx::test::in_order;
using mx::test::Map;
using mx::test::moved;
using mx::test::nvfp4_setting;
using mx::test::Nvfp4Rows;
using mx::test::padded_to;
using mx::test::refuses;
using mx::test::reordered;
using mx::test::rounded_up;
using mx::test::RowOf;

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

Nvfp4Rows nvfp4_rows(const Sizes& sizes, bool gated, std::int64_t multiple) {
  const std::int64_t hidden = rounded_up(sizes.hidden, 256);
  const std::int64_t intermediate = rounded_up(sizes.intermediate, gated ? multiple : 128);
  RowOf w13 = in_order(sizes.intermediate, sizes.intermediate);
  if (gated) w13 = halves_swapped(in_order(2 * sizes.intermediate, 2 * sizes.intermediate));
  w13 = padded_to(w13, (gated ? 2 : 1) * intermediate);
  const auto count = static_cast<std::int64_t>(w13.size());
  if (gated) w13 = reordered(w13, [&](std::int64_t r) { return mx::test::alternating(r, count); });
  return {reordered(w13, mx::test::shuffled_128), reordered(in_order(sizes.hidden, hidden), mx::test::shuffled_128), hidden, intermediate};
}

TEST_CASE("NVFP4 for TRT-LLM: padding in both directions, both engine versions") {
  for (const bool gated : {true, false}) {
    for (const Sizes& sizes : {Sizes{2, 64, 256, 16}, Sizes{1, 96, 128, 16}, Sizes{1, 160, 272, 16}}) {
      check_nvfp4("FLASHINFER_TRTLLM", nvfp4_setting(sizes, gated), nvfp4_rows(sizes, gated, 64));
    }
    check_nvfp4("FLASHINFER_TRTLLM", nvfp4_setting({1, 192, 256, 16}, gated, mx::kVllm2026_05), nvfp4_rows({1, 192, 256, 16}, gated, 16));
  }
  const Setting narrow = nvfp4_setting({1, 96, 256, 16}, true, mx::kVllm2026_05);
  const BackendLayout& row = backend_layout_named("FLASHINFER_TRTLLM", WeightFormat::nvfp4, mx::kVllm2026_05);
  CHECK(refuses(ErrorCode::usage, "2I = 192 is not a multiple of 128", [&] { check_needs(row, narrow); }));
}

TEST_CASE("hazard: NVFP4 padding for TRT-LLM comes behind both shards, so that gate and up no longer pair") {
  // I = 96 becomes 128. The padded matrix is up 0..95, gate 0..95, 64 rows of zero; its halves pair up i with gate i + 32.
  const BackendLayout& row = backend_layout_named("FLASHINFER_TRTLLM", WeightFormat::nvfp4, mx::kVllm2026_08);
  const Setting setting = nvfp4_setting({1, 96, 256, 16}, true);
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
  const Layout whole = row.build(Role::w13_weight, nvfp4_setting({1, 128, 256, 16}, true)).layout;
  CHECK(*whole.at(Coord{0, kGate, 0, 0}) / 256 == 8);
}

TEST_CASE("FP8 per tensor for TRT-LLM: padding behind both shards, then the halves of the padded matrix alternate") {
  for (const bool gated : {true, false}) {
    for (const std::int64_t size : {32, 40, 96}) {
      const Sizes sizes{2, size, 64, 1};
      const Setting setting = fp8_setting(WeightFormat::fp8_tensor, sizes, gated);
      const std::int64_t padded = rounded_up(size, gated ? 16 : 128);
      const std::int64_t rows = gated ? 2 * size : size;
      const std::int64_t all = gated ? 2 * padded : padded;
      const auto swapped = [&](std::int64_t r) { return gated ? (r + padded) % all : r; };
      const auto shuffled = [&](std::int64_t r) {
        const std::int64_t from = mx::test::shuffled_128(r);
        return gated ? swapped(mx::test::alternating(from, all)) : from;
      };
      const BackendLayout& trtllm = backend_layout_named("FLASHINFER_TRTLLM", WeightFormat::fp8_tensor, mx::kVllm2026_08);
      CHECK(checkpoint_addresses(trtllm, Role::w13_weight, setting) == moved(2, rows, 64, all, 64, shuffled));
      CHECK(checkpoint_addresses(trtllm, Role::w2_weight, setting) == moved(2, 64, size, 64, padded, mx::test::shuffled_128));
      CHECK(checkpoint_addresses(trtllm, Role::w13_weight_scale, setting) == Map{0, 1});
    }
  }
}

TEST_CASE("FP8 by blocks for TRT-LLM") {
  const Sizes sizes{2, 128, 256, 1};
  for (const bool gated : {true, false}) {
    const Setting setting = fp8_setting(WeightFormat::fp8_block, sizes, gated);
    const std::int64_t rows = gated ? 256 : 128;
    const auto swapped = [&](std::int64_t r) { return gated ? (r + 128) % 256 : r; };
    const BackendLayout& trtllm = backend_layout_named("FLASHINFER_TRTLLM", WeightFormat::fp8_block, mx::kVllm2026_08);
    const Map scale = gated ? Map{2, 3, 0, 1, 6, 7, 4, 5} : Map{0, 1, 2, 3};
    CHECK(checkpoint_addresses(trtllm, Role::w13_weight_scale, setting) == scale);
    // Blocks of 128 columns, within them all rows.
    Map blocks;
    for (std::int64_t e = 0; e < 2; ++e)
      for (std::int64_t kt = 0; kt < 2; ++kt)
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t x = 0; x < 128; ++x) blocks.push_back((e * rows + swapped(mx::test::shuffled_64(r))) * 256 + 128 * kt + x);
    CHECK(checkpoint_addresses(trtllm, Role::w13_weight, setting) == blocks);
    CHECK(checkpoint_addresses(trtllm, Role::w2_weight, setting) == moved(2, 256, 128, 256, 128, mx::test::shuffled_64));
  }
}

TEST_CASE("MXFP8 for TRT-LLM") {
  for (const bool gated : {true, false}) {
    const std::int64_t size = gated ? 64 : 128;
    const Sizes sizes{2, size, 128};
    const Setting setting = fp8_setting(WeightFormat::mxfp8, sizes, gated);
    const auto source = [&](std::int64_t r) {
      const std::int64_t from = mx::test::shuffled_128(r);
      return gated ? (mx::test::alternating(from, 128) + 64) % 128 : from;
    };
    const BackendLayout& row = backend_layout_named("FLASHINFER_TRTLLM", WeightFormat::mxfp8, mx::kVllm2026_08);
    CHECK(checkpoint_addresses(row, Role::w13_weight, setting) == moved(2, 128, 128, 128, 128, source));
    Map scale(2 * 512);
    for (std::int64_t e = 0; e < 2; ++e)
      for (std::int64_t r = 0; r < 128; ++r)
        for (std::int64_t g = 0; g < 4; ++g) scale[static_cast<std::size_t>(e * 512 + mx::test::sf128x4(r, g, 4))] = (e * 128 + source(r)) * 4 + g;
    CHECK(checkpoint_addresses(row, Role::w13_weight_scale, setting) == scale);
    CHECK(checkpoint_addresses(row, Role::w2_weight, setting) == moved(2, 128, size, 128, size, mx::test::shuffled_128));
  }
}

TEST_CASE("hazard: scales for TRT-LLM stay e8m0 bytes, whatever their tag says") {
  // The engine tags them e4m3, where 0x7F is NaN and 0x80 is -0; they are 1 and 2.
  const Form form(WeightFormat::mxfp8, SourceOrder::standard);
  CanonicalLayer layer{{1, 128, 128}, form, {}};
  layer[Role::w13_weight].assign(256 * 128, 0x38);
  layer[Role::w2_weight].assign(128 * 128, 0x38);
  layer[Role::w13_weight_scale].assign(256 * 4, 0x7F);
  layer[Role::w2_weight_scale].assign(128 * 4, 0x80);
  const PackedLayer packed = convert(layer, backend_layout_named("FLASHINFER_TRTLLM", WeightFormat::mxfp8, mx::kVllm2026_08), layer.sizes);
  CHECK(packed.find(Role::w13_weight_scale)->bytes == layer[Role::w13_weight_scale]);
  CHECK(packed.find(Role::w2_weight_scale)->bytes == layer[Role::w2_weight_scale]);
  CHECK(packed.losses.empty());
}

TEST_CASE("FP8 converters refuse what their source refuses") {
  const auto refused = [](const std::string& text, WeightFormat format, const Setting& setting) {
    const BackendLayout& row = backend_layout_named("FLASHINFER_TRTLLM", format, mx::kVllm2026_08);
    return refuses(ErrorCode::usage, text, [&] { check_needs(row, setting); });
  };
  Setting setting = fp8_setting(WeightFormat::fp8_tensor, {1, 64, 48, 1});
  CHECK(refused("H = 48 is not a multiple of 32", WeightFormat::fp8_tensor, setting));
  setting.has_input_scale = false;
  CHECK(refused("input scales are missing", WeightFormat::fp8_tensor, setting));
  CHECK(refused("H = 192 is not a multiple of 128", WeightFormat::fp8_block, fp8_setting(WeightFormat::fp8_block, {1, 128, 192, 1})));
  CHECK(refused("I = 192 is not a multiple of 128", WeightFormat::fp8_block, fp8_setting(WeightFormat::fp8_block, {1, 192, 128, 1})));
  CHECK(refused("2I = 192 is not a multiple of 128", WeightFormat::mxfp8, fp8_setting(WeightFormat::mxfp8, {1, 96, 128})));
  CHECK(refused("I/group = 2 is not a multiple of 4", WeightFormat::mxfp8, fp8_setting(WeightFormat::mxfp8, {1, 64, 128})));
}

}  // namespace
