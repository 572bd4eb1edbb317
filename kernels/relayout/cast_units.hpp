#pragma once
// Values that change on the way into memory, by tables: a cast is a function of few bits.

#include <cstdint>
#include <span>

#include "model/layout/cast.hpp"

namespace mx::kernels::relayout {

/// Units -> what the cast makes of them, both in order. The buffers hold as many of either; a last half byte of nibbles is a unit 0. Throws
/// Error(unsupported) for a cast between other widths than nibbles, bytes, halfwords and dwords.
void make_values(const layout::Cast& cast, std::span<const std::uint8_t> units, std::span<std::uint8_t> values, int threads);

/// The way back, of several units the smallest. Throws besides Error(input), before `units` is of use, naming the first value that the cast never
/// makes.
void take_values_back(const layout::Cast& cast, std::span<const std::uint8_t> values, std::span<std::uint8_t> units, int threads);

}  // namespace mx::kernels::relayout
