#include "tests/proof/conversions.hpp"

#include <array>

#include "tests/proof/exact.hpp"

namespace mx::tests {
namespace {

/// A direction in both vocabularies.
struct DirectionRow {
  Direction direction;
  Rounding rounding;
  bool powers_only;
  bool further;
};

constexpr DirectionRow kNearestEven{Direction::nearest_even, Rounding::nearest_even, false, false};
constexpr std::array kDirections{
    kNearestEven,
    DirectionRow{Direction::toward_zero, Rounding::toward_zero, false, false},
    DirectionRow{Direction::toward_positive, Rounding::toward_positive, false, false},
    DirectionRow{Direction::toward_negative, Rounding::toward_negative, false, false},
    DirectionRow{Direction::nearest_away, Rounding::nearest_away, false, false},
    DirectionRow{Direction::nearest_toward_zero, Rounding::nearest_toward_zero, false, true},
    DirectionRow{Direction::magnitude_up, Rounding::magnitude_up, true, false},
    DirectionRow{Direction::nearest_up, Rounding::nearest_up, true, false},
};

constexpr std::array kStochastic{
    DirectionRow{Direction::stochastic_floor, Rounding::stochastic_floor, false, true},
    DirectionRow{Direction::stochastic_odd, Rounding::stochastic_odd, false, true},
    DirectionRow{Direction::stochastic_nearest, Rounding::stochastic_nearest, false, true},
    DirectionRow{Direction::stochastic_add, Rounding::stochastic_add, false, true},
};

/// A rule for what is too large, in both vocabularies, and whether a direction other than nearest even is in use with it.
struct ExcessRow {
  Excess excess;
  bool before_rounding;
  Overflow overflow;
  bool nearest_even_only;
};

constexpr ExcessRow kSaturate{Excess::saturate, false, Overflow::saturate, false};
constexpr ExcessRow kIeee{Excess::ieee, false, Overflow::ieee, false};
// amd_hip_fp8.h tests the overflow before rounding, and rounds to nearest even only.
constexpr std::array kExcesses{
    kSaturate, ExcessRow{Excess::nan, false, Overflow::nan, false},         ExcessRow{Excess::inf, false, Overflow::inf, false},
    kIeee,     ExcessRow{Excess::nan, true, Overflow::nan_unrounded, true}, ExcessRow{Excess::inf, true, Overflow::inf_unrounded, true},
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

constexpr SignRow kSigned{"", false, 0};
constexpr std::array kUnsigned{SignRow{"/magnitude", false, 0x00}, SignRow{"/negative_nan", true, 0xFF}};

/// The rules for NaNs in both vocabularies.
struct NanRow {
  std::string_view suffix;
  NanCode nan;
  NanRule rule;
};

constexpr std::array kPayloads{NanRow{"/keep_payload", NanCode::kept, NanRule::keep_payload},
                               NanRow{"/quiet_payload", NanCode::quiet, NanRule::quiet_payload}};

// Arbitrary and different: whatever the caller names must come back.
constexpr std::uint32_t kNanPositive = 0x5;
constexpr std::uint32_t kNanNegative = 0xA;

/// Which subnormals become zero, in both vocabularies.
struct FlushRow {
  std::string_view suffix;
  bool source;
  bool target;
  Flush flush;
};

constexpr std::array kFlushes{
    FlushRow{"/flush_source", true, false, Flush::source},
    FlushRow{"/flush_target", false, true, Flush::target},
    FlushRow{"/flush_both", true, true, Flush::both},
};

ConversionProof proof(const FormatFacts& facts, const DirectionRow& direction, const ExcessRow& excess, const SignRow& sign) {
  std::string name = std::string(facts.name) + "/" + std::string(name_of(direction.rounding)) + "/" + std::string(name_of(excess.overflow));
  name += sign.suffix;
  return {
      .name = name,
      .facts = &facts,
      .mode = {.direction = direction.direction,
               .excess = excess.excess,
               .before_rounding = excess.before_rounding,
               .negative_is_nan = sign.negative_is_nan,
               .zero_code = sign.zero_code,
               .nan = NanCode::given,
               .nan_positive = kNanPositive,
               .nan_negative = kNanNegative},
      .to = &format_named(facts.name),
      .how = {direction.rounding, excess.overflow, NanRule::fixed, kNanPositive, kNanNegative, sign.zero_code, sign.negative_is_nan},
      .random = {},
      .further = direction.further || excess.nearest_even_only || sign.negative_is_nan,
  };
}

ConversionProof with_payload(ConversionProof proof, const NanRow& row) {
  proof.name += row.suffix;
  proof.further = true;
  proof.mode.nan = row.nan;
  proof.how.nan_rule = row.rule;
  return proof;
}

ConversionProof with_flush(ConversionProof proof, const FlushRow& row) {
  proof.name += row.suffix;
  proof.further = true;
  proof.mode.flush_source = row.source;
  proof.mode.flush_target = row.target;
  proof.how.flush = row.flush;
  return proof;
}

ConversionProof with_random(ConversionProof proof, int bits, std::uint32_t random) {
  proof.name += "/" + std::to_string(bits) + "_bits_" + std::to_string(random);
  proof.mode.random_bits = bits;
  proof.mode.random = random;
  proof.how.random_bits = bits;
  proof.random = random;
  return proof;
}

std::span<const SignRow> signs_of(const FormatFacts& facts) {
  return facts.has_sign ? std::span<const SignRow>(&kSigned, 1) : std::span<const SignRow>(kUnsigned);
}

void add_format(const FormatFacts& facts, std::vector<ConversionProof>& out) {
  for (const ExcessRow& excess : kExcesses) {
    for (const DirectionRow& direction : kDirections) {
      if (!is_defined(facts, excess) || (direction.powers_only && facts.name != "e8m0")) continue;
      if (excess.nearest_even_only && direction.direction != kNearestEven.direction) continue;
      for (const SignRow& sign : signs_of(facts)) out.push_back(proof(facts, direction, excess, sign));
    }
  }
  // Neither flushing nor payloads meet the direction: nearest even shows them.
  for (const FlushRow& flush : kFlushes) {
    for (const SignRow& sign : signs_of(facts)) out.push_back(with_flush(proof(facts, kNearestEven, kSaturate, sign), flush));
  }
  if (!facts.has_inf) return;
  for (const NanRow& nan : kPayloads) out.push_back(with_payload(proof(facts, kNearestEven, kIeee, kSigned), nan));
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

std::vector<ConversionProof> stochastic_proofs(int bits, std::uint32_t random) {
  std::vector<ConversionProof> out;
  for (const FormatFacts& facts : all_facts()) {
    for (const DirectionRow& direction : kStochastic) {
      const int aligned = 23 - facts.mantissa_bits;
      const bool adds = direction.direction == Direction::stochastic_add;
      const std::uint32_t drawn = adds ? random & ((1U << aligned) - 1U) : random;
      for (const SignRow& sign : signs_of(facts)) {
        out.push_back(with_random(proof(facts, direction, kSaturate, sign), adds ? aligned : bits, drawn));
      }
    }
  }
  return out;
}

Encoder model_encoder(const ConversionProof& proof) {
  return [to = proof.to, how = proof.how, random = proof.random](std::span<const std::uint32_t> patterns, std::span<std::uint32_t> codes) {
    Flags flags;
    for (std::size_t i = 0; i < patterns.size(); ++i) codes[i] = convert(patterns[i], kF32, *to, how, flags, random);
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

}  // namespace mx::tests
