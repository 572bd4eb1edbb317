// What Marlin's preparation does to values, alone and in the recorded whole conversions.

#include "model/families/marlin/values.hpp"

#include <array>
#include <cmath>
#include <cstdint>

#include "model/families/building_block.hpp"
#include "model/families/value_block.hpp"
#include "tests/catch.hpp"
#include "tests/families/marlin/marlin_layers.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::families::BlockTensors;
using mx::families::PackedLayer;
using mx::families::ParamsDtype;
using mx::families::run_block;
using mx::families::value_block_named;
using mx::layout::CanonicalLayer;
using mx::layout::Role;
using mx::layout::SourceOrder;
using mx::layout::WeightFormat;
using mx::tests::any_byte;
using mx::tests::Bytes;
using mx::tests::bytes_of;
using mx::tests::converted;
using mx::tests::f32_bits;
using mx::tests::filled;
using mx::tests::refuses;
using mx::tests::setting_for;

namespace marlin = mx::families::marlin;

/// Value of a positive e4m3 code, by its definition.
double e4m3_value(int code) {
  const int exponent = code >> 3;
  return exponent == 0 ? std::ldexp(code & 7, -9) : std::ldexp(8 + (code & 7), exponent - 10);
}

TEST_CASE("hazard: e8m0 scales through the parameters' dtype") {
  for (int code = 0; code < 256; ++code) {
    INFO("code " << code);
    CHECK(marlin::e8m0_through(static_cast<std::uint8_t>(code), ParamsDtype::bf16) == code);
    const int through_fp16 = code == 0 || code > 142 ? (code == 0 ? 0 : 255) : code <= 102 ? 0 : code;
    CHECK(marlin::e8m0_through(static_cast<std::uint8_t>(code), ParamsDtype::fp16) == through_fp16);
  }
}

TEST_CASE("marlin.mxfp4_process_scales") {
  const auto& block = value_block_named("marlin.mxfp4_process_scales");
  const auto made = [&](Bytes scale, int params_dtype, int input_dtype) {
    const auto count = static_cast<std::int64_t>(scale.size());
    return run_block(block, {{"scale", {8, {1, count}, std::move(scale)}}}, {{"params_dtype", params_dtype}, {"input_dtype", input_dtype}})
        .at("scale")
        .bytes;
  };
  CHECK(made({1, 2, 3, 4, 125, 255, 0, 254}, 0, 0) == Bytes{1, 3, 2, 4, 125, 0, 255, 254});
  CHECK(made({102, 103, 142, 143, 0, 120, 121, 255}, 1, 0) == Bytes{0, 142, 103, 255, 0, 121, 120, 255});
  // 8-bit activations: in order, six larger.
  CHECK(made({0, 120, 249, 7, 9}, 0, 1) == Bytes{6, 126, 255, 13, 15});
  CHECK(refuses(ErrorCode::usage, "scale_byte = 250 is above 249", [&] { made({0, 250}, 0, 1); }));
  CHECK(refuses(ErrorCode::usage, "scale_byte = 255 is above 249", [&] { made({0, 143}, 1, 1); }));
  CHECK(refuses(ErrorCode::usage, "activation dtype int8", [&] { made({0, 1, 2, 3}, 0, 2); }));
  CHECK(refuses(ErrorCode::usage, "elements = 6 is not a multiple of 4", [&] { made({0, 1, 2, 3, 4, 5}, 0, 0); }));
  CHECK(refuses(ErrorCode::usage, "scale has elements of 16 bits, not 8", [&] { run_block(block, {{"scale", {16, {1, 2}, {0, 1, 2, 3}}}}, {}); }));
}

TEST_CASE("the factor of NVFP4 scales") {
  for (int code = 1; code < 0x7F; ++code) {
    int factor = 0;
    while (e4m3_value(code) * std::ldexp(1, factor + 1) <= 448) ++factor;
    INFO("largest scale " << code);
    const Bytes scales{0, static_cast<std::uint8_t>(code), 1, 0x7F, 0xFE};  // neither a NaN nor a negative scale counts
    CHECK(marlin::nvfp4_factor(scales, ParamsDtype::bf16) == factor);
    CHECK(marlin::nvfp4_factor(scales, ParamsDtype::fp16) == 0);
  }
  CHECK(marlin::nvfp4_factor(Bytes{0, 0x80, 0xB8, 0x7F}, ParamsDtype::bf16) == 0);
}

