// N9: sums, products and fma of a unit, and its integers, against numbers on 128-bit integers.

#include <rapidcheck.h>

#include <array>
#include <bit>
#include <cmath>

#include "model/numerics/integer.hpp"
#include "model/numerics/operation.hpp"
#include "model/numerics/profile.hpp"
#include "props/numerics/dyadic.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::array<const Format*, 7> kFormats{&kE4m3fn, &kE5m2, &kE4m3fnuz, &kE5m2fnuz, &kE2m3, &kE3m2, &kE2m1};

/// A finite code and its number, by the grid of the format.
struct Drawn {
  const Format* format;
  std::uint32_t code;
  Dyadic number;
};

Drawn drawn_number() {
  const Grid& grid = grid_of(kFormats[pick_uniform(0, static_cast<std::uint32_t>(kFormats.size()) - 1)]->name);
  const std::uint32_t magnitude = pick_uniform(0, static_cast<std::uint32_t>(grid.values.size()) - 1);
  const bool negative = pick_uniform(0, 1) == 1 && !(magnitude == 0 && nan_is_negative_zero(*grid.format));
  return {grid.format, signed_code(grid, magnitude, negative), from_f32(grid.values[magnitude] | (negative ? 0x80000000U : 0U))};
}

/// fp32 bits of an exact result: a zero of unlike signs is +0, downward -0.
std::uint32_t rounded(Dyadic exact, bool unlike, Rounding rounding) {
  constexpr int kBits = 24;
  if (exact.magnitude == 0 && unlike) exact.negative = rounding == Rounding::toward_negative;
  if (exact.magnitude == 0) return exact.negative ? 0x80000000U : 0U;
  if (rounding == Rounding::nearest_even) return f32_of(rounded_to_bits(exact, kBits));
  const Dyadic cut = truncated_to_bits(exact, kBits);
  const Dyadic rest = sum(exact, {cut.magnitude, cut.exponent, !cut.negative});
  const bool away = rounding == Rounding::toward_negative && exact.negative && rest.magnitude != 0;
  return f32_of(cut) + (away ? 1U : 0U);
}

/// A whole number of 2^-fraction that is nearest, ties to even.
struct Whole {
  std::int64_t number;
  bool exact;
};
Whole nearest_whole(const Dyadic& number, int fraction) {
  const Dyadic near = rounded_to_unit(number, -fraction);
  const Dyadic rest = sum(number, {near.magnitude, near.exponent, !near.negative});
  const auto magnitude = near.magnitude == 0
                             ? 0
                             : static_cast<std::int64_t>(near.exponent + fraction >= 0 ? near.magnitude << (near.exponent + fraction)
                                                                                       : near.magnitude >> -(near.exponent + fraction));
  return {near.negative ? -magnitude : magnitude, rest.magnitude == 0};
}

}  // namespace

Outcome operations_round_once(const Law& law) {
  return check_property(law, [] {
    for (int i = 0; i < 16; ++i) {
      const Drawn a = drawn_number(), b = drawn_number();
      Drawn c = drawn_number();
      const Rounding rounding = std::array{Rounding::nearest_even, Rounding::toward_zero, Rounding::toward_negative}[pick_uniform(0, 2)];
      const Conversion how{rounding, Overflow::ieee, NanRule::fixed, 0x7FC00000U, 0x7FC00000U, 0, false};
      const Dyadic of_both = product(a.number, b.number);
      IeeeFlags flags;
      const auto sum_of = [&](const Dyadic& first, const Dyadic& second) {
        return rounded(sum(first, second), first.negative != second.negative, rounding);
      };
      const std::array<const Format*, 3> formats{a.format, b.format, c.format};
      const std::array codes{a.code, b.code, c.code};
      RC_ASSERT(operate(Operation::fma, codes, formats, kF32, how, flags) == sum_of(of_both, c.number));
      const std::array<const Format*, 2> two{a.format, c.format};
      RC_ASSERT(operate(Operation::add, std::array{a.code, c.code}, two, kF32, how, flags) == sum_of(a.number, c.number));
      // x - x, and what is equal in two formats.
      const std::array<const Format*, 2> same{a.format, a.format};
      const Dyadic negated{a.number.magnitude, a.number.exponent, !a.number.negative};
      RC_ASSERT(operate(Operation::subtract, std::array{a.code, a.code}, same, kF32, how, flags) == sum_of(a.number, negated));
    }
  });
}

Outcome integers_round_once(const Law& law) {
  return check_property(law, [] {
    for (int i = 0; i < 16; ++i) {
      const Drawn x = drawn_number();
      const auto width = static_cast<int>(pick_uniform(2, 20)), fraction = static_cast<int>(pick_uniform(0, static_cast<std::uint32_t>(width) - 1));
      const bool has_sign = pick_uniform(0, 3) != 0;
      const IntegerTarget to{{width, fraction, has_sign}, Rounding::nearest_even, OutOfRange::saturate};
      const Whole whole = nearest_whole(x.number, fraction);
      const std::int64_t least = has_sign ? -(std::int64_t{1} << (width - 1)) : 0, most = (std::int64_t{1} << (has_sign ? width - 1 : width)) - 1;
      const std::int64_t expected = std::min(std::max(whole.number, least), most);
      IeeeFlags flags;
      const std::uint64_t bits = to_integer(x.code, *x.format, to, flags);
      RC_ASSERT(bits == (static_cast<std::uint64_t>(expected) & ((std::uint64_t{1} << width) - 1U)));
      RC_ASSERT((flags == IeeeFlags{.inexact = expected == whole.number && !whole.exact, .invalid = expected != whole.number}));
    }
  });
}

}  // namespace mx::props::numerics
