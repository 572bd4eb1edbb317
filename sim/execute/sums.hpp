#pragma once
// Sums of products under a contract, a row of weights at a time: by the quick sums of kernels/dot where they have an answer, else by the model.

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/dot/row_set.hpp"
#include "model/families/launch.hpp"
#include "sim/execute/weights.hpp"

namespace mx::sim {

/// Who computes the sums of products. The bits are the same.
enum class SumsBy : std::uint8_t {
  model,  ///< number by number
  twins,  ///< the fast twins, where the contract has one
};

/// One side of dot products, made ready once.
struct Factors {
  PreparedOperand operand;
  kernels::dot::Row quick;  ///< empty where the model sums
};

/// Activations that meet the same rows of weights.
class Inputs {
 public:
  /// The factors must outlive this; all of one contract.
  Inputs(const ContractRow& contract, std::vector<const Factors*> factors, bool quick);

  std::size_t size() const { return factors_.size(); }

 private:
  friend class RowSums;
  std::vector<const Factors*> factors_;
  std::optional<kernels::dot::RowSet> quick_;  ///< none where the model sums
};

class RowSums {
 public:
  /// `folds_total`: the scale of a whole row is part of its elements. `weights` must outlive this.
  /// `by_turns`: rows of gate and up alternate.
  RowSums(const ContractRow& contract, const Weights& weights, SumsBy by, bool folds_total, families::WeightReading reading = {},
          bool by_turns = false);

  /// The side of the activations.
  Factors factors(PreparedOperand operand) const;

  /// Of one expert.
  Inputs inputs(std::vector<const Factors*> factors) const { return {contract_, std::move(factors), quick_}; }

  /// out[i] = fp32 bits of input i times one row of weights, `bias` as Addends has it. Gives the row's own scale where it is not folded.
  std::uint32_t row(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n, const Inputs& inputs, std::optional<std::uint32_t> bias,
                    std::span<std::uint32_t> out) const;

  /// A row as the kernel reads it.
  WeightRow weight_row(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n) const;

 private:
  /// Whether the kernel reads codes and scales of a row as they are.
  bool reads_all(Matrix matrix, std::int64_t half, std::int64_t n, const CodedRow& row) const;
  /// Makes of the layout's row what the kernel reads.
  void read(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n, WeightRow& row) const;
  bool is_cut(Matrix matrix, std::int64_t half, std::int64_t n) const;

  const ContractRow& contract_;
  const Weights& weights_;
  families::WeightReading reading_;
  bool by_turns_;
  bool quick_;
  bool folds_total_;
  std::optional<kernels::dot::RowTable> table_;
};

}  // namespace mx::sim