TEST_CASE("NVFP4 scales as S0E5M3") {
  for (int factor : {0, 3, 9}) {
    for (int code = 0; code < 0x7F; ++code) {
      const double value = e4m3_value(code) * std::ldexp(128, factor);
      if (value > 57344) continue;
      INFO("code " << code << " factor " << factor);
      // fp16: exponent and three bits of the significand.
      const int exponent = value > 0 ? static_cast<int>(std::floor(std::log2(value))) : 0;
      const int byte = value < 2 ? 0 : (exponent + 15) * 8 + static_cast<int>(value / std::ldexp(1, exponent) * 8) % 8;
      CHECK(marlin::nvfp4_scale(static_cast<std::uint8_t>(code), factor) == byte);
      CHECK(marlin::nvfp4_scale(static_cast<std::uint8_t>(code | 0x80), factor) == 0);
    }
    CHECK(marlin::nvfp4_scale(0x7F, factor) == 0xFF);
  }
  CHECK(marlin::nvfp4_scale(0x38, 0) == 0xB0);  // 1.0
  for (int code = 8; code < 0x80; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    CHECK(marlin::nvfp4_scale_back(marlin::nvfp4_scale(byte, 0)) == byte);
  }
  CHECK(marlin::nvfp4_scale_back(0) == 0);
  // Below 2, above 448 * 128, and infinite.
  for (int byte : {1, 127, 247, 248, 254}) {
    CHECK(refuses(ErrorCode::input, "is none that an e4m3 scale becomes", [&] { marlin::nvfp4_scale_back(static_cast<std::uint8_t>(byte)); }));
  }
}

TEST_CASE("global scales of NVFP4") {
  CHECK(marlin::nvfp4_global_scale(f32_bits(1.0F), 0, ParamsDtype::bf16) == f32_bits(0x1p119F));
  CHECK(marlin::nvfp4_global_scale(f32_bits(1.0F), 0, ParamsDtype::fp16) == f32_bits(128.0F));
  CHECK(marlin::nvfp4_global_scale(f32_bits(7.25F), 3, ParamsDtype::bf16) == f32_bits(7.25F * 0x1p116F));
  // The product overflows before the factor could have saved it.
  CHECK(marlin::nvfp4_global_scale(f32_bits(512.0F), 3, ParamsDtype::bf16) == 0x7F800000U);
  CHECK(marlin::nvfp4_global_scale_back(f32_bits(0x1p119F), ParamsDtype::bf16) == f32_bits(1.0F));
}

TEST_CASE("marlin.nvfp4_process_scales") {
  const auto& block = value_block_named("marlin.nvfp4_process_scales");
  // As recorded: scale bytes 8, 16, 120, 126 of a tensor whose largest is 448, and global scales 1 and 0.5.
  const BlockTensors in{{"scale", {8, {1, 4}, {8, 16, 120, 126}}}, {"global_scale", {32, {2}, bytes_of({f32_bits(1.0F), f32_bits(0.5F)})}}};
  const BlockTensors out = run_block(block, in, {});
  CHECK(out.at("scale").bytes == Bytes{128, 240, 136, 246});
  CHECK(out.at("scale_factor").bytes == Bytes{0, 0, 0, 0, 0, 0, 0xF0, 0x3F});
  CHECK(out.at("global_scale").bytes == bytes_of({f32_bits(0x1p119F), f32_bits(0x1p118F)}));
  // A largest scale of 30 leaves a factor of 8.
  BlockTensors small = in;
  small.at("scale").bytes = {1, 0, 0x80, 95};
  const BlockTensors scaled = run_block(block, small, {});
  CHECK(scaled.at("scale").bytes == Bytes{128, 0, 0, 239});  // 2^-9 * 8 * 128 is 2; 30 * 8 * 128 = 1.875 * 2^14
  CHECK(scaled.at("scale_factor").bytes == Bytes{0, 0, 0, 0, 0, 0, 0x20, 0x40});
  CHECK(scaled.at("global_scale").bytes == bytes_of({f32_bits(0x1p116F), f32_bits(0x1p115F)}));
  for (int activations : {1, 2}) {
    CHECK(refuses(ErrorCode::usage, "only 16-bit activations", [&] { run_block(block, in, {{"input_dtype", activations}}); }));
  }
}

