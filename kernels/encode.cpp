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
/// Places below a unit that a subnormal result keeps before it is rounded; the last of them stands for all below it.
constexpr std::uint32_t kFinePlaces = 12;

/// A number for values with clear and with set sign.
using BySign = std::array<std::uint32_t, 2>;

/// What rounding does to magnitudes of one sign.
enum class Direction { down, up, half_down, half_up, half_even };

struct RoundingRow {
  Rounding rounding;
  std::array<Direction, 2> directions;  ///< by sign
  bool has_lowest_midpoint;             ///< E8M0: whether [2^-127, 2^-126) has a midpoint like every other interval
};

constexpr std::array kRoundings{
    RoundingRow{Rounding::nearest_even, {Direction::half_even, Direction::half_even}, true},
    RoundingRow{Rounding::nearest_away, {Direction::half_up, Direction::half_up}, true},
    RoundingRow{Rounding::nearest_toward_zero, {Direction::half_down, Direction::half_down}, true},
    RoundingRow{Rounding::toward_zero, {Direction::down, Direction::down}, true},
    RoundingRow{Rounding::toward_positive, {Direction::up, Direction::down}, true},
    RoundingRow{Rounding::toward_negative, {Direction::down, Direction::up}, true},
    RoundingRow{Rounding::magnitude_up, {Direction::up, Direction::up}, true},
    RoundingRow{Rounding::nearest_up, {Direction::half_up, Direction::half_up}, false},
};

bool only_powers(Rounding rounding) { return rounding == Rounding::magnitude_up || rounding == Rounding::nearest_up; }

/// What is added before `shift` bits are cut off; half_even adds the last bit that is kept besides.
std::uint32_t addend(Direction direction, int shift) {
  const std::uint32_t half = 1U << (shift - 1);
  switch (direction) {
    case Direction::down: return 0;
    case Direction::up: return 2 * half - 1;
    case Direction::half_up: return half;
    case Direction::half_down:
    case Direction::half_even: break;
  }
  return half - 1;
}

/// Codes for what is not rounded.
struct SpecialCodes {
  BySign last_in_range;  ///< largest fp32 magnitude that does not overflow
  BySign overflow;
  BySign infinity;
  BySign nan;
  std::uint32_t payload_shift;  ///< a NaN's code takes the bits of `payload_mask` from the source, shifted down
  std::uint32_t payload_mask;
  std::uint32_t empty_payload;  ///< or'ed into the code of a NaN with none of them set
  std::uint32_t source_from;    ///< smaller source magnitudes become zero
};

/// fp32 magnitudes into a sign, exponent and mantissa format, or into two's complement: by an add and a shift.
struct FloatingPlan {
  std::uint32_t shift;       ///< dropped bits of a normal result
  std::uint32_t rebias;      ///< subtracted from the shifted magnitude
  std::uint32_t min_normal;  ///< fp32 bits of the smallest normal result
  std::uint32_t scale;       ///< fp32 bits of the factor that makes the subnormal grid's unit 2^kFinePlaces
  BySign addend;
  BySign fine_addend;
  std::uint32_t even;         ///< 1: ties go to the even neighbour
  std::uint32_t result_from;  ///< smaller codes become zero
  std::uint32_t sign_bit;
  std::uint32_t code_mask;
  bool twos_complement;
  bool one_zero;
  bool negative_is_nan;  ///< a format without a sign, as PowerPlan
  std::uint32_t negative_code;
  SpecialCodes special;
};

/// fp32 magnitudes into powers of two.
struct PowerPlan {
  BySign addend;          ///< rounds a normal magnitude by carrying into the exponent
  BySign subnormal_from;  ///< fp32 subnormals from here on give code 1 (2^-126), those below code 0 (2^-127)
  std::uint32_t zero_code;
  bool negative_is_nan;
  std::uint32_t negative_code;  ///< the NaN of a negative value, when it is one
  SpecialCodes special;
};

/// No fast way: the model has to do it.
using Plan = std::variant<std::monostate, FloatingPlan, PowerPlan>;

bool has_nan(const Format& format) { return format.specials != Specials::none; }
bool has_inf(const Format& format) { return format.specials == Specials::ieee; }

bool gives_nan(Overflow overflow) { return overflow == Overflow::nan || overflow == Overflow::nan_unrounded; }
bool gives_inf(Overflow overflow) { return overflow == Overflow::inf || overflow == Overflow::inf_unrounded || overflow == Overflow::ieee; }
bool is_unrounded(Overflow overflow) { return overflow == Overflow::nan_unrounded || overflow == Overflow::inf_unrounded; }

