// Quantizers and dequantizers against the model, bit for bit: every recipe, source, tier and number of threads.

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

#include "model/error.hpp"
#include "model/families/building_block.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/codec_cases.hpp"

using namespace mx;
using namespace mx::tests;
using kernels::ScaleLayout;
using kernels::Shape;
using kernels::Workers;

namespace {

/// The first difference, for people.
std::string difference(const Packed& got, const Packed& want, std::size_t block_bytes) {
  for (std::size_t i = 0; i < want.codes.size(); ++i) {
    if (got.codes[i] != want.codes[i]) {
      return "code byte " + std::to_string(i) + " (block " + std::to_string(i / block_bytes) + "): " + std::to_string(got.codes[i]) + ", model " +
             std::to_string(want.codes[i]);
    }
  }
  for (std::size_t i = 0; i < want.scales.size(); ++i) {
    if (got.scales[i] != want.scales[i])
      return "scale byte " + std::to_string(i) + ": " + std::to_string(got.scales[i]) + ", model " + std::to_string(want.scales[i]);
  }
  return "none";
}

/// Arithmetic that flushes subnormals has its kernel from AVX-512 on, scales that are stored in fp16 have none.
bool has_no_kernel_here(const Recipe& recipe) {
  if (const auto* groups = std::get_if<GroupRecipe>(&recipe.how); groups != nullptr && groups->scale_in_fp16) return true;
  const auto* two_levels = std::get_if<Nvfp4Recipe>(&recipe.how);
  return two_levels != nullptr && two_levels->flush_subnormals && !kernels::isa_tier().name.starts_with("avx512");
}

/// A matrix of about so many blocks whose number is not a multiple of what vectors take.
Shape shape_for(const BlockFormat& format, std::size_t blocks, std::uint32_t draw) {
  if (format.block == 0) return {3 + draw % 3, 2 * (50 + draw % 37)};
  if (format.block_rows != 1) return {128, 256};
  const std::size_t cols = static_cast<std::size_t>(format.block) * (std::size_t{1} + draw % 7);
  return {blocks / (1 + draw % 7) + 1, cols};
}

}  // namespace

TEST_CASE("every recipe from every source gives the model's bits on every tier") {
  Words random(20260501);
  for (const RecipeCase& the : recipe_cases()) {
    INFO(the.name());
    // Elements that are rounded twice are the model's alone.
    const bool twice = gives_codes(*the.recipe) && element_conversion(*the.recipe).before != Preparation{};
    CHECK((kernels::quantize_way(*the.recipe, *the.source, tensor_scale_for(tensor_needs(*the.recipe), 0)) == kernels::CodecWay::model) ==
          (twice || has_no_kernel_here(*the.recipe)));
    for (std::uint32_t draw = 0; draw < 4; ++draw) {
      const BlockFormat& format = *the.recipe->format;
      const Shape shape = shape_for(format, 160, random());
      const std::size_t block = format.block == 0 ? shape.cols : static_cast<std::size_t>(format.block);
      const TensorScale tensor = tensor_scale_for(tensor_needs(*the.recipe), draw);
      const auto elements = drawn_elements(shape.rows * shape.cols, block, *the.source, random);
      const Packed want = quantized_by_model(elements, shape, the, tensor);
      for (const kernels::IsaTier* tier : tiers_here()) {
        const Packed got = quantized_by_kernel(elements, shape, the, tensor, {tier, 1});
        INFO("on " << tier->name << ", draw " << draw << ": " << difference(got, want, format.element->width == 4 ? block / 2 : block));
        CHECK(got == want);
      }
    }
  }
}

TEST_CASE("every dequantizer gives the model's bits on every tier") {
  Words random(20260502);
  for (const DequantizerCase& the : dequantizer_cases()) {
    CHECK(kernels::dequantize_way(*the.how) == kernels::CodecWay::kernel);
    const BlockFormat& format = *the.how->format;
    for (std::uint32_t draw = 0; draw < 2; ++draw) {
      const Shape shape = shape_for(format, 530, random());
      const TensorScale tensor = tensor_scale_for(needs_of(*the.how), draw);
      const Packed blocks = drawn_blocks(shape, format, random);
      const auto want = dequantized_by_model(blocks, shape, *the.how, tensor);
      for (const kernels::IsaTier* tier : tiers_here()) {
        INFO(the.name() << " on " << tier->name << ", draw " << draw);
        CHECK(dequantized_by_kernel(blocks, shape, *the.how, tensor, {tier, 1}) == want);
      }
    }
  }
}

