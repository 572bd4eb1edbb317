// Conversions from and to integers and fixed point: held to MPFR's exact numbers and, where it has the instruction, to the processor, result and
// flags.

#include "model/numerics/integer.hpp"

#include <gmp.h>
#include <mpfr.h>

#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "model/numerics/wide_source.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;

struct Answer {
  std::uint64_t bits = 0;
  std::uint32_t flags = 0;

  friend bool operator==(const Answer&, const Answer&) = default;
};
constexpr std::uint32_t kInexact = 1, kInvalid = 16;

Answer converted(std::uint64_t code, const Format& from, const IntegerTarget& to) {
  IeeeFlags flags;
  const std::uint64_t bits = to_integer(code, from, to, flags);
  return {bits, flag_bits(flags)};
}

/// MPFR's own functions of whole numbers; to_odd from its floor.
void round_whole(mpfr_t whole, const mpfr_t exact, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even: mpfr_rint(whole, exact, MPFR_RNDN); return;
    case Rounding::nearest_away: mpfr_round(whole, exact); return;
    case Rounding::toward_zero: mpfr_trunc(whole, exact); return;
    case Rounding::toward_positive: mpfr_ceil(whole, exact); return;
    case Rounding::toward_negative: mpfr_floor(whole, exact); return;
    default: break;
  }
  REQUIRE(rounding == Rounding::away);
  mpfr_rint(whole, exact, MPFR_RNDA);
}

/// The answer as the documents have it, in GMP's integers.
Answer of_mpfr(float x, const IntegerTarget& to) {
  const auto bound = [](bool top, const Integer& integer) {
    const std::uint64_t ones = ~std::uint64_t{0} >> (64 - integer.width);
    if (integer.has_sign) return top ? ones >> 1U : ones ^ (ones >> 1U);
    return top ? ones : 0U;
  };
  const bool x86 = to.out_of_range == OutOfRange::x86;
  const std::uint64_t indefinite = bound(!to.integer.has_sign, to.integer);
  if (std::isnan(x)) return {x86 ? indefinite : to.out_of_range == OutOfRange::riscv ? bound(true, to.integer) : 0U, kInvalid};
  if (std::isinf(x)) return {x86 ? indefinite : to.out_of_range == OutOfRange::wrap ? 0U : bound(x > 0, to.integer), kInvalid};
  mpfr_t exact, whole;
  mpfr_init2(exact, 400);
  mpfr_init2(whole, 400);
  mpfr_set_flt(exact, x, MPFR_RNDN);
  mpfr_mul_2si(exact, exact, to.integer.fraction_bits, MPFR_RNDN);
  round_whole(whole, exact, to.rounding);
  mpz_t number, low, high, modulus;
  mpz_inits(number, low, high, modulus, nullptr);
  mpfr_get_z(number, whole, MPFR_RNDN);
  mpz_setbit(modulus, static_cast<mp_bitcnt_t>(to.integer.width));
  mpz_setbit(high, static_cast<mp_bitcnt_t>(to.integer.width - (to.integer.has_sign ? 1 : 0)));
  if (to.integer.has_sign) mpz_neg(low, high);
  const bool below = mpz_cmp(number, low) < 0, above = mpz_cmp(number, high) >= 0;
  const bool is_exact = mpfr_equal_p(exact, whole) != 0;
  mpz_fdiv_r(number, number, modulus);
  Answer answer{mpz_get_ui(number), is_exact ? 0U : kInexact};
  if (below || above) {
    answer.flags = kInvalid;
    if (to.out_of_range != OutOfRange::wrap) answer.bits = x86 ? indefinite : bound(above, to.integer);
  }
  mpz_clears(number, low, high, modulus, nullptr);
  mpfr_clears(exact, whole, nullptr);
  return answer;
}

