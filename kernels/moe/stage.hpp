#pragma once
// What enters a product: rows of fp32 numbers rounded to bf16 or quantized to MXINT8, as the contract takes them.

#include <cstdint>
#include <span>
#include <vector>

#include "model/numerics/contract.hpp"
#include "model/numerics/recipe.hpp"

namespace mx::kernels::moe {

/// bf16 of fp32 bits: nearest even, overflow to Inf, NaN stays one.
std::uint16_t to_bf16(std::uint32_t f32);

/// How rows of one layer become operands.
class RowStage {
 public:
  /// `recipe` null: rows are rounded to bf16. Throws Error(unsupported) for a contract and recipe that do not go together: int8-block takes MXINT8,
  /// bf16-chain none or any block format whose products bf16 holds, bf16-block none.
  RowStage(Contract contract, const Recipe* recipe);

  bool int8() const { return int8_; }
  /// True when bf16 rows need no work at all.
  bool keeps_bf16() const { return recipe_ == nullptr; }
  /// Throws Error(usage) unless a row of `length` is whole blocks.
  void check_length(std::size_t length) const;

  void into_bf16(std::span<const float> row, std::uint16_t* codes) const;
  /// One scale byte for each 32 codes.
  void into_int8(std::span<const float> row, std::int8_t* codes, std::uint8_t* scales) const;

 private:
  const Recipe* recipe_;
  bool int8_;
  bool quick_;  ///< the recipe is one that quick_block computes
};

}  // namespace mx::kernels::moe