TEST_CASE("scales of e4m3 weights") {
  // As recorded: 0.01 and 0.03 become these bf16 codes.
  CHECK(marlin::fp8_scale(f32_bits(0.01F), ParamsDtype::bf16) == 30756);
  CHECK(marlin::fp8_scale(f32_bits(0.03F), ParamsDtype::bf16) == 30966);
  CHECK(marlin::fp8_scale(f32_bits(1.0F), ParamsDtype::fp16) == 0x5C00);        // 256
  CHECK(marlin::fp8_scale(f32_bits(256.0F), ParamsDtype::bf16) == 0x7F80);      // 2^128
  CHECK(marlin::fp8_scale(f32_bits(256.0F), ParamsDtype::fp16) == 0x7C00);      // 65536
  CHECK(marlin::fp8_scale(f32_bits(0x1.01p-9F), ParamsDtype::bf16) == 0x7700);  // a tie, to even
  CHECK(marlin::fp8_scale(f32_bits(0x1p-133F), ParamsDtype::bf16) == 0x3900);   // the smallest bf16 number
  CHECK(marlin::fp8_scale_back(0x3900, ParamsDtype::bf16) == f32_bits(0x1p-133F));
  CHECK(marlin::fp8_scale_back(0x5C00, ParamsDtype::fp16) == f32_bits(1.0F));
}

