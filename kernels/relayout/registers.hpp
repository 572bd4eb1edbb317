#pragma once
// A tile's bytes moved through registers: which bytes meet in which register, and which bits change there.

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/relayout/butterfly.hpp"
#include "kernels/relayout/network.hpp"
#include "kernels/relayout/nibbles.hpp"
#include "kernels/relayout/tile.hpp"

namespace mx::kernels::relayout {

/// Bytes that one matrix serves.
inline constexpr int kLane = 16;

/// rows[i]: mask of the bits whose parity is bit i.
using BitMatrix = std::array<std::uint8_t, 8>;

/// A register through a matrix per lane.
struct LaneTerm {
  int from;
  std::vector<BitMatrix> matrices;
};
/// A register as the exclusive or of terms.
struct LaneMix {
  int out;
  std::vector<LaneTerm> terms;
};

/// Registers are numbered; the tile's source is in 0, 1, .. and the one with target bytes i * width .. is targets[i].
struct RegisterPlan {
  std::vector<Step2> gather;
  std::vector<LaneMix> mixes;
  std::vector<Step2> scatter;
  std::vector<int> targets;
  int registers;  ///< all of them
};

/// Steps and mixes stand in whole groups (MxTileCode), all mixes have as many terms. Where only whole bytes move there are neither mixes nor a
/// scatter. Else bytes that are made alike stand side by side in lanes while their bits change.
RegisterPlan register_plan(const Tiles& tiles, int width);

/// How the bytes that a target register is made of, together in one register or in two, become it: terms as in LaneMix, each of any of these bytes,
/// then their order.
struct Finish {
  int a;  ///< registers that the passes made
  int b;
  struct Term {
    std::vector<std::int16_t> index;
    std::vector<BitMatrix> matrices;
  };
  std::vector<Term> terms;
  std::vector<std::int16_t> order;
};

/// Tiles whose registers meet evenly: passes that bring the bytes of each target register together, and what is done with them there: one of the
/// three lists, where it is not empty, makes all target registers. Without any the passes make them.
struct EvenPlan {
  Butterfly passes;
  std::vector<Finish> finishes;   ///< by target register, all with as many terms
  std::vector<NibbleSwap> swaps;  ///< by target register
  std::vector<NibbleTwins> twins;
};
std::optional<EvenPlan> even_plan(const Tiles& tiles, int width);

}  // namespace mx::kernels::relayout