std::uint32_t low_bits(int count) { return (1U << count) - 1U; }

/// fp32 bits of 2^exponent, for a normal result.
std::uint32_t power_bits(int exponent) { return static_cast<std::uint32_t>(exponent + kF32.bias) << kF32MantissaBits; }

BySign largest_codes(const Format& to) {
  const std::uint32_t top = max_finite_code(to);
  if (to.encoding == Encoding::fixed_point) return {top, (0U - top) & low_bits(to.width)};
  return {top, top | (to.has_sign ? 1U << (to.width - 1) : 0U)};
}

BySign infinity_codes(const Format& to, Overflow overflow) {
  const std::uint32_t above = max_finite_code(to) + 1U;
  const std::uint32_t sign = to.has_sign ? 1U << (to.width - 1) : 0U;
  if (gives_inf(overflow)) return {above, above | sign};
  if (!gives_nan(overflow)) return largest_codes(to);
  if (to.specials == Specials::nan_negative_zero) return {sign, sign};
  const std::uint32_t quiet = has_inf(to) ? 1U << (to.mantissa_bits - 1) : 0U;
  return {above | quiet, above | quiet | sign};
}

/// As infinity_codes, but IEEE 754 overflows to the largest value where the magnitude is rounded down.
BySign overflow_codes(const Format& to, Overflow overflow, const RoundingRow& row) {
  BySign codes = infinity_codes(to, overflow);
  for (std::size_t sign : {0U, 1U}) {
    if (overflow == Overflow::ieee && row.directions[sign] == Direction::down) codes[sign] = largest_codes(to)[sign];
  }
  return codes;
}

/// The last magnitude that rounds to the largest value, which has these fp32 bits: all up to the next grid point but what the addend carries there.
std::uint32_t last_in_range(const Format& to, Overflow overflow, Direction direction, int dropped) {
  const std::uint32_t top = max_finite_code(to);
  const std::uint32_t top_bits = to_f32(top, to);
  if (is_unrounded(overflow)) return top_bits;
  const std::uint32_t tie_to_next = direction == Direction::half_even ? top & 1U : 0U;
  return top_bits + low_bits(dropped) - addend(direction, dropped) - tie_to_next;
}

SpecialCodes special_codes(const Format& to, const Conversion& how, const RoundingRow& row, int dropped) {
  SpecialCodes special{};
  for (std::size_t sign : {0U, 1U}) special.last_in_range[sign] = last_in_range(to, how.overflow, row.directions[sign], dropped);
  special.overflow = overflow_codes(to, how.overflow, row);
  special.infinity = infinity_codes(to, how.overflow);
  special.nan = {how.nan_positive, how.nan_negative};
  const bool flushes = how.flush == Flush::source || how.flush == Flush::both;
  special.source_from = flushes ? kF32MinNormal : 0U;
  if (how.nan_rule == NanRule::fixed) return special;
  special.nan = infinity_codes(to, Overflow::inf);
  special.payload_shift = kF32MantissaBits - static_cast<std::uint32_t>(to.mantissa_bits);
  special.payload_mask = low_bits(to.mantissa_bits);
  if (how.nan_rule == NanRule::keep_payload) {
    special.empty_payload = 1;
  } else {
    for (std::uint32_t& code : special.nan) code |= 1U << (to.mantissa_bits - 1);
  }
  return special;
}

