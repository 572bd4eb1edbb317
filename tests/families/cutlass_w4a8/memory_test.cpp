// W4A8: codes, order, scales and strides against their formulas.

#include <bit>

#include "model/families/building_block.hpp"
#include "model/families/convert.hpp"
#include "model/families/cutlass_w4a8/values.hpp"
#include "model/families/value_block.hpp"
#include "model/layout/packed.hpp"
#include "tests/catch.hpp"
#include "tests/families/maps.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using namespace mx::layout;    // NOLINT(google-build-using-namespace): the test speaks of nothing else
using namespace mx::families;  // NOLINT(google-build-using-namespace): the test speaks of nothing else
using mx::tests::Map;
using mx::tests::refuses;

/// Address of nibble (n, k) of a reordered matrix of `rows` rows.
std::int64_t reordered(std::int64_t n, std::int64_t k, std::int64_t rows) {
  return n / 16 * 512 + k / 32 * 512 * (rows / 16) + n % 8 * 64 + n % 16 / 8 * 4 + k % 4 + k / 4 % 4 * 16 + k % 32 / 16 * 8;
}

TEST_CASE("the order of W4A8 weights") {
  for (const int bits : {4, 8}) {
    const Map map = block_layout("cutlass_w4a8.reorder", 2, 48, 512 * 4 / bits, bits).gather();
    REQUIRE(map.size() == 2U * 48 * 512);
    for (std::int64_t e = 0; e < 2; ++e) {
      for (std::int64_t n = 0; n < 48; ++n) {
        for (std::int64_t k = 0; k < 512; ++k) {
          REQUIRE(map[static_cast<std::size_t>(e * 48 * 512 + reordered(n, k, 48))] == (e * 48 + n) * 512 + k);
        }
      }
    }
  }
  CHECK(refuses(ErrorCode::usage, "K = 128 is not a multiple of 256", [] { block_layout("cutlass_w4a8.reorder", 1, 16, 64, 8); }));
  CHECK(refuses(ErrorCode::usage, "rows = 24 is not a multiple of 16", [] { block_layout("cutlass_w4a8.reorder", 1, 24, 256, 4); }));
  CHECK(refuses(ErrorCode::usage, "dtype = 16", [] { block_layout("cutlass_w4a8.reorder", 1, 16, 256, 16); }));
}

TEST_CASE("int4 codes") {
  for (unsigned code = 0; code < 16; ++code) {
    // Two's complement of code - 8; then 1..7 reversed.
    CHECK(uint4b8_to_int4(static_cast<std::uint8_t>(code)) == ((code + 8U) & 15U));
    CHECK(w4a8_encode(static_cast<std::uint8_t>(code)) == (code >= 1 && code <= 7 ? 8 - code : code));
  }
  const BlockTensors words{{"w", {32, {2}, {0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE}}}};
  const BlockTensors int4 = run_block(value_block_named("w4a8.uint4b8_to_int4"), words, {});
  CHECK(int4.at("w").bytes == std::vector<std::uint8_t>{0x98, 0xBA, 0xDC, 0xFE, 0x10, 0x32, 0x54, 0x76});
  CHECK(value_block_named("w4a8.uint4b8_to_int4").undo(int4, {}) == words);
  CHECK(refuses(ErrorCode::usage, "8 bytes are not a multiple of 16", [&] { run_block(value_block_named("cutlass_w4a8.encode"), words, {}); }));
}

TEST_CASE("W4A8 weights encoded and reordered, and back") {
  const ValueBlock& block = value_block_named("cutlass_w4a8.encode_and_reorder");
  BlockTensor weight{8, {2, 32, 128}, std::vector<std::uint8_t>(2 * 32 * 128)};
  for (std::size_t i = 0; i < weight.bytes.size(); ++i) weight.bytes[i] = static_cast<std::uint8_t>(i * 37 >> 3);
  const BlockTensors packed = run_block(block, {{"w", weight}}, {});
  const auto nibble = [](const std::vector<std::uint8_t>& bytes, std::int64_t i) {
    return bytes[static_cast<std::size_t>(i / 2)] >> (i % 2 * 4) & 15;
  };
  for (std::int64_t e = 0; e < 2; ++e) {
    for (std::int64_t n = 0; n < 32; ++n) {
      for (std::int64_t k = 0; k < 256; ++k) {
        const int code = nibble(weight.bytes, (e * 32 + n) * 256 + k);
        REQUIRE(nibble(packed.at("w").bytes, e * 32 * 256 + reordered(n, k, 32)) == (code >= 1 && code <= 7 ? 8 - code : code));
      }
    }
  }
  CHECK(packed.at("layout") == BlockTensor{32, {2, 3}, {2, 0, 0, 0, 8, 0, 0, 0, 0, 4, 0, 0, 2, 0, 0, 0, 8, 0, 0, 0, 0, 4, 0, 0}});
  CHECK(block.undo(packed, {}).at("w") == weight);
  CHECK(refuses(ErrorCode::usage, "2 axes", [&] { run_block(block, {{"w", {8, {32, 256}, weight.bytes}}}, {}); }));
}

