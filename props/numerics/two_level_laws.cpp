// Laws about scales that are numbers: NVFP4's two levels and FP8's fp32 scales. N5, N6, N8.

#include <rapidcheck.h>

#include <bit>
#include <cmath>

#include "model/numerics/profile.hpp"
#include "props/numerics/grid.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kOne = 0x3F800000U;

std::uint32_t bits_of(float number) { return std::bit_cast<std::uint32_t>(number); }
float number_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// fp32 bits of 2^exponent, normal exponents.
std::uint32_t power(int exponent) { return static_cast<std::uint32_t>(exponent + 127) << 23; }

int pick_exponent(int low, int high) { return low + static_cast<int>(pick_uniform(0, static_cast<std::uint32_t>(high - low))); }

const Recipe& recipe_of(std::string_view profile, const BlockFormat& format) { return recipe(profile_named(profile), format); }

/// What the recipe takes for an encode scale of 2^exponent.
TensorScale tensor_scale(const Nvfp4Recipe& how, int exponent) {
  switch (how.rule) {
    case Nvfp4Scale::global: return {.encode = power(exponent), .decode = power(-exponent)};
    case Nvfp4Scale::quotient: return {.encode = power(exponent), .decode = std::nullopt};
    case Nvfp4Scale::per_tensor:
    case Nvfp4Scale::six_decodes: return {.encode = std::nullopt, .decode = power(-exponent)};
    case Nvfp4Scale::single:
    case Nvfp4Scale::direct: break;
  }
  return {};
}

bool has_tensor_scale(const Nvfp4Recipe& how) { return how.rule != Nvfp4Scale::single && how.rule != Nvfp4Scale::direct; }

/// The code of 2^exponent among the E4M3 codes 0x08 (2^-6) to 0x78 (2^8); above, what the implementations make of it (numerics section 4).
std::uint32_t power_code(int exponent, std::string_view profile) {
  if (exponent > 8) return profile == "triton-kernels-nvfp4" ? 0x7FU : 0x7EU;
  return static_cast<std::uint32_t>(exponent + 7) << 3;
}

/// 16 numbers of magnitude at most 6 * 2^exponent, one of them of that magnitude.
std::vector<std::uint32_t> pick_block(int exponent) {
  std::vector<std::uint32_t> block;
  for (int i = 0; i < 16; ++i) {
    const std::uint32_t f32 = pick_boundary(grid_of("e2m1"));
    const std::uint32_t magnitude = f32 & ~kSign;
    // Numbers from 2^-8 up to 6 alone, so that none leaves fp32's normal range below.
    const bool taken = magnitude >= power(-8) && magnitude <= bits_of(6.0F);
    block.push_back(taken ? f32 + (static_cast<std::uint32_t>(exponent) << 23) : f32 & kSign);
  }
  block[pick_uniform(0, 15)] = bits_of(std::ldexp(6.0F, exponent)) | (pick_uniform(0, 1) * kSign);
  return block;
}

/// A power of two divides on the exponent field; zeros of a dialect that drops their sign are not looked at.
std::uint32_t element_of(std::uint32_t f32, int exponent) {
  if ((f32 & ~kSign) == 0) return (f32 & kSign) != 0 ? 0x8U : 0x0U;
  return searched_code(grid_of("e2m1"), f32 - (static_cast<std::uint32_t>(exponent) << 23), Rounding::nearest_even);
}

/// What the recipe can take of fp32 numbers: themselves, or what bf16 holds of them.
void cut(std::vector<std::uint32_t>& block, const Nvfp4Recipe& how) {
  if (how.sources.f32) return;
  for (std::uint32_t& f32 : block) f32 &= 0xFFFF0000U;
}

/// Quantizes a block that has been cut.
QuantizedBlock quantized_of(const std::vector<std::uint32_t>& block, const Recipe& row, const TensorScale& tensor) {
  if (std::get<Nvfp4Recipe>(row.how).sources.f32) return quantize_block(block, kF32, row, tensor);
  std::vector<std::uint32_t> halves;
  for (std::uint32_t f32 : block) halves.push_back(f32 >> 16U);
  return quantize_block(halves, kBf16, row, tensor);
}

}  // namespace