TEST_CASE("any number of threads and blocks gives the bits of one thread") {
  Words random(20260503);
  for (const auto& [profile, format] : {std::pair{"ocp", &kMxfp4},
                                        {"ocp", &kMxfp8E4m3},
                                        {"deepgemm-ue8m0", &kFp8Group128},
                                        {"vllm-nvfp4", &kNvfp4},
                                        {"ocp", &kMxint8Block},
                                        {"deepgemm", &kFp4Group32}}) {
    const RecipeCase the{&profile_named(profile), &recipe(profile_named(profile), *format), &kF32};
    const auto block = static_cast<std::size_t>(format->block);
    const TensorScale tensor = tensor_scale_for(tensor_needs(*the.recipe), 2);
    for (std::size_t blocks : {1U, 2U, 3U, 4U, 5U, 63U, 64U, 65U, 2047U, 2048U, 6151U}) {
      const Shape shape{1, blocks * block};
      const auto elements = drawn_elements(shape.cols, block, kF32, random);
      const Packed one = quantized_by_kernel(elements, shape, the, tensor, {&kernels::isa_tiers().front(), 1});
      for (const kernels::IsaTier* tier : tiers_here()) {
        for (int threads : {1, 2, 3, 8}) {
          INFO(the.name() << " " << blocks << " blocks on " << tier->name << " with " << threads << " threads");
          CHECK(quantized_by_kernel(elements, shape, the, tensor, {tier, threads}) == one);
        }
      }
    }
  }
}

TEST_CASE("scales go into the tiles of the layout model, with zeros around them") {
  Words random(20260504);
  const RecipeCase the{&profile_named("ocp"), &recipe(profile_named("ocp"), kMxfp8E4m3), &kBf16};
  for (const auto& [layout, block] : {std::pair{ScaleLayout::sf128x4, "sf_128x4"}, {ScaleLayout::sf8x4, "sf_8x4"}}) {
    for (const Shape& shape : {Shape{1, 32}, Shape{8, 128}, Shape{7, 160}, Shape{129, 288}, Shape{256, 512}}) {
      const auto elements = drawn_elements(shape.rows * shape.cols, 32, kBf16, random);
      const Packed rows = quantized_by_model(elements, shape, the, {});
      const auto cols = static_cast<std::int64_t>(shape.cols / 32);
      const layout::Layout program = families::block_layout(block, 1, static_cast<std::int64_t>(shape.rows), cols, 8);
      std::vector<std::uint8_t> want(static_cast<std::size_t>(program.cosize()), 0);
      for (std::int64_t r = 0; r < static_cast<std::int64_t>(shape.rows); ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
          const std::array<std::int64_t, 3> coord{0, r, c};
          want[static_cast<std::size_t>(*program.at(coord))] = rows.scales[static_cast<std::size_t>(r * cols + c)];
        }
      }
      for (const kernels::IsaTier* tier : tiers_here()) {
        const Packed got = quantized_by_kernel(elements, shape, the, {}, {tier, 2}, layout);
        INFO(block << " " << shape.rows << "x" << shape.cols << " on " << tier->name);
        CHECK(got.scales == want);
        CHECK(got.codes == rows.codes);
      }
    }
  }
}

namespace {

/// What quantize or dequantize says to arguments that are wrong; the buffers must be as they were.
struct Refused {
  ErrorCode code;
  std::string message;
};

template <class Call>
Refused refused(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  FAIL("accepted");
  return {};
}

}  // namespace

