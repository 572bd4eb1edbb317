#include <algorithm>
#include <string>

#include "model/error.hpp"
#include "model/families/marlin/values.hpp"
#include "model/layout/grains.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/profile.hpp"

namespace mx::families::marlin {
namespace {

const Format& format_of(ParamsDtype dtype) { return dtype == ParamsDtype::fp16 ? kFp16 : kBf16; }

/// A cast as torch does it on CUDA.
std::uint32_t cast(std::uint32_t code, const Format& from, const Format& to) {
  static const Profile& torch = profile_named("torch-cuda");
  return convert(code, from, to, conversion(torch, from, to));
}

/// fp32 bits of 2^exponent, exponent -126..127.
constexpr std::uint32_t power_of_two(int exponent) { return static_cast<std::uint32_t>(exponent + 127) << 23U; }

// Differences of exponent biases that the kernel's dequantizers leave to the scales.
// Source: nvfp4_marlin_process_global_scale (less the 2^7 that is in the scales) and fp8_fused_exponent_bias_into_scales.
constexpr int nvfp4_bias(ParamsDtype dtype) { return (dtype == ParamsDtype::fp16 ? 14 : 126) - 7; }
constexpr int fp8_bias(ParamsDtype dtype) { return dtype == ParamsDtype::fp16 ? 8 : 120; }

constexpr int kF32Bias = 127;
constexpr int kFp16Bias = 15;
constexpr std::uint8_t kS0e5m3Nan = 0xFF;
constexpr std::uint8_t kE4m3Nan = 0x7F;

int exponent_of(std::uint32_t f32) { return static_cast<int>(f32 >> 23U & 0xFFU) - kF32Bias; }

}  // namespace

std::uint32_t to_params(std::uint32_t f32, ParamsDtype dtype) { return cast(f32, kF32, format_of(dtype)); }

std::uint8_t e8m0_through(std::uint8_t code, ParamsDtype dtype) {
  const Format& format = format_of(dtype);
  return static_cast<std::uint8_t>(cast(to_params(to_f32(code, kE8m0), dtype), format, kE8m0));
}

int nvfp4_factor(std::span<const std::uint8_t> scales, ParamsDtype dtype) {
  if (dtype == ParamsDtype::fp16) return 0;
  // Positive e4m3 codes are ordered as their values; a NaN is not greater than 0.
  std::uint8_t largest = 0;
  for (const std::uint8_t code : scales) {
    if (code < kE4m3Nan) largest = std::max(largest, code);
  }
  if (largest == 0) return 0;
  const std::uint32_t limit = to_f32(max_finite_code(kE4m3fn), kE4m3fn);
  const std::uint32_t value = to_f32(largest, kE4m3fn);
  const int exponents = exponent_of(limit) - exponent_of(value);
  constexpr std::uint32_t kMantissa = 0x7FFFFFU;
  return (value & kMantissa) <= (limit & kMantissa) ? exponents : exponents - 1;
}

std::uint8_t nvfp4_scale(std::uint8_t code, int factor) {
  if (is_nan_code(kE4m3fn, code)) return kS0e5m3Nan;
  const std::uint32_t value = to_f32(code, kE4m3fn);
  const int exponent = exponent_of(value) + 7 + factor;
  const bool is_negative = code >= 0x80;
  if (is_negative || code == 0 || exponent < 1) return 0;
  return static_cast<std::uint8_t>(static_cast<std::uint32_t>(exponent + kFp16Bias) << 3U | (value >> 20U & 7U));
}

std::uint8_t nvfp4_scale_back(std::uint8_t byte) {
  if (byte == 0) return 0;
  if (byte == kS0e5m3Nan) return kE4m3Nan;
  const int exponent = (byte >> 3) - kFp16Bias - 7;
  const auto value = static_cast<std::uint32_t>(exponent + kF32Bias) << 23U | (byte & 7U) << 20U;
  const auto code = static_cast<std::uint8_t>(cast(value, kF32, kE4m3fn));
  if (nvfp4_scale(code, 0) == byte) return code;
  throw Error(ErrorCode::input, "scale byte " + std::to_string(byte) + " is none that an e4m3 scale becomes", "marlin");
}

std::uint32_t nvfp4_global_scale(std::uint32_t f32, int factor, ParamsDtype dtype) {
  return f32::div(f32::mul(f32, power_of_two(nvfp4_bias(dtype))), power_of_two(factor));
}

std::uint32_t nvfp4_global_scale_back(std::uint32_t f32, ParamsDtype dtype) { return f32::mul(f32, power_of_two(-nvfp4_bias(dtype))); }

std::uint32_t fp8_scale(std::uint32_t f32, ParamsDtype dtype) {
  const std::uint32_t rounded = to_f32(to_params(f32, dtype), format_of(dtype));
  return to_params(f32::mul(rounded, power_of_two(fp8_bias(dtype))), dtype);
}

std::uint32_t fp8_scale_back(std::uint32_t code, ParamsDtype dtype) {
  return f32::mul(to_f32(code, format_of(dtype)), power_of_two(-fp8_bias(dtype)));
}

}  // namespace mx::families::marlin
