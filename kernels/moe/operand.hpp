#pragma once
// Activations made ready for a kernel: cut into the blocks of rows that it takes at once, and those into tiles (tile.hpp), each tile K by K. Where
// a kernel decodes a stretch of K for all rows, all tiles' numbers of that stretch lie together, in the order in which they are read.

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/moe/aligned.hpp"
#include "kernels/moe/panel.hpp"
#include "model/numerics/contract.hpp"

namespace mx::kernels::moe {

/// Rows of activations as they come in: bf16 codes [row][K], or MXINT8 codes [row][K] with E8M0 bytes [row][K / 32].
struct Bf16Rows {
  std::span<const std::uint16_t> codes;
};
struct Int8Rows {
  std::span<const std::int8_t> codes;
  std::span<const std::uint8_t> scales;
};
/// Rows of a format whose elements bf16 holds (FP8, MXFP8): their bf16 codes [row][K], and fp32 scales [row][K / block, rounded up].
struct ScaledRows {
  std::span<const std::uint16_t> codes;
  std::span<const float> scales;
  std::size_t block;
};

/// Consecutive rows that a kernel multiplies at once, and what it may assume about them.
struct RowBlock {
  std::size_t group;  ///< whose rows these are: an expert
  std::size_t first;  ///< row
  std::size_t rows;
  std::uint8_t least_exponent;  ///< bf16: smallest exponent field of a normal number, 255 when there is none
  std::uint8_t most_exponent;   ///< largest one of a finite number
  ScaleRange scales;  ///< int8: of all rows; fp32 scales: `least` is the smallest exponent field of one that is not zero, 255 when there is none
};

/// What an operand is made of.
struct OperandForm {
  std::size_t k = 0;
  Tiling tiling{};        ///< its kernel's
  std::size_t chain = 0;  ///< elements of K in a chain: of int8, or for each scale of a bf16 row; 0: rows have none
  bool int8() const { return tiling.form == RowForm::quads || tiling.form == RowForm::quad_blocks; }
  /// Of a row, in the form that takes most.
  std::size_t dwords() const { return int8() ? k / 4 : tiling.form == RowForm::singles || tiling.form_of_few == RowForm::singles ? k : k / 2; }
  std::size_t chains() const { return chain == 0 ? 0 : (k + chain - 1) / chain; }
};

/// One operand, ready for the tiles of one contract.
struct Operand {
  OperandForm form{};
  std::size_t rows = 0;
  Lines<std::uint32_t> data;
  Lines<std::int32_t> bases;
  Lines<std::int32_t> starts;
  Lines<float> scales;  ///< [chain][row] in each tile
  std::vector<RowBlock> row_blocks;
};

/// Makes room for groups of rows, each cut into blocks of its own; memory that the operand already has is used again. Throws Error(usage) for a K
/// that is not whole blocks of 32.
void make_room(Operand& operand, const OperandForm& form, std::span<const std::size_t> group_sizes);

/// Fills the block of rows `index`, whose row i is at rows[i] ([K] codes, [K / 32] scale bytes), its tiles by so many threads.
void fill_bf16(Operand& operand, std::size_t index, std::span<const std::uint16_t* const> rows, int threads);
void fill_int8(Operand& operand, std::size_t index, std::span<const std::int8_t* const> rows, std::span<const std::uint8_t* const> scales,
               int threads);

/// The same of rows with fp32 scales, [K / block] each; `block` is made of whole chains, or the row.
void fill_scaled(Operand& operand, std::size_t index, std::span<const std::uint16_t* const> rows, std::span<const float* const> scales,
                 std::size_t block, int threads);

/// True when a kernel has to take the careful way for these rows and columns. What the quick one assumes:
/// bf16-chain and bf16-pair: weights times their scales are normal bf16 numbers (of e2m1; bytes 2 to 252), and no product or sum is subnormal: the
/// smallest unit of an activation (2^(exponent field - 134)) times that of a code and of a scale (2^(byte - 127)) is at least 2^-126.
/// int8-block: both scales are normal numbers, those of rows such that 2^24 units of their sums are too, and their product is normal also in that
/// unit, 2^-7.
/// bf16-block: scales and their products are normal numbers, and no sum of chains is subnormal: the smallest unit of an activation times that of a
/// code and that of the scales is at least 2^-126. `columns`: scales of one panel, E8M0 or fp32; for fp32 ones the former two have their ways.
bool needs_care(Contract contract, const RowBlock& rows, const PanelFormat& format, const ScaleRange& columns);
/// The same of scales of E4M3, times the expert's. int8-block assumes that no product of a row's scale with them is beyond the normal numbers, also
/// in the unit of the sums, and that rows' scales are as above; bf16-chain and bf16-pair assume that no sum is subnormal, as above.
bool needs_care(Contract contract, const RowBlock& rows, const PanelFormat& format, float expert_scale);

/// True when bf16-chain and bf16-pair give the same where weights stay without their scales, E8M0 `columns`, and sums are turned into units of the
/// block's scale
/// at the begin of each block: a power of two, so that nothing changes but exponents. No weight times its scale and no sum of `k` products, as it is
/// or in such units, may leave the normal numbers.
bool fits_units(const RowBlock& rows, const PanelFormat& format, std::size_t k, const ScaleRange& columns);

}  // namespace mx::kernels::moe