TEST_CASE("marlin.fp8_moe: one scale per expert, per shard, per row and per block") {
  const auto& block = value_block_named("marlin.fp8_moe");
  constexpr std::int64_t kExperts = 2;
  constexpr std::int64_t kI = 96;
  constexpr std::int64_t kH = 128;
  const auto weights = [](std::int64_t rows, std::int64_t columns) {
    return mx::families::BlockTensor{8, {kExperts, rows, columns}, Bytes(static_cast<std::size_t>(kExperts * rows * columns), 0x38)};
  };
  /// bf16 code of scale number i: 2^-20 times i + 1, with the bias of 120.
  const auto scales = [](std::vector<std::int64_t> shape) {
    std::int64_t count = 1;
    for (std::int64_t extent : shape) count *= extent;
    std::vector<std::uint32_t> words;
    for (std::int64_t i = 0; i < count; ++i) words.push_back(f32_bits(std::ldexp(static_cast<float>(i % 100 + 1), -20)));
    return mx::families::BlockTensor{32, std::move(shape), bytes_of(words)};
  };
  const auto code = [](std::int64_t i) { return static_cast<int>(f32_bits(std::ldexp(static_cast<float>(i % 100 + 1), 100)) >> 16U); };
  struct Row {
    int mode;
    std::vector<std::int64_t> w13;
    std::vector<std::int64_t> w2;
    std::int64_t per13;  // rows of w13 that share a scale
    std::int64_t per2;
    std::int64_t i = kI;  // of 64 when w13 is a single shard, which is not padded
    std::int64_t shards = 2;
  };
  const std::vector<Row> rows{{0, {kExperts}, {kExperts}, 2 * kI, kH},
                              {0, {kExperts, 2}, {kExperts, 1}, kI, kH},
                              {1, {kExperts, 2 * kI, 1}, {kExperts, kH, 1}, 1, 1},
                              {1, {kExperts, 64, 1}, {kExperts, kH, 1}, 1, 1, 64, 1},
                              {2, {kExperts, 2, 1}, {kExperts, 1, 1}, 128, 128}};
  constexpr std::array<std::int64_t, 8> kOffsets{0, 1, 8, 9, 16, 17, 24, 25};
  for (const Row& row : rows) {
    INFO("mode " << row.mode << " scales of w13 " << row.w13.size() << " shards " << row.shards);
    const std::int64_t rows13 = row.shards * row.i;
    const std::int64_t padded = (row.i + 63) / 64 * 64;  // for blocks to 128, which is the same here
    const auto out =
        run_block(block, {{"w13", weights(rows13, kH)}, {"w2", weights(kH, row.i)}, {"w13_scale", scales(row.w13)}, {"w2_scale", scales(row.w2)}},
                  {{"scale_mode", row.mode}, {"gated", row.shards - 1}});
    CHECK(out.at("w13").shape == std::vector<std::int64_t>{kExperts, kH / 16, 4 * row.shards * padded});
    CHECK(out.at("w2").shape == std::vector<std::int64_t>{kExperts, padded / 16, 4 * kH});
    CHECK(out.at("w13_scale").shape == std::vector<std::int64_t>{kExperts, 1, row.shards * padded});
    CHECK(out.at("w2_scale").shape == std::vector<std::int64_t>{kExperts, 1, kH});
    const auto found = [&](const char* name, std::int64_t i) {
      const Bytes& bytes = out.at(name).bytes;
      return bytes[static_cast<std::size_t>(2 * i)] | bytes[static_cast<std::size_t>(2 * i + 1)] << 8;
    };
    const std::int64_t scales13 = row.per13 == 128 ? 2 : rows13 / row.per13;
    const std::int64_t scales2 = kH / row.per2;
    for (std::int64_t e = 0; e < kExperts; ++e) {
      for (std::int64_t p = 0; p < row.shards * padded; ++p) {
        // One group: blocks of 32. Then the shards' padding.
        const std::int64_t padded_row = p / 32 * 32 + 2 * (p % 32 / 8) + kOffsets[static_cast<std::size_t>(p % 8)];
        const bool is_padding = padded_row % padded >= row.i;
        const std::int64_t unpadded = padded_row / padded * row.i + padded_row % padded;
        const int expected = is_padding ? 0 : code(e * scales13 + unpadded / row.per13);
        REQUIRE(found("w13_scale", e * row.shards * padded + p) == expected);
      }
      for (std::int64_t p = 0; p < kH; ++p) {
        const std::int64_t from = p / 32 * 32 + 2 * (p % 32 / 8) + kOffsets[static_cast<std::size_t>(p % 8)];
        REQUIRE(found("w2_scale", e * kH + p) == code(e * scales2 + from / row.per2));
      }
    }
  }
  const auto run_with = [&](std::vector<std::int64_t> w13_scales, int mode) {
    run_block(block,
              {{"w13", weights(2 * kI, kH)}, {"w2", weights(kH, kI)}, {"w13_scale", scales(std::move(w13_scales))}, {"w2_scale", scales({kExperts})}},
              {{"scale_mode", mode}});
  };
  CHECK(refuses(ErrorCode::usage, "w13_scale has 10 scales", [&] { run_with({kExperts, 5}, 0); }));
  CHECK(refuses(ErrorCode::usage, "w13_scale has 1 scales for 2 experts", [&] { run_with({1}, 0); }));
  CHECK(refuses(ErrorCode::usage, "w13_scale has 3 scales for 2 experts", [&] { run_with({3}, 0); }));
  CHECK(refuses(ErrorCode::usage, "w13_scale has 1 x 1 blocks", [&] { run_with({kExperts, 1, 1}, 2); }));
  CHECK(refuses(ErrorCode::usage, "w13_scale has 2 x 2 blocks", [&] { run_with({kExperts, 2, 2}, 2); }));
  CHECK(refuses(ErrorCode::usage, "w13_scale has 2 x 1 blocks", [&] { run_with({1, 2, 1}, 2); }));
  CHECK(refuses(ErrorCode::usage, "w13_scale has 2 axes, not 3", [&] { run_with({kExperts, 2}, 2); }));
}

