#include "tests/numerics/facts.hpp"

#include <cmath>
#include <limits>

namespace mx::tests {

const std::vector<FormatFacts>& all_facts() {
  // The columns of the format table of OFP8 1.0 and MX 1.0 as published: extremes are typed in as powers of two, not computed.
  static const std::vector<FormatFacts> kFacts{
      {"e4m3fn", 8, 4, 3, 7, 0x7E, 448, 0x1p-6, 0x1p-9, false, true, true, true},
      {"e5m2", 8, 5, 2, 15, 0x7B, 57344, 0x1p-14, 0x1p-16, true, true, true, true},
      {"e4m3fnuz", 8, 4, 3, 8, 0x7F, 240, 0x1p-7, 0x1p-10, false, true, true, false},
      {"e5m2fnuz", 8, 5, 2, 16, 0x7F, 57344, 0x1p-15, 0x1p-17, false, true, true, false},
      {"e2m3", 6, 2, 3, 1, 0x1F, 7.5, 1, 0.125, false, false, true, true},
      {"e3m2", 6, 3, 2, 3, 0x1F, 28, 0.25, 0.0625, false, false, true, true},
      {"e2m1", 4, 2, 1, 1, 0x7, 6, 1, 0.5, false, false, true, true},
      {"e8m0", 8, 8, 0, 127, 0xFE, 0x1p127, 0x1p-127, 0x1p-127, false, true, false, false},
      {"ue4m3", 7, 4, 3, 7, 0x7E, 448, 0x1p-6, 0x1p-9, false, true, false, false},
      {"ue5m3", 8, 5, 3, 15, 0xFE, 114688, 0x1p-14, 0x1p-17, false, true, false, false},
      {"mxint8", 8, 0, 6, 0, 0x7F, 127.0 / 64, 0x1p-6, 0x1p-6, false, false, true, false},
      {"bf16", 16, 8, 7, 127, 0x7F7F, 0x1.FEp127, 0x1p-126, 0x1p-133, true, true, true, true},
      {"fp16", 16, 5, 10, 15, 0x7BFF, 65504, 0x1p-14, 0x1p-24, true, true, true, true},
  };
  return kFacts;
}

namespace {

/// The code of infinity in a format that has one: the exponent all ones, the mantissa zero (IEEE 754-2019 3.4; OFP8 table 1).
std::uint32_t infinity_code(const FormatFacts& facts) { return ((1U << facts.exponent_bits) - 1U) << facts.mantissa_bits; }

}  // namespace

bool is_nan_by_facts(const FormatFacts& facts, std::uint32_t code) {
  if (facts.has_inf) return (code & ((1U << (facts.width - 1)) - 1U)) > infinity_code(facts);
  if (facts.name == "e4m3fn") return code == 0x7F || code == 0xFF;
  if (facts.name == "e4m3fnuz" || facts.name == "e5m2fnuz") return code == 0x80;
  if (facts.name == "e8m0") return code == 0xFF;
  if (facts.name == "ue4m3") return code == 0x7F;
  if (facts.name == "ue5m3") return code == 0xFF;
  return false;
}

std::uint32_t overflow_nan_by_facts(const FormatFacts& facts, bool negative) {
  // The quiet NaN: the first bit of the mantissa set, the others clear.
  if (facts.has_inf) return (negative ? 1U << (facts.width - 1) : 0U) + infinity_code(facts) + (1U << (facts.mantissa_bits - 1));
  if (facts.name == "e8m0") return 0xFF;
  if (facts.name == "e4m3fn") return negative ? 0xFF : 0x7F;
  if (facts.name == "ue4m3") return 0x7F;
  if (facts.name == "ue5m3") return 0xFF;
  return 0x80;
}

std::uint32_t signed_code(const FormatFacts& facts, std::uint32_t magnitude, bool negative) {
  if (!negative || !facts.has_sign) return magnitude;
  if (facts.name == "mxint8") return (256U - magnitude) % 256U;
  if (magnitude == 0 && !facts.has_negative_zero) return 0;
  return magnitude + (1U << (facts.width - 1));
}

double value_of(const FormatFacts& facts, std::uint32_t code) {
  const int c = static_cast<int>(code);
  if (facts.name == "e8m0") return std::ldexp(1.0, c - 127);
  if (facts.name == "mxint8") return (c < 128 ? c : c - 256) / 64.0;
  const int sign_place = 1 << (facts.has_sign ? facts.width - 1 : facts.width);
  const double sign = c >= sign_place ? -1.0 : 1.0;
  const int magnitude = c % sign_place;
  const int radix = 1 << facts.mantissa_bits;
  const int field = magnitude / radix;
  const int mantissa = magnitude % radix;
  if (facts.has_inf && field == (1 << facts.exponent_bits) - 1) return sign * std::numeric_limits<double>::infinity();
  if (field == 0) return sign * std::ldexp(static_cast<double>(mantissa) / radix, 1 - facts.bias);
  return sign * std::ldexp(1.0 + static_cast<double>(mantissa) / radix, field - facts.bias);
}

}  // namespace mx::tests
