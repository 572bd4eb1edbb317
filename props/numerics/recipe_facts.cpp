#include "props/numerics/recipe_facts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string>

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kNan = 0x7FC00000U;
constexpr std::uint32_t kTwoTo127 = 0x7F000000U;

// The numerics specification, section 4: amax floors of 1e-4 and 1e-10.
constexpr std::array<GroupFacts, 4> kGroups{{
    {"deepgemm", GroupPower::none, true, false, 0x38D1B717U},
    {"deepgemm-ue8m0", GroupPower::by_bits, true, false, 0x38D1B717U},
    {"vllm-group", GroupPower::none, false, true, 0x2EDBE6FFU},
    {"vllm-group-ue8m0", GroupPower::by_log2, false, true, 0x2EDBE6FFU},
}};

constexpr Rounding kEven = Rounding::nearest_even;
constexpr std::array<ElementRule, 19> kElementRules{{
    {"torchao-floor@36027d8", Quotient::power, kEven, PlusZero::never, false, false},
    {"torchao-ceil@36027d8", Quotient::power, kEven, PlusZero::never, false, false},
    {"torchao-rceil@36027d8", Quotient::power, kEven, PlusZero::never, false, false},
    {"torchao-even@36027d8", Quotient::power, kEven, PlusZero::never, false, false},
    {"triton-kernels-floor", Quotient::power, kEven, PlusZero::never, false, false},
    {"triton-kernels-rceil", Quotient::power, kEven, PlusZero::never, false, false},
    {"triton-kernels-gpu-floor", Quotient::power, kEven, PlusZero::never, false, false},
    {"triton-kernels-gpu-rceil", Quotient::power, kEven, PlusZero::never, false, false},
    {"microxcaling-even", Quotient::power, kEven, PlusZero::from_zero, true, false},
    {"microxcaling-nearest", Quotient::power, Rounding::nearest_away, PlusZero::from_zero, true, false},
    {"microxcaling-floor", Quotient::power, Rounding::toward_zero, PlusZero::from_zero, false, true},
    {"flashinfer-mx", Quotient::power, kEven, PlusZero::never, false, false},
    {"flashinfer-mx-fast-math", Quotient::power, kEven, PlusZero::never, false, false},
    {"vllm-mxfp8-torch", Quotient::power, kEven, PlusZero::never, false, false},
    {"vllm-quark-even", Quotient::power, kEven, PlusZero::never, false, false},
    {"deepgemm", Quotient::reciprocal, kEven, PlusZero::never, false, false},
    {"deepgemm-ue8m0", Quotient::reciprocal, kEven, PlusZero::never, false, false},
    {"vllm-group", Quotient::divided, kEven, PlusZero::never, false, false},
    {"vllm-group-ue8m0", Quotient::divided, kEven, PlusZero::never, false, false},
}};

constexpr std::uint32_t kPlusInf = kInfinity;
constexpr std::uint32_t kMinusInf = kSign | kInfinity;
constexpr std::uint32_t kMinusNan = kSign | kNan;
constexpr std::uint32_t kMinusZero = kSign;
constexpr std::uint32_t kMinusHalf = 0xBF000000U;
constexpr std::uint32_t kTiny = 0x00010000U;  // 2^-133, subnormal also in bf16

