#pragma once
// What a backend makes of a layer, said a second time: which matrix its kernels read for each tensor, where the elements of that matrix lie, what
// becomes of their bits, and how a kernel understands what it reads. One file per backend family; sources are the sections of spec layouts.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/families/memory.hpp"
#include "props/families/block_formula.hpp"

namespace mx::props {

/// The matrices of all experts that a kernel reads, row-major: for every element the number of the unit of the logical tensor (row-major in
/// layout::logical_axes) that it is, or one of Layout's kPad codes.
struct Matrix {
  std::int64_t experts;
  std::int64_t rows;
  std::int64_t cols;
  int bits;  ///< of a unit in memory
  std::vector<std::int64_t> units;

  std::int64_t at(std::int64_t e, std::int64_t r, std::int64_t c) const { return units[static_cast<std::size_t>((e * rows + r) * cols + c)]; }
};

/// Which rows of w13's matrix a kernel multiplies: gate row i and up row i.
struct RowPair {
  std::int64_t gate;
  std::int64_t up;
};

/// How a kernel understands units of memory, as numbers: products of weights and scales fit a double exactly.
struct Reading {
  double (*weight)(const families::Setting& setting, std::uint64_t unit);
  /// `second` is the fp32 number of the expert or row where there is one, else 1.
  double (*scale)(const families::Setting& setting, std::uint64_t unit, double second);
};
/// How the checkpoint's own units are understood. Source: spec layouts 0.1 and numerics.
Reading checkpoint_reading(layout::WeightFormat format);

/// Whether the engine's method re-reads a layer's FP8 codes as e4m3fnuz: gfx942 alone, where the method does so.
bool is_fnuz(const families::Setting& setting);
/// A unit of the checkpoint as any backend's converter gets it there: the code of -0 is 0, a scale is twice as large.
std::uint64_t handed_on(layout::Role role, const families::Setting& setting, std::uint64_t unit);
/// How a kernel understands units that no conversion changed.
Reading reading_of(const families::Setting& setting);

/// One backend's restatement.
struct BackendFormula {
  layout::WeightFormat format;
  std::string_view backend;
  deployment::Versions engines;
  /// Sizes are drawn around the edges of these tiles, of I and of H.
  std::int64_t tile_i;
  std::int64_t tile_h;
  /// Draws the options that the conversion looks at, none that it refuses; null: it looks at none.
  void (*draw)(families::Setting& setting);
  Matrix (*matrix)(layout::Role role, const families::Setting& setting);
  /// Where a kernel finds the elements of a matrix of those sizes: memory, by number of the element.
  Memory (*place)(layout::Role role, const families::Setting& setting, const Matrix& sizes);
  RowPair (*rows)(std::int64_t i, std::int64_t row_count, const families::Setting& setting);
  /// Whether each weight of w13 finds its own scale, and each gate row its up row: not with the hazards of spec layouts 13. Null: always.
  bool (*scales_follow)(const families::Setting& setting);
  bool (*halves_meet)(const families::Setting& setting);
  /// What becomes of a unit's bits; null: nothing.
  std::uint64_t (*cast)(layout::Role role, const families::Setting& setting, std::uint64_t unit);
  /// Null: as the checkpoint's.
  Reading (*reading)(const families::Setting& setting) = nullptr;
  /// Whether all experts' matrices of a tensor are one; null: never.
  bool (*stacks)(layout::Role role, const families::Setting& setting) = nullptr;
  /// The rows and columns of each matrix are filled up to multiples of these, which a kernel that knows the layer's sizes passes over.
  std::int64_t block_rows = 1;
  std::int64_t block_cols = 1;
};

/// The formula of a backend. Throws Error(usage) where there is none.
const BackendFormula& backend_formula(std::string_view backend, layout::WeightFormat format, deployment::Engine engine);

/// Memory of a matrix that lies at these places, in grains of at most its units.
Memory composed(const Memory& place, const Matrix& matrix);
/// The same memory in smaller grains.
Memory refined(Memory memory, int grain_bits);

// What families share.

/// Shards (gate and up) of a tensor, the rows of one and its columns, by the table of spec layouts 0.1 and, for formats with fp32 scales, by what a
/// scale covers; of one rank or of the whole layer, by the sizes given.
struct Extent {
  std::int64_t shards;
  std::int64_t rows;
  std::int64_t cols;
};
Extent extent_of(layout::Role role, const families::Setting& setting, const layout::Sizes& sizes);

/// The buffer that the engine loads into: sizes rounded up, rows in the checkpoint's order. Source: spec layouts 0.1.
Matrix loaded_matrix(layout::Role role, const families::Setting& setting, int bits);
/// The same with the checkpoint's bits; biases widened to fp32.
Matrix loaded_matrix(layout::Role role, const families::Setting& setting);
Matrix loaded_with_f32_bias(layout::Role role, const families::Setting& setting);

std::int64_t shard_count(const families::Setting& setting);
bool is_standard(const families::Setting& setting);

/// Row r of the result is row source(r) of `from`; behind its rows lies `outside`.
template <class Source>
Matrix with_rows(const Matrix& from, std::int64_t rows, Source source, std::int64_t outside = layout::Layout::kPadZero) {
  Matrix to{from.experts, rows, from.cols, from.bits, {}};
  to.units.reserve(static_cast<std::size_t>(from.experts * rows * from.cols));
  for (std::int64_t e = 0; e < from.experts; ++e) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t s = source(r);
      for (std::int64_t c = 0; c < from.cols; ++c) to.units.push_back(s < 0 || s >= from.rows ? outside : from.at(e, s, c));
    }
  }
  return to;
}
/// The same with columns.
template <class Source>
Matrix with_columns(const Matrix& from, std::int64_t cols, Source source, std::int64_t outside = layout::Layout::kPadZero) {
  Matrix to{from.experts, from.rows, cols, from.bits, {}};
  to.units.reserve(static_cast<std::size_t>(from.experts * from.rows * cols));
  for (std::int64_t e = 0; e < from.experts; ++e) {
    for (std::int64_t r = 0; r < from.rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) to.units.push_back(source(c) >= from.cols ? outside : from.at(e, r, source(c)));
    }
  }
  return to;
}
Matrix with_size(const Matrix& from, std::int64_t rows, std::int64_t cols);  ///< zero rows and columns behind
Matrix halves_swapped(const Matrix& from);                                   ///< [a; b] -> [b; a]
Matrix halves_alternating(const Matrix& from);                               ///< [a; b] -> a0 b0 a1 b1 ..
Matrix pairs_separated(const Matrix& from);                                  ///< a0 b0 a1 b1 .. -> [a; b]

