#include "kernels/encode.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <variant>

#include "model/error.hpp"

namespace mx::kernels {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kF32Infinity = 0x7F800000U;
constexpr std::uint32_t kF32MantissaBits = 23;
constexpr std::uint32_t kF32MinNormal = 0x00800000U;

/// Codes for what is not rounded, by the sign of the source.
struct SpecialCodes {
  std::uint32_t last_in_range;  ///< largest fp32 magnitude that does not overflow
  std::array<std::uint32_t, 2> overflow;
  std::array<std::uint32_t, 2> nan;
};

/// fp32 magnitudes into a sign, exponent and mantissa format, or into two's complement: nearest even by an add and a shift.
struct FloatingPlan {
  std::uint32_t shift;       ///< dropped bits of a normal result
  std::uint32_t rebias;      ///< subtracted from the shifted magnitude
  std::uint32_t min_normal;  ///< fp32 bits of the smallest normal result
  std::uint32_t magic;       ///< fp32 bits of 2^23 units of the subnormal grid: adding it rounds to that grid
  std::uint32_t sign_bit;
  std::uint32_t code_mask;
  bool twos_complement;
  bool one_zero;
  SpecialCodes special;
};

/// fp32 magnitudes into powers of two.
struct PowerPlan {
  std::uint32_t addend;          ///< rounds a normal magnitude by carrying into the exponent
  std::uint32_t subnormal_from;  ///< fp32 subnormals from here on give code 1 (2^-126), those below code 0 (2^-127)
  std::uint32_t zero_code;
  bool negative_is_nan;
  std::uint32_t negative_code;  ///< the NaN of a negative value, when it is one
  SpecialCodes special;
};

/// No fast way: the model has to do it.
using Plan = std::variant<std::monostate, FloatingPlan, PowerPlan>;

/// How each rounding treats powers of two. The midpoint of [2^-127, 2^-126) is 0x600000; nearest_up has none there.
struct PowerRounding {
  Rounding rounding;
  std::uint32_t addend;
  std::uint32_t subnormal_from;
};

constexpr std::array kPowerRoundings{
    PowerRounding{Rounding::toward_zero, 0, kF32MinNormal},
    PowerRounding{Rounding::magnitude_up, 0x7FFFFF, 0x400001},
    PowerRounding{Rounding::nearest_up, 0x400000, 0x400001},
    PowerRounding{Rounding::nearest_even, 0x400000, 0x600000},
};

bool has_nan(const Format& format) { return format.specials != Specials::none; }
bool has_inf(const Format& format) { return format.specials == Specials::ieee; }

bool gives_nan(Overflow overflow) { return overflow == Overflow::nan || overflow == Overflow::nan_unrounded; }
bool gives_inf(Overflow overflow) { return overflow == Overflow::inf || overflow == Overflow::inf_unrounded || overflow == Overflow::ieee; }
bool is_unrounded(Overflow overflow) { return overflow == Overflow::nan_unrounded || overflow == Overflow::inf_unrounded; }

std::uint32_t low_bits(int count) { return (1U << count) - 1U; }

/// fp32 bits of 2^exponent, for a normal result.
std::uint32_t power_bits(int exponent) { return static_cast<std::uint32_t>(exponent + kF32.bias) << kF32MantissaBits; }

std::array<std::uint32_t, 2> overflow_codes(const Format& to, const Conversion& how) {
  const std::uint32_t top = max_finite_code(to);
  const std::uint32_t sign = to.has_sign ? 1U << (to.width - 1) : 0U;
  if (gives_inf(how.overflow)) return {top + 1U, (top + 1U) | sign};
  if (gives_nan(how.overflow)) {
    if (to.specials == Specials::nan_negative_zero) return {sign, sign};
    const std::uint32_t quiet = has_inf(to) ? 1U << (to.mantissa_bits - 1) : 0U;
    return {(top + 1U) | quiet, (top + 1U) | quiet | sign};
  }
  if (to.encoding == Encoding::fixed_point) return {top, (0U - top) & low_bits(to.width)};
  return {top, top | sign};
}

Plan floating_plan(const Format& to, const Conversion& how) {
  if (how.rounding != Rounding::nearest_even) return {};
  const bool fixed = to.encoding == Encoding::fixed_point;
  const int min_exponent = fixed ? to.width - to.mantissa_bits : 1 - to.bias;
  FloatingPlan plan{};
  plan.shift = kF32MantissaBits - static_cast<std::uint32_t>(to.mantissa_bits);
  plan.rebias = static_cast<std::uint32_t>(kF32.bias - to.bias) << to.mantissa_bits;
  // A fixed-point format is all subnormal: min_normal lies above its range.
  plan.min_normal = power_bits(min_exponent);
  const int unit_exponent = fixed ? -to.mantissa_bits : min_exponent - to.mantissa_bits;
  // A format with fp32's own exponents needs no grid of its own: its subnormals are fp32's, and the shift rounds them.
  const bool same_exponents = to.bias == kF32.bias && !fixed;
  plan.magic = same_exponents ? 0U : power_bits(unit_exponent + static_cast<int>(kF32MantissaBits));
  if (same_exponents) plan.min_normal = 0;
  plan.sign_bit = 1U << (to.width - 1);
  plan.code_mask = low_bits(to.width);
  plan.twos_complement = fixed;
  plan.one_zero = to.specials == Specials::nan_negative_zero;

  const std::uint32_t top = max_finite_code(to);
  // The largest magnitude in range: the largest value itself, or the last fp32 before the midpoint (the midpoint too when the top code is even).
  const std::uint32_t top_bits = to_f32(top, to);
  std::uint32_t last = top_bits;
  if (!is_unrounded(how.overflow)) {
    const int exponent = static_cast<int>(top_bits >> kF32MantissaBits) - kF32.bias;
    const int dropped = static_cast<int>(kF32MantissaBits) - (fixed ? exponent + to.mantissa_bits : to.mantissa_bits);
    last += (1U << (dropped - 1)) - (top & 1U);
  }
  plan.special = {last, overflow_codes(to, how), {how.nan_positive, how.nan_negative}};
  return plan;
}

Plan power_plan(const Format& to, const Conversion& how) {
  const auto row = std::ranges::find(kPowerRoundings, how.rounding, &PowerRounding::rounding);
  if (row == kPowerRoundings.end()) return {};
  const std::uint32_t top_bits = power_bits(static_cast<int>(max_finite_code(to)) - to.bias);
  const std::uint32_t last = is_unrounded(how.overflow) ? top_bits : top_bits + (kF32MinNormal - 1U - row->addend);
  return PowerPlan{row->addend,         row->subnormal_from,      how.zero_code,
                   how.negative_is_nan, max_finite_code(to) + 1U, {last, overflow_codes(to, how), {how.nan_positive, how.nan_negative}}};
}

Plan plan_for(const Format& to, const Conversion& how) {
  const bool lacks = (gives_nan(how.overflow) && !has_nan(to)) || (gives_inf(how.overflow) && !has_inf(to));
  const bool unsigned_floating = to.encoding == Encoding::floating && !to.has_sign;
  if (to.width > 16 || how.nan_rule != NanRule::fixed || lacks || unsigned_floating) return {};
  return to.encoding == Encoding::exponent_only ? power_plan(to, how) : floating_plan(to, how);
}

// The loops below have no branches and compare as signed integers (magnitudes are below 2^31), so that compilers vectorize them for plain x86-64.

/// All bits set where a > b.
inline std::uint32_t mask_above(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a) > static_cast<std::int32_t>(b) ? 0xFFFFFFFFU : 0U;
}

