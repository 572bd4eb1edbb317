#include "model/numerics/f32.hpp"

#include <bit>
#include <cmath>

namespace mx::f32 {
namespace {

constexpr std::uint32_t kInfinity = 0x7F800000U;

float number(std::uint32_t bits) { return std::bit_cast<float>(bits); }

std::uint32_t result(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return is_nan(bits) ? kNan : bits;
}

/// An integer that orders as the numbers do, +0 and -0 equal.
std::int64_t rank(std::uint32_t bits) {
  const auto magnitude = static_cast<std::int64_t>(bits & ~kSign);
  return (bits & kSign) != 0 ? -magnitude : magnitude;
}

}  // namespace

bool environment_is_default() {
  // Through volatile, so that the processor multiplies and adds, not the compiler.
  const volatile float smallest_normal = 0x1p-126F;
  const volatile float half = 0.5F;
  const volatile float subnormal = 0x1p-127F;
  const volatile float one = 1.0F;
  const volatile float half_ulp = 0x1p-24F;
  const volatile float minus_one = -1.0F;
  const bool keeps_results = smallest_normal * half != 0.0F;
  const bool keeps_operands = subnormal * 2.0F == smallest_normal;
  const bool nearest = one + half_ulp == 1.0F && one + half_ulp * 1.5F != 1.0F && minus_one - half_ulp == -1.0F;
  return keeps_results && keeps_operands && nearest;
}

std::uint32_t add(std::uint32_t a, std::uint32_t b) { return result(number(a) + number(b)); }
std::uint32_t sub(std::uint32_t a, std::uint32_t b) { return result(number(a) - number(b)); }
std::uint32_t mul(std::uint32_t a, std::uint32_t b) { return result(number(a) * number(b)); }
std::uint32_t div(std::uint32_t a, std::uint32_t b) { return result(number(a) / number(b)); }
std::uint32_t sqrt(std::uint32_t x) { return result(std::sqrt(number(x))); }
std::uint32_t fma(std::uint32_t a, std::uint32_t b, std::uint32_t c) { return result(std::fma(number(a), number(b), number(c))); }

bool is_nan(std::uint32_t a) { return (a & ~kSign) > kInfinity; }

bool less(std::uint32_t a, std::uint32_t b) { return !is_nan(a) && !is_nan(b) && rank(a) < rank(b); }

std::uint32_t min(std::uint32_t a, std::uint32_t b) {
  if (is_nan(a) || is_nan(b)) return kNan;
  return less(b, a) ? b : a;
}

std::uint32_t max(std::uint32_t a, std::uint32_t b) {
  if (is_nan(a) || is_nan(b)) return kNan;
  return less(a, b) ? b : a;
}

std::string text(std::uint32_t bits) {
  std::string digits = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[bits >> shift & 0xFU];
  return digits;
}

}  // namespace mx::f32
