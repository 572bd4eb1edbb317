#pragma once
// How deep in the source a decision lay: the lowest set bit of a code, and what the answer is without it or with another one of it.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/numerics/format.hpp"

namespace mx::golden {

/// Two axes of the coverage of edition v1.1. A vector is in the bin of its lowest set bit where the answer changes when that bit is taken away, and
/// where it changes when as much is added.
inline constexpr std::array<std::string_view, 2> kDepthQuestions{"lowest source bit that decided, above", "lowest source bit that decided, below"};

/// True for formats with a mantissa whose codes are ordered as their magnitudes are.
bool has_depth(const Format& source);
/// "bit 0", ...: a bin for each bit of the mantissa, from the last one up.
std::vector<std::string> depth_bins(const Format& source);
/// The bin of a code, from 1; 0 where all bits of its mantissa are zero.
std::uint8_t depth_bin(std::uint32_t code, const Format& source);
/// The code with its lowest bit of the mantissa taken away, or with as much added; none where there is no such bit, or no such finite number
/// but zero.
std::optional<std::uint32_t> stepped(std::uint32_t code, const Format& source, bool up);

}  // namespace mx::golden
