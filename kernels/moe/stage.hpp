#pragma once
// What enters a product: rows of fp32 numbers rounded to bf16 or quantized in blocks, as the contract takes them.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/isa.hpp"
#include "kernels/moe/aligned.hpp"
#include "kernels/moe/dequantize.hpp"
#include "kernels/moe/quantize.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/recipe.hpp"

namespace mx::kernels::moe {

/// Every implementation of the way back to bf16, the plainest first.
std::span<const KernelRow<DequantizeFunction>> dequantize_kernels();

/// bf16 of fp32 bits: nearest even, overflow to Inf, NaN stays one.
std::uint16_t to_bf16(std::uint32_t f32);

/// Rows that are ready to be placed in an operand: bf16 codes, perhaps with fp32 scales, or MXINT8 codes and one scale byte for each 32.
struct StagedRows {
  std::size_t length = 0;
  std::size_t scales_per_row = 0;  ///< fp32 ones
  Lines<std::uint16_t> bf16;
  Lines<std::int8_t> int8;
  Lines<std::uint8_t> scales;
  Lines<float> f32_scales;

  const std::uint16_t* bf16_row(std::size_t index) const { return bf16.data() + index * length; }
  const std::int8_t* int8_row(std::size_t index) const { return int8.data() + index * length; }
  const float* f32_scale_row(std::size_t index) const { return f32_scales.data() + index * scales_per_row; }
  const std::uint8_t* scale_row(std::size_t index) const { return scales.data() + index * length / kQuantizedBlock; }
};

/// How rows of one layer become operands.
class RowStage {
 public:
  /// `recipe` null: rows are rounded to bf16. Throws Error(unsupported) for a contract and recipe that do not go together: int8-block takes MXINT8,
  /// bf16-chain and bf16-block none or any format whose elements bf16 holds, in blocks along the row (bf16-block: as chain_of() takes them); for a
  /// recipe of scales alone, one that takes no fp32 numbers or needs a number of the whole tensor; and for a tier that does not run here. The recipe
  /// must outlive the stage.
  RowStage(Contract contract, const Recipe* recipe, const IsaTier& tier);

  bool int8() const { return way_ == Way::int8; }
  /// True when rows have fp32 scales beside them, one for each block_of(length).
  bool scaled() const { return way_ == Way::scaled; }
  std::size_t block_of(std::size_t length) const;
  /// True when bf16 rows need no work at all.
  bool keeps_bf16() const { return way_ == Way::bf16; }
  /// Throws Error(usage) unless a row of `length` is whole blocks.
  void check_length(std::size_t length) const;

  /// Makes room for `rows` rows of `length`.
  void make_room(StagedRows& staged, std::size_t rows, std::size_t length) const;
  /// Writes the rows from `index` on, rounded or quantized: `rows` holds them one after the other.
  void put(StagedRows& staged, std::size_t index, std::span<const float> rows) const;

 private:
  enum class Way : std::uint8_t {
    bf16,         ///< rounded
    dequantized,  ///< to a format and back: codes times scales, each rounded once to bf16
    scaled,       ///< codes as bf16, scales as fp32
    int8,
  };

  void read_tables();
  void round(std::span<const float> rows, std::uint16_t* codes) const;
  void dequantize_all(std::span<const float> rows, std::size_t length, std::uint16_t* codes) const;
  void quantize_scaled(std::span<const float> rows, std::size_t length, std::uint16_t* codes, float* scales) const;
  void into_int8(std::span<const float> rows, std::int8_t* codes, std::uint8_t* scales) const;

  const Recipe* recipe_;
  IsaTier tier_;
  Way way_;
  QuantizeFunction* quick_;  ///< null unless it computes the recipe
  DequantizeFunction* dequantize_;
  std::array<std::uint16_t, 256> elements_;  ///< bf16 of codes
  std::array<float, 256> scales_;            ///< fp32 of scale bytes
};

}  // namespace mx::kernels::moe
