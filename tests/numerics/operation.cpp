// Operations in any format: fp32's are held to the processor's own unit, result and flags, in four directions; those of narrow formats to every pair
// of operands computed in fp64 and rounded to odd, which is then converted once; what IEEE 754 says in words stands here in numbers.

#include "model/numerics/operation.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <optional>
#include <vector>

#include "model/error.hpp"
#include "model/numerics/further_formats.hpp"
#include "model/numerics/profile.hpp"
#include "model/numerics/rules.hpp"
#include "model/numerics/wide_source.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;

struct Answer {
  std::uint32_t code = 0;
  std::uint32_t flags = 0;

  friend bool operator==(const Answer&, const Answer&) = default;
};

Answer operated(Operation operation, std::vector<std::uint32_t> codes, const Format& from, std::string_view rules, const Format* to = nullptr) {
  IeeeFlags flags;
  const Format& target = to == nullptr ? from : *to;
  const std::vector<const Format*> formats(codes.size(), &from);
  const std::uint32_t code = operate(operation, codes, formats, target, conversion(profile_named(rules), kF32, target), flags);
  return {code, flag_bits(flags)};
}

struct Direction {
  std::string_view rules;
  int mode;
};
constexpr std::array kDirections{
    Direction{"round=rne,overflow=ieee,tininess=after", FE_TONEAREST}, Direction{"round=rtz,overflow=ieee,tininess=after", FE_TOWARDZERO},
    Direction{"round=rup,overflow=ieee,tininess=after", FE_UPWARD}, Direction{"round=rdn,overflow=ieee,tininess=after", FE_DOWNWARD}};

std::uint32_t raised() {
  const int set = std::fetestexcept(FE_ALL_EXCEPT);
  const auto bit = [&](int flag, std::uint32_t value) { return (set & flag) != 0 ? value : 0U; };
  return bit(FE_INEXACT, 1) | bit(FE_UNDERFLOW, 2) | bit(FE_OVERFLOW, 4) | bit(FE_DIVBYZERO, 8) | bit(FE_INVALID, 16);
}

/// What the processor gives under a direction; a NaN is 0x7FC00000.
Answer of_processor(Operation operation, const std::vector<std::uint32_t>& codes, int mode) {
  std::array<volatile float, 3> x{};
  for (std::size_t i = 0; i < codes.size(); ++i) x[i] = std::bit_cast<float>(codes[i]);
  std::fenv_t before;
  std::feholdexcept(&before);
  std::fesetround(mode);
  volatile float result = 0;
  switch (operation) {
    case Operation::add: result = x[0] + x[1]; break;
    case Operation::subtract: result = x[0] - x[1]; break;
    case Operation::multiply: result = x[0] * x[1]; break;
    case Operation::divide: result = x[0] / x[1]; break;
    case Operation::square_root: result = std::sqrt(x[0]); break;
    default: break;
  }
  const std::uint32_t flags = raised();
  std::fesetenv(&before);
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(result));
  return {(bits & 0x7FFFFFFFU) > 0x7F800000U ? 0x7FC00000U : bits, flags};
}

/// Operands that meet: specials, and numbers whose exponents lie near each other or at an end.
std::uint32_t drawn(std::uint64_t& state, int exponent) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  const auto word = static_cast<std::uint32_t>(state >> 32U);
  constexpr std::array<std::uint32_t, 10> kSpecial{0,          0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000,
                                                   0x7F800001, 1,          0x807FFFFF, 0x00800000, 0x7F7FFFFF};
  if ((word & 15U) == 0) return kSpecial[(word >> 4U) % kSpecial.size()];
  const auto field = static_cast<std::uint32_t>(std::clamp(exponent + static_cast<int>(word >> 27U) - 16, 0, 254));
  const auto mantissa = static_cast<std::uint32_t>((word & 32U) != 0 ? state & 0x7FFFFFU : (state & 7U) << 20U | (state >> 8U & 1U));
  return (word & 64U) << 25U | field << 23U | mantissa;
}

}  // namespace

