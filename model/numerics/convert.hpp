#pragma once
// Rounding (value -> value) and encoding (value -> code), kept apart; and their composition, the conversion between formats.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/numerics/format.hpp"
#include "model/numerics/value.hpp"

namespace mx {

/// Direction of rounding to a format's grid.
enum class Rounding {
  nearest_even,         ///< IEEE 754 roundTiesToEven
  nearest_away,         ///< IEEE 754 roundTiesToAway
  nearest_toward_zero,  ///< nearest, ties toward zero (DeepGEMM fp4)
  toward_zero,
  toward_positive,
  toward_negative,
  magnitude_up,  ///< E8M0 only: next power of two unless exact (PTX cvt.rp.ue8m0)
  nearest_up,    ///< E8M0 only: nearest power of two, ties up; above 2^-127 at least code 1 (torch, ml_dtypes)
  /// E8M0 only: the power of two whose exponent is nearest to the fp32 logarithm, halves of it to even (AMD Quark).
  nearest_log2_even,
  nearest_log2_away,  ///< the same, halves away from 0, within the format's exponents (MLX, universal)
  to_odd,             ///< toward zero, and the code's last bit is 1 where anything was lost (RISC-V rod, Arm FCVTXN)
  away,               ///< away from zero unless exact
  nearest_even_code,  ///< E8M0 only: nearest power of two, a tie to the even code (OpenVINO)
  // Fields of the source's bits, moved (source_bits.hpp): convert alone has them. Triton's interpreter, and VHDL's float_pkg.
  interpreter_nearest,  ///< the mantissa goes up by the first bit that is cut off it; what carries is or'ed into the exponent
  interpreter_cut,      ///< the mantissa is cut
  float_pkg_nearest,    ///< VHDL's RESIZE: far exponents fold into the target's field, -0 and a NaN lose their sign
  // Searches among the format's values: the first one at the least distance, each distance one fp32 subtraction. Far above the range all distances
  // are equal, and so they are to a NaN and to Inf: the first value is taken.
  first_least_distance,         ///< among the magnitudes from 0 on; the sign is that of a value below 0 (flashinfer's reference)
  first_least_distance_signed,  ///< among the magnitudes from +0 on, then the negative values from -0 on (MLX on a CPU)
  // Stochastic roundings take a random number r of n = Conversion::random_bits bits. f is the discarded fraction of one unit of the target.
  stochastic_floor,    ///< away from zero iff floor(f * 2^n) + r >= 2^n (gfloat StochasticFastest; microxcaling "dither" with an n-bit uniform)
  stochastic_odd,      ///< away from zero iff floor(f * 2^(n+1)) + 2r + 1 >= 2^(n+1) (gfloat StochasticFast)
  stochastic_nearest,  ///< as stochastic_floor with f * 2^n rounded to nearest even instead of down (gfloat Stochastic)
  stochastic_add,      ///< r is added to what the aligned fp32 significand has below the target's last bit, then truncation (amd_hip_fp8.h)
};

/// Which subnormals become zero on the way.
enum class Flush {
  none,
  source,  ///< subnormal inputs (DAZ); for convert, which knows the source format
  target,  ///< results below the target's smallest normal number, after rounding (FTZ)
  both,
};

/// What becomes of a value whose rounded magnitude is above the largest finite one, and of infinities.
enum class Overflow {
  saturate,       ///< the largest finite value, with the sign
  nan,            ///< the NaN code with the sign
  inf,            ///< the Inf code with the sign
  nan_unrounded,  ///< as nan, for every magnitude above the largest finite one, tested before rounding (HIP nosat)
  inf_unrounded,  ///< as inf, likewise
  /// As the rounding direction demands, Inf stays Inf (IEEE 754 section 7.4). A format without Inf has its NaN there, one without either its largest
  /// number.
  ieee,
  /// A datapath that drops the carry: exponent and mantissa field of the code counted on above the largest one, or the low bits of fixed point. That
  /// may be the code of a smaller number, of Inf or of a NaN. An Inf is as under ieee.
  wrap,
};

/// What becomes of a NaN. The payload rules are for targets with IEEE 754's NaNs.
enum class NanRule {
  fixed,          ///< the codes of Conversion::nan_positive and nan_negative
  keep_payload,   ///< sign, exponent all ones, top mantissa bits of the source, 1 if they are 0
  quiet_payload,  ///< sign, quiet bit, or'ed with the top mantissa bits of the source
  refused,        ///< the implementation raises an error, and so does the conversion: Error(usage)
};

/// A code of its own, with the value's sign, for magnitudes from `from` on and below `to`; fp32 bits. A code of zero: they underflow; of a NaN: they
/// are invalid; else they overflow. In a format without sign of positive numbers alone.
struct RangeCode {
  std::uint32_t from;
  std::uint32_t to;
  std::uint32_t code;

