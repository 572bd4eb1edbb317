#pragma once
// A move cut into tiles: outer loops, and one small box of digits that is moved through registers. What a tile does with its bytes is the same
// everywhere; where its pieces lie, and which of them are there, differs at the edges.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/relayout/digits.hpp"

namespace mx::kernels::relayout {

/// A part of a target byte: the bits of one byte of the tile's source that go there.
struct BytePart {
  std::int32_t source;                 ///< byte of the tile as it was read
  std::array<std::uint8_t, 8> rows{};  ///< rows[i]: mask of the source bits whose parity is bit i of the target byte
  friend bool operator==(const BytePart&, const BytePart&) = default;
};

/// Neighbouring bytes of memory that are neighbours in the tile.
struct Piece {
  std::int64_t offset;  ///< from where the tile begins in memory
  std::int32_t in_tile;
  std::int32_t length;
};

struct Fill {
  std::int32_t in_tile;
  std::int32_t length;
  std::uint8_t content;
};

/// Where a tile's bytes come from and go to: one form inside, others at the edges.
struct TileForm {
  std::vector<Piece> loads;
  std::vector<Fill> fills;  ///< padding, put beside what was read
  std::vector<Piece> stores;
  std::vector<Piece> staged;  ///< likewise, from where the tile begins in the stage
};

struct OuterDigit {
  std::int64_t radix;
  std::int64_t source_step;  ///< in bytes
  std::int64_t target_step;
  bool is_staged;                     ///< tiles along it go to one stage
  std::int64_t stage_step;            ///< of staged ones
  std::vector<std::int64_t> weights;  ///< per limit
};

/// How far the elements of a tile reach into a limit, and the reaches (limit minus the tile's sum) that need a form of their own.
struct TileLimit {
  std::int64_t limit;
  std::int64_t span;                  ///< largest sum of an element above the tile's, plus 1: with that much room all are there
  std::vector<std::int64_t> reaches;  ///< ascending; what is at least `span` counts as the last one, `span`
  std::int64_t stage_span;            ///< with that much room all elements of a stage are there; 0: the same ones are in every stage
};

/// A copy of runs of the target. Tiles along the staged digits fill it, then its runs are written.
struct Stage {
  struct Run {
    std::int64_t target;  ///< from the target of the stage's first tile
    std::int64_t place;
  };
  std::int64_t bytes = 0;  ///< 0: tiles go to the target themselves
  std::int64_t run = 0;    ///< bytes of each run, as long as nothing is absent
  std::vector<Run> runs;
};

struct Tiles {
  std::vector<OuterDigit> outer;  ///< slowest first
  std::size_t block = 0;          ///< digits before the last one whose tiles are moved together, for each value of the last one
  std::int64_t source_base = 0;   ///< in bytes
  std::int64_t target_base = 0;
  std::vector<TileLimit> limits;
  std::vector<TileForm> forms;  ///< mixed-radix number of the limits' reaches, the last limit fastest; the last form is the whole tile's
  std::int32_t bytes = 0;       ///< of a tile, a power of two
  Stage stage;
  bool is_copy = false;                      ///< every byte stays where it is in the tile
  std::vector<std::vector<BytePart>> parts;  ///< of each target byte; of a copy empty
};

/// How large the contiguous parts of a tile should be on either side, in bytes.
struct TileGoals {
  std::int64_t source_run;
  std::int64_t staged_source_run;  ///< of tiles that fill a stage
  std::int64_t shortest_source;    ///< where longer ones waste more
  std::int64_t target_run;
  std::int64_t tile;           ///< smaller tiles get longer runs, where that wastes little,
  std::int64_t longest_run;    ///< up to this
  std::int64_t shortest_copy;  ///< runs as long as this on both sides are moved as they are
  std::int64_t copy_run;       ///< and cut into pieces of this length
  std::int64_t staged_tile;    ///< likewise of tiles that fill a stage
  std::int64_t staged_run;     ///< tiles that do not write whole lines make runs of this length in a stage
  std::int64_t stage;          ///< of at most so many bytes
};

/// The number of a tile's form. `room(l)`: what is left below limit l, or more.
template <class Room>
std::size_t form_number(const Tiles& tiles, Room room) {
  std::size_t number = 0;
  for (std::size_t l = 0; l < tiles.limits.size(); ++l) {
    const TileLimit& limit = tiles.limits[l];
    const std::int64_t reach = std::clamp<std::int64_t>(room(l), 0, limit.span);
    number = number * limit.reaches.size() + static_cast<std::size_t>(std::ranges::lower_bound(limit.reaches, reach) - limit.reaches.begin());
  }
  return number;
}

/// Tiles for a move; none when parts of bytes would have to be read or written at an edge.
std::optional<Tiles> tiles_of(const SharedDigits& digits, const TileGoals& goals);

}  // namespace mx::kernels::relayout
