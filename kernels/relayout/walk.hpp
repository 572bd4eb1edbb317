#pragma once
// One thread's way through the tiles of a move: which tile lies where, and which of them are at an edge.

#include <cstdint>
#include <vector>

#include "kernels/relayout/code.hpp"
#include "kernels/relayout/tile.hpp"

namespace mx::kernels::relayout {

/// Where a tile lies, in bytes, and the sums of its lowest element.
struct Place {
  std::int64_t source = 0;
  std::int64_t target = 0;
  std::int64_t stage = 0;
  std::vector<std::int64_t> sums;

  void add(const OuterDigit& digit, std::int64_t times);
  void add(const Place& other);
};

/// A block of tiles: one combination of the outer digits but the last ones, which are the block's. Blocks are counted with the slowest digit first.
class TileBlock {
 public:
  explicit TileBlock(const Tiles& tiles);

  void seek(std::int64_t block);
  /// On to the next block, from the last one to block 0.
  void step();

  const Place& first() const { return place_; }  ///< of its tiles

 private:
  const Tiles& tiles_;
  std::size_t digits_;          // all but the block's
  std::vector<Place> changes_;  // of each digit: when it goes up by one and the faster ones go back to 0
  std::vector<std::int64_t> values_;
  Place place_;
};

/// What a thread writes into besides the target: aligned to 64 bytes, each as large as its move says, with a line to spare.
struct WalkMemory {
  std::uint8_t* scratch;
  std::uint8_t* stages[2];  ///< one is filled while the other one is written
};

/// Blocks of the moves of one thread; end() comes last.
class Walk {
 public:
  Walk(const Tiles& tiles, const TileKernel& kernel, const TileProgram& program, const std::uint8_t* source, std::uint8_t* target,
       const WalkMemory& memory);

  /// Tiles of a block whose last digit is in begin..end.
  void go(std::int64_t block, std::int64_t begin, std::int64_t end);
  /// All tiles of a stage, `blocks` blocks: by way of the stage, but where elements are absent straight to the target.
  void go_staged(std::int64_t item, std::int64_t blocks);
  void end();

 private:
  /// A filled stage on its way to the target, run by run.
  struct Leaving {
    const std::uint8_t* stage = nullptr;  ///< null: nothing leaves
    std::uint8_t* target = nullptr;
    std::size_t run = 0;    ///< that is written
    std::int64_t done = 0;  ///< of the run
  };

  /// Tiles along the last digit, and what they are moved with.
  struct Row {
    Place first;
    std::vector<MxTilePlace> tiles;
    std::vector<MxTilePlace> staged;  ///< likewise in the stage
  };

  void add_rows();
  void to_block(std::int64_t block);
  bool stage_is_whole() const;
  bool is_inside(std::int64_t end) const;
  void go(const Row& row, std::int64_t begin, std::int64_t end);
  std::int64_t first_cut(std::size_t l, std::int64_t end) const;
  std::size_t form_at(std::int64_t n) const;
  void strip(const Row& row, std::size_t form, std::int64_t first, std::int64_t count);
  void add_stream(MxTileStrip& strip);
  void write_rest();

  const Tiles& tiles_;
  const TileKernel& kernel_;
  const TileProgram& program_;
  const std::uint8_t* source_;
  std::uint8_t* target_;
  WalkMemory memory_;
  TileBlock here_;
  TileBlock later_;        ///< whose source is asked for while the tiles of `here_` are moved
  std::vector<Row> rows_;  ///< of a block
  Row together_;           ///< all of them
  Place place_;            ///< of the row's first tile
  Place block_span_;       ///< from a block's first row to its last one
  std::int64_t blocks_ahead_ = 0;
  std::int64_t block_ = 0;
  std::int64_t ahead_ = 0;
  bool in_stage_ = false;
  std::int64_t stream_step_ = 0;  ///< bytes that leave per tile
  Leaving leaving_;
  MxTileTail tail_{};
};

}  // namespace mx::kernels::relayout
