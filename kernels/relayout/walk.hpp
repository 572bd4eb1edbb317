#pragma once
// One thread's way through the tiles of a move: which tile lies where, and which of them are at an edge.

#include <cstdint>
#include <vector>

#include "kernels/relayout/code.hpp"
#include "kernels/relayout/tile.hpp"

namespace mx::kernels::relayout {

/// Where a row of tiles lies: one combination of all outer digits but the innermost, which runs along the row. Rows are counted with the slowest
/// digit first.
class TileRow {
 public:
  explicit TileRow(const Tiles& tiles);

  void seek(std::int64_t row);
  /// On to the next row, from the last one to row 0.
  void step();

  std::int64_t source() const { return place_.source; }  ///< of its first tile, in bytes
  std::int64_t target() const { return place_.target; }
  std::int64_t stage() const { return place_.stage; }
  std::int64_t sum(std::size_t limit) const { return place_.sums[limit]; }  ///< of its first tile's lowest element

 private:
  /// Offsets of a row, and its sums.
  struct Place {
    std::int64_t source = 0;
    std::int64_t target = 0;
    std::int64_t stage = 0;
    std::vector<std::int64_t> sums;

    void add(const OuterDigit& digit, std::int64_t times);
    void add(const Place& other);
  };

  const Tiles& tiles_;
  std::size_t digits_;          // all but the innermost
  std::vector<Place> changes_;  // of each digit: when it goes up by one and the faster ones go back to 0
  std::vector<std::int64_t> values_;
  Place place_;
};

/// What a thread writes into besides the target: aligned to 64 bytes, each as large as its move says, with a line to spare.
struct WalkMemory {
  std::uint8_t* scratch;
  std::uint8_t* stages[2];  ///< one is filled while the other one is written
};

/// Rows of the moves of one thread; end() comes last.
class Walk {
 public:
  Walk(const Tiles& tiles, const TileKernel& kernel, const TileProgram& program, const std::uint8_t* source, std::uint8_t* target,
       const WalkMemory& memory);

  /// Tiles begin..end of a row.
  void go(std::int64_t row, std::int64_t begin, std::int64_t end);
  /// All tiles of a stage, `rows` rows: by way of the stage, but where elements are absent straight to the target.
  void go_staged(std::int64_t item, std::int64_t rows);
  void end();

 private:
  /// A filled stage on its way to the target, run by run.
  struct Leaving {
    const std::uint8_t* stage = nullptr;  ///< null: nothing leaves
    std::uint8_t* target = nullptr;
    std::size_t run = 0;    ///< that is written
    std::int64_t done = 0;  ///< of the run
  };

  void to_row(std::int64_t row);
  bool stage_is_whole() const;
  std::int64_t first_cut(std::size_t l, std::int64_t end) const;
  std::size_t form_at(std::int64_t n) const;
  void strip(std::size_t form, std::int64_t first, std::int64_t count);
  MxTileStream next_stream(std::int64_t& tiles);
  void write_rest();

  const Tiles& tiles_;
  const TileKernel& kernel_;
  const TileProgram& program_;
  const std::uint8_t* source_;
  std::uint8_t* target_;
  WalkMemory memory_;
  TileRow here_;
  TileRow later_;  ///< whose source is asked for while the tiles of `here_` are moved
  std::int64_t rows_ahead_;
  std::int64_t row_ = 0;
  std::int64_t ahead_ = 0;
  bool in_stage_ = false;
  std::int64_t stream_step_ = 0;  ///< bytes that leave per tile
  Leaving leaving_;
  MxTileTail tail_{};
};

}  // namespace mx::kernels::relayout
