#pragma once
// What the scale rules of implementations are, stated a second time: for each scale byte the smallest largest-magnitude that reaches it, as an exact
// number. A rule is then a search; no exponent field is read and nothing is rounded.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/numerics/block.hpp"

namespace mx::props::numerics {

/// An element format as its document gives it: the largest value is top * 2^top_exponent.
struct ElementFacts {
  const Format* format;
  int emax;
  int mantissa_bits;
  std::uint64_t top;
  int top_exponent;
};
const ElementFacts& facts_of(const Format& element);

/// Which exact number a byte's power of two is compared with.
enum class Reach {
  power,              ///< amax / 2^emax >= 2^k
  above_power,        ///< amax / 2^emax > 2^(k-1)
  quotient,           ///< RN(amax / 2^emax) >= 2^k, RN to fp32: below 2^-126 it can round up
  above_quotient,     ///< RN(amax / 2^emax) > 2^(k-1)
  above_max,          ///< RN(amax / max) > 2^(k-1)
  above_max_product,  ///< RN(amax * RN(1 / max)) > 2^(k-1)
  half_up,            ///< amax, rounded half up to the element's mantissa, / 2^emax >= 2^k
  log2,               ///< RN(log2 amax) - emax >= k
  log2_no_emax,       ///< RN(log2 amax) >= k
};

/// What is below byte 1, whose power of two is 2^-126.
enum class Bottom {
  zero,            ///< a quotient that rounds to 0
  smallest_scale,  ///< one that rounds to 2^-127, the value of byte 0, or less
  subnormal,       ///< one that rounds to less than 2^-126
  nothing,         ///< no amax at all
};

struct ScaleFacts {
  std::string_view profile;
  Reach reach;
  Bottom bottom;           ///< of the `above` kinds; the others are reached as their line says
  std::uint32_t zero_as;   ///< fp32 bits that amax 0 counts as
  std::uint32_t infinite;  ///< byte of an Inf, also one that amax rounds to
  std::uint32_t nan;       ///< byte of a NaN
  std::uint32_t overflow;  ///< byte for powers above 2^127
  bool ignores_nan;        ///< in a block with other elements
};

std::span<const ScaleFacts> all_scale_facts();
/// Null for a profile that has none.
const ScaleFacts* scale_facts_of(std::string_view profile);

/// How many units of 2^-24 below 2^k, relative to it, the logarithm still rounds up to k. Below k the fp32 numbers have the spacing 2^(j-23) for
/// magnitudes in [2^j, 2^(j+1)); half of it in the logarithm is 2^(j-24) * ln 2 in the number.
std::uint64_t log2_slack(int k);

/// True when an amax of these positive finite fp32 bits reaches the byte (1 to 255).
bool reaches(std::uint32_t amax, std::uint32_t byte, const ScaleFacts& facts, const ElementFacts& element);

/// The smallest positive finite fp32 pattern that reaches the byte; 0x7F800000 when none does.
std::uint32_t first_reaching(std::uint32_t byte, const ScaleFacts& facts, const ElementFacts& element);

/// Byte of any amax, fp32 bits without sign.
std::uint32_t restated_scale(std::uint32_t amax, const ScaleFacts& facts, const ElementFacts& element);

/// fp32 bits of numerator * 2^exponent / denominator, rounded once to nearest even, for integers below 2^30: 0 below half the smallest positive.
std::uint32_t rounded_quotient(std::uint64_t numerator, std::uint64_t denominator, int exponent);

/// fp32 bits of significand * 2^exponent rounded once to nearest even; Inf above the largest number.
std::uint32_t rounded_f32(std::uint64_t significand, int exponent, bool sticky = false);

/// A positive finite fp32 number is this significand times 2^exponent.
struct Parts {
  std::uint64_t significand;
  int exponent;
};
Parts parts_of(std::uint32_t f32);

}  // namespace mx::props::numerics
