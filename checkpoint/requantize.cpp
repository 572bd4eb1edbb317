#include "checkpoint/requantize.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "checkpoint/nearest_even.hpp"
#include "model/numerics/convert.hpp"

namespace mx::checkpoint {
namespace {

constexpr double kLargestE4m3 = 448;

double number_of(std::uint8_t code) { return static_cast<double>(std::bit_cast<float>(to_f32(code, kE4m3fn))); }

std::uint8_t to_e4m3(float value) {
  if (std::isnan(value)) return 0x7E;
  const double held = std::clamp(static_cast<double>(value), -kLargestE4m3, kLargestE4m3);
  const double near = std::abs(nearest_even(held, 4, -9));
  const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (near == 0) return sign;
  const int exponent = std::max(std::ilogb(near), -6);
  const auto mantissa = static_cast<int>(std::ldexp(near, 3 - exponent));
  return static_cast<std::uint8_t>(sign | (mantissa < 8 ? mantissa : (exponent + 7) << 3 | (mantissa - 8)));
}

}  // namespace

std::array<std::uint8_t, 256> requantized_codes(std::uint32_t from, std::uint32_t to) {
  const double scale = nearest_fp16(static_cast<double>(std::bit_cast<float>(from)));
  const float inverse = 1.0F / std::bit_cast<float>(to);
  std::array<std::uint8_t, 256> codes{};
  for (int code = 0; code < 256; ++code) {
    const double product = nearest_fp16(number_of(static_cast<std::uint8_t>(code)) * scale);
    codes[static_cast<std::size_t>(code)] = to_e4m3(static_cast<float>(product) * inverse);
  }
  return codes;
}

RequantizedCount count_requantized(const Requantized& half, std::span<const std::uint8_t> codes) {
  const std::array<std::uint8_t, 256> made = requantized_codes(half.from, half.to);
  std::array<std::int64_t, 256> counts{};
  for (const std::uint8_t code : codes) ++counts[code];
  RequantizedCount count;
  const double from = std::bit_cast<float>(half.from), to = std::bit_cast<float>(half.to);
  for (std::size_t code = 0; code < 256; ++code) {
    if (made[code] == code) {
      if (from != to && number_of(static_cast<std::uint8_t>(code)) != 0) count.changed += counts[code];
      continue;
    }
    count.changed += counts[code];
    // Products of 4 and 24 bits: exact.
    if (number_of(static_cast<std::uint8_t>(code)) * from == number_of(made[code]) * to) count.kept += counts[code];
  }
  return count;
}

void requantize(const Requantized& half, std::span<std::uint8_t> codes) {
  const std::array<std::uint8_t, 256> made = requantized_codes(half.from, half.to);
  for (std::uint8_t& code : codes) code = made[code];
}

}  // namespace mx::checkpoint