/// Row-major memory.
Memory kept(const Matrix& sizes);
/// The memory of a building block by its formula; `unit_bits` 8 takes two 4-bit elements as one unit.
Memory block_memory(std::string_view block, const Matrix& sizes, int unit_bits, const families::BlockParams& params = {},
                    std::string_view version = {});
/// Row-major memory of the transposed matrices.
Memory transposed(const Matrix& sizes);

// How kernels take the rows of w13.
RowPair gate_then_up(std::int64_t i, std::int64_t rows, const families::Setting&);    ///< [gate; up]
RowPair up_then_gate(std::int64_t i, std::int64_t rows, const families::Setting&);    ///< [up; gate]
RowPair up_first_pairs(std::int64_t i, std::int64_t rows, const families::Setting&);  ///< up 0, gate 0, up 1, ..
RowPair as_loaded(std::int64_t i, std::int64_t rows, const families::Setting&);  ///< pairs with gate first, or halves, as the checkpoint has them

// Numbers that families share.
double f32_number(std::uint64_t bits);
double e4m3_number(std::uint64_t code);  ///< a NaN for 0x7F and 0xFF
double e8m0_number(std::uint64_t code);  ///< a NaN for 255
// Casts that families share.
std::uint64_t f32_bias(layout::Role role, const families::Setting&, std::uint64_t unit);  ///< bf16 biases as fp32

}  // namespace mx::props