// As recorded (golden/witness/numerics/block32, rows "all -0", "one inf", "one nan", "-nan payload last", "zeros + nan", "-BF16_MAX + normals",
// "amax 2^-133") and as the sources say for elements that the recorded blocks do not mix. Two groups have a quotient next to a tie, which division
// and multiplication by the reciprocal round apart.
constexpr SpecialBlock kSpecial[] = {
    {"torchao-floor@36027d8", "mxfp8_e4m3", kNan, kMinusHalf, kMinusNan, 255, 0x7F, 0x7F, 0x7F},
    {"torchao-floor@36027d8", "mxfp8_e5m2", kPlusInf, kMinusHalf, kMinusInf, 255, 0x7F, 0x7F, 0x7F},
    {"torchao-floor@36027d8", "mxfp4", 0, kMinusZero, 0, 0, 0x0, 0x8, 0x0},
    {"torchao-floor@36027d8", "mxfp4", kNan, kMinusHalf, kMinusNan, 255, 0x3, 0x3, 0x3},
    {"torchao-ceil@36027d8", "mxfp6_e2m3", kNan, kMinusHalf, kMinusNan, 255, 0x0C, 0x0C, 0x0C},
    {"torchao-ceil@36027d8", "mxfp8_e4m3", kTiny, kTiny, kTiny, 0, 0x08, 0x08, 0x08},
    {"torchao-rceil@36027d8", "mxfp6_e3m2", kPlusInf, kMinusHalf, kMinusInf, 255, 0x0E, 0x0E, 0x0E},
    {"torchao-rceil@36027d8", "mxfp8_e4m3", kTiny, kTiny, kTiny, 0, 0x08, 0x08, 0x08},
    {"torchao-even@36027d8", "mxfp4", kNan, kMinusHalf, kMinusNan, 255, 0x3, 0x3, 0x3},
    {"triton-kernels-floor", "mxfp8_e4m3", kNan, kMinusHalf, kMinusNan, 255, 0x7F, 0x80, 0xFF},
    {"triton-kernels-floor", "mxfp8_e4m3", kPlusInf, kMinusHalf, kMinusInf, 255, 0xFF, 0x80, 0xFF},
    {"triton-kernels-floor", "mxfp8_e4m3", kTiny, kTiny, kTiny, 0, 0x00, 0x00, 0x00},
    {"triton-kernels-rceil", "mxfp4", kNan, kMinusHalf, kMinusNan, 0, 0x7, 0x8, 0xF},
    {"triton-kernels-rceil", "mxfp4", kPlusInf, kMinusHalf, kMinusInf, 255, 0xF, 0x8, 0xF},
    {"triton-kernels-rceil", "mxfp8_e4m3", kTiny, kTiny, kTiny, 1, 0x04, 0x04, 0x04},
    {"triton-kernels-gpu-floor", "mxfp8_e4m3", kNan, kMinusHalf, kMinusNan, 118, 0x7F, 0xF8, 0x7F},
    {"triton-kernels-gpu-floor", "mxfp8_e4m3", kPlusInf, kMinusHalf, kMinusInf, 255, 0x7F, 0x80, 0x7F},
    {"triton-kernels-gpu-floor", "mxfp8_e4m3", kTiny, kTiny, kTiny, 0, 0x00, 0x00, 0x00},
    {"triton-kernels-gpu-rceil", "mxfp4", kNan, kNan, kNan, 0, 0x7, 0x7, 0x7},
    {"triton-kernels-gpu-rceil", "mxfp4", kPlusInf, kMinusHalf, kMinusInf, 255, 0x7, 0x8, 0x7},
    {"microxcaling-even", "mxint8", 0, kMinusZero, 0, 1, 0x00, 0x00, 0x00},
    {"microxcaling-even", "mxfp4", 0, kMinusZero, 0, 0, 0x0, 0x0, 0x0},
    {"microxcaling-even", "mxfp4", 0x40800000U, 0xBE7FFFFFU, 0x3E800000U, 127, 0x6, 0x9, 0x0},
    {"microxcaling-nearest", "mxfp4", 0x40800000U, 0xBE7FFFFFU, 0x3E800000U, 127, 0x6, 0x9, 0x1},
    {"microxcaling-nearest", "mxfp8_e4m3", 0, kMinusZero, 0, 0, 0x00, 0x00, 0x00},
    {"microxcaling-floor", "mxfp6_e2m3", 0x3FFFFFFFU, kMinusHalf, 0xBC000000U, 125, 0x1E, 0x30, 0x20},
    {"microxcaling-floor", "mxfp6_e2m3", 0x3FFFFFFEU, kMinusHalf, kMinusZero, 125, 0x1F, 0x30, 0x00},
    {"flashinfer-mx", "mxfp8_e4m3", kNan, kMinusHalf, kMinusNan, 118, 0x7E, 0xF8, 0x7E},
    {"flashinfer-mx", "mxfp8_e4m3", kPlusInf, kMinusHalf, kMinusInf, 254, 0x7E, 0x80, 0x7E},
    {"flashinfer-mx", "mxfp8_e4m3", 0, kMinusZero, 0, 0, 0x7E, 0x7E, 0x7E},
    {"flashinfer-mx", "mxfp8_e4m3", kTiny, kTiny, kTiny, 0, 0x7E, 0x7E, 0x7E},
    {"flashinfer-mx", "mxfp4", kPlusInf, kMinusHalf, kMinusInf, 254, 0x7, 0x8, 0xF},
    {"flashinfer-mx", "mxfp4", kTiny, kTiny, kTiny, 0, 0x0, 0x0, 0x0},
    {"flashinfer-mx-fast-math", "mxfp8_e4m3", kNan, kNan, kNan, 255, 0x7E, 0x7E, 0x7E},
    {"flashinfer-mx-fast-math", "mxfp8_e4m3", 0, kMinusZero, 0, 0, 0x00, 0x80, 0x00},
    {"flashinfer-mx-fast-math", "mxfp4", kPlusInf, kMinusHalf, kMinusInf, 254, 0x7, 0x8, 0x7},
    {"vllm-mxfp8-torch", "mxfp8_e4m3", kNan, kMinusHalf, kMinusNan, 0, 0x7F, 0x7F, 0xFF},
    {"vllm-mxfp8-torch", "mxfp8_e4m3", kPlusInf, kMinusHalf, kMinusInf, 254, 0x7F, 0x80, 0xFF},
    {"vllm-mxfp8-torch", "mxfp8_e4m3", 0, kMinusZero, 0, 1, 0x00, 0x80, 0x00},
    {"vllm-quark-even", "mxfp4", 0, kMinusZero, 0, 0, 0x0, 0x8, 0x0},
    {"vllm-quark-even", "mxfp4", 0x7F7F0000U, kMinusHalf, 0, 0, 0x7, 0xF, 0x0},
    {"deepgemm", "fp8_e4m3_g32", kNan, kMinusHalf, kMinusNan, kNan, 0x7F, 0x7F, 0x7F},
    {"deepgemm", "fp8_e4m3_g32", kPlusInf, kMinusHalf, kMinusInf, kInfinity, 0xFF, 0x80, 0xFF},
    {"deepgemm", "fp4_e2m1_g32", kPlusInf, kMinusHalf, kMinusInf, kInfinity, 0x0, 0x0, 0x0},
    {"deepgemm", "fp8_e4m3_g32", 0, kMinusZero, 0, 0x346FACADU, 0x00, 0x80, 0x00},
    {"deepgemm", "fp8_e4m3_g32", 0x3F85CB94U, 0x3E227734U, 0, 0x3B18E8A9U, 0x7E, 0x69, 0x00},
    {"deepgemm-ue8m0", "fp8_e4m3_g32", kNan, kMinusHalf, kMinusNan, kTwoTo127, 0x7F, 0x80, 0xFF},
    {"deepgemm-ue8m0", "fp8_e4m3_g32", kPlusInf, kMinusHalf, kMinusInf, kTwoTo127, 0x7F, 0x80, 0xFF},
    {"deepgemm-ue8m0", "fp8_e4m3_g32", 0, kMinusZero, 0, 0x34800000U, 0x00, 0x80, 0x00},
    {"deepgemm-ue8m0", "fp4_e2m1_g32", kPlusInf, kMinusHalf, kMinusInf, kTwoTo127, 0x7, 0x0, 0xF},
    {"vllm-group", "fp8_e4m3_g32", kNan, kMinusHalf, kMinusNan, 0x3A924925U, 0x7E, 0xFE, 0x7E},
    {"vllm-group", "fp8_e4m3_g32", kPlusInf, kMinusHalf, kMinusInf, kInfinity, 0x7E, 0x80, 0x7E},
    {"vllm-group", "fp8_e4m3_g32", 0, kMinusZero, 0, 0x2A7B5124U, 0x00, 0x80, 0x00},
    {"vllm-group", "fp8_e4m3_g32", 0x3FA997B8U, 0x3B176C09U, 0, 0x3B41D1F7U, 0x7E, 0x34, 0x00},
    {"vllm-group-ue8m0", "fp8_e4m3_g32", kNan, kMinusHalf, kMinusNan, 0x3B000000U, 0x7E, 0xF8, 0x7E},
    {"vllm-group-ue8m0", "fp8_e4m3_g32", 0, kMinusZero, 0, 0x2A800000U, 0x00, 0x80, 0x00},
};