  friend bool operator==(const RangeCode&, const RangeCode&) = default;
};

/// What a few implementations do before they round, in this order. Most do none of it.
struct Preparation {
  int power = 0;                             ///< a number is multiplied by 2^this first, exactly (Arm's NSCALE)
  const Format* through = nullptr;           ///< the value is rounded to this format first: nearest even, Inf above it
  std::optional<std::uint32_t> least_input;  ///< fp32 bits: the larger of the value and this number is converted; a NaN stays one
  bool tiny_is_nan = false;                  ///< E8M0: a positive value below 2^-127 is a NaN
  std::optional<RangeCode> range;            ///< what becomes of one range of magnitudes

  friend bool operator==(const Preparation&, const Preparation&) = default;
};

/// What an infinite value gives.
enum class InfinityRule {
  as_overflow,  ///< what Conversion::overflow makes of it
  inf,
  nan,
  largest,  ///< the largest finite value, with the sign
  zero,     ///< with the sign
  as_nan,   ///< what a NaN of its sign gives (tinygrad)
};

/// The sign of a zero result.
enum class SignOfZero {
  keep,
  positive,          ///< whatever is zero or becomes zero gives +0
  positive_if_zero,  ///< -0 gives +0, a negative number that rounds to zero gives -0
};

/// What a negative number gives in a format without a sign.
enum class NegativeRule {
  as_said,   ///< NaN or the magnitude, by Conversion::negative_is_nan
  zero,      ///< code 0; -Inf follows `infinity` as Inf does
  least,     ///< code 0, -Inf too (P3109's SatFinite and SatPropagate)
  directed,  ///< code 0 where it rounds to 0, and where the direction is toward zero or up; else NaN, and so is -Inf (P3109's SatNone)
};

/// Which results are tiny, so that an inexact one underflows (IEEE 754 section 7.5).
enum class Tininess {
  before,  ///< the exact value is below the least normal number (Arm)
  after,   ///< so is the value rounded as if the exponent had no bottom (x86, RISC-V)
  result,  ///< so is the number that is delivered (LLVM's APFloat, cvfpu)
};

/// Which results overflow, of the flags of IEEE 754.
enum class OverflowFlag {
  ieee,               ///< rounded as if the exponent had no top, it is above the largest number
  not_finite_result,  ///< a finite number became Inf or NaN (LLVM's APFloat)
  infinite_too,       ///< as ieee, and every infinity does and is inexact (Arm's FP8)
};

/// What few implementations choose apart. Tininess and overflow are of the flags of IEEE 754 alone (ieee_flags.hpp).
struct FineRules {
  InfinityRule infinity = InfinityRule::as_overflow;
  SignOfZero zero_sign = SignOfZero::keep;
  NegativeRule negative = NegativeRule::as_said;
  Tininess tininess = Tininess::before;
  OverflowFlag overflow_flag = OverflowFlag::ieee;

  friend bool operator==(const FineRules&, const FineRules&) = default;
};

/// Whether codes depend on them, and not flags alone.
constexpr bool changes_codes(const FineRules& fine) {
  return fine.infinity != InfinityRule::as_overflow || fine.zero_sign != SignOfZero::keep || fine.negative != NegativeRule::as_said;
}

/// Every choice that a conversion makes. There is no default: a Profile row or a caller fills all of it.
struct Conversion {
  Rounding rounding;
  Overflow overflow;
  NanRule nan_rule;
  std::uint32_t nan_positive;  ///< code for a NaN with clear sign
  std::uint32_t nan_negative;  ///< code for a NaN with set sign
  /// E8M0 has no zero: the code for +-0. E8M0 and UE4M3 have no sign: whether negative values give NaN or their magnitude.
  std::uint32_t zero_code;
  bool negative_is_nan;
  int random_bits = 0;  ///< n of a stochastic rounding, 1 to 32; 0 for every other one
  Flush flush = Flush::none;
  Preparation before = {};
  FineRules fine = {};