TEST_CASE("marlin.fp8_moe refuses weights that are no layer") {
  const auto& block = value_block_named("marlin.fp8_moe");
  using Shape = std::vector<std::int64_t>;
  const auto tensor = [](int bits, const Shape& shape) {
    std::int64_t count = bits / 8;
    for (std::int64_t extent : shape) count *= extent;
    return mx::families::BlockTensor{bits, shape, Bytes(static_cast<std::size_t>(count))};
  };
  struct Row {
    Shape w13;
    Shape w2;
    int bits;  // of an element of w13
    std::string_view text;
  };
  const std::vector<Row> rows{
      {{2, 192, 128}, {2, 128, 96}, 16, "w13 has elements of 16 bits, not 8"},
      {{192, 128}, {2, 128, 96}, 8, "w13 has 2 axes, not 3"},
      {{2, 192, 128}, {128, 96}, 8, "w2 has 2 axes, not 3"},
      {{2, 191, 128}, {2, 128, 96}, 8, "w13 has 191 rows: gate and up are its halves"},
      {{2, 192, 112}, {2, 128, 96}, 8, "w13 does not fit the other weight's sizes"},
      {{2, 192, 128}, {2, 128, 112}, 8, "w2 does not fit the other weight's sizes"},
      {{2, 192, 128}, {3, 128, 96}, 8, "w2 does not fit the other weight's sizes"},
  };
  for (const Row& row : rows) {
    const BlockTensors in{
        {"w13", tensor(row.bits, row.w13)}, {"w2", tensor(8, row.w2)}, {"w13_scale", tensor(32, {2})}, {"w2_scale", tensor(32, {2})}};
    CHECK(refuses(ErrorCode::usage, std::string(row.text), [&] { run_block(block, in, {}); }));
  }
  const BlockTensors wide{
      {"w13", tensor(8, {2, 192, 128})}, {"w2", tensor(8, {2, 128, 96})}, {"w13_scale", tensor(16, {4})}, {"w2_scale", tensor(32, {2})}};
  CHECK(refuses(ErrorCode::usage, "w13_scale has elements of 16 bits, not 32", [&] { run_block(block, wide, {}); }));
}

TEST_CASE("marlin.nvfp4_moe gives what the backend packs") {
  const CanonicalLayer layer = filled({2, 96, 128, 16}, {WeightFormat::nvfp4, SourceOrder::standard}, false, any_byte);
  const PackedLayer packed = converted(layer, setting_for(layer));
  const BlockTensors in{{"w13", {8, {2, 192, 64}, layer[Role::w13_weight]}},          {"w13_scale", {8, {2, 192, 8}, layer[Role::w13_weight_scale]}},
                        {"w13_scale_2", {32, {2}, layer[Role::w13_global_scale]}},    {"w2", {8, {2, 128, 48}, layer[Role::w2_weight]}},
                        {"w2_scale", {8, {2, 128, 6}, layer[Role::w2_weight_scale]}}, {"w2_scale_2", {32, {2}, layer[Role::w2_global_scale]}}};
  const auto& block = value_block_named("marlin.nvfp4_moe");
  const BlockTensors out = run_block(block, in, {});
  CHECK(out.at("w13").shape == std::vector<std::int64_t>{2, 8, 512});
  CHECK(out.at("w2").shape == std::vector<std::int64_t>{2, 8, 256});
  CHECK(out.at("w13_scale").shape == std::vector<std::int64_t>{2, 8, 256});
  CHECK(out.at("w2_scale").shape == std::vector<std::int64_t>{2, 8, 128});
  CHECK(out.at("w13").bytes == packed.find(Role::w13_weight)->bytes);
  CHECK(out.at("w2_scale").bytes == packed.find(Role::w2_weight_scale)->bytes);
  CHECK(out.at("w2_scale_2").bytes == packed.find(Role::w2_global_scale)->bytes);
  CHECK(refuses(ErrorCode::usage, "activation dtype float8_e4m3fn", [&] { run_block(block, in, {{"input_dtype", 1}}); }));
}

}  // namespace