/// `yes` where the mask is set, else `no`.
inline std::uint32_t select(std::uint32_t mask, std::uint32_t yes, std::uint32_t no) { return no ^ ((yes ^ no) & mask); }

/// All bits set where the sign is.
inline std::uint32_t mask_negative(std::uint32_t f32) { return static_cast<std::uint32_t>(static_cast<std::int32_t>(f32) >> 31); }

template <bool kTwosComplement>
void run_floating(std::span<const std::uint32_t> f32, const FloatingPlan plan, std::span<std::uint32_t> codes) {
  const auto [last_in_range, overflow, nan] = plan.special;
  const std::uint32_t below_half = (1U << (plan.shift - 1U)) - 1U;
  const float magic = std::bit_cast<float>(plan.magic);
  // A zero code loses its sign in formats with one zero.
  const std::uint32_t signed_above = plan.one_zero ? 0U : 0xFFFFFFFFU;
  for (std::size_t i = 0; i < f32.size(); ++i) {
    const std::uint32_t source = f32[i];
    const std::uint32_t magnitude = source & ~kSign;
    const std::uint32_t negative = mask_negative(source);
    const std::uint32_t odd = (magnitude >> plan.shift) & 1U;
    const std::uint32_t normal = ((magnitude + below_half + odd) >> plan.shift) - plan.rebias;
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + magic) - plan.magic;
    std::uint32_t code = select(mask_above(plan.min_normal, magnitude), subnormal, normal);
    if constexpr (kTwosComplement) {
      code = ((code ^ negative) - negative) & plan.code_mask;
    } else {
      code |= plan.sign_bit & negative & mask_above(code, signed_above);
    }
    code = select(mask_above(magnitude, last_in_range), select(negative, overflow[1], overflow[0]), code);
    codes[i] = select(mask_above(magnitude, kF32Infinity), select(negative, nan[1], nan[0]), code);
  }
}

