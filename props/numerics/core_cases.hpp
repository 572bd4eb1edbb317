#pragma once
// What the laws of tensor and of matrix cores share: addends of an alignment, registers, operand C.

#include <algorithm>
#include <string_view>
#include <vector>

#include "props/numerics/dot_cases.hpp"
#include "props/numerics/grid.hpp"

namespace mx::props::numerics {

inline constexpr std::string_view kMatrix[] = {"cdna-f32",
                                               "cdna1-f16",
                                               "cdna1-bf16",
                                               "cdna2-f16",
                                               "cdna2-bf16",
                                               "cdna2-bf16-1k",
                                               "cdna3-f16",
                                               "cdna3-bf16",
                                               "cdna3-tf32",
                                               "cdna3-fp8",
                                               "cdna3-fp8-block-1x128",
                                               "cdna3-fp8-block-128x128"};

/// A register of 32 bits, of which the upper 19 are read.
inline constexpr Fields kRegister{&kF32, 23, 127};

/// One addend of an alignment.
struct Addend {
  Dyadic number;
  int exponent;
};

inline int leading(const Dyadic& number) { return truncated_to_bits(number, 1).exponent; }

inline Addend addend_c(const Dyadic& c, int least, int zero) { return {c, c.magnitude == 0 ? zero : std::max(leading(c), least)}; }

inline Dyadic floored(const Dyadic& number, int unit) {
  const Dyadic cut = truncated_to_unit(number, unit);
  const bool inexact = sum(number, {cut.magnitude, cut.exponent, !cut.negative}).magnitude != 0;
  return number.negative && inexact ? sum(cut, {1, unit, true}) : cut;
}

/// Addends cut down to 2^(largest exponent - alignment), and their sum.
inline Dyadic aligned_total(const std::vector<Addend>& addends, int alignment) {
  const int largest = std::ranges::max(addends, {}, &Addend::exponent).exponent;
  Dyadic total;
  for (const Addend& addend : addends) total = sum(total, truncated_to_unit(addend.number, largest - alignment));
  return total;
}

/// Numbers of a format; registers with bits below those that are read, from 2^-10 to 2^10.
inline std::vector<Element> elements_of(const Fields& fields, std::size_t count) {
  if (&fields != &kRegister) return pick_elements(fields, count);
  std::vector<Element> elements = pick_elements(fields, count, 117U << 23, (138U << 23) - 1);
  for (Element& element : elements) {
    element.number = from_f32(element.code & 0xFFFFE000U);
    element.number.negative = element.code >= 0x80000000U;
  }
  return elements;
}

inline std::uint32_t pick_c(bool is_fp16) {
  if (pick_uniform(0, 4) == 0) return pick_uniform(0, 1) << 31;
  if (!is_fp16) return pick_f32(115, 140);
  return to_f32((pick_uniform(0, 1) << 15) | pick_uniform(0, 0x7BFF), kFp16);
}

}  // namespace mx::props::numerics