TEST_CASE("arguments that do not fit are refused before anything is written") {
  const Recipe& mxfp4 = recipe(profile_named("ocp"), kMxfp4);
  const Workers plain{&kernels::isa_tiers().front(), 1};
  std::vector<std::uint32_t> x(128, 0x3F800000U);
  std::vector<std::uint8_t> codes(64, 0xA5);
  std::vector<std::uint8_t> scales(8, 0x5A);
  const Shape shape{2, 64};
  const auto quantize = [&](std::span<const std::uint32_t> from, const Shape& of, std::span<std::uint8_t> to, std::span<std::uint8_t> to_scales,
                            const Recipe& how, const TensorScale& tensor, ScaleLayout layout, const Workers& workers) {
    return refused([&] { kernels::quantize(kernels::f32_bits(from), of, how, tensor, layout, {to, to_scales}, workers); });
  };
  const auto four = std::span(scales).first(4);
  const auto says = [&](const Refused& got, ErrorCode code, const std::string& words) {
    INFO(got.message);
    CHECK(got.code == code);
    CHECK(got.message.find(words) != std::string::npos);
    CHECK(codes == std::vector<std::uint8_t>(64, 0xA5));
    CHECK(scales == std::vector<std::uint8_t>(8, 0x5A));
  };
  const auto rows = ScaleLayout::rows;
  says(quantize(std::span(x).first(96), shape, codes, four, mxfp4, {}, rows, plain), ErrorCode::usage, "512 bytes, not 384");
  says(quantize(x, shape, std::span(codes).first(63), four, mxfp4, {}, rows, plain), ErrorCode::usage, "64 bytes, not 63");
  says(quantize(x, shape, codes, scales, mxfp4, {}, rows, plain), ErrorCode::usage, "4 bytes, not 8");
  says(quantize(x, {4, 32}, codes, four, mxfp4, {}, ScaleLayout::sf128x4, plain), ErrorCode::usage, "512 bytes, not 4");
  says(quantize(x, {8, 16}, codes, four, mxfp4, {}, rows, plain), ErrorCode::usage, "a 8x16 matrix is not made of 1x32 blocks of mxfp4");
  says(quantize(x, {0, 32}, codes, four, mxfp4, {}, rows, plain), ErrorCode::usage, "has no blocks");
  says(quantize(x, {std::size_t{1} << 40, std::size_t{1} << 40}, codes, four, mxfp4, {}, rows, plain), ErrorCode::usage, "more bytes than memory");
  says(quantize(x, shape, codes, std::span(codes).subspan(8, 4), mxfp4, {}, rows, plain), ErrorCode::usage, "the codes and the scales overlap");
  says(quantize(x, shape, codes, four, mxfp4, {.encode = 1U, .decode = {}}, rows, plain), ErrorCode::usage, "takes no scale of the tensor");
  says(quantize(x, shape, codes, four, mxfp4, {}, rows, {plain.tier, 0}), ErrorCode::usage, "0 threads");
  const kernels::IsaTier future{"avx1024", 1U << 31};
  says(quantize(x, shape, codes, four, mxfp4, {}, rows, {&future, 1}), ErrorCode::unsupported, "avx1024");
  says(quantize(x, {1, 128}, codes, scales, recipe(profile_named("deepgemm"), kFp8Group128), {}, ScaleLayout::sf8x4, plain), ErrorCode::usage,
       "tiles are for scales of one byte");
  says(refused([&] {
         kernels::quantize(kernels::f32_bits(x), shape, recipe(profile_named("vllm-nvfp4"), kNvfp4), {}, rows, {codes, scales}, plain);
       }),
       ErrorCode::usage, "needs the encode scale of the tensor");
}

TEST_CASE("buffers that do not begin at a multiple of their words are refused") {
  const Recipe& mxfp4 = recipe(profile_named("ocp"), kMxfp4);
  alignas(8) std::array<std::byte, 132> bytes{};
  std::vector<std::uint8_t> codes(16);
  std::vector<std::uint8_t> scales(1);
  const kernels::ElementBits odd{&kF32, std::span(bytes).subspan(1, 128)};
  const Refused got = refused([&] {
    kernels::quantize(odd, {1, 32}, mxfp4, {}, ScaleLayout::rows, {codes, scales}, {&kernels::isa_tiers().front(), 1});
  });
  INFO(got.message);
  CHECK(got.code == ErrorCode::usage);
  CHECK(got.message.find("not a multiple of 4: 1 beyond one") != std::string::npos);
}

