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
};

/// What becomes of a value whose rounded magnitude is above the largest finite one, and of infinities.
enum class Overflow {
  saturate,       ///< the largest finite value, with the sign
  nan,            ///< the NaN code with the sign
  inf,            ///< the Inf code with the sign
  nan_unrounded,  ///< as nan, for every magnitude above the largest finite one, tested before rounding (HIP nosat)
  inf_unrounded,  ///< as inf, likewise
  ieee,           ///< as the rounding direction demands, Inf stays Inf (IEEE 754 section 7.4)
};

/// What becomes of a NaN on its way into bf16 or fp16 when no fixed code is given.
enum class NanRule {
  fixed,          ///< the codes of Conversion::nan_positive and nan_negative
  keep_payload,   ///< sign, exponent all ones, top mantissa bits of the source, 1 if they are 0
  quiet_payload,  ///< sign, quiet bit, or'ed with the top mantissa bits of the source
};

/// Every choice that a conversion makes. There is no default: a Profile row or a caller fills all of it.
struct Conversion {
  Rounding rounding;
  Overflow overflow;
  NanRule nan_rule;
  std::uint32_t nan_positive;  ///< code for a NaN with clear sign
  std::uint32_t nan_negative;  ///< code for a NaN with set sign
  /// E8M0 has no sign and no zero: the code for +-0, and whether negative values give NaN or their magnitude.
  std::uint32_t zero_code;
  bool negative_is_nan;
};

/// What happened on the way, as IEEE 754 section 7 names it, and two words more.
struct Flags {
  bool inexact = false;
  bool underflow = false;  ///< tiny before rounding and inexact
  bool overflow = false;   ///< rounded magnitude above the largest finite one
  bool invalid = false;    ///< NaN or Inf into a format without that value; a negative value or zero that E8M0 turns into NaN
  bool saturated = false;  ///< the result was clamped

  friend bool operator==(const Flags&, const Flags&) = default;
};

/// Rounds to the grid of `format` as if its exponent range had no top; the sign of a zero result is kept.
/// `inexact` and `underflow` are set in flags. Finite and zero values only (a programmer's error otherwise).
/// E8M0 has neither zero nor subnormals: a nonzero magnitude below 2^-127 becomes 2^-127, zero stays zero, and a tie to even goes up
/// (IEEE 754-2019 section 4.3.1, precision 1). Throws Error(usage) for an E8M0 rounding into another format.
Value round_to(const Value& value, const Format& format, Rounding rounding, Flags& flags);

/// Code of a value. Rounds, then applies overflow, NaN, zero and sign rules of `how`. A NaN with a payload rule has payload 0 here.
/// MXINT8 leaves -128 unused: +-127 are its largest magnitudes. Throws Error(usage) when `how` asks for an Inf or NaN that the format lacks.
/// Source: OFP8 1.0 section 5, MX 1.0 section 5.3 and 6.3; flags: IEEE 754-2019 section 7.
std::uint32_t encode(const Value& value, const Format& format, const Conversion& how, Flags& flags);

/// Code in `to` of a code in `from`. NaN payload rules look at the source code; everything else at its value.
std::uint32_t convert(std::uint32_t code, const Format& from, const Format& to, const Conversion& how, Flags& flags);
std::uint32_t convert(std::uint32_t code, const Format& from, const Format& to, const Conversion& how);

/// fp32 bits of a code, exactly (every format but f32 itself is a subset of fp32); a NaN is 0x7FC00000 with the sign of the code.
std::uint32_t to_f32(std::uint32_t code, const Format& from);

/// fp32 bits nearest to a value (ties to even, overflow to Inf); a NaN is 0x7FC00000 with its sign.
std::uint32_t to_f32(const Value& value);

/// One conversion of a profile: every choice for one target format.
struct ProfileRow {
  const Format* to;
  Conversion how;
};

/// A named set of choices: implementation and operation whose conversions it reproduces. `ocp` follows OFP8 and MX where they speak.
struct Profile {
  std::string_view name;
  Rounding rounding;  ///< of its element formats; the rows hold what other targets do
  Overflow overflow;  ///< likewise
  std::string_view source;
  std::span<const ProfileRow> conversions;
};

std::span<const Profile> all_profiles();
/// Throws Error(usage) with the nearest known name.
const Profile& profile_named(std::string_view name);

/// The conversion that a profile makes into `to`. Throws Error(usage) when it has none.
Conversion conversion(const Profile& profile, const Format& to);

inline constexpr std::string_view kOcp = "ocp";

std::string_view name_of(Rounding rounding);
std::string_view name_of(Overflow overflow);
/// Throw Error(usage) with the nearest known name.
Rounding rounding_named(std::string_view name);
Overflow overflow_named(std::string_view name);

}  // namespace mx
