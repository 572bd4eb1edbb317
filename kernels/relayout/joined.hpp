#pragma once
// Stages that stay in the first cache. Their tiles leave whole registers, and each line of the target is joined from a few of those as soon as they
// are there: what is read as it was stored need not wait until it has reached the cache, behind all lines of the target that wait to be written.
// Places of tiles that are no longer needed are used again.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/relayout/tile.hpp"
#include "kernels/relayout/tile_code.hpp"

namespace mx::kernels::relayout {

/// A line of the target, so far from the first tile's target, and where in the stage each of its bytes lies.
struct JoinedLine {
  std::int64_t target;
  std::array<std::int32_t, 64> places;
};

/// A tile of a stage, from the stage's first one.
struct StageTile {
  std::int64_t source;
  std::int64_t target;
  std::vector<std::int64_t> sums;
  std::size_t form;        ///< of a whole stage: the same in all of them
  std::int64_t place = 0;  ///< in the stage
  std::int64_t joins = 0;  ///< lines that are joined after it
};

struct Joined {
  Tiles tiles;                    ///< all digits of the stage are its block's; the one before them counts stages
  std::vector<StageTile> stage;   ///< tile after tile
  std::size_t ahead;              ///< the source of the tile that comes so many tiles later is asked for
  std::vector<JoinedLine> lines;  ///< in the order in which they are joined
};

/// Tiles whose stages are joined, runs of at most `goals.stage` bytes of the target; none where the target is not made of runs of whole lines that
/// are as short, where more halves of registers meet in a line than MxTileJoin takes, or where the tiles that are needed at the same time have more
/// than `goals.joined` bytes.
std::optional<Joined> joined_tiles(const SharedDigits& digits, const TileGoals& goals);

/// The halves of registers that a line is joined from.
struct Join {
  std::array<std::uint32_t, kMxHalves> halves{};  ///< where they begin in the stage
  std::array<std::uint8_t, 64> index{};           ///< of each byte of the line among theirs
};
Join join_of(const JoinedLine& line);

}  // namespace mx::kernels::relayout
