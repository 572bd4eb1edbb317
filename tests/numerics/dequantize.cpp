// Dequantization dialects: the documented disagreements, and every block format that a profile has, against the product in fp64.

#include <cmath>

#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/scaled_cases.hpp"

using namespace mx;
using namespace mx::tests;

namespace {

const Dequantizer& row_of(std::string_view profile, const BlockFormat& format, const Format& target) {
  return dequantizer(profile_named(profile), format, target);
}

std::uint32_t mxfp4(std::string_view profile, const Format& target, std::uint32_t code, std::uint32_t scale) {
  return dequantize(code, scale, row_of(profile, kMxfp4, target));
}

/// Nearest even with Inf above the range, by search.
std::uint32_t rounded(double number, const Format& target) {
  if (target == kF32) return bits_of(static_cast<float>(number));
  static const SearchEncoder kBf16Encoder(facts_of(kBf16));
  static const SearchEncoder kFp16Encoder(facts_of(kFp16));
  const std::uint32_t nan = target == kBf16 ? 0x7FC0 : 0x7E00;
  return (target == kBf16 ? kBf16Encoder : kFp16Encoder).encode(number, {Rounding::nearest_even, Overflow::ieee, NanRule::fixed, nan, nan, 0, false});
}

double number_of(std::uint32_t bits, const Format& format) {
  if (format == kF32) return float_of(bits);
  return is_nan_by_facts(facts_of(format), bits) ? NAN : value_of(facts_of(format), bits);
}

}  // namespace

TEST_CASE("dequantization dialects disagree as recorded") {
  // README of the recorded sets, 18; numerics specification section 2. Code 7 is 6, code 1 is 0.5.
  CHECK(mxfp4("ocp", kF32, 0x7, 0) == bits_of(std::ldexp(6.0F, -127)));
  CHECK(mxfp4("vllm-dequantize", kBf16, 0x7, 0) == 0x0140);  // 1.5 * 2^-125
  CHECK(mxfp4("triton-kernels-gpu-dequantize", kBf16, 0xF, 0) == 0x8000);
  CHECK(mxfp4("marlin", kBf16, 0x7, 0) == 0x0000);
  CHECK(mxfp4("triton-kernels-gpu-dequantize", kBf16, 0x7, 254) == 0x7F7F);
  CHECK(mxfp4("vllm-dequantize", kBf16, 0x7, 254) == 0x7F80);
  CHECK(mxfp4("triton-kernels-gpu-dequantize", kFp16, 0x7, 150) == 0x7BFF);
  // fp16 loses the scale 2^-25 before the product is formed; exactly, 6 * 2^-25 is three units.
  CHECK(mxfp4("triton-kernels-gpu-dequantize", kFp16, 0x7, 102) == 0x0000);
  CHECK(mxfp4("vllm-dequantize", kFp16, 0x7, 102) == 0x0000);
  CHECK(mxfp4("triton-kernels-dequantize", kFp16, 0x7, 102) == 0x0003);
  CHECK(mxfp4("ocp", kFp16, 0x7, 102) == 0x0003);
  // Scale 2^16 is Inf in fp16: 0 * Inf is NaN, which the device's clamp makes the largest number.
  CHECK(mxfp4("triton-kernels-gpu-dequantize", kFp16, 0x8, 143) == 0x7BFF);
  CHECK(mxfp4("vllm-dequantize", kFp16, 0x8, 143) == 0x7E00);
  CHECK(mxfp4("triton-kernels-dequantize", kFp16, 0x8, 143) == 0x8000);
  // Byte 255.
  CHECK(mxfp4("ocp", kBf16, 0x7, 255) == 0x7FC0);
  CHECK(mxfp4("triton-kernels-gpu-dequantize", kBf16, 0x7, 255) == 0x7FC0);
  CHECK(mxfp4("triton-kernels-dequantize", kBf16, 0x7, 255) == 0x7F7F);
  CHECK(mxfp4("triton-kernels-dequantize", kBf16, 0x0, 255) == 0x7FC0);
  CHECK(mxfp4("vllm-dequantize", kBf16, 0x7, 255) == 0x7F80);
  CHECK(mxfp4("vllm-dequantize", kBf16, 0x0, 255) == 0x7FC0);
  CHECK(mxfp4("deepseek-v4", kF32, 0x7, 255) == 0x7F800000);
  CHECK(mxfp4("deepseek-v4", kF32, 0x7, 0) == 0);
}

TEST_CASE("what triton_kernels does with scale bytes and large products does not depend on the element format") {
  // 0x7E is 448, 0x38 is 1, 0x40 is 2, 0x7F is NaN. Numerics specification section 2.
  const auto mxfp8 = [](std::string_view profile, const Format& target, std::uint32_t code, std::uint32_t scale) {
    return dequantize(code, scale, row_of(profile, kMxfp8E4m3, target));
  };
  for (const std::string_view profile : {"triton-kernels-dequantize", "triton-kernels-dequantize-cpu", "triton-kernels-gpu-dequantize"}) {
    INFO(profile);
    CHECK(mxfp8(profile, kBf16, 0x38, 127) == 0x3F80);
    CHECK(mxfp8(profile, kBf16, 0x7E, 0) == 0x0000);
    CHECK(mxfp8(profile, kF32, 0xFE, 0) == 0x80000000);
    CHECK(mxfp8(profile, kBf16, 0x7E, 254) == 0x7F7F);
    CHECK(mxfp8(profile, kFp16, 0xFE, 140) == 0xFBFF);
    CHECK_THROWS_AS(row_of(profile, kMxfp8E5m2, kF32), Error);
  }
  // 2 * 2^-25 is fp16's smallest number; the kernel's scale 2^-25 in fp16 is 0. A NaN survives torch.clamp, not the kernel's.
  CHECK(mxfp8("triton-kernels-dequantize-cpu", kFp16, 0x40, 102) == 0x0001);
  CHECK(mxfp8("triton-kernels-gpu-dequantize", kFp16, 0x40, 102) == 0x0000);
  CHECK(mxfp8("triton-kernels-dequantize-cpu", kBf16, 0x7F, 127) == 0x7FC0);
  CHECK(mxfp8("triton-kernels-gpu-dequantize", kBf16, 0x7F, 127) == 0x7F7F);
  for (std::uint32_t scale = 0; scale < 256; ++scale) {
    for (std::uint32_t code = 0; code < 16; ++code) {
      CHECK(mxfp4("triton-kernels-dequantize-cpu", kFp16, code, scale) == mxfp4("triton-kernels-dequantize", kFp16, code, scale));
    }
  }
}

