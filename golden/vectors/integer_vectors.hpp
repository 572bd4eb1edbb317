#pragma once
// What conversions from and to integers share as vectors: lanes of up to 64 bits, and where a number lies between two of the target.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "golden/vectors/op.hpp"
#include "golden/vectors/options.hpp"
#include "model/numerics/integer.hpp"

namespace mx::golden::integers {

inline constexpr std::string_view kFamily = "integer";
inline constexpr int kNarrow = 16, kEighths = 8;  ///< sources of so many bits are tried whole; parts of a unit
inline constexpr Conversion kNearest{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0, 0, 0, false};

/// A column of an integer: one lane, above 32 bits two equal ones. Throws Error(usage) for an odd number above.
Column column_of(std::string name, const Integer& integer);
/// The integer of a column's lanes of so many bits, and back.
std::uint64_t joined(Lanes lanes, int bits);
void split(std::uint64_t bits, const Column& column, MutableLanes lanes);
inline std::uint64_t all_ones(int width) { return ~std::uint64_t{0} >> (64 - width); }

/// Bins of where a number lies between two of the target: sign, the first bits that are cut off, whether anything is below, parity.
std::vector<std::string> place_bins();
/// 0 of a value that has no place.
std::uint8_t place_bin(const Value& value, const Format& grid);

/// The values k/8 of a unit above a magnitude, k from 0 to 8; where `has_sign` of both signs.
std::vector<Value> eighths(std::uint64_t floor, int unit, bool has_sign);

/// "SOURCE_to_INTEGER" and "INTEGER_to_TARGET" by the two names.
std::unique_ptr<VectorOp> make_to(std::string_view from_name, std::string_view to_name, const OpOptions& options);
std::unique_ptr<VectorOp> make_from(std::string_view from_name, std::string_view to_name, const OpOptions& options);

}  // namespace mx::golden::integers