TEST_CASE("one e4m3 scale becomes its products with -8 to -1") {
  CHECK(w4a8_expand(0x38) == 0xB8C0C4C8CACCCED0U);
  CHECK(w4a8_expand(0x00) == 0x8080808080808080U);
  CHECK(w4a8_expand(0x80) == 0);
  // 448 * 8 and 448 * 7 .. saturate, NaNs of both signs become one.
  CHECK(w4a8_expand(0x7E) == 0xFEFEFEFEFEFEFEFEU);
  CHECK(w4a8_expand(0x7F) == 0x7F7F7F7F7F7F7F7FU);
  CHECK(w4a8_expand(0xFF) == 0x7F7F7F7F7F7F7F7FU);
  const BlockTensors packed = run_block(value_block_named("cutlass_w4a8.pack_scale_fp8"), {{"s", {8, {1, 2}, {0x38, 0x01}}}}, {});
  CHECK(packed.at("s") ==
        BlockTensor{8, {1, 2, 8}, {0xD0, 0xCE, 0xCC, 0xCA, 0xC8, 0xC4, 0xC0, 0xB8, 0x88, 0x87, 0x86, 0x85, 0x84, 0x83, 0x82, 0x81}});
}

/// The nearest e4m3 code of a value below 448, by search; ties to the even code.
std::uint8_t nearest_e4m3(double value) {
  const auto value_of = [](int code) {
    const int exponent = code >> 3;
    const double mantissa = (code & 7) / 8.0;
    double scale = exponent == 0 ? 1.0 / 64 : 1.0;
    for (int i = 7; i < exponent; ++i) scale *= 2;
    for (int i = exponent; i > 0 && i < 7; ++i) scale /= 2;
    return (exponent == 0 ? mantissa : 1 + mantissa) * scale;
  };
  const double size = value < 0 ? -value : value;
  int best = 0;
  for (int code = 1; code < 0x7F; ++code) {
    const double now = value_of(code) > size ? value_of(code) - size : size - value_of(code);
    const double before = value_of(best) > size ? value_of(best) - size : size - value_of(best);
    if (now < before || (now == before && code % 2 == 0)) best = code;
  }
  return static_cast<std::uint8_t>(best | (value < 0 ? 0x80 : 0));
}

TEST_CASE("group scales to e4m3 codes and a channel scale") {
  // A row whose largest scale is 448 keeps its values; the codes are an eighth of them, the channel scale 8.
  const std::vector<std::uint16_t> whole{0x43E0, 0x3F80, 0xC0E0, 0x0000, 0x3C00};  // 448, 1, -7, 0, 2^-7
  std::vector<std::uint8_t> codes(whole.size());
  CHECK(w4a8_quantize_scales(whole, codes) == 0x41000000U);
  CHECK(codes == std::vector<std::uint8_t>{0x66, 0x20, 0xB6, 0x00, nearest_e4m3(1.0 / 1024)});
  // Scales so small that the least one applies: 1/(448*512) = 2^-15/7.
  const std::vector<std::uint16_t> tiny{0x0000, 0x0080};
  codes.resize(2);
  CHECK(w4a8_quantize_scales(tiny, codes) == std::bit_cast<std::uint32_t>(8.0F / 229376.0F));
  CHECK(codes == std::vector<std::uint8_t>{0, 0});
  // Others against fp32 arithmetic step by step.
  for (std::uint16_t first = 0x3C01; first < 0x3D00; first = static_cast<std::uint16_t>(first + 7)) {
    const std::vector<std::uint16_t> row{first, static_cast<std::uint16_t>(first - 0x0123), static_cast<std::uint16_t>(0x8000 | (first - 0x0077))};
    const auto value = [](std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); };
    const float scale = value(first) / 448.0F;
    const float inverse = 1.0F / scale;
    std::vector<std::uint8_t> got(row.size());
    CHECK(w4a8_quantize_scales(row, got) == std::bit_cast<std::uint32_t>(scale * 8.0F));
    for (std::size_t i = 0; i < row.size(); ++i) {
      const float scaled = value(row[i]) * inverse;
      const std::uint8_t code = nearest_e4m3(scaled > 448.0F ? 448.0F : scaled);
      // An eighth is three exponents less; every code here is that large.
      REQUIRE((code & 0x7F) >= 0x20);
      CHECK(got[i] == code - 0x18);
    }
  }
}

