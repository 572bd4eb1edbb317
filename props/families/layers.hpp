#pragma once
// Layers to convert: random ones, and ones that every conversion keeps.

#include "model/families/convert.hpp"
#include "model/layout/packed.hpp"

namespace mx::props {

/// A layer of random bytes in what the setting's conversion does not refuse: scale bytes that its offsets take, powers of two where it wants them.
layout::CanonicalLayer wild_layer(const families::BackendLayout& row, const families::Setting& setting);

/// A layer whose values no conversion loses: no -0 and no NaN, scales near one another in the range of every 16-bit format, powers of two where they
/// are fp32, of NVFP4 with the largest in each tensor, of int4 with the largest e4m3 number times a power of two in each row.
layout::CanonicalLayer tame_layer(const families::Setting& setting);

/// Unit `unit` of bytes, `bits` each; low bits first.
std::uint64_t unit_at(std::span<const std::uint8_t> bytes, std::int64_t unit, int bits);
void put_unit(std::span<std::uint8_t> bytes, std::int64_t unit, int bits, std::uint64_t value);

}  // namespace mx::props
