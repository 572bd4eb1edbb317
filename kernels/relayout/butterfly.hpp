#pragma once
// The common case of a network: every register of the source shares equally many bytes with every register of the target that it meets. Then passes
// of up to four levels do it, without a trip to memory between the levels.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/relayout/network.hpp"

namespace mx::kernels::relayout {

/// Registers of a block that goes through so many levels.
constexpr std::size_t block_size(int levels) { return levels > 3 ? 16 : 8; }

/// Registers in parts of 2^levels, each cut into as many chunks. A register is sorted, so that of register i of a part the chunk for its output
/// g is chunk g ^ i. Level l, from 0 on, takes from register i ^ 2^l those chunks whose number has bit l: at last register g has all that output g
/// needs, each chunk where it was. Then the bytes may be ordered.
struct Block {
  std::vector<int> in;   ///< numbers among the registers that the pass reads
  std::vector<int> out;  ///< among those that it writes
  int levels;
  std::vector<std::vector<std::int16_t>> sorts;   ///< per register of `in`: which byte comes to which place
  std::vector<std::vector<std::int16_t>> orders;  ///< likewise per register of `out`; empty: they stay as they are
};

struct Butterfly {
  std::vector<std::vector<Block>> passes;  ///< one after the other; each reads as many registers as it writes
  std::vector<Slots> made;                 ///< the bytes of each wish as the last pass leaves them
};

/// Blocks that turn registers of bytes 0, 1, .. into the wanted ones, each byte wanted once; none when registers do not meet evenly. Wishes are put
/// in order, or only met: then their bytes come in any order.
enum class Wishes { ordered, met };
std::optional<Butterfly> butterfly(int width, const std::vector<Slots>& wanted, Wishes wishes);

}  // namespace mx::kernels::relayout