TEST_CASE("the W4A8 backend") {
  const Sizes sizes{2, 256, 256, 128};
  const Form form(WeightFormat::int4, SourceOrder::standard);
  CanonicalLayer layer{sizes, form, {}};
  layer[Role::w13_weight].assign(2 * 512 * 128, 0x98);  // elements 8 and 9: values 0 and 1
  layer[Role::w2_weight].assign(2 * 256 * 128, 0x88);
  layer[Role::w13_weight_scale].resize(2 * 512 * 2 * 2);
  for (std::size_t i = 0; i < layer[Role::w13_weight_scale].size(); i += 2) layer[Role::w13_weight_scale][i + 1] = 0x3F;  // 0.5
  layer[Role::w2_weight_scale].assign(2 * 256 * 2 * 2, 0x3F);
  const BackendLayout& row = backend_layout_named("CUTLASS", WeightFormat::int4, mx::deployment::kVllm2026_05);
  const PackedLayer packed = convert(layer, row, sizes);

  const PackedTensor& weight = *packed.find(Role::w13_weight);
  CHECK(weight.bytes[0] == 0x70);
  for (std::int64_t n : {0, 1, 17, 300, 511}) {
    for (std::int64_t k : {0, 1, 5, 130, 255}) {
      CHECK(weight.layout.at(Coord{1, n / 256, n % 256, k}) == 512 * 256 + reordered(n, k, 512));
    }
  }
  // Scales lie as [E, K/128, N], eight bytes each. 0.5 is the largest of its row: code 448 / 8 = 56, which is 0x66.
  const PackedTensor& scale = *packed.find(Role::w13_weight_scale);
  CHECK(scale.bytes.size() == 2U * 512 * 2 * 8);
  CHECK(scale.layout.at(Coord{1, 1, 3, 1}) == (1 * 2 + 1) * 512 + 256 + 3);
  // 56 * -8 = -448, 56 * -1 = -56.
  CHECK(scale.bytes[0] == 0xFE);
  CHECK(scale.bytes[7] == 0xE6);
  const PackedTensor& channel = *packed.find(Role::w13_channel_scale);
  CHECK(channel.bytes.size() == 2U * 512 * 4);
  CHECK(std::bit_cast<float>(std::uint32_t{channel.bytes[0]} | std::uint32_t{channel.bytes[1]} << 8 | std::uint32_t{channel.bytes[2]} << 16 |
                             std::uint32_t{channel.bytes[3]} << 24) == 0.5F / 448.0F * 8.0F);
  CHECK(refuses(ErrorCode::usage, "", [&] { restore(packed, OnLoss::mark); }));

  const auto refused = [&](const std::string& text, const Sizes& given, const Sizes& padded) {
    return refuses(ErrorCode::usage, text, [&] { check_needs(row, {.sizes = given, .padded = padded, .form = form}); });
  };
  CHECK(refused("H = 128 is not a multiple of 256", {1, 256, 128, 128}, {1, 256, 128, 128}));
  CHECK(refused("I = 384 is not a multiple of 256", {1, 384, 256, 128}, {1, 384, 256, 128}));
  CHECK(refused("padding = 128 is not 0", {1, 128, 256, 128}, {1, 256, 256, 128}));
}

TEST_CASE("a tensor of group scales to codes and channel scales") {
  const ValueBlock& block = value_block_named("w4a8.scales_to_fp8");
  // bf16 448, 1, -7, 0 and 2^-7; then half of each. Every step is exact: rows of 448 s become s * 8 and the same eighths, 2^-10 a tie to 0.
  const BlockTensor scales{16, {1, 2, 5}, {0xE0, 0x43, 0x80, 0x3F, 0xE0, 0xC0, 0x00, 0x00, 0x00, 0x3C,  //
                                           0x60, 0x43, 0x00, 0x3F, 0x60, 0xC0, 0x00, 0x00, 0x80, 0x3B}};
  const BlockTensors out = run_block(block, {{"s", scales}}, {});
  CHECK(out.size() == 2U);
  CHECK(out.at("fp8") == BlockTensor{8, {1, 2, 5}, {0x66, 0x20, 0xB6, 0x00, 0x00, 0x66, 0x20, 0xB6, 0x00, 0x00}});
  CHECK(out.at("chan") == BlockTensor{32, {1, 2, 1}, {0, 0, 0, 0x41, 0, 0, 0x80, 0x40}});
  for (const BlockTensor& wrong : {BlockTensor{32, {1, 5}, scales.bytes}, BlockTensor{16, {}, {}}, BlockTensor{16, {2, 0}, {}}}) {
    CHECK(refuses(ErrorCode::usage, "scales are bf16 [.., groups]", [&] { run_block(block, {{"s", wrong}}, {}); }));
  }
  CHECK(refuses(ErrorCode::usage, "takes no 'w'", [&] { run_block(block, {{"s", scales}, {"w", scales}}, {}); }));
  CHECK(refuses(ErrorCode::usage, "no input 's'", [&] { run_block(block, {}, {}); }));
}

}  // namespace
