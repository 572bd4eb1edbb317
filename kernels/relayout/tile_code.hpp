#pragma once
// What the instruction sets' files execute: a tile's work as plain arrays. These files see this header and C headers alone.

#include <stdint.h>

/// Pieces are loaded into the tile's source area, padding is filled in, the tile is moved into its target area, and that is stored piece by piece.
struct MxTilePiece {
  int64_t offset;   ///< from the tile's place in memory
  uint32_t at;      ///< in the tile's area
  uint32_t length;  ///< in bytes
};
struct MxTileFill {
  uint32_t at;
  uint32_t length;
  uint8_t content;
};
/// Of a tile whose bytes all stay where they are, and of which nothing is padding: from memory to memory.
struct MxTileCopy {
  int64_t source;
  int64_t target;
  int64_t length;
};

/// Neighbouring bytes of a tile, as many for all its lanes, that are neighbours in memory, as far as they are there. What is not there is read as 0
/// and not written.
struct MxTileLane {
  int64_t offset;  ///< of byte 0 from the tile's place in memory
  uint64_t there;  ///< bit i: byte i lies in memory
};

/// Where the pieces of a tile lie: one form inside the tensor, others at its edges.
struct MxTileForm {
  const MxTilePiece* loads;
  const MxTileFill* fills;
  const MxTilePiece* stores;
  const MxTileCopy* copies;
  const MxTileLane* lanes_in;   ///< lanes of `lane_in` bytes of the source area: of 16 in order, of more as the first pass reads them
  const MxTileLane* lanes_out;  ///< likewise of the target area: as the finishes, or else the last pass, make them
  int64_t lane_in;              ///< 64, 32 or 16; 0: not in lanes, or padding is not all 0
  int64_t lane_out;
  int64_t whole_in;  ///< 1: all of each lane is there
  int64_t whole_out;
  int64_t lines_out;  ///< 1: the lanes of the target area are lines of memory where a tile begins on one
  int64_t stays;      ///< 1: what is written is soon read again, and must stay in the caches
  int64_t load_count;
  int64_t fill_count;
  int64_t store_count;
  int64_t copy_count;
};

/// Steps that stand together and do not depend on each other, and so many mixes. Lists are filled up by repeating their last entry.
static const int kMxGroup = 8;
/// Likewise finishes.
static const int kMxFinishGroup = 4;

/// A register = two registers through an index table. Registers are offsets in the scratch memory, tables offsets in the tables.
struct MxTileStep {
  uint32_t out;
  uint32_t a;
  uint32_t b;
  uint32_t index;
};
/// A register through one matrix of 8 x 8 bits per lane of 16 bytes.
struct MxTileTerm {
  uint32_t from;
  uint32_t matrix;
};
/// Registers sorted, exchanged and ordered, as Block in butterfly.hpp says; as many index tables of each kind stand one behind the other.
struct MxTileBlock {
  uint32_t in[16];
  uint32_t out[16];
  uint32_t sorts;
  uint32_t orders;
};
/// How the registers that the last pass made become the target.
enum MxTileFinishKind {
  kMxMatrices,  ///< bytes of a through matrices, then reordered. Tables: index and matrices of each term, the order at last
  kMxPairs,     ///< likewise bytes of a and b
  kMxSwap,      ///< NibbleSwap of a in nibbles.hpp. Tables: partners, masks, order
  kMxTwins,     ///< NibbleTwins of a and b, into out and twin. Tables: low, high
};
struct MxTileFinish {
  uint32_t a;
  uint32_t b;
  uint32_t out;
  uint32_t twin;
  uint32_t tables;
};
/// Blocks that make use of none of each other.
struct MxTilePass {
  const struct MxTileBlock* blocks;
  int64_t count;
  int64_t levels;  ///< of blocks of sixteen registers 4, of eight up to 3
  int64_t orders;  ///< 1: registers are ordered at last
};

/// Of a target byte, for the portable kernel: a source byte through a table of 256.
struct MxTilePart {
  uint32_t source;
  uint32_t table;
};

/// A tile's work, in the order gather, mixes, scatter. A mix is a register, the exclusive or of its terms; terms stand by groups of mixes, and in
/// each group the first ones of all mixes before the second ones. Index tables of registers of 64 bytes: 64 bytes, 0..63 a, 64..127 b. Of registers
/// of 16: 16 bytes into a, then 16 into b, 0x80 where nothing is taken. Matrix tables: the matrices as vgf2p8affineqb takes them, then the tables of
/// low and of high nibbles, each as long as a register.
struct MxTileCode {
  const MxTileStep* gather;
  const MxTileTerm* terms;
  const uint32_t* mixes;
  const MxTileStep* scatter;
  const uint8_t* tables;
  const MxTilePart* parts;       ///< by target byte; portable kernel
  const uint32_t* part_starts;   ///< bytes + 1 entries
  const MxTilePass* passes;      ///< with finishes, instead of gather, mixes and scatter
  const MxTileFinish* finishes;  ///< in whole groups
  int64_t pass_count;
  int64_t finish_count;
  int64_t finish_terms;
  enum MxTileFinishKind finish_kind;
  int64_t gather_count;
  int64_t mix_count;
  int64_t terms_per_mix;
  int64_t scatter_count;
  uint32_t target_at;  ///< of the target area in the scratch memory; the source area is at 0
  uint32_t bytes;      ///< of the tile
};

/// Bytes made before that are written while tiles are moved: after each tile up to `step` of them. What is left goes after the last tile. A kernel
/// whose row does not say that it streams gets none.
struct MxTileStream {
  const uint8_t* source;
  uint8_t* target;
  int64_t length;
  int64_t step;
};

/// Bytes of a thread's copies that do not fill their line of the target yet: a copy that goes on behind them completes it, so that it is written past
/// the caches like all others. A kernel whose row does not say that it streams leaves it empty.
struct MxTileTail {
  alignas(64) uint8_t line[64];
  uint8_t* target;  ///< where the line begins
  int64_t begin;    ///< bytes begin..end of it wait; none where both are the same
  int64_t end;
};

/// Where a tile of a strip lies, from the strip's step.
struct MxTilePlace {
  int64_t source;
  int64_t target;
};

/// `count` steps one behind the other, of the same tiles each. None at all end a thread's work: what it streamed past the caches, and its tail, are
/// then there for every thread.
struct MxTileStrip {
  const uint8_t* source;
  uint8_t* target;
  int64_t count;
  int64_t source_step;
  int64_t target_step;
  const MxTilePlace* places;
  int64_t place_count;
  int64_t ahead;  ///< from a tile's source to where the source of a tile lies that comes somewhat later
  MxTileStream stream;
  MxTileTail* tail;
};

/// `scratch` is aligned to 64 bytes and has 64 bytes to spare behind what the code uses.
typedef void MxTileFunction(const MxTileCode* code, const MxTileForm* form, const MxTileStrip* strip, uint8_t* scratch);

MxTileFunction mx_tiles_portable;
MxTileFunction mx_tiles_avx2;
MxTileFunction mx_tiles_avx512;
MxTileFunction mx_tiles_neon;