TEST_CASE("operations of fp32 are the processor's, with their flags, in every direction") {
  std::uint64_t state = 1;
  int equal = 0;
  for (const Operation operation : {Operation::add, Operation::subtract, Operation::multiply, Operation::divide, Operation::square_root}) {
    for (int i = 0; i < 20'000; ++i) {
      constexpr std::array kNear{127, 8, 246, 64, 190};
      const int exponent = kNear[static_cast<std::size_t>(i) % kNear.size()];
      std::vector<std::uint32_t> codes{drawn(state, exponent)};
      const int other = operation == Operation::multiply && i % 3 == 0 ? 127 - exponent + 2 * (i % 130) : exponent;
      if (operation != Operation::square_root) codes.push_back(drawn(state, other));
      const Direction& direction = kDirections[static_cast<std::size_t>(i) % kDirections.size()];
      const Answer expected = of_processor(operation, codes, direction.mode), got = operated(operation, codes, kF32, direction.rules);
      equal += got == expected ? 1 : 0;
      if (got == expected) continue;
      INFO(static_cast<int>(operation) << " " << std::hex << codes.front() << " " << codes.back() << " under " << direction.rules);
      CHECK(std::pair(got.code, got.flags) == std::pair(expected.code, expected.flags));
    }
  }
  CHECK(equal == 5 * 20'000);
}

TEST_CASE("fma of fp32 is the library's in every direction") {
  std::uint64_t state = 2;
  int equal = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::vector<std::uint32_t> codes{drawn(state, 127), drawn(state, 127), drawn(state, i % 2 == 0 ? 127 : 103)};
    const Direction& direction = kDirections[static_cast<std::size_t>(i) % kDirections.size()];
    std::fenv_t before;
    std::feholdexcept(&before);
    std::fesetround(direction.mode);
    volatile float a = std::bit_cast<float>(codes[0]), b = std::bit_cast<float>(codes[1]), c = std::bit_cast<float>(codes[2]);
    volatile float result = std::fma(a, b, c);
    std::fesetenv(&before);
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(result));
    const std::uint32_t expected = (bits & 0x7FFFFFFFU) > 0x7F800000U ? 0x7FC00000U : bits;
    const std::uint32_t got = operated(Operation::fma, codes, kF32, direction.rules).code;
    equal += got == expected ? 1 : 0;
    if (got == expected) continue;
    INFO(std::hex << codes[0] << " " << codes[1] << " " << codes[2] << " under " << direction.rules);
    CHECK(got == expected);
  }
  CHECK(equal == 20'000);
}

