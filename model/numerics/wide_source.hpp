#pragma once
// Sources with more bits than a code has: fp64 and integers. Libraries convert them through fp32, rounded twice; from their exact value they are
// rounded once.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/numerics/convert.hpp"

namespace mx {

inline constexpr Format kF64{"f64", Encoding::floating, 64, 11, 52, 1023, Specials::ieee, true, "IEEE 754-2019 binary64"};
inline constexpr Format kI64{"i64", Encoding::fixed_point, 64, 0, 0, 0, Specials::none, true, "two's complement"};
inline constexpr Format kI32{"i32", Encoding::fixed_point, 32, 0, 0, 0, Specials::none, true, "two's complement"};

/// The sources above: no format of all_formats(), since nothing is converted into them.
std::span<const Format> wide_sources();

/// A wide source or one of all_formats(), by name. Throws Error(usage) with the nearest known name.
const Format& source_named(std::string_view name);
bool is_wide_source(const Format& format);

/// The exact value of a pattern of any source, wide or not. Bits above the format's width must be 0.
Value decode_source(const Format& from, std::uint64_t bits);

/// Code in `to` of a pattern of any source: what convert does for one of at most 32 bits. NaN payload rules throw Error(usage) for a wide source.
std::uint32_t convert_source(std::uint64_t bits, const Format& from, const Format& to, const Conversion& how, Flags& flags, Random random = {});

}  // namespace mx
