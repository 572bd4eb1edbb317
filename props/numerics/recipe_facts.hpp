#pragma once
// What recipes of implementations do beyond their scale rules, stated a second time: group scales by integer division, elements by a search among
// the format's values, and the special blocks one by one.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/numerics/convert.hpp"
#include "props/numerics/grid.hpp"
#include "props/numerics/scale_facts.hpp"

namespace mx::props::numerics {

enum class GroupPower { none, by_log2, by_bits };

struct GroupFacts {
  std::string_view profile;
  GroupPower power;
  bool divides;  ///< amax / max; else amax * RN(1 / max)
  bool ignores_nan;
  std::uint32_t amax_floor;
};
/// Null for a profile that has none.
const GroupFacts* group_facts_of(std::string_view profile);

/// fp32 bits of the scale of a group whose largest magnitude has these bits; a NaN is 0x7FC00000.
std::uint32_t restated_group_scale(std::uint32_t amax, const GroupFacts& facts, const ElementFacts& element);

enum class Quotient {
  power,       ///< x times 2^(127 - scale byte), exact
  divided,     ///< RN(x / scale)
  reciprocal,  ///< RN(x * RN(1 / scale))
};

/// Which negative results are written as +0.
enum class PlusZero { never, from_zero, always };

struct ElementRule {
  std::string_view profile;
  Quotient quotient;
  Rounding rounding;
  PlusZero plus_zero;
  bool adds_half;     ///< the number just below half of the smallest value rounds up, since that + 0.5 is a tie in fp32
  bool unit_by_log2;  ///< just below a power of two numbers are cut to a multiple of the unit above it
};
/// Throws std::logic_error for a profile that has none.
const ElementRule& element_rule_of(std::string_view profile);

/// Code of a finite element whose quotient is a normal fp32 number or zero.
std::uint32_t restated_code(std::uint32_t f32, std::uint32_t scale, const Grid& grid, const ElementRule& rule);

/// Code of a quotient, any fp32 bits but a NaN's.
std::uint32_t restated_quotient_code(std::uint32_t quotient_f32, const Grid& grid, const ElementRule& rule);

/// A block of fp32 patterns (first, rest, rest, ..., last) and what it becomes.
struct SpecialBlock {
  std::string_view profile;
  std::string_view format;
  std::uint32_t first;
  std::uint32_t rest;
  std::uint32_t last;
  std::uint32_t scale;
  std::uint32_t first_code;
  std::uint32_t rest_code;
  std::uint32_t last_code;
};
std::span<const SpecialBlock> special_blocks();

}  // namespace mx::props::numerics
