#pragma once
// Rows that all meet the same other rows: laid side by side where the processor has a kernel that takes them so.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/dot/aligned_args.hpp"
#include "kernels/dot/row.hpp"
#include "kernels/isa.hpp"

namespace mx::kernels::dot {

class RowSet {
 public:
  /// Rows of one length, each made by quick_row of the contract; they must outlive this.
  RowSet(const ContractRow& contract, std::vector<const Row*> rows, const IsaTier& tier = isa_tier());

  /// out[i] = quick_dot(contract, row i, other, bias). Errors as there.
  void dots(const Row& other, std::optional<std::uint32_t> bias, std::span<std::optional<std::uint32_t>> out) const;

 private:
  /// Up to kLanes rows, from `first` on.
  struct Block {
    std::size_t first;
    std::vector<float> values;            ///< [length][kLanes]
    std::vector<std::int16_t> exponents;  ///< likewise
  };
  void sum_block(const Block& block, const Row& other, std::span<std::optional<std::uint32_t>> out) const;
  void sum_chain(const Block& block, const Row& other, std::size_t first, std::size_t length, std::array<float, kLanes>& sums) const;

  const ContractRow* contract_;
  AlignedFunction* kernel_;  ///< null: rows are summed one by one
  std::vector<const Row*> rows_;
  std::vector<Block> blocks_;  ///< of all rows, for the kernel
};

}  // namespace mx::kernels::dot
