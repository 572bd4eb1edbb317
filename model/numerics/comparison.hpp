#pragma once
// Comparisons of an arithmetic unit: the 22 predicates of IEEE 754, of operands in any formats, with their flag.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/numerics/ieee_flags.hpp"

namespace mx {

/// How two values lie: exactly one holds. Bits of Predicate::holds.
enum class Relation : std::uint8_t { less = 1, equal = 2, greater = 4, unordered = 8 };

/// A NaN is unordered to every value; zeros are equal whatever their signs. Source: IEEE 754-2019 section 5.11.
Relation relation(const Value& a, const Value& b);

/// A predicate: true for some relations. "signalling" ones are invalid for every NaN, "quiet" ones for signalling NaNs alone.
struct Predicate {
  std::string_view name;  ///< "quiet-less", "signalling-not-greater"
  std::uint8_t holds;
  bool signals;
};
/// Tables 5.1 to 5.3 of IEEE 754-2019.
std::span<const Predicate> all_predicates();
/// Throws Error(usage) with the nearest name.
const Predicate& predicate_named(std::string_view name);

/// Whether a predicate holds of two codes, each of its own format. Raises `invalid` alone.
bool compare(const Predicate& predicate, std::uint32_t a, const Format& of_a, std::uint32_t b, const Format& of_b, IeeeFlags& flags);

}  // namespace mx