/// Numbers about every whole and half one that is small, about both bounds, and specials.
std::vector<float> numbers(const Integer& integer) {
  std::vector<float> all{0, INFINITY, NAN, std::bit_cast<float>(0x7F800001U), 1e-30F, 1e30F, std::bit_cast<float>(1U)};
  const auto about = [&](float x) {
    for (const float near : {x, std::nextafter(x, 0.0F), std::nextafter(x, INFINITY)}) all.push_back(near);
  };
  for (int eighth = 1; eighth < 80; ++eighth) about(std::ldexp(static_cast<float>(eighth), -3 - integer.fraction_bits));
  for (int width = integer.width - 2; width <= integer.width + 1; ++width) {
    for (const float part : {1.0F, 1.5F, 1.25F}) about(std::ldexp(part, width - integer.fraction_bits));
    for (int step = -4; step <= 4; ++step)
      about(std::ldexp(1.0F, width - integer.fraction_bits) + std::ldexp(static_cast<float>(step), -2 - integer.fraction_bits));
  }
  const std::size_t positive = all.size();
  for (std::size_t i = 0; i < positive; ++i) all.push_back(-all[i]);
  return all;
}

constexpr std::array kRoundings{Rounding::nearest_even,    Rounding::nearest_away,    Rounding::toward_zero,
                                Rounding::toward_positive, Rounding::toward_negative, Rounding::away};
constexpr std::array kRules{OutOfRange::saturate, OutOfRange::riscv, OutOfRange::x86, OutOfRange::wrap};

}  // namespace

TEST_CASE("conversions into integers and fixed point are MPFR's in every rounding, and their ranges the documents'") {
  for (const std::string_view name :
       {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "i2", "u1", "i37", "q4.12", "uq4.12", "q1.7", "uq0.8", "q16.48", "uq8.0"}) {
    const Integer integer = integer_named(name);
    const std::vector<float> all = numbers(integer);
    for (const Rounding rounding : kRoundings) {
      for (const OutOfRange rule : kRules) {
        const IntegerTarget to{integer, rounding, rule};
        INFO(text_of(to));
        int wrong = 0;
        for (const float x : all) wrong += converted(std::bit_cast<std::uint32_t>(x), kF32, to) != of_mpfr(x, to) ? 1 : 0;
        CHECK(wrong == 0);
      }
    }
  }
}

#if defined(__x86_64__)
TEST_CASE("conversions into i32 and i64 under x86's rule are the processor's, with their flags, in four directions") {
  const std::array<std::pair<Rounding, int>, 4> directions{{{Rounding::nearest_even, FE_TONEAREST},
                                                            {Rounding::toward_zero, FE_TOWARDZERO},
                                                            {Rounding::toward_positive, FE_UPWARD},
                                                            {Rounding::toward_negative, FE_DOWNWARD}}};
  for (const auto& [rounding, mode] : directions) {
    for (const int width : {32, 64}) {
      const IntegerTarget to{{width, 0, true}, rounding, OutOfRange::x86};
      for (const float x : numbers(to.integer)) {
        volatile float held = x;
        std::fenv_t before;
        std::feholdexcept(&before);
        std::fesetround(mode);
        volatile std::uint64_t bits =
            width == 32 ? static_cast<std::uint32_t>(_mm_cvtss_si32(_mm_set_ss(held))) : static_cast<std::uint64_t>(_mm_cvtss_si64(_mm_set_ss(held)));
        const int set = std::fetestexcept(FE_ALL_EXCEPT);
        std::fesetenv(&before);
        const Answer expected{bits, ((set & FE_INEXACT) != 0 ? kInexact : 0U) | ((set & FE_INVALID) != 0 ? kInvalid : 0U)};
        INFO(x << " into " << text_of(to));
        CHECK(converted(std::bit_cast<std::uint32_t>(x), kF32, to) == expected);
      }
    }
  }
}
#endif