TEST_CASE("operations of narrow formats are those of fp64 rounded to odd, converted once") {
  // Sums and products of these formats are exact in fp64. Quotients are cut there, with the last bit set where anything was lost.
  const auto odd = [](double cut, bool exact) { return std::bit_cast<std::uint64_t>(cut) | (exact ? 0U : 1U); };
  for (const std::string_view name : {"e4m3fn", "e5m2", "e4m3ieee", "e2m3", "binary8p4se", "e3m2,bias=5,ieee"}) {
    const Format& format = format_named(name);
    for (const std::string_view rules : {"round=rne,overflow=ieee,nan=0", "round=rtz,overflow=ieee,nan=0", "round=rup,overflow=saturate,nan=0"}) {
      const Conversion& how = conversion(profile_named(rules), kF32, format);
      int wrong = 0;
      for (std::uint32_t a = 0; a >> format.width == 0; a += 3) {
        for (std::uint32_t b = 0; b >> format.width == 0; ++b) {
          const double x = std::bit_cast<float>(to_f32(a, format)), y = std::bit_cast<float>(to_f32(b, format));
          if (!std::isfinite(x) || !std::isfinite(y)) continue;
          const double quotient = y == 0 ? 0 : x / y, back = std::fma(quotient, y, -x);
          // Toward zero: one step back where the nearest went beyond.
          const bool beyond = back != 0 && (back > 0) == (x > 0);
          const double cut = beyond ? std::nextafter(quotient, 0.0) : quotient;
          const auto expected = [&](std::uint64_t bits) {
            IeeeFlags flags;
            const std::uint32_t code = convert_ieee(bits, kF64, format, how, flags);
            return Answer{code, flag_bits(flags)};
          };
          wrong += operated(Operation::multiply, {a, b}, format, rules) != expected(odd(x * y, true)) ? 1 : 0;
          if (x + y != 0) wrong += operated(Operation::add, {a, b}, format, rules) != expected(odd(x + y, true)) ? 1 : 0;
          if (x - y != 0) wrong += operated(Operation::subtract, {a, b}, format, rules) != expected(odd(x - y, true)) ? 1 : 0;
          if (y != 0) wrong += operated(Operation::divide, {a, b}, format, rules) != expected(odd(cut, back == 0)) ? 1 : 0;
        }
      }
      INFO(name << " " << rules);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("operands of three formats are those numbers: fma into fp32 is the library's, sums and products are those of fp64, converted once") {
  std::uint64_t state = 3;
  int wrong = 0;
  const std::array<const Format*, 3> mixed{&kE4m3fn, &kE5m2, &kF32};
  for (std::uint32_t i = 0; i < 40'000; ++i) {
    const Direction& direction = kDirections[i % kDirections.size()];
    const std::vector<std::uint32_t> codes{i * 7 & 0xFFU, i / 5 & 0xFFU, drawn(state, i % 3 == 0 ? 103 : 127)};
    std::fenv_t before;
    std::feholdexcept(&before);
    std::fesetround(direction.mode);
    volatile float a = std::bit_cast<float>(to_f32(codes[0], kE4m3fn)), b = std::bit_cast<float>(to_f32(codes[1], kE5m2)),
                   c = std::bit_cast<float>(codes[2]);
    volatile float result = std::fma(a, b, c);
    std::fesetenv(&before);
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(result));
    const std::uint32_t expected = (bits & 0x7FFFFFFFU) > 0x7F800000U ? 0x7FC00000U : bits;
    IeeeFlags flags;
    wrong += operate(Operation::fma, codes, mixed, kF32, conversion(profile_named(direction.rules), kF32, kF32), flags) != expected ? 1 : 0;
  }
  CHECK(wrong == 0);
  const std::array<const Format*, 2> narrow{&kE5m2, &kE4m3fn};
  const Conversion& how = conversion(profile_named("ieee"), kF32, kE3m2);
  for (std::uint32_t a = 0; a < 256; ++a) {
    for (std::uint32_t b = 0; b < 256; ++b) {
      const double x = std::bit_cast<float>(to_f32(a, kE5m2)), y = std::bit_cast<float>(to_f32(b, kE4m3fn));
      if (!std::isfinite(x) || !std::isfinite(y)) continue;
      IeeeFlags flags, of_product, of_sum;
      const auto converted = [&](double value) { return convert_ieee(std::bit_cast<std::uint64_t>(value), kF64, kE3m2, how, flags); };
      wrong += operate(Operation::multiply, std::array{a, b}, narrow, kE3m2, how, of_product) != converted(x * y) || of_product != flags ? 1 : 0;
      flags = {};
      if (x + y != 0) wrong += operate(Operation::add, std::array{a, b}, narrow, kE3m2, how, of_sum) != converted(x + y) || of_sum != flags ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
  IeeeFlags flags;
  CHECK_THROWS_AS(operate(Operation::fma, std::array{1U, 1U, 1U}, narrow, kE3m2, how, flags), Error);
}

TEST_CASE("what IEEE 754 says of zeros, NaNs and infinities") {
  constexpr std::string_view kDown = "round=rdn,overflow=ieee";
  constexpr std::uint32_t kOne = 0x3C, kMinusOne = 0xBC, kInf = 0x7C, kNan = 0x7E, kSignalling = 0x7D, kMinusZero = 0x80;
  const auto e5m2 = [](Operation operation, std::vector<std::uint32_t> codes, std::string_view rules = "round=rne,overflow=ieee") {
    return operated(operation, std::move(codes), kE5m2, rules);
  };
  CHECK(e5m2(Operation::add, {kOne, kMinusOne}) == Answer{0, 0});
  CHECK(e5m2(Operation::add, {kOne, kMinusOne}, kDown) == Answer{kMinusZero, 0});
  CHECK(e5m2(Operation::add, {kMinusZero, kMinusZero}) == Answer{kMinusZero, 0});
  CHECK(e5m2(Operation::subtract, {0, 0}) == Answer{0, 0});
  CHECK(e5m2(Operation::subtract, {0, 0}, kDown) == Answer{kMinusZero, 0});
  CHECK(e5m2(Operation::fma, {kOne, kMinusOne, kOne}, kDown) == Answer{kMinusZero, 0});
  CHECK(e5m2(Operation::fma, {0, kInf, kNan}) == Answer{kNan, 16});
  CHECK(e5m2(Operation::fma, {kInf, kOne, kInf | 0x80U}) == Answer{kNan, 16});
  CHECK(e5m2(Operation::multiply, {0, kInf}) == Answer{kNan, 16});
  CHECK(e5m2(Operation::divide, {kMinusOne, 0}) == Answer{0xFC, 8});
  CHECK(e5m2(Operation::divide, {0, 0}) == Answer{kNan, 16});
  CHECK(e5m2(Operation::divide, {kOne, kInf}) == Answer{0, 0});
  CHECK(e5m2(Operation::square_root, {kMinusZero}) == Answer{kMinusZero, 0});
  CHECK(e5m2(Operation::square_root, {kMinusOne}) == Answer{kNan, 16});
  CHECK(e5m2(Operation::add, {kSignalling, kOne}) == Answer{kNan, 16});
  CHECK(e5m2(Operation::add, {kNan, kOne}) == Answer{kNan, 0});
  CHECK(e5m2(Operation::minimum, {kNan, kOne}) == Answer{kNan, 0});
  CHECK(e5m2(Operation::minimum_number, {kNan, kOne}) == Answer{kOne, 0});
  CHECK(e5m2(Operation::maximum_number, {kOne, kSignalling}) == Answer{kOne, 16});
  CHECK(e5m2(Operation::minimum, {0, kMinusZero}) == Answer{kMinusZero, 0});
  CHECK(e5m2(Operation::maximum, {kMinusZero, 0}) == Answer{0, 0});
  CHECK(e5m2(Operation::minimum, {kInf, kMinusOne}) == Answer{kMinusOne, 0});
  CHECK(e5m2(Operation::maximum, {kMinusOne, 0xFC}) == Answer{kMinusOne, 0});
  // A format with no Inf and no NaN has the answer that the rules say, or none.
  CHECK(operated(Operation::divide, {0x2, 0}, kE2m1, "round=rne,overflow=saturate,nan=0").code == 0x7);
  CHECK_THROWS_AS(operated(Operation::divide, {0, 0}, kE2m1, "round=rne,overflow=saturate"), Error);
  CHECK_THROWS_AS(operated(Operation::add, {0}, kE2m1, "round=rne,overflow=saturate"), Error);
  // Into a wider format, once: 448 * 448 is 200704.
  CHECK(operated(Operation::multiply, {0x7E, 0x7E}, kE4m3fn, "round=rne,overflow=ieee", &kF32) == Answer{0x48440000, 0});
}

TEST_CASE("square roots of every number of 16 bits") {
  for (const Format* format : {&kFp16, &kBf16}) {
    int wrong = 0;
    for (std::uint32_t code = 1; code < (format == &kFp16 ? 0x7C00U : 0x7F80U); ++code) {
      // fp64's root of so few bits is exact or more than half a unit of fp64 away from every midpoint of 16 bits.
      const auto bits = std::bit_cast<std::uint64_t>(std::sqrt(static_cast<double>(std::bit_cast<float>(to_f32(code, *format)))));
      IeeeFlags flags;
      const std::uint32_t expected = convert_ieee(bits, kF64, *format, conversion(profile_named("ieee"), kF32, *format), flags);
      wrong += operated(Operation::square_root, {code}, *format, "ieee") != Answer{expected, flag_bits(flags)} ? 1 : 0;
    }
    CHECK(wrong == 0);
  }
}
