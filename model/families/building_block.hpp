#pragma once
// Building blocks by name: one converter on one tensor, as libraries offer them and as `mxact layout show sf_128x4` names them. One row per block and
// one file per family; the backends' rows (memory.hpp) compose the same blocks.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/layout/cast.hpp"
#include "model/layout/layout.hpp"
#include "model/layout/source.hpp"

namespace mx::families {

/// A parameter of a block beyond the matrix.
struct BlockParam {
  std::string_view key;   ///< "num_warps"
  std::int64_t standard;  ///< what the engine uses
  std::int64_t low;       ///< allowed values are in [low, high]
  std::int64_t high;
  std::string_view meaning;
};

/// Every declared parameter with its value.
using BlockParams = std::map<std::string, std::int64_t, std::less<>>;

/// What a block is asked to lay out: a [batch, rows, cols] matrix of units, row-major.
struct BlockRequest {
  std::string_view version;  ///< converter version label; one of the row's
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t cols;  ///< in units
  int unit_bits;
  BlockParams params;

  std::int64_t param(std::string_view key) const { return params.find(key)->second; }
};

/// A size rule of a block: its quantity must be a multiple of a number.
struct BlockNeed {
  std::string_view quantity;  ///< rows, columns, row_bytes, K, groups, elements, num_warps, ...: what the refusal is about
  std::int64_t value;         ///< what was given
  std::int64_t multiple;      ///< 0: another rule than divisibility, which `why` states
  std::string_view why;
};

struct BuildingBlock {
  std::string_view name;
  std::string_view role;  ///< weight, scale, bias or rows
  int unit_bits;          ///< of the matrix; 0: whatever the caller's elements are
  std::string_view summary;
  std::string_view formula;
  std::span<const std::string_view> versions;  ///< converter versions that it holds for, the engine's first
  std::span<const BlockParam> params;
  /// The rules that a request breaks, in the converter's order of checking; empty: it is laid out. Null: it refuses nothing.
  std::vector<BlockNeed> (*broken)(const BlockRequest& request);
  /// The program, on the logical axes [batch, rows, cols] (and those that Explode adds).
  layout::Layout (*build)(const BlockRequest& request);
  layout::Source source;
};

/// Every modelled block.
std::span<const BuildingBlock> all_building_blocks();
/// Throws Error(usage) with the nearest name.
const BuildingBlock& building_block_named(std::string_view name);

/// The row's layout of a request: fills in the standard parameters, checks version, parameters, unit and needs. Throws Error(usage) naming the
/// parameter or quantity, its value and the rule.
layout::Layout block_layout(const BuildingBlock& block, BlockRequest request);
/// The same by name, at the row's first version.
layout::Layout block_layout(std::string_view name, std::int64_t batch, std::int64_t rows, std::int64_t cols, int unit_bits, BlockParams params = {});
/// Every rule that a request breaks; other errors are thrown as by block_layout.
std::vector<BlockNeed> broken_needs(const BuildingBlock& block, BlockRequest request);

/// Fills in the standard values of what is declared; throws Error(usage) on a value out of range and on a parameter that is not declared.
void complete_params(std::string_view block, std::span<const BlockParam> declared, BlockParams& params);

/// For the rows' `broken`: adds the rule when `value` is no multiple.
void need_multiple(std::vector<BlockNeed>& broken, std::string_view quantity, std::int64_t value, std::int64_t multiple, std::string_view why);

/// Shared building blocks, appended to a program (rows axis named `rows`).
namespace blocks {

/// Merges [half, I] into the axis `rows` with up and gate rows alternating, up first: row 2i up i, row 2i+1 gate i.
layout::Layout& up_gate_interleaved(layout::Layout& layout);
/// Merges [half, I] into the axis `rows`, all up rows before all gate rows.
layout::Layout& up_before_gate(layout::Layout& layout);
/// dst row r <- src 32*(r/32) + 4*(r%8) + (r%32)/8 (epilogue tile 128). Source: FlashInfer shuffle_matrix_a.
layout::Layout& shuffle_a128(layout::Layout& layout, std::string_view rows);
/// dst row r <- src 16*(r/16) + 2*(r%8) + (r%16)/8 (epilogue tile 64).
layout::Layout& shuffle_a64(layout::Layout& layout, std::string_view rows);
/// The 128x4 scale tile of cuBLASLt and CUTLASS; pads rows to 128 and columns to 4 with zero. The view must end in [rows, cols].
layout::Layout& sf128x4(layout::Layout& layout, std::string_view rows, std::string_view cols);
/// The 8x4 tile of activation block scales; pads rows to 8 and columns to 4 with zero.
layout::Layout& sf8x4(layout::Layout& layout, std::string_view rows, std::string_view cols);

/// Extent of an axis of the view. Throws Error(usage) when there is none of that name.
std::int64_t extent_of(const layout::Layout& layout, std::string_view axis);
/// Pads an axis to the next multiple; nothing is appended when it is one already.
layout::Layout& pad_to_multiple(layout::Layout& layout, std::string_view axis, std::int64_t multiple, layout::PadContent content);
/// Permutes such that the axes of `from` are replaced, in place, by those of `to`, a rearrangement of the same axes.
void rearrange(layout::Layout& layout, std::span<const std::string> from, std::span<const std::string> to);

/// Takes parts off the low end of an axis: index = (.. (axis * parts[0].extent + parts[0]) ..) * parts[n].extent + parts[n]. The axis keeps its name
/// for what is left, the parts follow it.
layout::Layout& split_off(layout::Layout& layout, std::string_view axis, std::span<const layout::Axis> parts);
layout::Layout& split_off(layout::Layout& layout, std::string_view axis, std::initializer_list<layout::Axis> parts);
/// Puts the named axes, which are those that the named positions hold already in another order, into this order; other axes stay.
layout::Layout& order(layout::Layout& layout, std::initializer_list<std::string_view> axes);
/// The row axes of a loaded buffer as one: w13's two become `rows`. Returns the name of the row axis.
std::string merge_rows(layout::Layout& layout);

/// Appends the axes `nibble` (2) and `bit` (4): whether the units are bytes or 4-bit elements, `cols` counts bytes afterwards.
/// Throws Error(usage) on other units.
layout::Layout& explode_bytes(layout::Layout& layout, std::string_view cols);
/// Scatters the bits of 4 bytes over a 32-bit word. The view must end in axes of 4 bytes in all, `nibble` and `bit`; these become one axis of 32.
layout::Layout& fp4word(layout::Layout& layout);

}  // namespace blocks

}  // namespace mx::families
