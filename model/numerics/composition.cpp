#include "model/numerics/composition.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/error.hpp"
#include "model/numerics/further_formats.hpp"
#include "model/numerics/rounding.hpp"
#include "model/numerics/wide_source.hpp"

namespace mx {
namespace {

constexpr std::array kFurther{kTf32, kE4m3Ieee, kE3m4, kE4m3b11fnuz};

bool has_inf(const Format& format) { return format.specials == Specials::ieee; }
bool has_nan(const Format& format) { return format.specials != Specials::none; }
bool is_number(const Value& value) { return value.cls == ValueClass::finite || value.cls == ValueClass::zero; }

Value magnitude_of(Value value) {
  value.negative = false;
  return value;
}

/// Of finite values.
bool is_equal(const Value& a, const Value& b) {
  return a.cls == b.cls && a.negative == b.negative && (a.cls != ValueClass::finite || canonical(a) == canonical(b));
}

/// What becomes of a finite overflow, by a rule that every format has.
Overflow overflow_of(const Format& format, const Conversion& how, bool negative) {
  if (how.overflow != Overflow::ieee) return how.overflow;
  if (!rounding::overflows_to_inf(negative, how.rounding) || !has_nan(format)) return Overflow::saturate;
  return has_inf(format) ? Overflow::inf : Overflow::nan;
}

Overflow overflow_of(InfinityRule rule, const Format& format, const Conversion& how) {
  switch (rule) {
    case InfinityRule::inf: return Overflow::inf;
    case InfinityRule::nan: return Overflow::nan;
    case InfinityRule::largest: return Overflow::saturate;
    case InfinityRule::zero:
    case InfinityRule::as_overflow: break;
  }
  // IEEE 754: an infinity stays one whatever the direction.
  if (how.overflow != Overflow::ieee) return how.overflow;
  return has_inf(format) ? Overflow::inf : has_nan(format) ? Overflow::nan : Overflow::saturate;
}

std::uint32_t zero_code(bool negative, const Format& format, const Composition& composition) {
  Flags unused;
  Conversion how = composition.how;
  how.before = {};
  const bool is_signed = negative && composition.zero_sign == SignOfZero::keep && format.has_sign;
  how.overflow = Overflow::saturate;
  how.rounding = Rounding::toward_zero;
  how.random_bits = 0;
  return encode({.significand = 0, .exponent = 0, .cls = ValueClass::zero, .negative = is_signed}, format, how, unused);
}

/// Code of a finite number that is not zero.
std::uint32_t number_code(const Value& value, const Format& format, const Composition& composition, Random random) {
  Conversion how = composition.how;
  how.before.through = nullptr;
  how.negative_is_nan = composition.negative == NegativeRule::nan;
  how.overflow = overflow_of(format, how, value.negative);
  Flags unused;
  if (!composition.log2_halves_away) return encode(value, format, how, unused, random);
  if (format.encoding != Encoding::exponent_only)
    throw Error(ErrorCode::usage, "rounding 'nearest_log2' is not defined for " + std::string(format.name));
  const int exponent = std::clamp(rounding::nearest_log2(value, rounding::Halves::away_from_zero), -format.bias, max_exponent(format));
  how.rounding = Rounding::toward_zero;
  return encode({.significand = 1, .exponent = exponent, .cls = ValueClass::finite, .negative = false}, format, how, unused);
}

/// The value rounded to the format's precision as if its exponent had neither top nor bottom.
Value rounded_freely(const Value& value, const Format& format, const Conversion& how, Random random) {
  Format free = format;
  constexpr int kFar = 1 << 20;
  free.bias += kFar;
  Flags unused;
  return rounding::round(value, free, rounding::checked_draw(format, how, random), unused);
}

bool is_below_normal(const Value& value, const Format& format) {
  return value.cls == ValueClass::zero || (value.cls == ValueClass::finite && rounding::top_exponent(value) < rounding::min_exponent(format));
}

bool is_tiny(const Value& value, const Value& delivered, const Format& format, const Composition& composition, Random random) {
  if (format.encoding != Encoding::floating) return false;
  if (composition.tininess == Tininess::before) return is_below_normal(value, format);
  if (composition.tininess == Tininess::result) return is_below_normal(delivered, format);
  return is_below_normal(rounded_freely(value, format, composition.how, random), format);
}

bool searches(Rounding rounding) { return rounding == Rounding::first_least_distance || rounding == Rounding::first_least_distance_signed; }

/// Whether the number, rounded as if the exponent had no top, is above the largest one.
bool overflows(const Value& value, const Format& format, const Conversion& how, Random random) {
  if (format.encoding == Encoding::exponent_only) return rounding::top_exponent(value) > max_exponent(format);
  Flags unused;
  const Value rounded = searches(how.rounding) ? value : rounding::round(value, format, rounding::checked_draw(format, how, random), unused);
  return rounded.cls == ValueClass::finite && rounding::exceeds(rounded, decode(format, max_finite_code(format)));
}

/// Of a value, no NaN, that gave `code`. A sign that a zero loses and an Inf that becomes something else make it inexact (LLVM's APFloat says so).
void raise(const Value& value, std::uint32_t code, const Format& format, const Composition& composition, Random random, IeeeFlags& flags) {
  const Value delivered = decode(format, code);
  const bool is_exact = is_equal(delivered, value);
  flags.inexact |= !is_exact;
  if (value.cls != ValueClass::finite) return;
  flags.overflow |= composition.overflow_flag == OverflowFlag::ieee ? overflows(value, format, composition.how, random) : !is_number(delivered);
  flags.underflow |= !is_exact && is_number(delivered) && is_tiny(value, delivered, format, composition, random);
}

/// Behind the format in between.
std::uint32_t composed(Value value, const Format& format, const Composition& composition, Random random) {
  Conversion how = composition.how;
  how.before.through = nullptr;
  Flags unused;
  if (value.cls == ValueClass::nan) {
    how.overflow = Overflow::saturate;
    return encode(value, format, how, unused, random);
  }
  const bool loses_sign = !format.has_sign && value.negative;
  if (loses_sign && composition.negative == NegativeRule::magnitude) value = magnitude_of(value);
  if (value.cls == ValueClass::zero) return zero_code(value.negative, format, composition);
  if (value.cls == ValueClass::infinity) {
    if (composition.infinity == InfinityRule::zero) return zero_code(value.negative, format, composition);
    how.overflow = overflow_of(composition.infinity, format, how);
    how.negative_is_nan = composition.negative == NegativeRule::nan;
    return encode(composition.negative == NegativeRule::zero ? magnitude_of(value) : value, format, how, unused, random);
  }
  if (loses_sign && composition.negative == NegativeRule::zero) return 0;
  return number_code(value, format, composition, random);
}

}  // namespace

std::span<const Format> further_formats() { return kFurther; }

std::uint32_t compose(const Value& value, const Format& format, const Composition& composition, IeeeFlags& flags, Random random) {
  Value between = value;
  if (composition.how.before.through != nullptr && value.cls != ValueClass::nan) {
    constexpr Conversion kNearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0, 0, 0, false};
    const Format& through = *composition.how.before.through;
    Flags unused;
    between = decode(through, encode(value, through, kNearest, unused));
  }
  std::uint32_t code = composed(between, format, composition, random);
  const bool is_zero = decode(format, code).cls == ValueClass::zero;
  if (is_zero && composition.zero_sign == SignOfZero::positive) code = 0;
  if (value.cls != ValueClass::nan) raise(value, code, format, composition, random, flags);
  return code;
}

std::uint32_t compose_from(std::uint64_t bits, const Format& from, const Format& to, const Composition& composition, IeeeFlags& flags,
                           Random random) {
  const Value value = decode_source(from, bits);
  if (value.cls != ValueClass::nan) return compose(value, to, composition, flags, random);
  const bool quiet = from.specials != Specials::ieee || ((bits >> (from.mantissa_bits - 1)) & 1U) != 0;
  flags.invalid |= !quiet;
  Flags unused;
  Conversion how = composition.how;
  how.before.through = nullptr;
  how.overflow = Overflow::saturate;
  return convert_source(bits, from, to, how, unused, random);
}

}  // namespace mx