/// The power of two above s = 2^k * (1 + n * 2^-23), n > 0, when its logarithm does not round down to k: above k the fp32 numbers have the spacing
/// 2^(j-23) for magnitudes in [2^j, 2^(j+1)), half of it in the logarithm is 2^(j-1) * ln 2 in n.
int ceiling_of_log2(std::uint32_t s) {
  constexpr std::array<std::uint64_t, 7> kFloorOfLn2Times2ToJMinus1{0, 0, 1, 2, 5, 11, 22};
  const Parts parts = parts_of(s);
  const int k = parts.exponent + static_cast<int>(std::bit_width(parts.significand)) - 1;
  const std::uint64_t n = (parts.significand << (24 - std::bit_width(parts.significand))) - (std::uint64_t{1} << 23);
  const int above = k > 0 ? k : -k - 1;
  const std::uint64_t slack = above <= 0 ? 0 : kFloorOfLn2Times2ToJMinus1[static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(above)) - 1)];
  return n > slack ? k + 1 : k;
}

/// The exponent of the power of two at or above s, within the codes 1 and 254.
int ceiling_by_bits(std::uint32_t s) {
  const Parts parts = parts_of(s);
  const int k = parts.exponent + static_cast<int>(std::bit_width(parts.significand)) - 1;
  return std::clamp(std::has_single_bit(parts.significand) ? k : k + 1, -126, 127);
}

