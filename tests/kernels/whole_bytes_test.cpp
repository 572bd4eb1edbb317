// Codes in bytes of their own: quantizers and dequantizers against the model, conversions of whole arrays against the model.

#include "kernels/codec/whole_bytes.hpp"

#include <cstring>

#include "kernels/sweep/codes.hpp"
#include "model/error.hpp"
#include "model/numerics/source_bits.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/codec_cases.hpp"

using namespace mx;
using namespace mx::tests;
using Catch::Contains;
using kernels::Shape;
using kernels::Workers;

namespace {

std::vector<std::uint8_t> one_a_byte(const std::vector<std::uint8_t>& packed, const BlockFormat& format) {
  if (format.element->width != 4) return packed;
  std::vector<std::uint8_t> codes;
  for (const unsigned byte : packed) {
    codes.push_back(byte & 0xFU);
    codes.push_back(static_cast<std::uint8_t>(byte >> 4U));
  }
  return codes;
}

Packed whole_bytes_of(const std::vector<std::uint32_t>& elements, const Shape& shape, const RecipeCase& the, const TensorScale& tensor,
                      const Workers& workers) {
  const kernels::QuantizedSizes sizes = kernels::whole_byte_sizes(shape, *the.recipe->format);
  Packed out{std::vector<std::uint8_t>(sizes.codes), std::vector<std::uint8_t>(sizes.scales)};
  if (*the.source == kF32) {
    kernels::quantize_whole_bytes(kernels::f32_bits(elements), shape, *the.recipe, tensor, {out.codes, out.scales}, workers);
  } else {
    const std::vector<std::uint16_t> words(elements.begin(), elements.end());
    kernels::quantize_whole_bytes({the.source, std::as_bytes(std::span(words))}, shape, *the.recipe, tensor, {out.codes, out.scales}, workers);
  }
  return out;
}

/// All patterns of a format that has few of them, else strided ones, with every special one of fp32 near the front.
std::vector<std::uint32_t> patterns_of(const Format& format) {
  std::vector<std::uint32_t> patterns{0, 1, 0x80000000U, 0x7F800000U, 0xFF800000U, 0x7FC00000U, 0xFFFFFFFFU, 0x7F7FFFFFU};
  if (format.width <= 16) patterns.clear();
  const std::uint32_t count = format.width <= 16 ? 1U << format.width : 9973U;
  for (std::uint32_t i = 0; i < count; ++i) patterns.push_back(format.width <= 16 ? i : i * 65539U * 4099U);
  return patterns;
}

std::vector<std::byte> words_of(const std::vector<std::uint32_t>& codes, const Format& format) {
  const std::size_t width = kernels::code_bytes(format);
  std::vector<std::byte> bytes(codes.size() * width);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto narrow = static_cast<std::uint16_t>(codes[i]);
    const auto byte = static_cast<std::uint8_t>(codes[i]);
    const void* const from = width == 4 ? static_cast<const void*>(&codes[i]) : width == 2 ? static_cast<const void*>(&narrow) : &byte;
    std::memcpy(bytes.data() + i * width, from, width);
  }
  return bytes;
}

std::vector<std::byte> converted(const std::vector<std::byte>& codes, const Format& from, const Format& to, const Conversion& how,
                                 const Workers& workers) {
  std::vector<std::byte> out(codes.size() / kernels::code_bytes(from) * kernels::code_bytes(to));
  kernels::convert_codes({&from, codes}, how, {&to, out}, workers);
  return out;
}

}  // namespace

TEST_CASE("codes in bytes of their own are the model's, on every tier, with any number of threads") {
  Words random(20261101);
  std::size_t compared = 0;
  for (const RecipeCase& the : recipe_cases()) {
    const BlockFormat& format = *the.recipe->format;
    // More than one band of 2^16 elements, the last one short.
    const std::size_t cols = format.block == 0 ? 96 : static_cast<std::size_t>(format.block / format.block_rows) * 3;
    const Shape shape{format.block_rows > 1 ? 128 : format.block == 0 ? 5 : 70000 / cols, cols};
    const TensorScale tensor = tensor_scale_for(tensor_needs(*the.recipe), 1);
    const auto elements = drawn_elements(shape.rows * cols, format.block == 0 ? cols : static_cast<std::size_t>(format.block), *the.source, random);
    Packed want = quantized_by_model(elements, shape, the, tensor);
    want.codes = one_a_byte(want.codes, format);
    for (const kernels::IsaTier* tier : tiers_here()) {
      INFO(the.name() << " on " << tier->name);
      CHECK(whole_bytes_of(elements, shape, the, tensor, {tier, 1}) == want);
      CHECK(whole_bytes_of(elements, shape, the, tensor, {tier, 3}) == want);
    }
    compared += want.codes.size();
  }
  CHECK(compared > 1000000);
}