  friend bool operator==(const Conversion&, const Conversion&) = default;
};

/// A stochastic rounding's random number: `random_bits` bits, right aligned. None for a deterministic rounding.
using Random = std::optional<std::uint32_t>;

/// What happened on the way, as IEEE 754 section 7 names it, and two words more.
struct Flags {
  bool inexact = false;
  bool underflow = false;  ///< tiny before rounding and inexact
  bool overflow = false;   ///< rounded magnitude above the largest finite one
  bool invalid = false;    ///< NaN or Inf into a format without that value; a negative value or zero that a scale format turns into NaN
  bool saturated = false;  ///< the result was clamped
  bool nan = false;        ///< the input was a NaN, whatever the format made of it
  bool flushed = false;    ///< a nonzero number became zero because of Conversion::flush

  friend bool operator==(const Flags&, const Flags&) = default;
};

/// Rounds to the grid of `format` as if its exponent range had no top; the sign of a zero result is kept.
/// `inexact` and `underflow` are set in flags. Finite and zero values only (a programmer's error otherwise).
/// E8M0 has neither zero nor subnormals: a nonzero magnitude below 2^-127 becomes 2^-127, zero stays zero, and a tie to even goes up
/// (IEEE 754-2019 section 4.3.1, precision 1). Throws Error(usage) for an E8M0 rounding into another format and for a stochastic rounding.
Value round_to(const Value& value, const Format& format, Rounding rounding, Flags& flags);

/// Code of a value. Rounds, then applies overflow, NaN, zero and sign rules of `how`. A NaN with a payload rule has payload 0 here.
/// MXINT8 leaves -128 unused: +-127 are its largest magnitudes. Throws Error(usage) when `how` asks for an Inf or NaN that the format lacks.
/// Source: OFP8 1.0 section 5, MX 1.0 section 5.3 and 6.3; flags: IEEE 754-2019 section 7.
/// A stochastic rounding without a random number, or with one that has more bits than it takes, throws Error(usage); so does a random number
/// for another rounding. stochastic_add takes at most the 23 - mantissa_bits bits that it adds to.
/// Flush::source and the interpreter roundings throw Error(usage) here: a value has no source format.
std::uint32_t encode(const Value& value, const Format& format, const Conversion& how, Flags& flags, Random random = {});

/// Code in `to` of a code in `from`. NaN payload rules look at the source code; everything else at its value. Throws Error(usage) where the
/// implementation raises one: a NaN under NanRule::refused, and numbers that end a simulation of float_pkg.
std::uint32_t convert(std::uint32_t code, const Format& from, const Format& to, const Conversion& how, Flags& flags, Random random = {});
std::uint32_t convert(std::uint32_t code, const Format& from, const Format& to, const Conversion& how);

/// fp32 bits of a code, exactly (every format but f32 itself is a subset of fp32); a NaN is 0x7FC00000 with the sign of the code.
std::uint32_t to_f32(std::uint32_t code, const Format& from);

/// fp32 bits nearest to a value (ties to even, overflow to Inf); a NaN is 0x7FC00000 with its sign.
std::uint32_t to_f32(const Value& value);

/// Whether the rounding takes random bits.
constexpr bool is_stochastic(Rounding rounding) {
  switch (rounding) {
    case Rounding::stochastic_floor:
    case Rounding::stochastic_odd:
    case Rounding::stochastic_nearest:
    case Rounding::stochastic_add: return true;
    default: return false;
  }
}

/// Whether the rounding moves the source's bits, so that it is none of a value.
constexpr bool reads_source_bits(Rounding rounding) {
  return rounding == Rounding::interpreter_nearest || rounding == Rounding::interpreter_cut || rounding == Rounding::float_pkg_nearest;
}

std::string_view name_of(Rounding rounding);
std::string_view name_of(Overflow overflow);
/// Throw Error(usage) with the nearest known name.
Rounding rounding_named(std::string_view name);
Overflow overflow_named(std::string_view name);

}  // namespace mx
