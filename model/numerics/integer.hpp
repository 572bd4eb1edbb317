#pragma once
// Integers and fixed point beside an arithmetic unit: conversions from and to them, rounded once, with the flags of IEEE 754.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/numerics/convert.hpp"
#include "model/numerics/ieee_flags.hpp"

namespace mx {

/// `width` bits of which the lowest is worth 2^-fraction_bits: two's complement, all codes numbers, or without a sign. Up to 64 bits, 2 and more with
/// a sign, which is one of the bits before the point.
struct Integer {
  int width;
  int fraction_bits;
  bool has_sign;

  friend bool operator==(const Integer&, const Integer&) = default;
};

/// What a number gives that is out of range once it is rounded, and a NaN. All of them are invalid, and not inexact (IEEE 754-2019 section 5.8).
enum class OutOfRange {
  saturate,  ///< the nearest bound, a NaN 0 (Arm FCVTZS and its kin, WebAssembly trunc_sat, LLVM fptosi.sat)
  riscv,     ///< the nearest bound, a NaN the largest number (FCVT.W.S and its kin)
  x86,       ///< always the "integer indefinite": the least number, without a sign all ones (CVTSS2SI, VCVTPS2UDQ)
  wrap,      ///< the low bits of the rounded number; Inf and NaN 0 (ToInt32 of ECMAScript, Arm FJCVTZS)
};

/// A conversion into integers. A number that is not whole is inexact, as the hardware has it (IEEE's convertToIntegerExact).
struct IntegerTarget {
  Integer integer;
  Rounding rounding;
  OutOfRange out_of_range;

  friend bool operator==(const IntegerTarget&, const IntegerTarget&) = default;
};

/// "i32", "u8", "q4.12" (16 bits, 4 of them before the point), "uq0.16"; "int32" and "uint8" are taken too.
std::string text_of(const Integer& integer);
/// "i32,round=rtz,overflow=riscv"
std::string text_of(const IntegerTarget& target);
/// Whether a text begins with an integer's name.
bool is_integer(std::string_view text);
/// Throws Error(usage) for another text and widths that there are not, and where it says a rounding or an overflow.
Integer integer_named(std::string_view text);
/// The same with what a text leaves open taken from `open`; without it Error(usage) says what is missing. Roundings of one format's codes or with
/// random bits are refused.
IntegerTarget integer_target(std::string_view text, const std::optional<IntegerTarget>& open = {});
std::string_view name_of(OutOfRange rule);
/// Whether there is such an integer.
bool is_possible(const Integer& integer);
/// Roundings that take no random bits and are of any grid.
std::span<const Rounding> integer_roundings();

/// The value of a pattern of `width` bits.
Value value_of(std::uint64_t bits, const Integer& integer);

/// Pattern of a code of any source (wide_source.hpp). Flags: invalid, or inexact.
std::uint64_t to_integer(std::uint64_t code, const Format& from, const IntegerTarget& to, IeeeFlags& flags);

/// Code of a pattern, rounded once; flags are those of encode_ieee. Throws Error(usage) where `how` refuses.
std::uint32_t from_integer(std::uint64_t bits, const Integer& from, const Format& to, const Conversion& how, IeeeFlags& flags, Random random = {});

/// The grid of the numbers, as a format that no code is of: for rounding and for what lies between two of them.
Format grid_of(const Integer& integer);

}  // namespace mx