Outcome nvfp4_scales_and_codes(const Law& law) {
  const std::string_view name = subject_of(law);
  const Recipe& row = recipe_of(name, kNvfp4);
  const auto& how = std::get<Nvfp4Recipe>(row.how);
  return check_property(law, [&] {
    const int tensor = has_tensor_scale(how) ? pick_exponent(-20, 20) : 0;
    const int wanted = pick_exponent(-6, 10);
    std::vector<std::uint32_t> block = pick_block(wanted - tensor);
    cut(block, how);
    const QuantizedBlock quantized = quantized_of(block, row, tensor_scale(how, tensor));
    RC_LOG("scale code " + hex(quantized.scale) + " for 2^" + std::to_string(wanted) + ", tensor 2^" + std::to_string(tensor));
    RC_ASSERT(quantized.scale == power_code(wanted, name));
    // 448, where the scale saturates, is no power of two.
    if (wanted > 8) return;
    for (std::size_t i = 0; i < block.size(); ++i) {
      const bool zero = (block[i] & ~kSign) == 0;
      RC_LOG("element " + hex(block[i]) + " code " + hex(quantized.codes[i]));
      if (zero) {
        RC_ASSERT(quantized.codes[i] % 8 == 0);
      } else {
        RC_ASSERT(quantized.codes[i] == element_of(block[i], wanted - tensor));
      }
    }
  });
}

Outcome nvfp4_scale_splits(const Law& law) {
  const Recipe& row = recipe_of(subject_of(law), kNvfp4);
  const auto& how = std::get<Nvfp4Recipe>(row.how);
  return check_property(law, [&] {
    const int first = pick_exponent(-20, 20);
    const int moved = pick_exponent(1, 20);
    std::vector<std::uint32_t> block = pick_block(pick_exponent(-12, 8) - first);
    for (std::uint32_t& f32 : block) {
      // Any mantissa: what the scale rounds away must come out the same.
      if ((f32 & ~kSign) != 0) f32 ^= pick_uniform(0, 0x3FFFFF);
    }
    cut(block, how);
    const QuantizedBlock once = quantized_of(block, row, tensor_scale(how, first));
    for (std::uint32_t& f32 : block) {
      if ((f32 & ~kSign) != 0) f32 += static_cast<std::uint32_t>(moved) << 23;
    }
    const QuantizedBlock again = quantized_of(block, row, tensor_scale(how, first - moved));
    RC_LOG("scales " + hex(once.scale) + " " + hex(again.scale));
    RC_ASSERT(once.scale == again.scale);
    RC_ASSERT(once.codes == again.codes);
    // The block itself is told apart from zero.
    RC_ASSERT(once.scale == 0 || once.codes != std::vector<std::uint32_t>(16, 0));
  });
}

Outcome tensor_scale_matters(const Law& law) {
  return check_property(law, [] {
    const std::uint32_t code = pick_code(4);
    const std::uint32_t scale = pick_uniform(1, 0x7E);
    const std::uint32_t mantissa = pick_uniform(0, 0x7FFFFF);
    const int exponent = pick_exponent(-40, 40);
    const int moved = pick_exponent(1, 20);
    RC_LOG("code " + hex(code) + " scale " + hex(scale) + " tensor " + hex(power(exponent) | mantissa));
    const Dequantizer& divides = dequantizer(profile_named("vllm-nvfp4"), kNvfp4, kF32);
    const Dequantizer& multiplies = dequantizer(profile_named("torchao-nvfp4"), kNvfp4, kF32);
    const auto divided = [&](int e) { return dequantize(code, scale, divides, {.encode = power(e) | mantissa, .decode = std::nullopt}); };
    const auto multiplied = [&](int e) { return dequantize(code, scale, multiplies, {.encode = std::nullopt, .decode = power(e) | mantissa}); };
    const std::uint32_t step = code % 8 == 0 ? 0U : static_cast<std::uint32_t>(moved) << 23;
    RC_ASSERT(divided(exponent) == divided(exponent + moved) + step);
    RC_ASSERT(multiplied(exponent + moved) == multiplied(exponent) + step);
  });
}