Plan floating_plan(const Format& to, const Conversion& how, const RoundingRow& row) {
  if (only_powers(how.rounding)) return {};
  const bool fixed = to.encoding == Encoding::fixed_point;
  // A fixed-point format is all subnormal: min_normal lies above its range.
  const int min_exponent = fixed ? to.width - to.mantissa_bits : 1 - to.bias;
  const int unit_exponent = fixed ? -to.mantissa_bits : min_exponent - to.mantissa_bits;
  // A format with fp32's own exponents needs no grid of its own: its subnormals are fp32's, and the shift rounds them.
  const bool same_exponents = to.bias == kF32.bias && !fixed;
  const int shift = static_cast<int>(kF32MantissaBits) - to.mantissa_bits;
  FloatingPlan plan{};
  plan.shift = static_cast<std::uint32_t>(shift);
  plan.rebias = static_cast<std::uint32_t>(kF32.bias - to.bias) << to.mantissa_bits;
  plan.min_normal = same_exponents ? 0U : power_bits(min_exponent);
  plan.scale = same_exponents ? 0U : power_bits(static_cast<int>(kFinePlaces) - unit_exponent);
  for (std::size_t sign : {0U, 1U}) {
    plan.addend[sign] = addend(row.directions[sign], shift);
    plan.fine_addend[sign] = addend(row.directions[sign], static_cast<int>(kFinePlaces));
  }
  plan.even = how.rounding == Rounding::nearest_even ? 1U : 0U;
  const bool flushes = (how.flush == Flush::target || how.flush == Flush::both) && !fixed;
  plan.result_from = flushes ? 1U << to.mantissa_bits : 0U;
  plan.sign_bit = to.has_sign ? 1U << (to.width - 1) : 0U;
  plan.code_mask = low_bits(to.width);
  plan.twos_complement = fixed;
  plan.one_zero = to.specials == Specials::nan_negative_zero;
  plan.negative_is_nan = !to.has_sign && how.negative_is_nan;
  plan.negative_code = max_finite_code(to) + 1U;
  const int top_exponent = static_cast<int>(to_f32(max_finite_code(to), to) >> kF32MantissaBits) - kF32.bias;
  plan.special = special_codes(to, how, row, fixed ? shift - top_exponent : shift);
  if (plan.negative_is_nan) plan.special.overflow[1] = plan.special.infinity[1] = plan.negative_code;
  return plan;
}

Plan power_plan(const Format& to, const Conversion& how, RoundingRow row) {
  // One digit is always odd: a tie to even goes up.
  for (Direction& direction : row.directions) direction = direction == Direction::half_even ? Direction::half_up : direction;
  PowerPlan plan{};
  for (std::size_t sign : {0U, 1U}) {
    plan.addend[sign] = addend(row.directions[sign], kF32MantissaBits);
    // The subnormals from 2^-127 = 0x400000 on lie in one interval of 22 bits.
    const Direction lowest = row.has_lowest_midpoint ? row.directions[sign] : Direction::up;
    plan.subnormal_from[sign] = kF32MinNormal - addend(lowest, kF32MantissaBits - 1);
  }
  plan.zero_code = how.zero_code;
  plan.negative_is_nan = how.negative_is_nan;
  plan.negative_code = max_finite_code(to) + 1U;
  plan.special = special_codes(to, how, row, kF32MantissaBits);
  return plan;
}

Plan plan_for(const Format& to, const Conversion& how) {
  const auto row = std::ranges::find(kRoundings, how.rounding, &RoundingRow::rounding);
  const bool lacks = (gives_nan(how.overflow) && !has_nan(to)) || (gives_inf(how.overflow) && !has_inf(to));
  const bool lacks_payload = how.nan_rule == NanRule::refused || (how.nan_rule != NanRule::fixed && !has_inf(to));
  if (row == kRoundings.end() || how.random_bits != 0 || to.width > 16 || lacks || lacks_payload) return {};
  return to.encoding == Encoding::exponent_only ? power_plan(to, how, *row) : floating_plan(to, how, *row);
}

// The loops below have no branches and compare as signed integers (magnitudes are below 2^31), so that compilers vectorize them for plain x86-64.

/// All bits set where a > b.
inline std::uint32_t mask_above(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a) > static_cast<std::int32_t>(b) ? 0xFFFFFFFFU : 0U;
}

/// `yes` where the mask is set, else `no`.
inline std::uint32_t select(std::uint32_t mask, std::uint32_t yes, std::uint32_t no) { return no ^ ((yes ^ no) & mask); }

inline std::uint32_t select(std::uint32_t negative, const BySign& by_sign) { return select(negative, by_sign[1], by_sign[0]); }

/// All bits set where the sign is.
inline std::uint32_t mask_negative(std::uint32_t f32) { return static_cast<std::uint32_t>(static_cast<std::int32_t>(f32) >> 31); }

