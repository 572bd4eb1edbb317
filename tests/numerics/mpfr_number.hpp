#pragma once
// MPFR numbers with a destructor, and rounding of an exact number to fp32 or bf16 patterns.

#include <mpfr.h>

#include <bit>
#include <cstdint>

namespace mx::tests {

class MpfrNumber {
 public:
  explicit MpfrNumber(long precision) { mpfr_init2(number_, precision); }
  ~MpfrNumber() { mpfr_clear(number_); }
  MpfrNumber(const MpfrNumber&) = delete;
  MpfrNumber& operator=(const MpfrNumber&) = delete;
  mpfr_ptr get() { return number_; }

 private:
  mpfr_t number_;
};

/// An IEEE format as MPFR describes one: precision, and exponents for significands in [1/2, 1).
struct IeeeRange {
  int precision;
  int min_exponent;
  int max_exponent;
};
inline constexpr IeeeRange kF32Range{24, -148, 128};
inline constexpr IeeeRange kBf16Range{8, -132, 128};

/// fp32 bits of an exact number rounded once, nearest even, to the range's format (a subset of fp32).
inline std::uint32_t rounded_bits(mpfr_srcptr exact, const IeeeRange& range) {
  MpfrNumber out(range.precision);
  const mpfr_exp_t old_min = mpfr_get_emin();
  const mpfr_exp_t old_max = mpfr_get_emax();
  int ternary = mpfr_set(out.get(), exact, MPFR_RNDN);
  mpfr_set_emin(range.min_exponent);
  mpfr_set_emax(range.max_exponent);
  ternary = mpfr_check_range(out.get(), ternary, MPFR_RNDN);
  mpfr_subnormalize(out.get(), ternary, MPFR_RNDN);
  const float value = mpfr_get_flt(out.get(), MPFR_RNDN);
  mpfr_set_emin(old_min);
  mpfr_set_emax(old_max);
  return std::bit_cast<std::uint32_t>(value);
}

}  // namespace mx::tests
