// Flags that a device raises, or does not, for one class of inputs.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "golden/vectors/conversion_rules.hpp"

namespace mx::golden {
namespace {

struct Flag {
  std::string_view name;
  std::uint32_t bit;
  FaultClass cls;
};
constexpr std::array kFlags{Flag{"inexact", 1, FaultClass::rounding},
                            Flag{"underflow", 2, FaultClass::subnormal},
                            Flag{"overflow", 4, FaultClass::saturation},
                            Flag{"divide by zero", 8, FaultClass::value},
                            Flag{"invalid", 16, FaultClass::nan},
                            Flag{"saturated", 32, FaultClass::saturation},
                            Flag{"NaN", 64, FaultClass::nan},
                            Flag{"flushed", 128, FaultClass::subnormal}};
constexpr std::uint32_t kInexact = 1;
constexpr std::uint32_t kOverflow = 4;

/// One input with what came of it.
struct Case {
  std::uint32_t code;
  Value value;
  std::uint32_t right;  ///< code
  std::uint32_t flags;  ///< right ones
  const Format* from;
  const Format* to;
};

/// Below the target's smallest normal number, as if the exponent had no lower end: before the rounding, and after it to nearest even.
bool is_tiny(const Case& one) {
  return one.value.cls == ValueClass::finite && one.value.exponent + static_cast<int>(std::bit_width(one.value.significand)) - 1 < 1 - one.to->bias;
}
bool is_tiny_rounded(const Case& one) {
  if (!is_tiny(one)) return false;
  // Only what lies within half a unit of the binade below reaches the smallest normal number.
  const int unit = -one.to->bias - one.to->mantissa_bits;
  const int dropped = unit - one.value.exponent;
  if (dropped <= 0 || dropped > 63) return true;
  const std::uint64_t hidden = std::uint64_t{2} << one.to->mantissa_bits;
  return ((one.value.significand + (std::uint64_t{1} << (dropped - 1))) >> dropped) < hidden;
}

bool is_signalling(const Case& one) {
  return one.value.cls == ValueClass::nan && one.from->specials == Specials::ieee && (one.code >> (one.from->mantissa_bits - 1) & 1U) == 0;
}

/// A class of inputs.
struct Class {
  std::string_view words;
  bool (*holds)(const Case& one);
};
// clang-format off
constexpr std::array kClasses{
    Class{"", [](const Case&) { return true; }},
    Class{" for infinities", [](const Case& one) { return one.value.cls == ValueClass::infinity; }},
    Class{" for NaNs", [](const Case& one) { return one.value.cls == ValueClass::nan; }},
    Class{" for signalling NaNs", is_signalling},
    Class{" for quiet NaNs", [](const Case& one) { return one.value.cls == ValueClass::nan && !is_signalling(one); }},
    Class{" for infinities and NaNs", [](const Case& one) { return one.value.cls == ValueClass::infinity || one.value.cls == ValueClass::nan; }},
    Class{" for zeros", [](const Case& one) { return one.value.cls == ValueClass::zero; }},
    Class{" for negative inputs", [](const Case& one) { return one.value.negative; }},
    Class{" for exact results", [](const Case& one) { return one.value.cls == ValueClass::finite && (one.flags & kInexact) == 0; }},
    Class{" for inexact results", [](const Case& one) { return (one.flags & kInexact) != 0; }},
    Class{" for overflow", [](const Case& one) { return (one.flags & kOverflow) != 0; }},
    Class{" for results that are tiny before rounding", is_tiny},
    Class{" for exact results that are tiny", [](const Case& one) { return is_tiny(one) && (one.flags & kInexact) == 0; }},
    Class{" for results that are tiny before rounding and not after", [](const Case& one) { return is_tiny(one) && !is_tiny_rounded(one); }},
    Class{" for results that become zero", [](const Case& one) { return one.value.cls == ValueClass::finite && decode(*one.to, one.right).cls == ValueClass::zero; }},
};
// clang-format on

/// Other ways to tell which results are tiny. Codes are the same.
void add_tininess(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  struct Way {
    Tininess tininess;
    std::string_view words;
  };
  for (const Way& way :
       {Way{Tininess::before, "before rounding"}, Way{Tininess::after, "after rounding"}, Way{Tininess::result, "as it is delivered"}}) {
    if (way.tininess == subject.how.fine.tininess) continue;
    Conversion how = subject.how;
    how.fine.tininess = way.tininess;
    rules.push_back({FaultClass::subnormal, fmt::format("a result is tiny {}", way.words),
                     [from = *subject.from, to = *subject.to, how](Lanes operands, Lanes, MutableLanes answer) {
                       const Answered other =
                           converted(operands[0], from, to, how, FlagSet::ieee, how.random_bits > 0 ? Random(operands[1]) : std::nullopt);
                       answer[0] = other.code;
                       answer[1] = other.flags;
                     }});
  }
}

}  // namespace

void add_flags(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  constexpr std::size_t kOfIeee = 5;
  if (subject.flags == FlagSet::ieee) add_tininess(subject, rules);
  for (const Flag& flag : subject.flags == FlagSet::ieee ? std::span(kFlags).first(kOfIeee) : std::span(kFlags)) {
    for (const Class& cls : kClasses) {
      for (const bool raised : {false, true}) {
        rules.push_back({flag.cls, fmt::format("the flag {} is {} raised{}", flag.name, raised ? "always" : "never", cls.words),
                         [=, from = *subject.from, to = *subject.to](Lanes operands, Lanes right, MutableLanes answer) {
                           std::ranges::copy(right, answer.begin());
                           const Case one{operands[0], decode(from, operands[0]), right[0], right[1], &from, &to};
                           if (cls.holds(one)) answer[1] = raised ? right[1] | flag.bit : right[1] & ~flag.bit;
                         }});
      }
    }
  }
}

}  // namespace mx::golden