TEST_CASE("ocp and torchao dequantize every code under every scale of every format") {
  Comparison comparison;
  for (std::string_view profile : {"ocp", "torchao-dequantize"}) {
    const bool scale_in_target = profile != "ocp";
    for (const Dequantizer& row : profile_named(profile).dequantizers) {
      const FormatFacts& facts = facts_of(*row.format->element);
      for (std::uint32_t i = 0; i < 256U << facts.width; ++i) {
        const std::uint32_t code = i >> 8;
        const std::uint32_t scale = i & 0xFFU;
        const double power = scale == 0xFF ? NAN : std::ldexp(1.0, static_cast<int>(scale) - 127);
        const double element = is_nan_by_facts(facts, code) ? NAN : value_of(facts, code);
        const double factor = scale_in_target ? number_of(rounded(power, *row.target), *row.target) : power;
        const std::uint32_t got = dequantize(code, scale, row);
        const double product = element * factor;
        const bool holds = std::isnan(product) ? std::isnan(number_of(got, *row.target)) : got == rounded(product, *row.target);
        comparison.expect(holds, [&] {
          return std::string(profile) + " " + std::string(row.format->name) + " " + hex(code) + " * " + hex(scale) + " in " +
                 std::string(row.target->name) + ": " + hex(got);
        });
      }
    }
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(comparison.count > 1'000'000);
}

TEST_CASE("NVFP4 dequantizes with one fp32 factor per block") {
  const std::uint32_t g = bits_of(336.0F);
  const std::uint32_t d = bits_of(0.0123F);
  Comparison comparison;
  for (std::uint32_t scale = 0; scale < 0x7F; ++scale) {
    for (std::uint32_t code = 0; code < 16; ++code) {
      const auto s = static_cast<float>(value_of(facts_of(kE4m3fn), scale));
      const auto element = static_cast<float>(value_of(facts_of(kE2m1), code));
      for (const Format* target : {&kF32, &kBf16, &kFp16}) {
        const auto describe = [&] { return hex(code) + " * " + hex(scale) + " in " + std::string(target->name); };
        const std::uint32_t divided = dequantize(code, scale, row_of("vllm-nvfp4", kNvfp4, *target), {.encode = g, .decode = std::nullopt});
        const std::uint32_t multiplied = dequantize(code, scale, row_of("torchao-nvfp4", kNvfp4, *target), {.encode = std::nullopt, .decode = d});
        comparison.expect(divided == rounded(element * (s / 336.0F), *target), describe);
        comparison.expect(multiplied == rounded(element * (s * 0.0123F), *target), describe);
        comparison.expect(dequantize(code, scale, row_of("torchao-nvfp4-single", kNvfp4, *target)) == rounded(element * s, *target), describe);
      }
    }
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(dequantize(0x1, 0x7F, row_of("vllm-nvfp4", kNvfp4, kF32), {.encode = g, .decode = std::nullopt}) == 0x7FC00000);
}

TEST_CASE("FP8 dequantizes as a product in fp32") {
  std::mt19937 random(20253);
  Comparison comparison;
  for (int round = 0; round < 20000; ++round) {
    const std::uint32_t code = word_of(random) % 0x7F;
    const std::uint32_t scale = word_of(random) % 0x7F800000U;
    const float product = static_cast<float>(value_of(facts_of(kE4m3fn), code)) * float_of(scale);
    for (const Format* target : {&kF32, &kBf16, &kFp16}) {
      comparison.expect(dequantize(code, scale, row_of("torchao-fp8", kFp8E4m3, *target)) == rounded(product, *target),
                        [&] { return hex(code) + " * " + hex(scale) + " in " + std::string(target->name); });
    }
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
}

TEST_CASE("a dequantizer names the tensor scale that is missing or not taken") {
  const TensorScale encode{.encode = bits_of(2.0F), .decode = std::nullopt};
  const TensorScale decode{.encode = std::nullopt, .decode = bits_of(2.0F)};
  CHECK_THROWS_AS(dequantize(0, 0, row_of("vllm-nvfp4", kNvfp4, kF32)), Error);
  CHECK_THROWS_AS(dequantize(0, 0, row_of("vllm-nvfp4", kNvfp4, kF32), decode), Error);
  CHECK_THROWS_AS(dequantize(0, 0, row_of("torchao-nvfp4", kNvfp4, kF32), encode), Error);
  CHECK_THROWS_AS(dequantize(0, 0, row_of("ocp", kMxfp4, kF32), encode), Error);
  // dq_mxfp4_torch has no fp32.
  CHECK_THROWS_AS(row_of("vllm-quark-even", kMxfp4, kF32), Error);
  CHECK_THROWS_AS(row_of("marlin", kMxfp4, kF32), Error);
  CHECK_THROWS_AS(row_of("vllm-nvfp4", kMxfp4, kF32), Error);
}
