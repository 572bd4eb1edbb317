#pragma once
// One thread's way through tiles whose stages are joined.

#include "kernels/relayout/joined.hpp"
#include "kernels/relayout/walk.hpp"

namespace mx::kernels::relayout {

/// Stages of the moves of one thread; end() comes last.
class JoinedWalk {
 public:
  /// `scratch` and `stage` are aligned to 64 bytes and as large as the move says, with a line to spare.
  JoinedWalk(const Joined& joined, const TileKernel& kernel, const TileProgram& program, const std::uint8_t* source, std::uint8_t* target,
             std::uint8_t* scratch, std::uint8_t* stage);

  /// The stages begin..end of a block, one behind the other.
  void go(std::int64_t block, std::int64_t begin, std::int64_t end);
  void end();

 private:
  std::int64_t first_cut(std::int64_t begin, std::int64_t end) const;
  void join(std::int64_t first, std::int64_t count);
  void move_alone(std::int64_t n, const StageTile& tile);

  const Joined& joined_;
  const Tiles& tiles_;
  const OuterDigit& steps_;  ///< from one stage to the next
  const TileKernel& kernel_;
  const TileProgram& program_;
  const std::uint8_t* source_;
  std::uint8_t* target_;
  std::uint8_t* scratch_;
  std::uint8_t* stage_;
  TileBlock here_;
  std::int64_t block_ = 0;
  std::vector<MxTilePlace> places_;  ///< of the stage's tiles
  std::vector<const MxTileForm*> forms_;
  std::vector<std::int64_t> later_;  ///< of each tile: from its stage's source to what is asked for meanwhile
  std::vector<std::int64_t> joins_;  ///< likewise lines that are joined after it
  MxTileTail tail_{};
};

}  // namespace mx::kernels::relayout