void run_powers(std::span<const std::uint32_t> f32, const PowerPlan plan, std::span<std::uint32_t> codes) {
  const auto [last_in_range, overflow, nan] = plan.special;
  const std::uint32_t refuses_sign = plan.negative_is_nan ? 0xFFFFFFFFU : 0U;
  for (std::size_t i = 0; i < f32.size(); ++i) {
    const std::uint32_t source = f32[i];
    const std::uint32_t magnitude = source & ~kSign;
    const std::uint32_t negative = mask_negative(source);
    const std::uint32_t normal = (magnitude + plan.addend) >> kF32MantissaBits;
    const std::uint32_t subnormal = mask_above(magnitude, plan.subnormal_from - 1U) & 1U;
    std::uint32_t code = select(mask_above(kF32MinNormal, magnitude), subnormal, normal);
    code = select(mask_above(magnitude, last_in_range), overflow[0], code);
    code = select(negative & refuses_sign, plan.negative_code, code);
    code = select(mask_above(1U, magnitude), plan.zero_code, code);
    codes[i] = select(mask_above(magnitude, kF32Infinity), select(negative, nan[1], nan[0]), code);
  }
}

void run(std::span<const std::uint32_t> f32, const Plan& plan, std::span<std::uint32_t> codes) {
  if (const auto* powers = std::get_if<PowerPlan>(&plan)) return run_powers(f32, *powers, codes);
  const auto& floating = std::get<FloatingPlan>(plan);
  if (floating.twos_complement) return run_floating<true>(f32, floating, codes);
  run_floating<false>(f32, floating, codes);
}

Plan required_plan(const Format& to, const Conversion& how) {
  const Plan plan = plan_for(to, how);
  if (!std::holds_alternative<std::monostate>(plan)) return plan;
  throw Error(ErrorCode::unsupported, "no fast conversion f32 -> " + std::string(to.name) + " with rounding " + std::string(name_of(how.rounding)) +
                                          ", overflow " + std::string(name_of(how.overflow)));
}

constexpr std::uint64_t mix64(std::uint64_t i) {
  std::uint64_t z = i + 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

constexpr std::uint32_t kChunkInputs = 1U << 24;
constexpr std::uint32_t kChunks = 256;

std::uint64_t chunk_digest(std::uint32_t chunk, const Plan& plan) {
  constexpr std::uint32_t kStep = 4096;
  std::array<std::uint32_t, kStep> inputs;
  std::array<std::uint32_t, kStep> codes;
  std::uint64_t digest = 0;
  for (std::uint32_t offset = 0; offset < kChunkInputs; offset += kStep) {
    const std::uint32_t first = chunk * kChunkInputs + offset;
    for (std::uint32_t i = 0; i < kStep; ++i) inputs[i] = first + i;
    run(inputs, plan, codes);
    for (std::uint32_t i = 0; i < kStep; ++i) digest += (std::uint64_t{codes[i]} + 1U) * mix64(inputs[i]);
  }
  return digest;
}

}  // namespace

bool has_encode(const Format& to, const Conversion& how) { return !std::holds_alternative<std::monostate>(plan_for(to, how)); }

void encode(std::span<const std::uint32_t> f32, const Format& to, const Conversion& how, std::span<std::uint32_t> codes) {
  if (f32.size() != codes.size()) {
    throw Error(ErrorCode::usage, std::to_string(f32.size()) + " inputs into " + std::to_string(codes.size()) + " codes");
  }
  run(f32, required_plan(to, how), codes);
}

std::uint64_t sweep_digest(std::uint32_t chunk, const Format& to, const Conversion& how) {
  if (chunk >= kChunks) throw Error(ErrorCode::usage, "chunk " + std::to_string(chunk) + " of " + std::to_string(kChunks));
  return chunk_digest(chunk, required_plan(to, how));
}

std::vector<std::uint64_t> sweep_digests(const Format& to, const Conversion& how) {
  const Plan plan = required_plan(to, how);
  std::vector<std::uint64_t> digests(kChunks);
#pragma omp parallel for schedule(static, 1)
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) digests[chunk] = chunk_digest(chunk, plan);
  return digests;
}

}  // namespace mx::kernels
