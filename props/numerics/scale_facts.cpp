#include "props/numerics/scale_facts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string>

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kSmallestNormal = 0x00800000U;

// OFP8 1.0 table 1, MX 1.0 table 1.
constexpr std::array<ElementFacts, 7> kElements{{
    {&kE4m3fn, 8, 3, 7, 6},
    {&kE5m2, 15, 2, 7, 13},
    {&kE2m3, 2, 3, 15, -1},
    {&kE3m2, 4, 2, 7, 2},
    {&kE2m1, 2, 1, 3, 1},
    {&kMxint8, 0, 6, 127, -6},
    {&kE4m3fnuz, 7, 3, 15, 4},
}};

// The numerics specification, section 3 and its table of special blocks. The rules that NaN runs through: an Inf that PTX saturates, casts of NaN
// and Inf to integers, and a NaN that carries into the sign bit.
constexpr std::array<ScaleFacts, 20> kFacts{{
    {"ocp", Reach::power, Bottom::zero, 0, 255, 255, 254, false},
    {"torchao-floor@36027d8", Reach::power, Bottom::zero, 0, 255, 255, 254, false},
    {"torchao-ceil@36027d8", Reach::above_power, Bottom::smallest_scale, 0, 255, 255, 254, false},
    {"torchao-rceil@36027d8", Reach::above_max_product, Bottom::smallest_scale, 0, 255, 255, 254, false},
    {"torchao-even@36027d8", Reach::half_up, Bottom::zero, 0, 255, 255, 254, false},
    {"triton-kernels-floor", Reach::quotient, Bottom::zero, 0, 255, 255, 254, false},
    {"triton-kernels-rceil", Reach::above_max, Bottom::zero, 0, 255, 0, 254, false},
    {"triton-kernels-gpu-floor", Reach::quotient, Bottom::zero, 0, 255, 255, 254, true},
    {"triton-kernels-gpu-rceil", Reach::above_max, Bottom::zero, 0, 255, 0, 254, true},
    {"microxcaling-even", Reach::log2, Bottom::zero, kSmallestNormal, 255, 255, 255, false},
    {"microxcaling-nearest", Reach::log2, Bottom::zero, kSmallestNormal, 255, 255, 255, false},
    {"microxcaling-floor", Reach::log2, Bottom::zero, kSmallestNormal, 255, 255, 255, false},
    {"flashinfer-mx", Reach::above_max_product, Bottom::smallest_scale, 0, 254, 255, 254, true},
    {"flashinfer-mx-fast-math", Reach::above_max_product, Bottom::subnormal, 0, 254, 255, 254, true},
    {"aiter-floor", Reach::quotient, Bottom::zero, 0, 255, 255, 254, false},
    {"aiter-ceil", Reach::above_quotient, Bottom::zero, 0, 255, 255, 254, false},
    {"aiter-rceil", Reach::above_max, Bottom::zero, 0, 255, 255, 254, false},
    {"aiter-even", Reach::half_up, Bottom::zero, 0, 255, 255, 254, false},
    {"vllm-mxfp8-torch", Reach::log2_no_emax, Bottom::nothing, 0, 254, 0, 254, false},
    {"vllm-quark-even", Reach::half_up, Bottom::zero, 0, 0, 0, 254, false},
}};

/// Compares significand * 2^exponent of two positive numbers, significands below 2^63.
int compare(std::uint64_t a, int a_exponent, std::uint64_t b, int b_exponent) {
  const int a_shift = std::countl_zero(a);
  const int b_shift = std::countl_zero(b);
  if (a_exponent - a_shift != b_exponent - b_shift) return a_exponent - a_shift < b_exponent - b_shift ? -1 : 1;
  const std::uint64_t left = a << a_shift;
  const std::uint64_t right = b << b_shift;
  return left == right ? 0 : left < right ? -1 : 1;
}

/// q > bound(byte - 1): the middle between 2^(byte-1-127) and the fp32 number above it, which is a tie that rounds down to the power of two.
struct Bound {
  std::uint64_t significand;
  int exponent;
  bool reached_on_it;
};
Bound bound_above(std::uint32_t byte, Bottom bottom) {
  if (byte == 1) {
    switch (bottom) {
      case Bottom::zero: return {1, -150, false};
      case Bottom::smallest_scale: return {(1U << 23) + 1U, -150, false};
      case Bottom::subnormal: return {(1U << 24) - 1U, -150, true};
      case Bottom::nothing: break;
    }
    throw std::logic_error("no rule of this kind is reached by everything");
  }
  return {(1U << 24) + 1U, static_cast<int>(byte) - 1 - 127 - 24, false};
}

}  // namespace

const ElementFacts& facts_of(const Format& element) {
  const auto row = std::ranges::find_if(kElements, [&](const ElementFacts& facts) { return *facts.format == element; });
  if (row == kElements.end()) throw std::logic_error("no facts about " + std::string(element.name));
  return *row;
}

std::span<const ScaleFacts> all_scale_facts() { return kFacts; }

const ScaleFacts* scale_facts_of(std::string_view profile) {
  const auto row = std::ranges::find(kFacts, profile, &ScaleFacts::profile);
  return row == kFacts.end() ? nullptr : &*row;
}

