#pragma once
// What the laws of dot products draw: codes beside their numbers in 128-bit integers, scales, addends; and fp32 arithmetic on them.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/numerics/dot.hpp"
#include "props/numerics/dyadic.hpp"

namespace mx::props::numerics {

/// Fields of an element format: OFP8 1.0 table 1, IEEE 754, MX 1.0.
struct Fields {
  const Format* format;
  int mantissa_bits;
  int bias;
};
inline constexpr Fields kE2{&kE2m1, 1, 1};
inline constexpr Fields kE4{&kE4m3fn, 3, 7};
inline constexpr Fields kE5{&kE5m2, 2, 15};
inline constexpr Fields kB16{&kBf16, 7, 127};
inline constexpr Fields kH16{&kFp16, 10, 15};
inline constexpr Fields kSingle{&kF32, 23, 127};

/// The NaN of contracts that are no device's.
inline constexpr std::uint32_t kQuietNan = 0x7FC00000U;

/// One element: its code, its number, and its exponent field.
struct Element {
  std::uint32_t code;
  Dyadic number;
  int nominal;
};

/// Everything that one dot product takes.
struct Case {
  std::vector<Element> a, b;
  const Fields* a_fields;
  const Fields* b_fields;
  std::vector<std::uint32_t> scales_a, scales_b;  ///< fp32 bits, one for each `block` elements, or none
  std::size_t block = 0;
  std::optional<std::uint32_t> c, bias;  ///< fp32 bits
};

/// The same with the other sign, in a format of sign and magnitude.
Element negated(const Fields& fields, Element element);

// To be called inside a property.

/// Finite codes with a magnitude from `low` to `high`.
std::vector<Element> pick_elements(const Fields& fields, std::size_t count, std::uint32_t low, std::uint32_t high);
/// Any finite codes, but of bf16 only those from 2^-12 to 2^12, whose products 128-bit integers hold.
std::vector<Element> pick_elements(const Fields& fields, std::size_t count);
/// fp32 numbers of 12 bits in [1, 2), so that the order of their products shows.
std::vector<std::uint32_t> pick_scales(std::size_t count);
/// One scale for each `block` of so many elements, on both sides or on one.
void pick_block_scales(Case& one, std::size_t block);
/// fp32 bits with an exponent field from `low_field` to `high_field`.
std::uint32_t pick_f32(std::uint32_t low_field, std::uint32_t high_field);
/// fp32 bits of a NaN with any sign and payload.
std::uint32_t pick_nan();

std::vector<Value> values_of(const std::vector<std::uint32_t>& f32);

/// The contract's fp32 bits as the model has them.
std::uint32_t modelled(std::string_view contract, const Case& one);
/// The same with a NaN for C or the bias.
std::uint32_t modelled_with_nan(std::string_view contract, Case one);

/// The element times the scale of its block, not rounded.
Dyadic scaled(const Element& element, const std::vector<std::uint32_t>& scales, std::size_t block, std::size_t k);
/// The number in the format, nearest even; it does not overflow.
Dyadic rounded_into(const Fields& fields, const Dyadic& number);

/// Sums and products rounded to 24 bits, as fp32 rounds them away from its ends.
Dyadic fp32_sum(const Dyadic& a, const Dyadic& b);
Dyadic fp32_product(const Dyadic& a, const Dyadic& b);
Dyadic fp32_fma(const Dyadic& a, const Dyadic& b, const Dyadic& c);

}  // namespace mx::props::numerics
