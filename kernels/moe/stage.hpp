#pragma once
// What enters a product: rows of fp32 numbers rounded to bf16 or quantized to MXINT8, as the contract takes them.

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/isa.hpp"
#include "kernels/moe/aligned.hpp"
#include "kernels/moe/quantize.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/recipe.hpp"

namespace mx::kernels::moe {

/// Every implementation of the MXINT8 quantizer, the plainest first.
std::span<const KernelRow<QuantizeFunction>> quantize_kernels();

/// bf16 of fp32 bits: nearest even, overflow to Inf, NaN stays one.
std::uint16_t to_bf16(std::uint32_t f32);

/// Rows that are ready to be placed in an operand: bf16 codes, or MXINT8 codes and one scale byte for each 32.
struct StagedRows {
  std::size_t length = 0;
  Lines<std::uint16_t> bf16;
  Lines<std::int8_t> int8;
  Lines<std::uint8_t> scales;

  const std::uint16_t* bf16_row(std::size_t index) const { return bf16.data() + index * length; }
  const std::int8_t* int8_row(std::size_t index) const { return int8.data() + index * length; }
  const std::uint8_t* scale_row(std::size_t index) const { return scales.data() + index * length / kQuantizedBlock; }
};

/// How rows of one layer become operands.
class RowStage {
 public:
  /// `recipe` null: rows are rounded to bf16. Throws Error(unsupported) for a contract and recipe that do not go together: int8-block takes MXINT8,
  /// bf16-chain none or any block format whose products bf16 holds, bf16-block none.
  RowStage(Contract contract, const Recipe* recipe, const IsaTier& tier);

  bool int8() const { return int8_; }
  /// True when bf16 rows need no work at all.
  bool keeps_bf16() const { return recipe_ == nullptr; }
  /// Throws Error(usage) unless a row of `length` is whole blocks.
  void check_length(std::size_t length) const;

  /// Makes room for `rows` rows of `length`.
  void make_room(StagedRows& staged, std::size_t rows, std::size_t length) const;
  /// Writes row `index`, rounded or quantized.
  void put(StagedRows& staged, std::size_t index, std::span<const float> row) const;

 private:
  void into_bf16(std::span<const float> row, std::uint16_t* codes) const;
  void into_int8(std::span<const float> row, std::int8_t* codes, std::uint8_t* scales) const;

  const Recipe* recipe_;
  bool int8_;
  QuantizeFunction* quick_;  ///< null unless it computes the recipe
};

}  // namespace mx::kernels::moe
