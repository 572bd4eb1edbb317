// FP8 and MXFP8 with FlashInfer, and XPU's fp8, against plain loops.

#include "model/families/convert.hpp"
#include "model/families/stage.hpp"
#include "model/layout/packed.hpp"
#include "tests/catch.hpp"
#include "tests/families/maps.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using namespace mx::layout;  // NOLINT(google-build-using-namespace): the test speaks of nothing else
using mx::test::checkpoint_addresses;
using mx::test::kZero;
using mx::test::Map;
using mx::test::refuses;
using mx::test::rounded_up;

Setting setting_of(WeightFormat format, const Sizes& sizes, bool gated = true) {
  return {.sizes = sizes, .padded = sizes, .form = Form(format, SourceOrder::standard, gated), .engine = mx::kVllm2026_08};
}

/// Units of [experts, rows, cols] as [packed_rows, packed_cols], row r of them from row_of(r), at or above `rows` and `cols` zero.
template <typename RowOf>
Map moved(std::int64_t experts, std::int64_t rows, std::int64_t cols, std::int64_t packed_rows, std::int64_t packed_cols, RowOf row_of) {
  Map map;
  for (std::int64_t e = 0; e < experts; ++e) {
    for (std::int64_t r = 0; r < packed_rows; ++r) {
      const std::int64_t row = row_of(r);
      for (std::int64_t c = 0; c < packed_cols; ++c) map.push_back(row < rows && c < cols ? (e * rows + row) * cols + c : kZero);
    }
  }
  return map;
}

std::int64_t same(std::int64_t row) { return row; }

TEST_CASE("FP8 per tensor: padding behind both shards, then the halves of the padded matrix") {
  for (const bool gated : {true, false}) {
    for (const std::int64_t size : {32, 40, 96}) {
      const Sizes sizes{2, size, 64, 1};
      const Setting setting = setting_of(WeightFormat::fp8_tensor, sizes, gated);
      const std::int64_t padded = rounded_up(size, gated ? 16 : 128);
      const std::int64_t rows = gated ? 2 * size : size;
      const std::int64_t all = gated ? 2 * padded : padded;
      const auto swapped = [&](std::int64_t r) { return gated ? (r + padded) % all : r; };
      const auto shuffled = [&](std::int64_t r) {
        const std::int64_t from = mx::test::shuffled_128(r);
        return gated ? swapped(mx::test::alternating(from, all)) : from;
      };
      const BackendLayout& cutlass = backend_layout_named("FLASHINFER_CUTLASS", WeightFormat::fp8_tensor, mx::kVllm2026_08);
      const BackendLayout& trtllm = backend_layout_named("FLASHINFER_TRTLLM", WeightFormat::fp8_tensor, mx::kVllm2026_08);
      REQUIRE(cutlass.converts(setting.form, setting.engine));
      CHECK(checkpoint_addresses(cutlass, Role::w13_weight, setting) == moved(2, rows, 64, all, 64, swapped));
      CHECK(checkpoint_addresses(cutlass, Role::w2_weight, setting) == moved(2, 64, size, 64, padded, same));
      CHECK(checkpoint_addresses(trtllm, Role::w13_weight, setting) == moved(2, rows, 64, all, 64, shuffled));
      CHECK(checkpoint_addresses(trtllm, Role::w2_weight, setting) == moved(2, 64, size, 64, padded, mx::test::shuffled_128));
      CHECK(checkpoint_addresses(trtllm, Role::w13_weight_scale, setting) == Map{0, 1});
    }
  }
}

TEST_CASE("hazard: FP8 padding comes behind both shards, so that gate and up no longer pair") {
  // I = 40 becomes 48. The padded matrix is gate 0..39, up 0..39, 16 rows of zero; its upper half, which the kernel takes for up, begins with up 8.
  const BackendLayout& row = backend_layout_named("FLASHINFER_CUTLASS", WeightFormat::fp8_tensor, mx::kVllm2026_08);
  const Layout weight = row.build(Role::w13_weight, setting_of(WeightFormat::fp8_tensor, {1, 40, 16, 1})).layout;
  CHECK(weight.inverse(0).coord == Coord{0, 1, 8, 0});
  CHECK(weight.inverse(48 * 16).coord == Coord{0, 0, 0, 0});
  CHECK(weight.inverse((48 + 40) * 16).coord == Coord{0, 1, 0, 0});
  CHECK(weight.inverse(32 * 16).content == PadContent::zero);
}

