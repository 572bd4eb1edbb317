#include "model/moe/stages.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <string>

#include "model/error.hpp"
#include "model/numerics/convert.hpp"

namespace mx::moe {
namespace {

constexpr std::size_t kBlock = 32;
constexpr int kLeastScale = -127;
constexpr int kMostScale = 127;

/// Nearest even; a NaN keeps being one, which is all that the layer looks at.
Conversion into(const Format& format) {
  return {Rounding::nearest_even,
          Overflow::ieee,
          NanRule::fixed,
          format.width == 16 ? 0x7FC0U : 0x7FC00000U,
          format.width == 16 ? 0x7FC0U : 0x7FC00000U,
          0,
          false};
}
constexpr Conversion kSaturated{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0x7F, 0x7F, 0, false};

Value scaled(Value value, int exponent) {
  if (value.cls == ValueClass::finite) value.exponent += exponent;
  return value;
}

/// Least s with |value| <= 448 * 2^s: 448 is 7 * 2^6.
int rceil_exponent(const Value& value) {
  const int top = value.exponent + static_cast<int>(std::bit_width(value.significand)) - 1;
  constexpr int kTopOfLargest = 8;  // 448 < 2^9
  constexpr std::uint64_t kSeven = 7;
  const int width = static_cast<int>(std::bit_width(value.significand));
  // The significand's three leading bits and whether anything follows, held against 1.11 of 448.
  const std::uint64_t lead = width > 3 ? value.significand >> (width - 3) : value.significand << (3 - width);
  const bool rest = width > 3 && (lead << (width - 3)) != value.significand;
  return top - kTopOfLargest + (lead == kSeven && rest ? 1 : 0);
}

void quantize_block(std::span<Value> block) {
  int exponent = kLeastScale;
  bool special = false;
  for (const Value& value : block) {
    special = special || value.cls == ValueClass::nan || value.cls == ValueClass::infinity;
    if (value.cls == ValueClass::finite) exponent = std::max(exponent, rceil_exponent(value));
  }
  exponent = std::min(exponent, kMostScale);
  for (Value& value : block) {
    Flags flags;
    value = special ? Value{.significand = 0, .exponent = 0, .cls = ValueClass::nan}
                    : scaled(decode(kE4m3fn, encode(scaled(value, -exponent), kE4m3fn, kSaturated, flags)), exponent);
  }
}

}  // namespace

Value rounded(const Value& value, StageRounding rounding) {
  if (rounding == StageRounding::none) return value;
  const Format& format = rounding == StageRounding::bf16 ? kBf16 : kF32;
  Flags flags;
  return decode(format, encode(value, format, into(format), flags));
}

void quantize_row(std::vector<Value>& row, Quantization quantization) {
  if (quantization == Quantization::none) return;
  if (row.size() % kBlock != 0) {
    throw Error(ErrorCode::usage, "a row of " + std::to_string(row.size()) + " values is not whole blocks of " + std::to_string(kBlock),
                "mxfp8_rceil");
  }
  for (std::size_t begin = 0; begin < row.size(); begin += kBlock) quantize_block(std::span(row).subspan(begin, kBlock));
}

}  // namespace mx::moe