/// The code, or another one where the source overflows or is no number.
inline std::uint32_t with_specials(std::uint32_t code, std::uint32_t source, std::uint32_t magnitude, const SpecialCodes& special) {
  const std::uint32_t negative = mask_negative(source);
  const std::uint32_t infinite = mask_above(magnitude, kF32Infinity - 1U);
  const std::uint32_t overflow = select(infinite, select(negative, special.infinity), select(negative, special.overflow));
  const std::uint32_t payload = (source >> special.payload_shift) & special.payload_mask;
  const std::uint32_t nan = select(negative, special.nan) | payload | (mask_above(1U, payload) & special.empty_payload);
  code = select(mask_above(magnitude, select(negative, special.last_in_range)), overflow, code);
  return select(mask_above(magnitude, kF32Infinity), nan, code);
}

/// A magnitude below `min_normal` in units of 2^-kFinePlaces of the subnormal grid; the last place is set where anything was lost.
/// Flushing of subnormals cannot disturb it: what would be flushed is raised to the smallest normal number, as far below the grid.
inline std::uint32_t in_fine_units(std::uint32_t magnitude, std::uint32_t min_normal, float scale) {
  const std::uint32_t low = select(mask_above(magnitude, min_normal), min_normal, magnitude);
  const std::uint32_t tiny = mask_above(kF32MinNormal, low) & mask_above(low, 0U);
  const float scaled = std::bit_cast<float>(select(tiny, kF32MinNormal, low)) * scale;
  const auto whole = static_cast<std::int32_t>(scaled);
  const std::uint32_t lost = std::bit_cast<std::uint32_t>(static_cast<float>(whole)) ^ std::bit_cast<std::uint32_t>(scaled);
  return static_cast<std::uint32_t>(whole) | (mask_above(lost, 0U) & 1U);
}

template <bool kTwosComplement>
void run_floating(std::span<const std::uint32_t> f32, const FloatingPlan plan, std::span<std::uint32_t> codes) {
  const float scale = std::bit_cast<float>(plan.scale);
  // A zero code loses its sign in formats with one zero.
  const std::uint32_t signed_above = plan.one_zero ? 0U : 0xFFFFFFFFU;
  const std::uint32_t refuses_sign = plan.negative_is_nan ? 0xFFFFFFFFU : 0U;
  for (std::size_t i = 0; i < f32.size(); ++i) {
    const std::uint32_t source = f32[i];
    const std::uint32_t negative = mask_negative(source);
    std::uint32_t magnitude = source & ~kSign;
    magnitude &= ~mask_above(plan.special.source_from, magnitude);
    const std::uint32_t odd = (magnitude >> plan.shift) & plan.even;
    const std::uint32_t normal = ((magnitude + select(negative, plan.addend) + odd) >> plan.shift) - plan.rebias;
    const std::uint32_t fine = in_fine_units(magnitude, plan.min_normal, scale);
    const std::uint32_t fine_odd = (fine >> kFinePlaces) & plan.even;
    const std::uint32_t subnormal = (fine + select(negative, plan.fine_addend) + fine_odd) >> kFinePlaces;
    std::uint32_t code = select(mask_above(plan.min_normal, magnitude), subnormal, normal);
    code &= ~mask_above(plan.result_from, code);
    if constexpr (kTwosComplement) {
      code = ((code ^ negative) - negative) & plan.code_mask;
    } else {
      code |= plan.sign_bit & negative & mask_above(code, signed_above);
    }
    code = select(negative & refuses_sign & mask_above(magnitude, 0U), plan.negative_code, code);
    codes[i] = with_specials(code, source, magnitude, plan.special);
  }
}

void run_powers(std::span<const std::uint32_t> f32, const PowerPlan plan, std::span<std::uint32_t> codes) {
  const std::uint32_t refuses_sign = plan.negative_is_nan ? 0xFFFFFFFFU : 0U;
  for (std::size_t i = 0; i < f32.size(); ++i) {
    const std::uint32_t source = f32[i];
    const std::uint32_t negative = mask_negative(source);
    std::uint32_t magnitude = source & ~kSign;
    magnitude &= ~mask_above(plan.special.source_from, magnitude);
    const std::uint32_t normal = (magnitude + select(negative, plan.addend)) >> kF32MantissaBits;
    const std::uint32_t subnormal = mask_above(magnitude, select(negative, plan.subnormal_from) - 1U) & 1U;
    std::uint32_t code = select(mask_above(kF32MinNormal, magnitude), subnormal, normal);
    code = with_specials(code, source, magnitude, plan.special);
    const std::uint32_t number = mask_above(kF32Infinity + 1U, magnitude);
    code = select(negative & refuses_sign & number, plan.negative_code, code);
    codes[i] = select(mask_above(1U, magnitude), plan.zero_code, code);
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