TEST_CASE("integers and fixed point into numbers are rounded once") {
  std::uint64_t state = 5;
  const std::array<std::pair<std::string_view, int>, 4> directions{{{"round=rne,overflow=ieee", FE_TONEAREST},
                                                                    {"round=rtz,overflow=ieee", FE_TOWARDZERO},
                                                                    {"round=rup,overflow=ieee", FE_UPWARD},
                                                                    {"round=rdn,overflow=ieee", FE_DOWNWARD}}};
  int wrong = 0;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto& [rules, mode] = directions[static_cast<std::size_t>(i) % directions.size()];
    // Of every length, with few bits set below the first.
    const std::uint64_t bits = i % 2 == 0 ? state >> (i / 8 % 64) : (state | 1U) & (0x8000'0180'0000'0001U >> (i / 8 % 40));
    volatile std::int64_t whole = std::bit_cast<std::int64_t>(bits);
    std::fenv_t before;
    std::feholdexcept(&before);
    std::fesetround(mode);
    volatile float result = static_cast<float>(whole);
    const bool inexact = std::fetestexcept(FE_INEXACT) != 0;
    std::fesetenv(&before);
    IeeeFlags flags;
    const std::uint32_t code = from_integer(bits, integer_named("i64"), kF32, conversion(profile_named(rules), kF32, kF32), flags);
    wrong += code != std::bit_cast<std::uint32_t>(static_cast<float>(result)) || flags != IeeeFlags{.inexact = inexact} ? 1 : 0;
  }
  CHECK(wrong == 0);
  // Up to 53 bits they are numbers of fp64, which is converted once.
  for (const std::string_view name : {"i8", "u8", "i16", "u16", "q4.12", "uq0.16", "uq1.7", "q9.7"}) {
    const Integer integer = integer_named(name);
    for (const Format* to : {&kE4m3fn, &kE5m2, &kE2m1, &kBf16, &kFp16}) {
      const Conversion& how = conversion(profile_named("round=rne,overflow=ieee,nan=0"), kF32, *to);
      for (std::uint64_t bits = 0; bits >> integer.width == 0; ++bits) {
        const double top = std::ldexp(1.0, integer.width), raw = static_cast<double>(bits);
        const double value = std::ldexp(integer.has_sign && raw >= top / 2 ? raw - top : raw, -integer.fraction_bits);
        IeeeFlags flags, expected;
        const std::uint32_t code = from_integer(bits, integer, *to, how, flags);
        wrong += code != convert_ieee(std::bit_cast<std::uint64_t>(value), kF64, *to, how, expected) || flags != expected ? 1 : 0;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("texts of integers are read, printed the same, and refused with the rule") {
  for (const auto& [text, printed] :
       std::vector<std::pair<std::string, std::string>>{{"i32,round=rtz,overflow=riscv", "i32,round=rtz,overflow=riscv"},
                                                        {"INT8, overflow=x86, round=toward-zero", "i8,round=rtz,overflow=x86"},
                                                        {"uq0.16,round=odd,overflow=wrap", "uq0.16,round=odd,overflow=wrap"},
                                                        {"q8.0,round=rne,overflow=saturate", "i8,round=rne,overflow=saturate"}}) {
    CHECK(text_of(integer_target(text)) == printed);
    CHECK(integer_target(text_of(integer_target(text))) == integer_target(text));
  }
  for (const std::string_view text :
       {"i32", "i32,round=rtz", "i32,overflow=riscv", "i32,round=rtz,overflow=riscv,nan=0", "i32,round=stochastic-floor,overflow=wrap",
        "i32,round=rtz,round=rtz,overflow=wrap", "i32,round=magnitude-up,overflow=wrap", "i32,round=rtz,overflow=ieee", "e4m3"}) {
    INFO(text);
    CHECK_THROWS_AS(integer_target(text), Error);
  }
  for (const std::string_view text : {"i1", "i65", "u0", "u65", "i", "q4", "q0.4", "uq60.5", "i32,round=rtz", "i-8", "i8.4", "q4.12x", "ue4m3", ""}) {
    INFO(text);
    CHECK_THROWS_AS(integer_named(text), Error);
  }
  CHECK(!is_integer("ue4m3"));
  CHECK(is_integer("u8,round=rtz,overflow=wrap"));
}