TEST_CASE("activations do not go into tiles of scales that overlap anything or have another size") {
  const Recipe& mxfp4 = recipe(profile_named("ocp"), kMxfp4);
  const Workers plain{&kernels::isa_tiers().front(), 1};
  // 8 x 64 numbers, 256 bytes of codes and, with padding, 512 or 32 of scales: all of them parts of one memory.
  constexpr std::size_t kNumbers = 8 * 64 * 4;
  const std::vector<std::uint32_t> before(1024, 0x3F800000U);
  std::vector<std::uint32_t> memory = before;
  const auto bytes = std::as_writable_bytes(std::span(memory));
  const auto at = [&](std::size_t first, std::size_t count) { return std::span(reinterpret_cast<std::uint8_t*>(bytes.data()) + first, count); };
  const auto says = [&](std::span<std::uint8_t> codes, std::span<std::uint8_t> scales, ScaleLayout layout, const std::string& words) {
    const Refused got = refused([&] {
      kernels::quantize(kernels::f32_bits(std::span(memory).first(512)), {8, 64}, mxfp4, {}, layout, {codes, scales}, plain);
    });
    INFO(got.message);
    CHECK(got.code == ErrorCode::usage);
    CHECK(got.message.find(words) != std::string::npos);
    CHECK(memory == before);
  };
  for (const auto& [layout, size] : {std::pair(ScaleLayout::sf128x4, std::size_t{512}), std::pair(ScaleLayout::sf8x4, std::size_t{32})}) {
    says(at(kNumbers, 256), at(kNumbers + 255, size), layout, "the codes and the scales overlap");
    says(at(kNumbers - 1, 256), at(kNumbers + 512, size), layout, "the elements and the codes overlap");
    says(at(kNumbers, 256), at(0, size), layout, "the elements and the scales overlap");
    says(at(kNumbers, 256), at(kNumbers + 512, size - 1), layout, "not " + std::to_string(size - 1));
    says(at(kNumbers, 255), at(kNumbers + 512, size), layout, "256 bytes, not 255");
  }
}

TEST_CASE("scales of fp32 numbers must begin at a multiple of 4") {
  const Recipe& groups = recipe(profile_named("deepgemm"), kFp8Group128);
  const std::vector<std::uint32_t> x(128, 0x3F800000U);
  std::vector<std::uint8_t> codes(128, 0xA5);
  alignas(8) std::array<std::uint8_t, 8> scales{};
  const Refused got = refused([&] {
    kernels::quantize(kernels::f32_bits(x), {1, 128}, groups, {}, ScaleLayout::rows, {codes, std::span(scales).subspan(2, 4)},
                      {&kernels::isa_tiers().front(), 1});
  });
  INFO(got.message);
  CHECK(got.code == ErrorCode::usage);
  CHECK(got.message.find("the scales begin at an address that is not a multiple of 4: 2 beyond one") != std::string::npos);
  CHECK(codes == std::vector<std::uint8_t>(128, 0xA5));
  CHECK(scales == std::array<std::uint8_t, 8>{});
}

TEST_CASE("what does not fit a dequantizer is refused before anything is written") {
  const Dequantizer& how = dequantizer(profile_named("ocp"), kMxfp8E4m3, kF32);
  const Workers plain{&kernels::isa_tiers().front(), 1};
  const std::vector<std::uint8_t> codes(64, 0x38);
  const std::vector<std::uint8_t> scales(2, 127);
  std::vector<std::uint32_t> numbers(64, 0xA5A5A5A5U);
  const auto bytes = std::as_writable_bytes(std::span(numbers));
  const auto says = [&](const kernels::QuantizedBits& from, const Shape& shape, std::span<std::byte> room, const Workers& workers,
                        const TensorScale& tensor, const std::string& words) {
    const Refused got = refused([&] {
      kernels::dequantize(from, shape, how, tensor, ScaleLayout::rows, kernels::ElementRoom{&kF32, room}, workers);
    });
    INFO(got.message);
    CHECK(got.message.find(words) != std::string::npos);
    CHECK(numbers == std::vector<std::uint32_t>(64, 0xA5A5A5A5U));
    return got.code;
  };
  const Shape shape{1, 64};
  const std::span<const std::uint8_t> aliased(reinterpret_cast<const std::uint8_t*>(numbers.data()) + 8, 64);
  CHECK(says({std::span(codes).first(63), scales}, shape, bytes, plain, {}, "64 bytes, not 63") == ErrorCode::usage);
  CHECK(says({codes, std::span(scales).first(1)}, shape, bytes, plain, {}, "2 bytes, not 1") == ErrorCode::usage);
  CHECK(says({codes, scales}, shape, bytes.first(252), plain, {}, "256 bytes, not 252") == ErrorCode::usage);
  CHECK(says({codes, scales}, {1, 63}, bytes, plain, {}, "is not made of 1x32 blocks") == ErrorCode::usage);
  CHECK(says({aliased, scales}, shape, bytes, plain, {}, "overlap") == ErrorCode::usage);
  CHECK(says({codes, scales}, shape, bytes, {plain.tier, 0}, {}, "0 threads") == ErrorCode::usage);
  CHECK(says({codes, scales}, shape, bytes, plain, {.encode = {}, .decode = 0x3F800000U}, "takes no decode scale") == ErrorCode::usage);
  const kernels::IsaTier future{"avx1024", 1U << 31};
  CHECK(says({codes, scales}, shape, bytes, {&future, 1}, {}, "avx1024") == ErrorCode::unsupported);
  alignas(8) std::array<std::byte, 264> room{};
  CHECK(says({codes, scales}, shape, std::span(room).subspan(2, 256), plain, {}, "not a multiple of 4: 2 beyond one") == ErrorCode::usage);
}