TEST_CASE("FP8 by blocks") {
  const Sizes sizes{2, 128, 256, 1};
  for (const bool gated : {true, false}) {
    const Setting setting = setting_of(WeightFormat::fp8_block, sizes, gated);
    const std::int64_t rows = gated ? 256 : 128;
    const auto swapped = [&](std::int64_t r) { return gated ? (r + 128) % 256 : r; };
    const BackendLayout& cutlass = backend_layout_named("FLASHINFER_CUTLASS", WeightFormat::fp8_block, mx::kVllm2026_08);
    const BackendLayout& trtllm = backend_layout_named("FLASHINFER_TRTLLM", WeightFormat::fp8_block, mx::kVllm2026_08);
    CHECK(checkpoint_addresses(cutlass, Role::w13_weight, setting) == moved(2, rows, 256, rows, 256, swapped));
    CHECK(checkpoint_addresses(cutlass, Role::w2_weight, setting) == moved(2, 256, 128, 256, 128, same));
    const Map scale = gated ? Map{2, 3, 0, 1, 6, 7, 4, 5} : Map{0, 1, 2, 3};
    CHECK(checkpoint_addresses(cutlass, Role::w13_weight_scale, setting) == scale);
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

TEST_CASE("block scales below 1e-10 are raised, and that is a loss") {
  const Form form(WeightFormat::fp8_block, SourceOrder::standard);
  CanonicalLayer layer{{1, 128, 128, 1}, form, {}};
  layer[Role::w13_weight].assign(256 * 128, 0x38);
  layer[Role::w2_weight].assign(128 * 128, 0x38);
  // Gate 1e-10 as fp32, up 0; w2 a NaN with a payload.
  layer[Role::w13_weight_scale] = {0xFF, 0xE6, 0xDB, 0x2E, 0x00, 0x00, 0x00, 0x00};
  layer[Role::w2_weight_scale] = {0x01, 0x00, 0xC0, 0xFF};
  for (const char* backend : {"FLASHINFER_CUTLASS", "FLASHINFER_TRTLLM"}) {
    const PackedLayer packed = convert(layer, backend_layout_named(backend, WeightFormat::fp8_block, mx::kVllm2026_08),
                                       {.sizes = layer.sizes, .padded = layer.sizes, .form = form, .engine = mx::kVllm2026_08});
    CHECK(packed.find(Role::w13_weight_scale)->bytes == std::vector<std::uint8_t>{0xFF, 0xE6, 0xDB, 0x2E, 0xFF, 0xE6, 0xDB, 0x2E});
    CHECK(packed.find(Role::w2_weight_scale)->bytes == layer[Role::w2_weight_scale]);
    REQUIRE(packed.losses.size() == 1U);
    CHECK(packed.losses.front().units == 1);
    CHECK(refuses(ErrorCode::usage, "block scales below 1e-10", [&] { restore(packed); }));
    CHECK(restore(packed, OnLoss::mark)[Role::w13_weight] == layer[Role::w13_weight]);
  }
  layer[Role::w13_weight_scale] = {0x00, 0x00, 0x80, 0x3F, 0x00, 0x00, 0x00, 0x40};
  const PackedLayer kept = convert(layer, backend_layout_named("FLASHINFER_CUTLASS", WeightFormat::fp8_block, mx::kVllm2026_08), layer.sizes);
  CHECK(restore(kept)[Role::w13_weight_scale] == layer[Role::w13_weight_scale]);
}

TEST_CASE("MXFP8 for TRT-LLM") {
  for (const bool gated : {true, false}) {
    const std::int64_t size = gated ? 64 : 128;
    const Sizes sizes{2, size, 128};
    const Setting setting = setting_of(WeightFormat::mxfp8, sizes, gated);
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

TEST_CASE("XPU transposes fp8 weights and block scales") {
  const Sizes sizes{2, 128, 256, 1};
  for (const WeightFormat format : {WeightFormat::fp8_tensor, WeightFormat::fp8_channel, WeightFormat::fp8_block}) {
    const Setting setting = setting_of(format, sizes);
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

TEST_CASE("DeepGEMM keeps block scales on sm90 and packs those of every row on sm100") {
  const Form form(WeightFormat::fp8_block, SourceOrder::standard);
  CanonicalLayer layer{{1, 128, 640, 1}, form, {}};
  layer[Role::w13_weight].assign(256 * 640, 0x38);
  layer[Role::w2_weight].assign(640 * 128, 0x38);
  const auto power = [](std::vector<std::uint8_t>& scales, std::uint32_t exponent) {
    const std::uint32_t bits = exponent << 23;
    for (unsigned shift = 0; shift < 32; shift += 8) scales.push_back(static_cast<std::uint8_t>(bits >> shift));
  };
  for (std::uint32_t i = 0; i < 10; ++i) power(layer[Role::w13_weight_scale], 100 + i);
  for (std::uint32_t i = 0; i < 5; ++i) power(layer[Role::w2_weight_scale], 120 + i);
  const BackendLayout& row = backend_layout_named("DEEPGEMM", WeightFormat::fp8_block, mx::kVllm2026_08);
  Setting setting = setting_of(WeightFormat::fp8_block, layer.sizes);
  setting.arch = Arch::sm90;
  CHECK(convert(layer, row, setting).find(Role::w13_weight_scale)->bytes == layer[Role::w13_weight_scale]);

  setting.arch = Arch::sm100;
  const PackedLayer packed = convert(layer, row, setting);
  // Word (p, i) at 256 p + i holds the exponents of columns 4p .. 4p+3 of row i; five columns are two words.
  const std::vector<std::uint8_t>& words = packed.find(Role::w13_weight_scale)->bytes;
  REQUIRE(words.size() == 2U * 256 * 4);
  for (std::size_t p = 0; p < 2; ++p) {
    for (std::size_t i = 0; i < 256; ++i) {
      for (std::size_t j = 0; j < 4; ++j) REQUIRE(words[(p * 256 + i) * 4 + j] == (4 * p + j < 5 ? 100 + i / 128 * 5 + 4 * p + j : 0));
    }
  }
  CHECK(packed.losses.empty());
  CHECK(restore(packed).tensors == layer.tensors);

  layer[Role::w2_weight_scale][0] = 1;
  CHECK(refuses(ErrorCode::unsupported, "scale 0 has bits 0x3c000001", [&] { convert(layer, row, setting); }));
  setting.arch = Arch::gfx950;
  CHECK(refuses(ErrorCode::usage, "another device: DeepGEMM has FP8 kernels", [&] { check_needs(row, setting); }));
}

TEST_CASE("FP8 converters refuse what their source refuses") {
  const auto refused = [](const std::string& text, WeightFormat format, const Setting& setting) {
    const BackendLayout& row = backend_layout_named("FLASHINFER_TRTLLM", format, mx::kVllm2026_08);
    return refuses(ErrorCode::usage, text, [&] { check_needs(row, setting); });
  };
  Setting setting = setting_of(WeightFormat::fp8_tensor, {1, 64, 48, 1});
  CHECK(refused("H = 48 is not a multiple of 32", WeightFormat::fp8_tensor, setting));
  setting.has_input_scale = false;
  CHECK(refused("input scales are missing", WeightFormat::fp8_tensor, setting));
  CHECK(refused("H = 192 is not a multiple of 128", WeightFormat::fp8_block, setting_of(WeightFormat::fp8_block, {1, 128, 192, 1})));
  CHECK(refused("I = 192 is not a multiple of 128", WeightFormat::fp8_block, setting_of(WeightFormat::fp8_block, {1, 192, 128, 1})));
  CHECK(refused("2I = 192 is not a multiple of 128", WeightFormat::mxfp8, setting_of(WeightFormat::mxfp8, {1, 96, 128})));
  CHECK(refused("I/group = 2 is not a multiple of 4", WeightFormat::mxfp8, setting_of(WeightFormat::mxfp8, {1, 64, 128})));
}

}  // namespace
