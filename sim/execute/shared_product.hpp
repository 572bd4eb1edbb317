#pragma once
// Products whose k the warps and blocks of a launch share: which chains an output is made of follows from its tile, and that from the slots that its
// expert has.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "kernels/dot/row.hpp"
#include "model/families/launch.hpp"
#include "sim/execute/sums.hpp"

namespace mx::sim {

/// Sums of one product. What it is made from must outlive it.
class SharedProduct {
 public:
  SharedProduct(const families::SharedSums& sums, const ContractRow& contract, SumsBy by);

  const families::SharedSums& sums() const { return sums_; }

  /// Takes the slots of an expert, experts ascending; the operand of each, as long as the launch's k.
  void add(std::int64_t expert, std::vector<PreparedOperand> slots);
  /// Cuts the tiles; behind it nothing is added.
  void finish();

  /// out[i] = fp32 bits of slot i of the expert by a row of its matrix, numbered as the kernel has them; `terms` as SharedSums::joined takes them.
  struct Terms {
    std::optional<std::uint32_t> scale;
    std::optional<std::uint32_t> bias;
  };
  /// `possible` as Product::row() has it.
  void row(std::int64_t expert, std::int64_t column, const PreparedOperand& weights, const Terms& terms, std::span<std::uint32_t> out,
           std::vector<std::vector<std::uint32_t>>* possible) const;

 private:
  /// An operand and, where quick sums take it, what they read of its runs.
  struct Side {
    PreparedOperand operand;
    std::map<std::pair<std::int64_t, std::int64_t>, kernels::dot::Row> quick;
  };
  struct Group {
    std::int64_t first_block;
    std::vector<Side> slots;
  };
  kernels::dot::Row quick_run(const PreparedOperand& operand, families::KSlice run) const;
  std::vector<families::KSlice> runs_of(std::int64_t block, std::int64_t column) const;

  const families::SharedSums& sums_;
  const ContractRow& contract_;
  bool quick_;
  std::int64_t tiles_;  ///< along the matrix's rows
  std::int64_t blocks_ = 0;
  std::map<std::int64_t, Group> groups_;
  families::KCut cut_{};
};

}  // namespace mx::sim
