#pragma once
// The values of a format as fp32 patterns, computed with integers alone and without the model: positive fp32 patterns order as their numbers
// do, so rounding becomes a search in a sorted table.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/numerics/convert.hpp"

namespace mx::props::numerics {

/// fp32 bits of significand * 2^exponent; the number must be an fp32 number.
std::uint32_t f32_bits(std::uint64_t significand, int exponent);

/// The positive values of one format.
struct Grid {
  const Format* format;
  std::vector<std::uint32_t> values;     ///< fp32 bits of the codes 0, 1, ... up to the largest finite one
  std::vector<std::uint32_t> midpoints;  ///< [c] lies between the values of c and c + 1; the last one above the largest value
};

/// Grids of all formats of 16 bits and less.
const std::vector<Grid>& all_grids();
const Grid& grid_of(std::string_view format_name);

/// Code of the sign and magnitude code, as the format writes it.
std::uint32_t signed_code(const Grid& grid, std::uint32_t magnitude_code, bool negative);

/// Whether the format has this positive fp32 number.
bool is_value(const Grid& grid, std::uint32_t magnitude);

/// Magnitude code of finite fp32 bits, rounded by a search in a grid that has one more point above the largest value: its code, one more than the
/// largest, stands for all that overflows. E8M0 takes the magnitude; zero is code 0.
std::uint32_t rounded_code(const Grid& grid, std::uint32_t f32, Rounding rounding);

/// Code of finite fp32 bits, rounded by a search; values above the largest one saturate. E8M0 takes the magnitude; zero is code 0.
std::uint32_t searched_code(const Grid& grid, std::uint32_t f32, Rounding rounding);

/// Roundings that the format has.
std::vector<Rounding> roundings_of(const Grid& grid);

/// Finite fp32 patterns that find faults: values, midpoints and their neighbours, often at the ends of the format, powers of two, uniform patterns;
/// both signs.
/// To be called inside a property.
std::uint32_t pick_boundary(const Grid& grid);

/// As pick_boundary in three of four cases; else zeros, infinities, NaNs with all kinds of payload, and fp32 subnormals.
std::uint32_t pick_any(const Grid& grid);

/// A code of `width` bits; every other one is near the ends of the sign halves, where zeros, subnormals, largest values and NaNs are.
/// To be called inside a property.
std::uint32_t pick_code(int width);

/// A number in [low, high], all equally likely whatever RapidCheck's size, shrinking to low. To be called inside a property.
std::uint32_t pick_uniform(std::uint32_t low, std::uint32_t high);

std::string hex(std::uint64_t bits);

}  // namespace mx::props::numerics
