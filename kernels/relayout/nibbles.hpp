#pragma once
// The common case of bits that move: the halves of a target byte are the same halves of two source bytes, and what these two have left makes another
// target byte. Then no matrix is needed.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/relayout/network.hpp"
#include "kernels/relayout/tile.hpp"

namespace mx::kernels::relayout {

/// A target register made of one register. Each byte has a partner in it: the low halves of two partners become the byte at the place of the second
/// one, their high halves the byte at the place of the first one. Then the bytes are ordered.
struct NibbleSwap {
  int from;
  std::vector<std::int16_t> partners;  ///< per byte: the place of its partner
  std::vector<std::uint8_t> masks;     ///< per byte: the half that comes from the partner and stays where it is; the other one crosses
  std::vector<std::int16_t> order;
};

/// Two target registers made of two registers: the low halves of `low` and `high` are the first one, their high halves the second one.
struct NibbleTwins {
  int a;
  int b;
  std::array<int, 2> targets;
  std::vector<std::int16_t> low;  ///< bytes of a and then b whose halves become low ones
  std::vector<std::int16_t> high;
};

/// The parts of a target register's bytes; `met`: the source bytes that `from` holds. None when halves do not cross like that.
std::optional<NibbleSwap> nibble_swap(std::span<const std::vector<BytePart>> target, const Slots& met, int from);

/// Likewise of the target registers `first` and `second`, whose bytes `met` stand in two registers; whose numbers they are the caller fills in.
std::optional<NibbleTwins> nibble_twins(std::span<const std::vector<BytePart>> first, std::span<const std::vector<BytePart>> second,
                                        const Slots& met);

}  // namespace mx::kernels::relayout
