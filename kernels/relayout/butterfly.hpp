#pragma once
// The common case of a network: every register of the source shares equally many bytes with every register of the target that it meets. Then passes
// of up to three levels over eight registers do it, without a trip to memory between the levels.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/relayout/network.hpp"

namespace mx::kernels::relayout {

inline constexpr int kBlock = 8;

/// Eight registers through `levels` levels. A level cuts them into parts of 2^levels, 2^(levels-1), .. registers; of a part's registers 2i and 2i+1
/// the new registers i and size/2 + i are made, each by the index table of its place.
struct Block {
  std::array<int, kBlock> in;   ///< numbers among the registers that the pass reads
  std::array<int, kBlock> out;  ///< among those that it writes
  int levels;
  std::vector<std::vector<std::int16_t>> indexes;  ///< [level * 8 + register], as in Step2
};

/// Passes one after the other; each reads as many registers as it writes.
using Butterfly = std::vector<std::vector<Block>>;

/// Blocks that turn registers of bytes 0, 1, .. into the wanted ones, each byte wanted once; none when registers do not meet evenly.
std::optional<Butterfly> butterfly(int width, const std::vector<Slots>& wanted);

}  // namespace mx::kernels::relayout