std::uint32_t product(std::uint32_t a, std::uint32_t b) {
  const Parts x = parts_of(a);
  const Parts y = parts_of(b);
  return rounded_f32(x.significand * y.significand, x.exponent + y.exponent);
}

std::uint32_t quotient(std::uint32_t a, std::uint32_t b) {
  const Parts x = parts_of(a);
  const Parts y = parts_of(b);
  return rounded_quotient(x.significand, y.significand, x.exponent - y.exponent);
}

/// A normal number that is so close below 2^k that its logarithm rounds to k, cut to a multiple of the unit which numbers from 2^k on have. Units do
/// not change below the smallest normal number, nor in fixed point.
std::uint32_t cut_below_power(std::uint32_t magnitude, const Format& format) {
  const int k = static_cast<int>(magnitude >> 23) - 126;
  const std::uint32_t significand = (magnitude & 0x007FFFFFU) | 0x00800000U;
  const bool close = significand >= (1U << 24) - log2_slack(k);
  if (magnitude == 0 || !close || format == kMxint8 || k <= 1 - format.bias) return magnitude;
  return f32_bits((1U << format.mantissa_bits) - 1U, k - format.mantissa_bits);
}

}  // namespace

const GroupFacts* group_facts_of(std::string_view profile) {
  const auto row = std::ranges::find(kGroups, profile, &GroupFacts::profile);
  return row == kGroups.end() ? nullptr : &*row;
}

std::uint32_t restated_group_scale(std::uint32_t amax, const GroupFacts& facts, const ElementFacts& element) {
  if (amax > kInfinity) return facts.power == GroupPower::by_bits ? kTwoTo127 : kNan;
  if (amax == kInfinity) return facts.power == GroupPower::by_bits ? kTwoTo127 : kInfinity;
  const Parts a = parts_of(std::max(amax, facts.amax_floor));
  const Parts reciprocal = parts_of(rounded_quotient(1, element.top, -element.top_exponent));
  const std::uint32_t s = facts.divides ? rounded_quotient(a.significand, element.top, a.exponent - element.top_exponent)
                                        : rounded_f32(a.significand * reciprocal.significand, a.exponent + reciprocal.exponent);
  if (facts.power == GroupPower::none) return s;
  return f32_bits(1, facts.power == GroupPower::by_log2 ? ceiling_of_log2(s) : ceiling_by_bits(s));
}

const ElementRule& element_rule_of(std::string_view profile) {
  const auto row = std::ranges::find(kElementRules, profile, &ElementRule::profile);
  if (row == kElementRules.end()) throw std::logic_error("no element rule of " + std::string(profile));
  return *row;
}

std::uint32_t restated_code(std::uint32_t f32, std::uint32_t scale, const Grid& grid, const ElementRule& rule) {
  const std::uint32_t sign = f32 & kSign;
  std::uint32_t magnitude = f32 & ~kSign;
  if (magnitude != 0) {
    switch (rule.quotient) {
      case Quotient::power: magnitude = magnitude + (127U << 23) - (scale << 23); break;
      case Quotient::divided: magnitude = quotient(magnitude, scale); break;
      case Quotient::reciprocal: magnitude = product(magnitude, quotient(0x3F800000U, scale)); break;
    }
  }
  return restated_quotient_code(sign | magnitude, grid, rule);
}

std::uint32_t restated_quotient_code(std::uint32_t quotient_f32, const Grid& grid, const ElementRule& rule) {
  const std::uint32_t sign = quotient_f32 & kSign;
  std::uint32_t magnitude = quotient_f32 & ~kSign;
  if (rule.unit_by_log2) magnitude = cut_below_power(magnitude, *grid.format);
  // DeepGEMM's fp4 is its fp8's rule with another rounding and no -0.
  const bool search = rule.quotient == Quotient::reciprocal && grid.format == &kE2m1;
  if (rule.adds_half && magnitude + 1U == grid.midpoints.front()) magnitude = grid.values[1];
  const std::uint32_t code = searched_code(grid, sign | magnitude, search ? Rounding::nearest_toward_zero : rule.rounding);
  const PlusZero plus = search ? PlusZero::always : rule.plus_zero;
  const bool to_zero = (code & ~(1U << (grid.format->width - 1))) == 0 && grid.format != &kMxint8;
  if (to_zero && (plus == PlusZero::always || (plus == PlusZero::from_zero && magnitude == 0))) return 0;
  return code;
}

std::span<const SpecialBlock> special_blocks() { return kSpecial; }

}  // namespace mx::props::numerics