Parts parts_of(std::uint32_t f32) {
  const std::uint32_t field = f32 >> 23;
  const std::uint32_t mantissa = f32 & 0x7FFFFFU;
  return field == 0 ? Parts{mantissa, -149} : Parts{mantissa | 0x800000U, static_cast<int>(field) - 150};
}

std::uint32_t rounded_f32(std::uint64_t significand, int exponent, bool sticky) {
  if (significand == 0) return 0;
  const int top = exponent + static_cast<int>(std::bit_width(significand)) - 1;
  const int shift = std::max(top, -126) - 23 - exponent;
  std::uint64_t units = shift >= 64 ? 0 : shift >= 0 ? significand >> shift : significand << -shift;
  if (shift > 0) {
    const std::uint64_t half = shift > 64 ? 0 : std::uint64_t{1} << (shift - 1);
    const std::uint64_t rest = shift >= 64 ? significand : significand & ((half << 1U) - 1U);
    if (half != 0 && (rest > half || (rest == half && (sticky || units % 2 == 1)))) ++units;
  }
  const std::uint64_t bits = units + (static_cast<std::uint64_t>(std::max(top, -126) + 126) << 23);
  return bits > kInfinity ? kInfinity : static_cast<std::uint32_t>(bits);
}

std::uint32_t rounded_quotient(std::uint64_t numerator, std::uint64_t denominator, int exponent) {
  const int shift = std::countl_zero(numerator) - 1;
  const std::uint64_t scaled = numerator << shift;
  return rounded_f32(scaled / denominator, exponent - shift, scaled % denominator != 0);
}

std::uint64_t log2_slack(int k) {
  constexpr std::array<std::uint64_t, 8> kFloorOfLn2Times2ToJ{0, 1, 2, 5, 11, 22, 44, 88};
  if (k == 0 || k == 1) return 0;
  const auto below = static_cast<unsigned>(k > 0 ? k - 1 : -k);
  return kFloorOfLn2Times2ToJ[static_cast<std::size_t>(std::bit_width(below) - 1)];
}

bool reaches(std::uint32_t amax, std::uint32_t byte, const ScaleFacts& facts, const ElementFacts& element) {
  const Parts a = parts_of(amax);
  const int k = static_cast<int>(byte) - 127;
  switch (facts.reach) {
    case Reach::power: return compare(a.significand, a.exponent, 1, k + element.emax) >= 0;
    case Reach::above_power: return compare(a.significand, a.exponent, 1, k - 1 + element.emax) > 0;
    case Reach::quotient:
      if (byte > 1) return compare(a.significand, a.exponent, 1, k + element.emax) >= 0;
      return compare(a.significand, a.exponent - element.emax, (1U << 24) - 1U, -150) >= 0;
    case Reach::half_up: {
      // 2^K less one half unit of the mantissa below it.
      const int bits = element.mantissa_bits + 2;
      return compare(a.significand, a.exponent, (std::uint64_t{1} << bits) - 1U, k + element.emax - bits) >= 0;
    }
    case Reach::log2:
    case Reach::log2_no_emax: {
      if (facts.bottom == Bottom::nothing && byte == 1) return true;
      const int power = facts.reach == Reach::log2 ? k + element.emax : k;
      return compare(a.significand, a.exponent, (1U << 24) - log2_slack(power), power - 24) >= 0;
    }
    case Reach::above_quotient:
    case Reach::above_max:
    case Reach::above_max_product: break;
  }
  const Bound bound = bound_above(byte, facts.bottom);
  int order = 0;
  if (facts.reach == Reach::above_quotient) order = compare(a.significand, a.exponent - element.emax, bound.significand, bound.exponent);
  if (facts.reach == Reach::above_max) {
    order = compare(a.significand, a.exponent, bound.significand * element.top, bound.exponent + element.top_exponent);
  }
  if (facts.reach == Reach::above_max_product) {
    const Parts reciprocal = parts_of(rounded_quotient(1, element.top, -element.top_exponent));
    order = compare(a.significand * reciprocal.significand, a.exponent + reciprocal.exponent, bound.significand, bound.exponent);
  }
  return bound.reached_on_it ? order >= 0 : order > 0;
}

std::uint32_t first_reaching(std::uint32_t byte, const ScaleFacts& facts, const ElementFacts& element) {
  std::uint32_t low = 1;
  std::uint32_t high = kInfinity;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (reaches(middle, byte, facts, element)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

std::uint32_t restated_scale(std::uint32_t amax, const ScaleFacts& facts, const ElementFacts& element) {
  if (amax > kInfinity) return facts.nan;
  if (amax == 0) amax = facts.zero_as;
  if (amax == 0) return facts.bottom == Bottom::nothing ? 1 : 0;
  // Half up can pass the largest number: its first power above all is 2^128.
  const std::uint32_t beyond = static_cast<std::uint32_t>(255 - element.emax);
  if (amax == kInfinity || (facts.reach == Reach::half_up && reaches(amax, beyond, facts, element))) return facts.infinite;
  std::uint32_t byte = 0;
  while (byte < 255 && reaches(amax, byte + 1, facts, element)) ++byte;
  return byte > 254 ? facts.overflow : byte;
}

}  // namespace mx::props::numerics
