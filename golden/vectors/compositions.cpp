#include "golden/vectors/compositions.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "model/error.hpp"
#include "model/numerics/rules.hpp"

namespace mx::golden {
namespace {

/// Codes that a device gave for a NaN: without its sign, and with it.
struct NanCodes {
  std::uint32_t positive, negative;
};

/// A conversion with so many choices other than those of the one under test.
struct OtherChoices {
  int choices;
  Conversion how;
};

/// A value of one choice, put into a conversion.
using Choice = std::function<void(Conversion&)>;
/// All values of one choice.
using Axis = std::vector<Choice>;

constexpr std::array kRoundings{Rounding::nearest_even,
                                Rounding::nearest_away,
                                Rounding::nearest_toward_zero,
                                Rounding::toward_zero,
                                Rounding::toward_positive,
                                Rounding::toward_negative,
                                Rounding::to_odd,
                                Rounding::away,
                                Rounding::magnitude_up,
                                Rounding::nearest_up,
                                Rounding::nearest_even_code,
                                Rounding::nearest_log2_even,
                                Rounding::nearest_log2_away};
constexpr std::array kOverflows{Overflow::saturate,      Overflow::nan,  Overflow::inf, Overflow::nan_unrounded,
                                Overflow::inf_unrounded, Overflow::ieee, Overflow::wrap};
constexpr std::array kInfinities{InfinityRule::as_overflow, InfinityRule::inf,  InfinityRule::nan,
                                 InfinityRule::largest,     InfinityRule::zero, InfinityRule::as_nan};
constexpr std::array kZeroSigns{SignOfZero::keep, SignOfZero::positive, SignOfZero::positive_if_zero};
constexpr std::array kFlushes{Flush::none, Flush::source, Flush::target, Flush::both};
constexpr std::array kTininesses{Tininess::before, Tininess::after, Tininess::result};
constexpr std::array kOverflowFlags{OverflowFlag::ieee, OverflowFlag::not_finite_result, OverflowFlag::infinite_too};

/// The axis of values that are put by `put`.
template <typename Values, typename Put>
Axis axis_of(const Values& values, Put put) {
  Axis axis;
  for (const auto& value : values) axis.push_back([value, put](Conversion& how) { put(how, value); });
  return axis;
}

Axis nan_axis(const Format& to, const Conversion& how, std::span<const NanCodes> seen) {
  Axis axis;
  if (to.specials == Specials::ieee && to.encoding == Encoding::floating) {
    for (const NanRule rule : {NanRule::keep_payload, NanRule::quiet_payload}) axis.push_back([rule](Conversion& other) { other.nan_rule = rule; });
  }
  const std::uint32_t sign = to.has_sign && !nan_is_negative_zero(to) ? 1U << (to.width - 1) : 0U;
  const std::uint32_t largest = max_finite_code(to), own = how.nan_positive & ~sign;
  std::vector<NanCodes> codes{{own, own}, {own, own | sign}, {largest, largest | sign}, {0, 0}};
  codes.insert(codes.end(), seen.begin(), seen.end());
  for (const NanCodes& one : codes) {
    axis.push_back([one](Conversion& other) {
      other.nan_rule = NanRule::fixed;
      other.nan_positive = one.positive;
      other.nan_negative = one.negative;
    });
  }
  return axis;
}

std::vector<Axis> axes_of(const Format& to, const Conversion& how, bool ieee_flags, std::span<const NanCodes> seen) {
  std::vector<Axis> axes;
  if (how.random_bits == 0) axes.push_back(axis_of(kRoundings, [](Conversion& other, Rounding value) { other.rounding = value; }));
  axes.push_back(axis_of(kOverflows, [](Conversion& other, Overflow value) { other.overflow = value; }));
  axes.push_back(axis_of(kInfinities, [](Conversion& other, InfinityRule value) { other.fine.infinity = value; }));
  axes.push_back(nan_axis(to, how, seen));
  axes.push_back(axis_of(kFlushes, [](Conversion& other, Flush value) { other.flush = value; }));
  if (to.has_sign) {
    axes.push_back(axis_of(kZeroSigns, [](Conversion& other, SignOfZero value) { other.fine.zero_sign = value; }));
  } else {
    constexpr std::array<std::pair<bool, NegativeRule>, 5> kNegatives{{{false, NegativeRule::as_said},
                                                                       {true, NegativeRule::as_said},
                                                                       {false, NegativeRule::zero},
                                                                       {false, NegativeRule::least},
                                                                       {false, NegativeRule::directed}}};
    axes.push_back(axis_of(kNegatives, [](Conversion& other, const std::pair<bool, NegativeRule>& value) {
      std::tie(other.negative_is_nan, other.fine.negative) = value;
    }));
  }
  if (to.encoding == Encoding::exponent_only)
    axes.push_back(axis_of(std::array{0U, max_finite_code(to) + 1U}, [](Conversion& other, std::uint32_t value) { other.zero_code = value; }));
  if (ieee_flags) {
    axes.push_back(axis_of(kTininesses, [](Conversion& other, Tininess value) { other.fine.tininess = value; }));
    axes.push_back(axis_of(kOverflowFlags, [](Conversion& other, OverflowFlag value) { other.fine.overflow_flag = value; }));
  }
  return axes;
}

/// Whether the format can have these choices at all.
bool is_possible(const Format& to, const Conversion& how) {
  Conversion rounding = how;
  if (rounding.flush == Flush::source) rounding.flush = Flush::none;
  if (rounding.flush == Flush::both) rounding.flush = Flush::target;
  try {
    Flags flags;
    encode(Value{1, 0, ValueClass::finite, false}, to, rounding, flags, how.random_bits > 0 ? Random(0) : std::nullopt);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Whether a vector is about a NaN, and of which sign.
std::optional<bool> sign_of_nan(const Composed& operation, const WrongAnswer& one) {
  const Value value = operation.from != nullptr ? decode(*operation.from, one.operands[0]) : decode(*operation.to, one.right[0]);
  return value.cls == ValueClass::nan ? std::optional(value.negative) : std::nullopt;
}

/// Those that the wrong answers show.
std::vector<NanCodes> nan_codes_of(const Composed& operation, std::span<const WrongAnswer> wrong) {
  std::optional<std::uint32_t> positive, negative;
  for (const WrongAnswer& one : wrong) {
    const std::optional<bool> sign = sign_of_nan(operation, one);
    if (!sign) continue;
    std::optional<std::uint32_t>& code = *sign ? negative : positive;
    if (!code) code = one.answer[0];
  }
  if (!positive && !negative) return {};
  return {{positive.value_or(operation.how.nan_positive), negative.value_or(operation.how.nan_negative)}};
}

std::vector<OtherChoices> other_choices(const Format& to, const Conversion& how, bool ieee_flags, std::span<const NanCodes> seen) {
  const std::vector<Axis> axes = axes_of(to, how, ieee_flags, seen);
  std::vector<OtherChoices> found;
  std::vector<std::vector<Choice>> changing;  // of each axis what is not as under test
  const auto add = [&](int choices, const Conversion& other) {
    const bool is_new = other != how && std::ranges::find(found, other, &OtherChoices::how) == found.end();
    if (is_new && is_possible(to, other)) found.push_back({choices, other});
  };
  for (const Axis& axis : axes) {
    changing.emplace_back();
    for (const Choice& choice : axis) {
      Conversion other = how;
      choice(other);
      if (other == how) continue;
      changing.back().push_back(choice);
      add(1, other);
    }
  }
  for (std::size_t i = 0; i < changing.size(); ++i) {
    for (std::size_t j = i + 1; j < changing.size(); ++j) {
      for (const Choice& first : changing[i]) {
        for (const Choice& second : changing[j]) {
          Conversion other = how;
          first(other);
          second(other);
          add(2, other);
        }
      }
    }
  }
  return found;
}

}  // namespace

std::vector<Composition> compositions_of(const Composed& operation, std::span<const WrongAnswer> wrong, const AnswerUnder& answer) {
  std::vector<Composition> compositions;
  for (const OtherChoices& other : other_choices(*operation.to, operation.how, operation.ieee_flags, nan_codes_of(operation, wrong))) {
    compositions.push_back({operation.name + "_to_" + text_of(*operation.to, other.how), other.choices,
                            [answer, how = other.how](Lanes operands, MutableLanes lanes) { answer(how, operands, lanes); }});
  }
  return compositions;
}

}  // namespace mx::golden
