#include "tests/proof/conversions.hpp"

#include <array>

#include "tests/proof/exact.hpp"

namespace mx::test {
namespace {

/// A direction in both vocabularies.
struct DirectionRow {
  Direction direction;
  Rounding rounding;
  bool powers_only;
};

constexpr std::array kDirections{
    DirectionRow{Direction::nearest_even, Rounding::nearest_even, false},
    DirectionRow{Direction::toward_zero, Rounding::toward_zero, false},
    DirectionRow{Direction::toward_positive, Rounding::toward_positive, false},
    DirectionRow{Direction::toward_negative, Rounding::toward_negative, false},
    DirectionRow{Direction::nearest_away, Rounding::nearest_away, false},
    DirectionRow{Direction::nearest_toward_zero, Rounding::nearest_toward_zero, false},
    DirectionRow{Direction::magnitude_up, Rounding::magnitude_up, true},
    DirectionRow{Direction::nearest_up, Rounding::nearest_up, true},
};

/// A rule for what is too large, in both vocabularies, and whether a direction other than nearest even is in use with it.
struct ExcessRow {
  Excess excess;
  bool before_rounding;
  Overflow overflow;
  bool nearest_even_only;
};

// amd_hip_fp8.h tests the overflow before rounding, and rounds to nearest even only.
constexpr std::array kExcesses{
    ExcessRow{Excess::saturate, false, Overflow::saturate, false}, ExcessRow{Excess::nan, false, Overflow::nan, false},
    ExcessRow{Excess::inf, false, Overflow::inf, false},           ExcessRow{Excess::ieee, false, Overflow::ieee, false},
    ExcessRow{Excess::nan, true, Overflow::nan_unrounded, true},   ExcessRow{Excess::inf, true, Overflow::inf_unrounded, true},
};

bool is_defined(const FormatFacts& facts, const ExcessRow& row) {
  if (row.excess == Excess::saturate) return true;
  // A format with infinities overflows to them; its NaN rule is no conversion that anyone has.
  if (row.excess == Excess::nan) return facts.has_nan && !facts.has_inf;
  return facts.has_inf;
}

/// What a format without a sign makes of negative values and, without a zero, of zero.
struct SignRow {
  std::string_view suffix;
  bool negative_is_nan;
  std::uint32_t zero_code;
};

constexpr std::array kSigned{SignRow{"", false, 0}};
constexpr std::array kUnsigned{SignRow{"/magnitude", false, 0x00}, SignRow{"/negative_nan", true, 0xFF}};

// Arbitrary and different: whatever the caller names must come back.
constexpr std::uint32_t kNanPositive = 0x5;
constexpr std::uint32_t kNanNegative = 0xA;

ConversionProof proof(const FormatFacts& facts, const DirectionRow& direction, const ExcessRow& excess, const SignRow& sign) {
  const std::string name = std::string(facts.name) + "/" + std::string(name_of(direction.rounding)) + "/" + std::string(name_of(excess.overflow)) +
                           std::string(sign.suffix);
  return {name,
          &facts,
          {direction.direction, excess.excess, excess.before_rounding, sign.negative_is_nan, sign.zero_code, kNanPositive, kNanNegative},
          &format_named(facts.name),
          {direction.rounding, excess.overflow, NanRule::fixed, kNanPositive, kNanNegative, sign.zero_code, sign.negative_is_nan}};
}

void add_format(const FormatFacts& facts, std::vector<ConversionProof>& out) {
  const std::span<const SignRow> signs = facts.has_sign ? std::span<const SignRow>(kSigned) : std::span<const SignRow>(kUnsigned);
  for (const ExcessRow& excess : kExcesses) {
    for (const DirectionRow& direction : kDirections) {
      if (!is_defined(facts, excess) || (direction.powers_only && facts.name != "e8m0")) continue;
      if (excess.nearest_even_only && direction.direction != Direction::nearest_even) continue;
      for (const SignRow& sign : signs) out.push_back(proof(facts, direction, excess, sign));
    }
  }
}

bool decodes_as(const Value& value, const FormatFacts& facts, std::uint32_t code) {
  MpfrNumber expected(kExactBits);
  set_code(expected.get(), facts, code);
  if (value.negative != (mpfr_signbit(expected.get()) != 0)) return false;
  if (mpfr_inf_p(expected.get()) != 0) return value.cls == ValueClass::infinity;
  if (mpfr_zero_p(expected.get()) != 0) return value.cls == ValueClass::zero;
  if (value.cls != ValueClass::finite) return false;
  MpfrNumber decoded(kExactBits);
  mpfr_set_ui_2exp(decoded.get(), value.significand, value.exponent, MPFR_RNDN);
  return mpfr_cmpabs(decoded.get(), expected.get()) == 0;
}

}  // namespace

std::vector<ConversionProof> conversion_proofs() {
  std::vector<ConversionProof> out;
  for (const FormatFacts& facts : all_facts()) add_format(facts, out);
  return out;
}

Encoder model_encoder(const Format& to, const Conversion& how) {
  return [&to, how](std::span<const std::uint32_t> patterns, std::span<std::uint32_t> codes) {
    for (std::size_t i = 0; i < patterns.size(); ++i) codes[i] = convert(patterns[i], kF32, to, how);
  };
}

std::vector<std::uint32_t> wrong_decodes(const FormatFacts& facts) {
  const Format& format = format_named(facts.name);
  std::vector<std::uint32_t> wrong;
  for (std::uint32_t code = 0; code < (1U << facts.width); ++code) {
    const Value value = decode(format, code);
    const bool holds = is_nan_by_facts(facts, code) ? value.cls == ValueClass::nan : decodes_as(value, facts, code);
    if (!holds) wrong.push_back(code);
  }
  return wrong;
}

}  // namespace mx::test
