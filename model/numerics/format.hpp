#pragma once
// Number formats as values: one row per element and scale format, with its source. Everything that encodes or decodes reads a row.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/fast_math.hpp"

namespace mx {

/// How the codes of a format map to values.
enum class Encoding {
  floating,       ///< sign, exponent, mantissa with subnormals (IEEE 754 style; OFP8 §4, MX §5.3)
  exponent_only,  ///< an unsigned power of two without zero (E8M0, MX §5.4)
  fixed_point,    ///< two's complement integer times a fixed unit (MXINT8, MX §5.3.4)
};

/// Which codes are not finite numbers.
enum class Specials {
  none,               ///< every code is a number (FP6, FP4, MXINT8)
  ieee,               ///< top exponent: Inf for mantissa 0, else NaN (E5M2, fp16, bf16, fp32)
  nan_all_ones,       ///< exponent and mantissa all ones is NaN, no Inf (E4M3: OFP8 table 1)
  nan_negative_zero,  ///< the code of -0 is the only NaN, no Inf, one zero (FNUZ)
  nan_top_code,       ///< the largest code is NaN (E8M0)
  inf_top,            ///< signed: the largest code of each sign is Inf, NaN that of -0; unsigned: NaN the largest, Inf below it (P3109, extended)
};

/// One number format; formats are compared with ==, not by address. For Encoding::fixed_point the unit is 2^-mantissa_bits, bias is unused.
struct Format {
  std::string_view name;
  Encoding encoding;
  int width;          ///< bits of a code
  int exponent_bits;  ///< 0 for fixed_point
  int mantissa_bits;  ///< stored bits; for fixed_point the number of fraction bits
  int bias;
  Specials specials;
  bool has_sign;
  std::string_view source;