TEST_CASE("numbers of codes in bytes of their own are the model's") {
  Words random(20261102);
  for (const DequantizerCase& the : dequantizer_cases()) {
    const BlockFormat& format = *the.how->format;
    const std::size_t cols = format.block == 0 ? 96 : static_cast<std::size_t>(format.block / format.block_rows) * 3;
    const Shape shape{format.block_rows > 1 ? 128 : 70000 / cols, cols};
    const TensorScale tensor = tensor_scale_for(needs_of(*the.how), 1);
    Packed blocks = drawn_blocks(shape, format, random);
    const auto want = dequantized_by_model(blocks, shape, *the.how, tensor);
    blocks.codes = one_a_byte(blocks.codes, format);
    for (int threads : {1, 3}) {
      INFO(the.name() << " with " << threads << " threads");
      const auto expected = words_of(want, *the.how->target);
      std::vector<std::byte> out(expected.size());
      dequantize_whole_bytes({blocks.codes, blocks.scales}, shape, *the.how, tensor, {the.how->target, out}, {tiers_here().back(), threads});
      CHECK(out == expected);
    }
  }
}

TEST_CASE("a byte that is no code is refused by its place") {
  std::vector<std::uint8_t> codes(64, 0xF);
  codes[37] = 0x10;
  const std::vector<std::uint8_t> scales(2, 127);
  std::vector<std::uint32_t> out(64);
  const Dequantizer& how = dequantizer(profile_named("ocp"), kMxfp4, kF32);
  const auto call = [&](const Dequantizer& by) {
    dequantize_whole_bytes({codes, scales}, {1, 64}, by, {}, kernels::f32_room(out), {&kernels::isa_tiers().front(), 1});
  };
  CHECK_THROWS_WITH(call(how), Contains("element 37 is 16, but codes of e2m1 have 4 bits"));
  codes[37] = 0x40;
  CHECK_THROWS_WITH(call(dequantizer(profile_named("ocp"), kMxfp6E2m3, kF32)), Contains("element 37 is 64, but codes of e2m3 have 6 bits"));
}

TEST_CASE("whole arrays convert as the model does, few codes and many") {
  std::size_t conversions = 0;
  for (const Profile& profile : all_profiles()) {
    for (const Format& from : all_formats()) {
      for (const Format& to : all_formats()) {
        const Conversion* how = find_conversion(profile, from, to);
        if (how == nullptr || is_stochastic(how->rounding) || how->nan_rule == NanRule::refused) continue;
        // One profile tries every pair, the others their own sources.
        if (profile.name != kOcp && from != kF32 && from != kBf16) continue;
        auto codes = patterns_of(from);
        if (codes.size() > 20000 && profile.name != kOcp) continue;
        std::erase_if(codes, [&](std::uint32_t code) { return has_no_answer(code, from, to, how->rounding); });
        std::vector<std::uint32_t> want;
        for (const std::uint32_t code : codes) want.push_back(convert(code, from, to, *how));
        INFO(profile.name << " " << from.name << " -> " << to.name);
        CHECK(converted(words_of(codes, from), from, to, *how, {tiers_here().back(), 2}) == words_of(want, to));
        codes.resize(std::min<std::size_t>(codes.size(), 7));
        want.resize(codes.size());
        CHECK(converted(words_of(codes, from), from, to, *how, {&kernels::isa_tiers().front(), 1}) == words_of(want, to));
        ++conversions;
      }
    }
  }
  CHECK(conversions > 200);
}

TEST_CASE("arrays that cannot be converted are refused") {
  const Workers workers{&kernels::isa_tiers().front(), 2};
  const Conversion& how = conversion(profile_named("ocp"), kE2m1, kF32);
  std::vector<std::byte> codes(5000, std::byte{3});
  codes[4999] = std::byte{0x1F};
  CHECK_THROWS_WITH(converted(codes, kE2m1, kF32, how, workers), Contains("element 4999 is 31, but codes of e2m1 have 4 bits"));
  std::vector<std::byte> room(7);
  CHECK_THROWS_WITH(kernels::convert_codes({&kE2m1, codes}, how, {&kF32, room}, workers), Contains("sizes that do not fit"));
  CHECK_THROWS_WITH(kernels::convert_codes({&kE2m1, std::span(codes).first(4)}, how, {&kE2m1, std::span(codes).first(4)}, workers),
                    Contains("overlap"));
  CHECK_THROWS_AS(converted(codes, kE2m1, kF32, how, {workers.tier, 0}), Error);
  const Conversion& stochastic = conversion(profile_named("gfloat-stochastic"), kF32, kE4m3fn);
  CHECK_THROWS_WITH(converted(std::vector<std::byte>(8), kF32, kE4m3fn, stochastic, workers), Contains("takes random bits"));
  CHECK(converted({}, kF32, kE4m3fn, conversion(profile_named("ocp"), kF32, kE4m3fn), workers).empty());
}
