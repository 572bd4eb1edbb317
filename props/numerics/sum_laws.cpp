// N9: the exact accumulator against 128-bit integers.

#include <rapidcheck.h>

#include <algorithm>

#include "model/numerics/exact_sum.hpp"
#include "props/numerics/grid.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

/// Two factors of at most 2^24, times 2^exponent; 64 such products stay below 2^120.
struct Term {
  std::uint32_t a;
  std::uint32_t b;
  int exponent;
  bool negative;
};

Term pick_term() {
  return {pick_uniform(0, (1U << 24) - 1), pick_uniform(0, (1U << 24) - 1), static_cast<int>(pick_uniform(0, 64)), pick_uniform(0, 1) == 1};
}

Value value_of(std::uint32_t significand, int exponent, bool negative) {
  const ValueClass cls = significand == 0 ? ValueClass::zero : ValueClass::finite;
  return {.significand = significand, .exponent = significand == 0 ? 0 : exponent, .cls = cls, .negative = negative};
}

std::uint32_t accumulated(const std::vector<Term>& terms) {
  ExactSum sum;
  for (const Term& term : terms) sum.add_product(value_of(term.a, term.exponent, term.negative), value_of(term.b, 0, false));
  return sum.to_f32();
}

/// fp32 bits of an integer, nearest even.
std::uint32_t rounded(Int128 integer) {
  const bool negative = integer < 0;
  Uint128 magnitude = negative ? static_cast<Uint128>(-integer) : static_cast<Uint128>(integer);
  int exponent = 0;
  bool below_half = false;
  // One bit at a time, down to 25: the last of them is the half, those before it are remembered.
  while ((magnitude >> 25) != 0) {
    below_half = below_half || (magnitude & 1U) != 0;
    magnitude >>= 1;
    ++exponent;
  }
  auto units = static_cast<std::uint64_t>(magnitude);
  if ((units >> 24) != 0) {
    const bool half = (units & 1U) != 0;
    units >>= 1;
    ++exponent;
    if (half && (below_half || (units & 1U) != 0)) ++units;
  }
  return f32_bits(units, exponent) | (negative ? 0x80000000U : 0U);
}

bool is_minus_zero_sum(const std::vector<Term>& terms) {
  return std::ranges::all_of(terms, [](const Term& term) { return term.negative && (term.a == 0 || term.b == 0); });
}

}  // namespace

Outcome sums_are_integer_sums(const Law& law) {
  return check_property(law, [] {
    std::vector<Term> terms(pick_uniform(1, 64));
    for (Term& term : terms) term = pick_term();
    // In half of the cases all but the first few terms cancel.
    if (pick_uniform(0, 1) == 1 && terms.size() <= 32) {
      const std::size_t count = terms.size();
      for (std::size_t i = std::min<std::size_t>(count, pick_uniform(0, 2)); i < count; ++i) {
        terms.push_back(terms[i]);
        terms.back().negative = !terms[i].negative;
      }
    }
    Int128 integer = 0;
    for (const Term& term : terms) {
      const Int128 product = (static_cast<Int128>(std::uint64_t{term.a} * term.b)) << term.exponent;
      integer += term.negative ? -product : product;
    }
    const std::uint32_t expected = is_minus_zero_sum(terms) ? 0x80000000U : rounded(integer);
    RC_ASSERT(accumulated(terms) == expected);
    std::ranges::reverse(terms);
    RC_ASSERT(accumulated(terms) == expected);
  });
}

}  // namespace mx::props::numerics