  friend bool operator==(const Format&, const Format&) = default;
};

inline constexpr Format kE4m3fn{"e4m3fn", Encoding::floating, 8, 4, 3, 7, Specials::nan_all_ones, true, "OFP8 1.0 §4, E4M3"};
inline constexpr Format kE5m2{"e5m2", Encoding::floating, 8, 5, 2, 15, Specials::ieee, true, "OFP8 1.0 §4, E5M2"};
inline constexpr Format kE4m3fnuz{
    "e4m3fnuz", Encoding::floating, 8, 4, 3, 8, Specials::nan_negative_zero, true, "ROCm amd_hip_fp8.h; ml_dtypes float8_e4m3fnuz"};
inline constexpr Format kE5m2fnuz{
    "e5m2fnuz", Encoding::floating, 8, 5, 2, 16, Specials::nan_negative_zero, true, "ROCm amd_hip_fp8.h; ml_dtypes float8_e5m2fnuz"};
inline constexpr Format kE2m3{"e2m3", Encoding::floating, 6, 2, 3, 1, Specials::none, true, "MX 1.0 §5.3.2, FP6 E2M3"};
inline constexpr Format kE3m2{"e3m2", Encoding::floating, 6, 3, 2, 3, Specials::none, true, "MX 1.0 §5.3.2, FP6 E3M2"};
inline constexpr Format kE2m1{"e2m1", Encoding::floating, 4, 2, 1, 1, Specials::none, true, "MX 1.0 §5.3.3, FP4 E2M1"};
inline constexpr Format kE8m0{"e8m0", Encoding::exponent_only, 8, 8, 0, 127, Specials::nan_top_code, false, "MX 1.0 §5.4.1, E8M0"};
/// E4M3 without its sign bit: seven bits, stored in a byte whose top bit is 0.
inline constexpr Format kUe4m3{"ue4m3", Encoding::floating, 7, 4, 3, 7, Specials::nan_all_ones, false, "PTX ISA, ue4m3: scales of NVFP4 blocks"};
/// No sign and no Inf; the top exponent holds seven numbers and the only NaN, 0xFF.
inline constexpr Format kUe5m3{
    "ue5m3", Encoding::floating, 8, 5, 3, 15, Specials::nan_all_ones, false, "PTX ISA of CUDA 13.4, ue5m3; LLVM Float8E5M3"};
inline constexpr Format kMxint8{"mxint8", Encoding::fixed_point, 8, 0, 6, 0, Specials::none, true, "MX 1.0 §5.3.4, INT8"};
inline constexpr Format kBf16{"bf16", Encoding::floating, 16, 8, 7, 127, Specials::ieee, true, "bfloat16: the upper half of binary32"};
inline constexpr Format kFp16{"fp16", Encoding::floating, 16, 5, 10, 15, Specials::ieee, true, "IEEE 754-2019 binary16"};
inline constexpr Format kF32{"f32", Encoding::floating, 32, 8, 23, 127, Specials::ieee, true, "IEEE 754-2019 binary32"};

/// Every format, in the order of the specification (spec: numerics section 1), then the wide ones.
std::span<const Format> all_formats();

/// The format of that name (case, '-' and '_' ignored; "fp32" and "e4m3" are accepted as f32 and e4m3fn), one of further_formats.hpp, or the one that
/// a text of rules says (rules.hpp). Throws Error(usage).
const Format& format_named(std::string_view name);

/// format_named, of formats with numbers that fp32 does not hold too: for who goes by exact values (value.hpp) and never by fp32 bits.
const Format& any_format_named(std::string_view name);

/// Whether every number of the format is one of fp32: true of all that format_named gives.
bool fits_f32(const Format& format);

/// Exponent and mantissa field of a code together, without the sign.
constexpr std::uint32_t magnitude_mask(const Format& format) {
  const int bits = format.width - (format.has_sign ? 1 : 0);
  return bits >= 32 ? 0xFFFFFFFFU : (1U << bits) - 1U;
}

/// The exponent field of a code.
constexpr std::uint32_t exponent_mask(const Format& format) { return ((1U << format.exponent_bits) - 1U) << format.mantissa_bits; }

/// Whether some code is an infinity.
constexpr bool has_inf(const Format& format) { return format.specials == Specials::ieee || format.specials == Specials::inf_top; }

/// Whether some code is a NaN.
constexpr bool has_nan(const Format& format) { return format.specials != Specials::none; }

/// Whether the code of -0 is the only NaN.
constexpr bool nan_is_negative_zero(const Format& format) {
  return format.specials == Specials::nan_negative_zero || (format.specials == Specials::inf_top && format.has_sign);
}

/// Code of the largest finite positive value.
constexpr std::uint32_t max_finite_code(const Format& format) {
  const std::uint32_t top = magnitude_mask(format);
  switch (format.specials) {
    case Specials::ieee: return exponent_mask(format) - 1U;
    case Specials::nan_all_ones:
    case Specials::nan_top_code: return top - 1U;
    case Specials::inf_top: return format.has_sign ? top - 1U : top - 2U;
    case Specials::nan_negative_zero:
    case Specials::none: break;
  }
  return top;
}

/// True when the code is a NaN of the format.
constexpr bool is_nan_code(const Format& format, std::uint32_t code) {
  const std::uint32_t magnitude = code & magnitude_mask(format);
  switch (format.specials) {
    case Specials::ieee: return magnitude > exponent_mask(format);
    case Specials::nan_all_ones:
    case Specials::nan_top_code: return magnitude == magnitude_mask(format);
    case Specials::nan_negative_zero: return code != 0 && magnitude == 0;
    case Specials::inf_top: return format.has_sign ? code != 0 && magnitude == 0 : magnitude == magnitude_mask(format);
    case Specials::none: break;
  }
  return false;
}

/// True when the code is an infinity of the format.
constexpr bool is_inf_code(const Format& format, std::uint32_t code) {
  return has_inf(format) && (code & magnitude_mask(format)) == max_finite_code(format) + 1U;
}

/// Exponent of the largest finite value, floor(log2): the emax of MX block scales (e4m3fn 8, e5m2 15, e2m1 2, mxint8 0).
int max_exponent(const Format& format);

}  // namespace mx