Outcome fp8_scale_has_floor(const Law& law) {
  const Recipe& row = recipe_of(subject_of(law), kFp8E4m3);
  const double least = number_of(bits_of(1.0F / (448.0F * 512.0F)));
  return check_property(law, [&] {
    const std::uint32_t amax = pick_uniform(0, 1) == 0 ? pick_uniform(0, 0x7F7FFFFF) : pick_uniform(power(-14), power(-4));
    const std::vector<std::uint32_t> token{amax | kSign, amax / 2, 0};
    const double scale = number_of(quantize_block(token, kF32, row, {}).scale);
    RC_LOG("amax " + hex(amax) + " scale " + std::to_string(scale));
    RC_ASSERT(scale >= least);
    // A product of a 24-bit number and 448 is exact in fp64: the scale must be the fp32 number nearest to the quotient.
    const double wanted = number_of(amax);
    const auto distance = [&](float s) { return std::fabs(static_cast<double>(s) * 448.0 - wanted); };
    const auto s = static_cast<float>(scale);
    if (scale > least) {
      RC_ASSERT(distance(s) <= distance(std::nextafter(s, 0.0F)));
      RC_ASSERT(distance(s) <= distance(std::nextafter(s, 1e38F)));
    } else {
      RC_ASSERT(wanted <= std::nextafter(s, 1.0F) * 448.0);
    }
    const std::uint32_t bound = pick_uniform(power(-4), power(4));
    const double bounded = number_of(quantize_block(token, kF32, row, {.encode = std::nullopt, .decode = std::nullopt, .amax_bound = bound}).scale);
    RC_ASSERT(bounded == std::fmin(scale, number_of(quantize_block(std::vector{bound}, kF32, row, {}).scale)));
  });
}

Outcome fp8_divides_exactly(const Law& law) {
  const Recipe& row = recipe_of(subject_of(law), kFp8E4m3);
  const Grid& grid = grid_of("e4m3fn");
  return check_property(law, [&] {
    const int exponent = (pick_uniform(0, 1) == 0 ? 1 : -1) * pick_exponent(1, 30);
    const std::uint32_t quotient = pick_boundary(grid);
    // Numbers whose multiple is normal too.
    const std::uint32_t magnitude = quotient & ~kSign;
    if (magnitude < power(-60) || magnitude > power(60)) return;
    const std::uint32_t f32 = quotient + (static_cast<std::uint32_t>(exponent) << 23);
    const QuantizedBlock quantized = quantize_block(std::vector{f32}, kF32, row, {.encode = std::nullopt, .decode = power(exponent)});
    RC_LOG("f32 " + hex(f32) + " scale 2^" + std::to_string(exponent));
    RC_ASSERT(quantized.scale == power(exponent));
    RC_ASSERT(quantized.codes[0] == searched_code(grid, quotient, Rounding::nearest_even));
  });
}

Outcome fnuz_keeps_values(const Law& law) {
  const auto value = [](const Format& format, std::uint32_t code, std::uint32_t scale) {
    return static_cast<double>(number_of(to_f32(code, format))) * number_of(scale);
  };
  const auto same = [&](std::uint32_t code, std::uint32_t scale) {
    const FnuzWeight weight = e4m3fn_to_e4m3fnuz(code, scale);
    if (code % 128 == 127) return std::fabs(number_of(to_f32(weight.code, kE4m3fnuz))) == 240.0F;
    return value(kE4m3fnuz, weight.code, weight.scale) == value(kE4m3fn, code, scale);
  };
  const auto property = [&] {
    const std::uint32_t code = pick_code(8);
    const std::uint32_t scale = pick_uniform(power(-60), power(60));
    RC_LOG("code " + hex(code) + " scale " + hex(scale));
    RC_ASSERT(same(code, scale));
  };
  const auto all_cases = [&](Exhaustive& exhaustive) {
    for (std::uint32_t code = 0; code < 256; ++code) exhaustive.expect(same(code, kOne), [&] { return "E4M3 " + hex(code); });
  };
  return run_both(law, property, all_cases);
}

}  // namespace mx::props::numerics
