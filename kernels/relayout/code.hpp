#pragma once
// Tiles compiled for registers of a width: the arrays of tile_code.hpp with their memory.

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/isa.hpp"
#include "kernels/relayout/lanes.hpp"
#include "kernels/relayout/registers.hpp"
#include "kernels/relayout/tile.hpp"
#include "kernels/relayout/tile_code.hpp"

namespace mx::kernels::relayout {

/// One implementation of tiles. Rows stand from the plainest to the fastest.
struct TileKernel {
  KernelRow<MxTileFunction> row;
  int width;             ///< bytes of a register; 1: it takes the parts of bytes
  std::int64_t tile;     ///< bytes that a tile should have
  bool streams = false;  ///< it writes a stream beside its tiles (MxTileStream)
};
/// The last row that the tier runs.
const TileKernel& tile_kernel(const IsaTier& tier);

/// What the processor executes for Tiles. Neither copied nor moved: the arrays point into it.
class TileProgram {
 public:
  TileProgram(const Tiles& tiles, int width);
  TileProgram(const TileProgram&) = delete;
  TileProgram& operator=(const TileProgram&) = delete;

  const MxTileCode& code() const { return code_; }
  const MxTileForm& form(std::size_t index) const { return forms_[index]; }
  std::size_t form_count() const { return form_count_; }
  /// The same tiles on their way to the stage.
  const MxTileForm& staged_form(std::size_t index) const { return forms_[form_count_ + index]; }
  std::size_t scratch_bytes() const { return scratch_bytes_; }
  std::size_t memory() const;  ///< bytes of all arrays

 private:
  struct FormArrays {
    std::vector<MxTilePiece> loads;
    std::vector<MxTileFill> fills;
    std::vector<MxTilePiece> stores;
    std::vector<MxTileCopy> copies;
    Lanes in;
    Lanes out;
  };

  void add_parts(const Tiles& tiles);
  bool add_even(const Tiles& tiles, int width);
  void add_finishes(const EvenPlan& plan, std::uint32_t from, std::uint32_t width);
  void add_registers(const Tiles& tiles, int width);
  std::uint32_t table(std::span<const std::uint8_t> bytes);
  void add_form(const TileForm& form, bool is_copy);
  std::vector<std::uint32_t> read_order() const;
  std::vector<std::uint32_t> made_order() const;

  std::vector<MxTileStep> gather_;
  std::vector<MxTileStep> scatter_;
  std::vector<MxTileTerm> terms_;
  std::vector<std::uint32_t> mixes_;
  std::vector<std::vector<MxTileBlock>> blocks_;
  std::vector<MxTilePass> passes_;
  std::vector<MxTileFinish> finishes_;
  std::vector<MxTilePart> parts_;
  std::vector<std::uint32_t> part_starts_;
  std::vector<std::uint8_t> table_memory_;  // begins up to 63 bytes before tables_
  std::vector<std::uint8_t> tables_;
  std::vector<FormArrays> form_arrays_;
  std::vector<MxTileForm> forms_;
  std::size_t form_count_ = 0;
  MxTileCode code_{};
  std::size_t scratch_bytes_ = 0;
};

}  // namespace mx::kernels::relayout
