#pragma once
// Dot products row by row under the contracts that sum exactly or align groups of products: the bits of mx::dot, or no answer for numbers that the
// plain arithmetic here does not hold. Tables and rows are made from what the model prepares.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/dot/aligned_args.hpp"
#include "model/numerics/dot.hpp"

namespace mx::kernels::dot {

/// Elements that share a unit in an exact sum.
inline constexpr std::size_t kChunk = 16;

/// An operand as the quick sums read it, filled up with zeros to whole groups. Of one contract either the first two arrays are there or the second
/// two.
struct Row {
  std::size_t elements = 0;
  bool nan = false;                     ///< of quick_row: one is a NaN, and so is every sum
  bool holds = true;                    ///< false: a NaN, an infinity, or numbers too large or too far apart
  std::vector<float> values;            ///< aligned groups
  std::vector<std::int16_t> exponents;  ///< aligned groups: nominal ones, of a zero kZeroExponent
  bool narrow = true;                   ///< aligned groups: products and their units are normal fp32 numbers
  std::vector<std::uint32_t> scales;    ///< of chains: fp32 bits, one for each `block` elements; empty: none
  std::size_t block = 0;
  std::vector<double> mantissas;      ///< exact sums: kChunk integers for each part
  std::vector<std::int32_t> units;    ///< exact sums: powers of two of each part, of zeros kNoUnit
  std::vector<std::uint32_t> chunks;  ///< exact sums: the chunk of each part, ascending; numbers far apart come in several parts
  int bits = 0;                       ///< exact sums: of the widest mantissa
};
inline constexpr std::int32_t kNoUnit = INT32_MAX;

/// True for contracts with a quick sum: exact, and aligned groups over k ascending, in one chain or in chains from +0 of whole groups.
bool takes(const ContractRow& contract);

/// Whether scales of the operands enter between chains.
bool scales_chains(const ContractRow& contract);

/// Aligned groups in one alignment with the sum before as a term, whose terms are truncated and whose zeros are +0: what the kernels of this folder
/// do, whatever the bits.
bool truncates_with_c(const ContractRow& contract);

/// From an operand of the same contract, either side. Throws Error(usage) for a contract that is not taken.
Row quick_row(const ContractRow& contract, const PreparedOperand& operand);

/// Rows of codes by table: what every code comes to beside every scale.
class RowTable {
 public:
  /// True where the table is small: codes and scales of 16 bits together, the scales folded into the elements.
  static bool takes(const ContractRow& contract, const Format& element, const Format* scale);
  /// `scale` null: elements have none. Throws Error(usage) where takes() is false.
  RowTable(const ContractRow& contract, Side side, const Format& element, const Format* scale);

  /// Overwrites `row`, whose memory is used again. A scale for each `block` codes; none without a scale format. Scales of chains are the caller's.
  void fill(Row& row, std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales, std::size_t block) const;

 private:
  /// All codes beside one scale.
  struct Column {
    Row codes;
    std::vector<std::uint8_t> marks;  ///< of each code: kNotZero, kRefused
  };
  const ContractRow* contract_;
  std::vector<Column> of_scale_;
};

/// fp32 bits of the dot product: the contract's NaN where a row says so; none where one of the rows does not hold its numbers or they do not fit
/// together: then the model has to be asked. `bias` as Addends has it, of contracts that take it into the sum. Throws Error(usage) for unequal
/// lengths.
std::optional<std::uint32_t> quick_dot(const ContractRow& contract, const Row& a, const Row& b, std::optional<std::uint32_t> bias = {});

}  // namespace mx::kernels::dot
