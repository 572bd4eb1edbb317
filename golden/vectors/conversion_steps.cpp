// Devices that cut or round a value before they convert it.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "golden/vectors/conversion_rules.hpp"

namespace mx::golden {
namespace {

int top_exponent(const Value& value) { return value.exponent + static_cast<int>(std::bit_width(value.significand)) - 1; }

/// Exponent of the target's smallest normal number.
int least_normal(const Format& to) { return 1 - to.bias; }

/// Which results a step is taken for.
struct Scope {
  std::string_view words;  ///< behind the step
  bool normal, subnormal;
};
constexpr std::array kScopes{Scope{"", true, true}, Scope{", for normal results alone", true, false},
                             Scope{", for subnormal results alone", false, true}};

bool is_in(const Scope& scope, const Value& value, const Format& to) {
  return top_exponent(value) < least_normal(to) ? scope.subnormal : scope.normal;
}

/// The value in units of 2^unit: cut off, or rounded to nearest even.
Value in_units(const Value& value, int unit, bool rounded) {
  const int dropped = unit - value.exponent;
  if (dropped <= 0) return value;
  const std::uint64_t kept = dropped < 64 ? value.significand >> dropped : 0;
  const std::uint64_t half = dropped <= 64 ? std::uint64_t{1} << (dropped - 1) : 0;
  const std::uint64_t below = dropped < 64 ? value.significand & ((std::uint64_t{1} << dropped) - 1U) : value.significand;
  const bool up = rounded && half != 0 && (below > half || (below == half && (kept & 1U) != 0));
  const std::uint64_t units = kept + (up ? 1U : 0U);
  if (units == 0) return {0, 0, ValueClass::zero, value.negative};
  return {units, unit, ValueClass::finite, value.negative};
}

Value to_bits(const Value& value, int bits, bool rounded) { return in_units(value, top_exponent(value) - bits, rounded); }

/// A way to lose bits; `value` is finite, `bits` counts as `unit` says.
struct Loss {
  std::string_view words;  ///< with the number of bits in it
  bool behind;             ///< bits are counted from the target's last one, else they are those of the mantissa
  Value (*of)(const Value& value, int bits, const Format& to);
};

Value cut(const Value& value, int bits, const Format& /*to*/) { return to_bits(value, bits, false); }
Value rounded(const Value& value, int bits, const Format& /*to*/) { return to_bits(value, bits, true); }
/// Beside a set half bit alone.
Value blind(const Value& value, int bits, const Format& to) {
  const Value left = to_bits(value, bits, false);
  const GridPlace before = place_on_grid(value, to);
  const GridPlace after = place_on_grid(left, to);
  return before.below >= 4 && after.below >= 4 && before.floor == after.floor ? left : value;
}
Value sticky_ends(const Value& value, int bits, const Format& to) { return in_units(value, place_on_grid(value, to).unit - bits, false); }

// clang-format off
constexpr std::array kLosses{
    Loss{"the mantissa is cut to {} bits first", false, cut},
    Loss{"the mantissa is rounded to {} bits first", false, rounded},
    Loss{"the sticky bit sees the first {} bits of the mantissa alone beside a set half bit", false, blind},
    Loss{"what lies more than {} bits below the last one is forgotten", true, sticky_ends},
};
// clang-format on

void add_losses(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  const Format& to = *subject.to;
  if (to.encoding != Encoding::floating) return;
  for (const Loss& loss : kLosses) {
    const int first = loss.behind ? 1 : 0;
    const int last = loss.behind ? subject.from->mantissa_bits : subject.from->mantissa_bits - 1;
    for (int bits = first; bits <= last; ++bits) {
      for (const Scope& scope : kScopes) {
        // A number of bits that the target has no room for changes nothing but subnormal results.
        std::string name = fmt::format(fmt::runtime(loss.words), bits);
        if (!loss.behind && bits == to.mantissa_bits) name += ", the target's own precision";
        name += scope.words;
        rules.push_back(changed_value(FaultClass::rounding, std::move(name), subject, [=, to = to](std::uint32_t, const Value& value) {
          return value.cls == ValueClass::finite && is_in(scope, value, to) ? std::optional(loss.of(value, bits, to)) : std::nullopt;
        }));
      }
    }
  }
  // Rounded to the target's precision as if its exponent had no lower end, and then cut to the subnormal's place.
  ConversionSubject cutting = subject;
  cutting.how.rounding = Rounding::toward_zero;
  cutting.how.random_bits = 0;
  const auto change = [to = to](std::uint32_t, const Value& value) -> std::optional<Value> {
    return value.cls == ValueClass::finite && top_exponent(value) < least_normal(to) ? std::optional(to_bits(value, to.mantissa_bits, true))
                                                                                     : std::nullopt;
  };
  rules.push_back(
      changed_value(FaultClass::rounding, "subnormal results are rounded to the target's own precision first, then cut", cutting, change));
}

/// Rounded to another format on the way; none where that one is no step between.
void add_middles(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  const Format& from = *subject.from;
  const Format& to = *subject.to;
  for (const Format& middle : all_formats()) {
    const Conversion* first = find_conversion(profile_named(kOcp), from, middle);
    const bool between =
        middle.encoding == Encoding::floating && middle.mantissa_bits > to.mantissa_bits && middle.mantissa_bits < from.mantissa_bits;
    if (!between || first == nullptr) continue;
    for (const Scope& scope : kScopes) {
      rules.push_back(changed_value(FaultClass::rounding, fmt::format("rounded twice, through {}{}", middle.name, scope.words), subject,
                                    [=, from = from, to = to, how = *first, between = middle](std::uint32_t code, const Value& value) {
                                      const bool taken = value.cls == ValueClass::finite && is_in(scope, value, to);
                                      return taken ? std::optional(decode(between, convert(code, from, between, how))) : std::nullopt;
                                    }));
    }
  }
}

/// Shift counts that wrap: a value far below the smallest subnormal comes back.
void add_shifts(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  const Format& to = *subject.to;
  if (to.encoding != Encoding::floating) return;
  for (const int word : {64, 32}) {
    for (const bool in_all : {false, true}) {
      const int dropped = in_all ? subject.from->mantissa_bits - to.mantissa_bits : 0;
      std::string name =
          fmt::format("the shift count of subnormal results{} is taken modulo {}", in_all ? ", with the bits that normal ones drop," : "", word);
      rules.push_back(
          changed_value(FaultClass::subnormal, std::move(name), subject, [=, to = to](std::uint32_t, const Value& value) -> std::optional<Value> {
            if (value.cls != ValueClass::finite) return std::nullopt;
            const int count = least_normal(to) - top_exponent(value) + dropped;
            if (count < word) return std::nullopt;
            return Value{value.significand, value.exponent + count / word * word, value.cls, value.negative};
          }));
    }
  }
}

}  // namespace

WrongRule changed_value(FaultClass cls, std::string name, const ConversionSubject& subject, ValueChange change) {
  Conversion how = subject.how;
  how.flush = Flush::none;
  return {cls, std::move(name),
          [from = *subject.from, to = *subject.to, how, set = subject.flags, change = std::move(change)](Lanes operands, Lanes right,
                                                                                                         MutableLanes answer) {
            std::ranges::copy(right, answer.begin());
            const std::optional<Value> value = change(operands[0], decode(from, operands[0]));
            if (!value) return;
            const Answered other = encoded(*value, to, how, set, how.random_bits > 0 ? Random(operands[1]) : std::nullopt);
            answer[0] = other.code;
            if (right.size() > 1) answer[1] = other.flags;
          }};
}

void add_steps(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  if (subject.how.random_bits == 0) add_middles(subject, rules);
  add_losses(subject, rules);
  add_shifts(subject, rules);
}

}  // namespace mx::golden