TEST_CASE("numbers of long rows and of scales in tiles are those of the model") {
  Words random(20260508);
  const Dequantizer& row_scaled = dequantizer(profile_named("torchao-fp8"), kFp8E4m3, kBf16);
  const Shape long_rows{2, 70001};
  const Packed rows = drawn_blocks(long_rows, kFp8E4m3, random);
  const auto want = dequantized_by_model(rows, long_rows, row_scaled, {});
  for (const kernels::IsaTier* tier : tiers_here()) {
    for (int threads : {1, 3}) {
      INFO(tier->name << " with " << threads << " threads");
      CHECK(dequantized_by_kernel(rows, long_rows, row_scaled, {}, {tier, threads}) == want);
    }
  }
  // One scale differs from the others: it must be found where the tile has it, row 5 and column 3 of 8 x 4.
  const Dequantizer& how = dequantizer(profile_named("torchao-nvfp4-single"), kNvfp4, kF32);
  const std::vector<std::uint8_t> codes(8 * 64 / 2, 0x22);  // 1.0 each
  std::vector<std::uint8_t> scales(32, 0x38);               // 1.0
  scales[5 * 4 + 3] = 0x40;                                 // 2.0
  for (const kernels::IsaTier* tier : tiers_here()) {
    std::vector<std::uint32_t> numbers(8 * 64);
    kernels::dequantize({codes, scales}, {8, 64}, how, {}, ScaleLayout::sf8x4, kernels::f32_room(numbers), {tier, 1});
    for (std::size_t i = 0; i < numbers.size(); ++i) CHECK(numbers[i] == (i / 64 == 5 && i % 64 / 16 == 3 ? 0x40000000U : 0x3F800000U));
  }
}

TEST_CASE("one scale for a tensor of many pieces, with and without a bound, gives the model's bits with any number of threads") {
  Words random(20260506);
  for (const auto& [profile, tensor] : {std::pair{"vllm-fp8-tensor", TensorScale{}},
                                        {"torchao-fp8-static", TensorScale{.encode = {}, .decode = 0x3C4985F0U}},
                                        {"vllm-fp8-token", TensorScale{.encode = {}, .decode = {}, .amax_bound = 0x3F800000U}}}) {
    const RecipeCase the{&profile_named(profile), &recipe(profile_named(profile), kFp8E4m3), &kF32};
    std::vector<std::uint32_t> elements = drawn_elements(70001, 70001, kF32, random);
    for (std::uint32_t& bits : elements) bits = (bits & 0x80FFFFFFU) | 0x3E000000U;  // finite, of the same few exponents
    const Shape shape{1, elements.size()};
    const Packed want = quantized_by_model(elements, shape, the, tensor);
    for (const kernels::IsaTier* tier : tiers_here()) {
      for (int threads : {1, 3}) {
        INFO(the.name() << " on " << tier->name << " with " << threads << " threads");
        CHECK(quantized_by_kernel(elements, shape, the, tensor, {tier, threads}) == want);
      }
    }
  }
}
