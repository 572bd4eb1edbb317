#pragma once
// A tile: M x N dot products over one k under one contract, from codes in memory.

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/numerics/dot.hpp"

namespace mx {

/// Rows of codes along k. A code stands in the low bits of a word of tile_word_bytes() bytes, least significant first. Of tf32 the upper 19 bits of a
/// word of 32 are read. Scales: one code for each `block` elements of a row, words likewise; of ue4m3 the low seven bits are read.
struct TileOperand {
  const Format* format = nullptr;
  std::span<const std::uint8_t> codes;        ///< [rows][k]
  const Format* scale_format = nullptr;       ///< null: none
  std::span<const std::uint8_t> scales = {};  ///< [rows][ceil(k / block)]
  std::size_t block = 0;
};

/// What a tile is.
struct Tile {
  std::size_t m = 0, n = 0, k = 0;
  TileOperand a;                             ///< m rows
  TileOperand b;                             ///< n rows: the second matrix, transposed
  std::span<const std::uint32_t> c = {};     ///< [m][n] fp32 bits, of numbers that the contract's C has; empty: none
  std::span<const std::uint32_t> bias = {};  ///< [n] fp32 bits; empty: none
  const Format* output = &kF32;              ///< f32, bf16 or fp16; as narrowed() rounds
};

/// Bytes of the word that holds a code: 1 up to 8 bits, 2 up to 16, else 4.
std::size_t tile_word_bytes(const Format& format);

/// Throws Error(usage) for sizes that do not fit, words that are no code of their format, numbers of C that row.addend does not have, an output that
/// is none of the three.
void check_tile(const ContractRow& row, const Tile& tile, std::size_t outputs);

/// One row of an operand as the contract takes it. `row_index` counts its rows.
PreparedOperand prepared_row(const ContractRow& row, Side side, const TileOperand& operand, std::size_t row_index, std::size_t k);

/// out[m * n + j] = the code of dot(row m of a, row j of b, C, bias) in the output's format. Errors as check_tile(), prepare() and dot().
void multiply(const ContractRow& row, const Tile& tile, std::span<std::uint32_t> out);

}  // namespace mx
