#include "tests/proof/exact.hpp"

#include <stdexcept>

namespace mx::tests {
namespace {

void require_exact(int ternary) {
  if (ternary != 0) throw std::logic_error("an exact number does not fit");
}

/// Sign, exponent field and mantissa as the documents define them: field 0 has no hidden one and the exponent of field 1.
void set_fields(mpfr_ptr number, std::uint32_t field, std::uint32_t mantissa, int mantissa_bits, int bias) {
  const unsigned long hidden = field == 0 ? 0UL : 1UL << mantissa_bits;
  const long exponent = (field == 0 ? 1L : static_cast<long>(field)) - bias - mantissa_bits;
  require_exact(mpfr_set_ui_2exp(number, hidden + mantissa, exponent, MPFR_RNDN));
}

}  // namespace

void set_magnitude(mpfr_ptr number, const FormatFacts& facts, std::uint32_t code) {
  if (facts.name == "e8m0") return require_exact(mpfr_set_ui_2exp(number, 1, static_cast<long>(code) - facts.bias, MPFR_RNDN));
  if (facts.name == "mxint8") return require_exact(mpfr_set_ui_2exp(number, code, -6, MPFR_RNDN));
  const std::uint32_t radix = 1U << facts.mantissa_bits;
  set_fields(number, code / radix, code % radix, facts.mantissa_bits, facts.bias);
}

void set_code(mpfr_ptr number, const FormatFacts& facts, std::uint32_t code) {
  const std::uint32_t sign = facts.has_sign ? 1U << (facts.width - 1) : 0U;
  const bool negative = (code & sign) != 0;
  const bool twos_complement = facts.name == "mxint8";
  const std::uint32_t magnitude = !negative ? code : twos_complement ? 2 * sign - code : code - sign;
  if (facts.has_inf && magnitude == facts.max_code + 1) {
    mpfr_set_inf(number, 1);
  } else {
    set_magnitude(number, facts, magnitude);
  }
  mpfr_setsign(number, number, negative ? 1 : 0, MPFR_RNDN);
}

void set_f32(mpfr_ptr number, std::uint32_t pattern) {
  if (pattern >= 0x7F800000U) throw std::logic_error("not a finite positive pattern");
  set_fields(number, pattern / 0x800000U, pattern % 0x800000U, 23, 127);
}

void set_between(mpfr_ptr number, mpfr_srcptr a, mpfr_srcptr b, std::uint64_t numerator, int bits) {
  require_exact(mpfr_sub(number, b, a, MPFR_RNDN));
  require_exact(mpfr_mul_ui(number, number, numerator, MPFR_RNDN));
  require_exact(mpfr_div_2si(number, number, bits, MPFR_RNDN));
  require_exact(mpfr_add(number, number, a, MPFR_RNDN));
}

}  // namespace mx::tests
