// What can be wrong with a conversion, and which places of the target's grid no input reaches.

#include "golden/vectors/conversion_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "golden/vectors/words.hpp"
#include "model/error.hpp"
#include "model/numerics/source_bits.hpp"

namespace mx::golden {
namespace {

constexpr std::array kRoundings{Rounding::nearest_even,    Rounding::nearest_away,    Rounding::nearest_toward_zero, Rounding::toward_zero,
                                Rounding::toward_positive, Rounding::toward_negative, Rounding::magnitude_up,        Rounding::nearest_up};
constexpr std::array kOverflows{Overflow::saturate,      Overflow::nan,  Overflow::inf, Overflow::nan_unrounded,
                                Overflow::inf_unrounded, Overflow::ieee, Overflow::wrap};
constexpr std::array kFlushes{Flush::none, Flush::source, Flush::target, Flush::both};

int top_exponent(const Value& value) { return value.exponent + static_cast<int>(std::bit_width(value.significand)) - 1; }

/// Whether the rounding adds a unit to that magnitude; none: it depends on random bits.
std::optional<bool> rounds_up(const RoundingCell& cell, Rounding rounding) {
  const bool half = cell.below >= 4;
  const bool above = cell.below > 4;
  if (cell.below == 0) return false;
  switch (rounding) {
    case Rounding::nearest_even: return above || (half && cell.odd);
    case Rounding::nearest_away: return half;
    // Between codes 0 and 1 there is no midpoint: whatever is above 2^-127 goes up.
    case Rounding::nearest_up: return half || cell.odd || cell.outcome == Outcome::overflow ? std::optional(half) : std::nullopt;
    case Rounding::nearest_toward_zero: return above;
    case Rounding::toward_zero: return false;
    case Rounding::to_odd: return !cell.odd;
    case Rounding::toward_positive: return !cell.negative;
    case Rounding::toward_negative: return cell.negative;
    case Rounding::away:
    case Rounding::magnitude_up: return true;
    default: return std::nullopt;
  }
}

bool overflows_unrounded(Overflow overflow) { return overflow == Overflow::nan_unrounded || overflow == Overflow::inf_unrounded; }

/// True when the source holds no value above the target's largest one.
bool source_ends_below(const Format& from, const Format& to) {
  const Value last = decode(from, max_finite_code(from));
  Flags flags;
  constexpr Conversion kCut{Rounding::toward_zero, Overflow::saturate, NanRule::fixed, 0, 0, 0, false};
  encode(last, to, kCut, flags);
  return !flags.overflow && !flags.inexact;
}

/// Whether the choices are possible for the target at all.
bool is_possible(const Format& to, const Conversion& how) {
  try {
    Flags flags;
    encode(decode(kF32, 0x3F800000U), to, how, flags);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Whether IEEE 754's overflow is what `nan` or `saturate` says too: without Inf, but where one direction overflows and the other does not.
bool is_another_rule(const Format& to, const Conversion& how) {
  const bool by_sign = how.rounding == Rounding::toward_positive || how.rounding == Rounding::toward_negative;
  return how.overflow == Overflow::ieee && (!has_nan(to) || (!has_inf(to) && !by_sign));
}

/// The rule of a device that converts with other choices. The flags are those choices' flags. What has no answer differs from the right one.
WrongRule other_conversion(FaultClass cls, std::string name, const ConversionSubject& subject, const Conversion& how) {
  const Format from = *subject.from;
  const Format to = *subject.to;
  return {cls, std::move(name), [from, to, how, set = subject.flags](Lanes operands, Lanes right, MutableLanes answer) {
            if (has_no_answer(operands[0], from, to, how.rounding)) {
              std::ranges::transform(right, answer.begin(), std::bit_not());
              return;
            }
            const Answered other = converted(operands[0], from, to, how, set, how.random_bits > 0 ? Random(operands[1]) : std::nullopt);
            answer[0] = other.code;
            if (right.size() > 1) answer[1] = other.flags;
          }};
}

/// Subnormal results and inputs that lose more than their value: read with the hidden bit that they do not have.
void add_flushes(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  for (Flush flush : kFlushes) {
    if (flush == subject.how.flush) continue;
    Conversion how = subject.how;
    how.flush = flush;
    rules.push_back(other_conversion(FaultClass::subnormal, fmt::format("subnormals become zero: {}", flush_word(flush)), subject, how));
  }
}

void add_roundings(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  for (Rounding rounding : kRoundings) {
    Conversion how = subject.how;
    how.rounding = rounding;
    how.random_bits = 0;
    if (rounding == subject.how.rounding || !is_possible(*subject.to, how)) continue;
    rules.push_back(other_conversion(FaultClass::rounding, fmt::format("rounding {}", mx::name_of(rounding)), subject, how));
  }
}

/// Rounding up wraps the mantissa, and the exponent stays.
void add_lost_carry(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  const Format& to = *subject.to;
  if (to.encoding != Encoding::floating) return;
  rules.push_back(
      {FaultClass::rounding, "the carry into the exponent is lost", [from = *subject.from, to](Lanes operands, Lanes right, MutableLanes answer) {
         std::ranges::copy(right, answer.begin());
         const Value value = decode(from, operands[0]);
         const Value rounded = decode(to, right[0]);
         if (value.cls != ValueClass::finite || rounded.cls != ValueClass::finite) return;
         const GridPlace before = place_on_grid(value, to);
         const GridPlace after = place_on_grid(rounded, to);
         const std::uint64_t hidden = std::uint64_t{1} << to.mantissa_bits;
         const bool carried = before.floor + 1 == 2 * hidden && after.unit > before.unit;
         if (carried) answer[0] = right[0] - static_cast<std::uint32_t>(hidden);
       }});
}

/// What rounds up from the subnormals to the smallest normal number keeps the exponent of 0, and the fraction that wrapped.
void add_lost_subnormal_carry(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  const Format& to = *subject.to;
  if (to.encoding != Encoding::floating) return;
  rules.push_back({FaultClass::subnormal, "the carry out of the subnormals is lost: 0 where the smallest normal number is due",
                   [from = *subject.from, to](Lanes operands, Lanes right, MutableLanes answer) {
                     std::ranges::copy(right, answer.begin());
                     const Value value = decode(from, operands[0]);
                     const std::uint32_t hidden = 1U << to.mantissa_bits;
                     const std::uint32_t sign = to.has_sign ? 1U << (to.width - 1) : 0;
                     if (value.cls != ValueClass::finite || (right[0] & ~sign) != hidden) return;
                     if (place_on_grid(value, to).floor + 1 == hidden) answer[0] = right[0] & sign;
                   }});
}

/// A directed rounding that goes its way in magnitude.
void add_unsigned_direction(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  if (subject.how.rounding != Rounding::toward_positive && subject.how.rounding != Rounding::toward_negative) return;
  rules.push_back(
      {FaultClass::rounding, "rounding away from zero, whatever the sign",
       [from = *subject.from, to = *subject.to, how = subject.how, set = subject.flags](Lanes operands, Lanes right, MutableLanes answer) {
         Conversion away = how;
         away.rounding = decode(from, operands[0]).negative ? Rounding::toward_negative : Rounding::toward_positive;
         const Answered other = converted(operands[0], from, to, away, set);
         answer[0] = other.code;
         if (right.size() > 1) answer[1] = other.flags;
       }});
}

/// The rule for finite numbers from above the target's last binade to the end of a wider format; for others the right answer.
WrongRule within(WrongRule rule, const ConversionSubject& subject, const Format& wide) {
  const std::uint32_t least = to_f32(Value{1, top_exponent(decode(*subject.to, max_finite_code(*subject.to))) + 1, ValueClass::finite, false});
  const std::uint32_t most = to_f32(decode(wide, max_finite_code(wide)));
  rule.name += fmt::format(", from the next power of two to the end of {} alone", wide.name);
  rule.answer = [from = *subject.from, least, most, inner = std::move(rule.answer)](Lanes operands, Lanes right, MutableLanes answer) {
    Value value = decode(from, operands[0]);
    value.negative = false;
    const std::uint32_t magnitude = value.cls == ValueClass::finite ? to_f32(value) : 0U;
    if (magnitude >= least && magnitude <= most)
      inner(operands, right, answer);
    else
      std::ranges::copy(right, answer.begin());
  };
  return rule;
}

/// A device that saturates, but for numbers just beyond the largest binade, which it takes for numbers that there are.
void add_bands(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  if (subject.how.overflow != Overflow::saturate || subject.to->encoding != Encoding::floating || subject.to->width > 8) return;
  for (const Overflow overflow : {Overflow::nan, Overflow::inf}) {
    Conversion how = subject.how;
    how.overflow = overflow;
    if (!is_possible(*subject.to, how)) continue;
    for (const Format* wide : {&kE5m2, &kFp16}) {
      if (*wide == *subject.to || *wide == *subject.from) continue;
      const std::string name = fmt::format("overflow {} (unsaturated)", mx::name_of(overflow));
      rules.push_back(within(other_conversion(FaultClass::saturation, name, subject, how), subject, *wide));
    }
  }
}

void add_overflows(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  for (Overflow overflow : kOverflows) {
    Conversion how = subject.how;
    how.overflow = overflow;
    if (overflow == subject.how.overflow || !is_possible(*subject.to, how) || is_another_rule(*subject.to, how)) continue;
    const bool unsaturated = subject.how.overflow == Overflow::saturate;
    rules.push_back(other_conversion(FaultClass::saturation, fmt::format("overflow {}{}", mx::name_of(overflow), unsaturated ? " (unsaturated)" : ""),
                                     subject, how));
  }
  add_bands(subject, rules);
  // As if the top exponent were kept for Inf and NaN, as IEEE 754 has it.
  const Format to = *subject.to;
  if (to.encoding != Encoding::floating || to.specials == Specials::ieee) return;
  const std::uint32_t sign = to.has_sign ? 1U << (to.width - 1) : 0U;
  const std::uint32_t limit = (max_finite_code(to) >> to.mantissa_bits << to.mantissa_bits) - 1U;
  struct Early {
    std::string_view name;
    std::uint32_t answer;
  };
  for (const Early& early : {Early{"saturates one binade too early, as if the top exponent held no numbers", limit},
                             Early{"the top exponent becomes the largest value, as if it held no other numbers", max_finite_code(to)}}) {
    rules.push_back(
        {FaultClass::saturation, std::string(early.name), [to, sign, limit, code = early.answer](Lanes, Lanes right, MutableLanes answer) {
           std::ranges::copy(right, answer.begin());
           if (is_nan_code(to, right[0]) || (right[0] & ~sign) <= limit) return;
           answer[0] = code | (right[0] & sign);
           constexpr std::uint32_t kInvalid = 16;
           constexpr std::uint32_t kClamped = 1 | 4 | 32;  // inexact, overflow, saturated
           if (right.size() > 1 && (right[1] & kInvalid) == 0) answer[1] = right[1] | kClamped;
         }});
  }
}

/// What a device makes of infinities, apart from numbers that are too large.
void add_infinities(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  const Format from = *subject.from;
  const Format to = *subject.to;
  if (from.specials != Specials::ieee || from.encoding != Encoding::floating) return;
  const auto add = [&](FaultClass cls, std::string name, std::uint32_t code, bool keeps_sign) {
    const std::uint32_t sign = keeps_sign && to.has_sign ? 1U << (to.width - 1) : 0U;
    rules.push_back({cls, std::move(name), [from, code, sign](Lanes operands, Lanes right, MutableLanes answer) {
                       std::ranges::copy(right, answer.begin());
                       const Value value = decode(from, operands[0]);
                       if (value.cls == ValueClass::infinity) answer[0] = code | (value.negative ? sign : 0U);
                     }});
  };
  if (is_nan_code(to, subject.how.nan_positive)) {
    add(FaultClass::nan, "infinity gives NaN", subject.how.nan_positive, true);
    if (to.has_sign) add(FaultClass::nan, "infinity gives NaN, without its sign", subject.how.nan_positive, false);
  }
  add(FaultClass::saturation, "infinity gives 0", 0, !nan_is_negative_zero(to));
  if (to.has_sign) add(FaultClass::saturation, "infinity gives 0, without its sign", 0, false);
  add(FaultClass::saturation, "infinity gives the largest value", max_finite_code(to), true);
  if (has_inf(to)) add(FaultClass::saturation, "infinity gives infinity", max_finite_code(to) + 1U, true);
}

void add_nans(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  const Format& to = *subject.to;
  std::vector<Conversion> seen{subject.how};
  const auto add = [&](std::string name, const Conversion& how) {
    if (std::ranges::find(seen, how) != seen.end() || !is_possible(to, how)) return;
    seen.push_back(how);
    rules.push_back(other_conversion(FaultClass::nan, std::move(name), subject, how));
  };
  for (NanRule rule : {NanRule::keep_payload, NanRule::quiet_payload}) {
    Conversion how = subject.how;
    how.nan_rule = rule;
    add(fmt::format("a NaN keeps its payload ({})", nan_words(how, to)), how);
  }
  const std::uint32_t largest = max_finite_code(to);
  const std::uint32_t sign = to.has_sign ? 1U << (to.width - 1) : 0U;
  struct Codes {
    std::string_view name;
    std::uint32_t positive, negative;
  };
  const std::array codes{Codes{"a NaN loses its sign", subject.how.nan_positive, subject.how.nan_positive},
                         Codes{"a NaN keeps its sign", subject.how.nan_positive, subject.how.nan_positive | sign},
                         Codes{"a NaN becomes the largest value", largest, largest | sign},
                         Codes{"a NaN becomes the largest value, positive", largest, largest}, Codes{"a NaN becomes zero", 0, 0}};
  for (const Codes& row : codes) {
    Conversion how = subject.how;
    how.nan_rule = NanRule::fixed;
    how.nan_positive = row.positive;
    how.nan_negative = row.negative;
    add(std::string(row.name), how);
  }
  for (const Profile& profile : all_profiles()) {
    const Conversion* other = find_conversion(profile, *subject.from, to);
    if (other == nullptr || other->nan_rule == NanRule::refused || reads_source_bits(other->rounding)) continue;
    Conversion how = subject.how;
    how.nan_rule = other->nan_rule;
    how.nan_positive = other->nan_positive;
    how.nan_negative = other->nan_negative;
    add(fmt::format("NaN {}, as profile {} has it", nan_words(how, to), profile.name), how);
  }
}

/// Whole dialects, each set of choices once.
void add_profiles(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  std::vector<Conversion> seen{subject.how};
  for (const Profile& profile : all_profiles()) {
    const Conversion* other = find_conversion(profile, *subject.from, *subject.to);
    if (other == nullptr || other->nan_rule == NanRule::refused || other->random_bits != subject.how.random_bits) continue;
    // What is tiny no row of these tables says.
    Conversion how = *other;
    how.fine.tininess = subject.how.fine.tininess;
    if (std::ranges::find(seen, how) != seen.end()) continue;
    seen.push_back(how);
    rules.push_back(other_conversion(FaultClass::dialect, fmt::format("profile {}", profile.name), subject, how));
  }
}

void add_zeros_and_signs(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  const Format& to = *subject.to;
  if (to.has_sign) return;
  Conversion how = subject.how;
  how.negative_is_nan = !how.negative_is_nan;
  rules.push_back(other_conversion(FaultClass::sign, how.negative_is_nan ? "a negative number is NaN" : "the sign is ignored", subject, how));
  how = subject.how;
  how.zero_code = how.zero_code == 0 ? max_finite_code(to) + 1U : 0U;
  if (to.encoding == Encoding::exponent_only) {
    rules.push_back(other_conversion(FaultClass::scale, how.zero_code == 0 ? "zero is code 0" : "zero is NaN", subject, how));
  }
}

}  // namespace

std::string why_no_cell(const RoundingCell& cell, const ConversionSubject& subject) {
  const Format& from = *subject.from;
  const Format& to = *subject.to;
  const std::optional<bool> up = rounds_up(cell, subject.how.rounding);
  const bool floating = to.encoding == Encoding::floating;
  const bool last_odd =
      to.encoding == Encoding::exponent_only ? (max_finite_code(to) & 1U) != 0 : (decode(to, max_finite_code(to)).significand & 1U) != 0;
  const bool unrounded = overflows_unrounded(subject.how.overflow);
  const std::string_view rounding = mx::name_of(subject.how.rounding);
  if (cell.negative && !from.has_sign) return fmt::format("{} has no sign", from.name);
  if (cell.negative && !to.has_sign && subject.how.negative_is_nan) return fmt::format("a negative number is NaN in {}", to.name);
  if (cell.negative && !to.has_sign && subject.how.fine.negative != NegativeRule::as_said)
    return fmt::format("a negative number is code 0{} in {}", subject.how.fine.negative == NegativeRule::directed ? " or NaN" : "", to.name);
  if (cell.outcome == Outcome::subnormal && !floating) return fmt::format("{} has no subnormals", to.name);
  if (cell.outcome == Outcome::carry && to.encoding == Encoding::fixed_point) return fmt::format("{} has no binades", to.name);
  if (cell.outcome == Outcome::overflow && cell.below == 0) return "the largest value itself does not overflow";
  if (cell.outcome == Outcome::overflow && cell.odd != last_odd) return fmt::format("the largest value of {} ends in {}", to.name, last_odd ? 1 : 0);
  if (cell.outcome == Outcome::overflow && source_ends_below(from, to))
    return fmt::format("{} ends below the largest value of {}", from.name, to.name);
  if (cell.outcome == Outcome::overflow && !unrounded && up == false) return fmt::format("{} does not round this up", rounding);
  if (cell.outcome == Outcome::carry && up == false) return fmt::format("{} does not round this up", rounding);
  if (cell.outcome == Outcome::carry && to.mantissa_bits > 0 && !cell.odd) return "a carry starts from a mantissa of ones";
  if (cell.outcome == Outcome::subnormal && to.mantissa_bits == 1 && cell.below == 0 && !cell.odd)
    return fmt::format("{} has one subnormal, which is odd", to.name);
  // One bit of mantissa that is 1, or none at all: adding a unit always leaves the binade.
  const bool always_carries = to.encoding != Encoding::fixed_point && (to.mantissa_bits == 0 || (to.mantissa_bits == 1 && cell.odd));
  if (cell.outcome != Outcome::carry && cell.outcome != Outcome::overflow && up == true && always_carries)
    return "rounding this up leaves the binade";
  return {};
}

std::vector<WrongRule> conversion_wrong_rules(const ConversionSubject& subject, const std::vector<Column>& results) {
  std::vector<WrongRule> rules;
  add_roundings(subject, rules);
  add_unsigned_direction(subject, rules);
  add_lost_carry(subject, rules);
  add_lost_subnormal_carry(subject, rules);
  add_steps(subject, rules);
  add_infinities(subject, rules);
  add_readings(subject, rules);
  add_overflows(subject, rules);
  add_nans(subject, rules);
  add_flushes(subject, rules);
  add_zeros_and_signs(subject, rules);
  add_profiles(subject, rules);
  if (subject.flags != FlagSet::none) add_flags(subject, rules);
  for (WrongRule& rule : common_wrong_rules(results)) rules.push_back(std::move(rule));
  return rules;
}

}  // namespace mx::golden
