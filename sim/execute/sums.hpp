#pragma once
// Sums of products under a contract, a row of weights at a time: by the quick sums of kernels/dot where they have an answer, else by the model.

#include <optional>
#include <span>

#include "kernels/dot/row.hpp"
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

class RowSums {
 public:
  /// `folds_total`: the scale of a whole row is part of its elements. `weights` must outlive this.
  RowSums(const ContractRow& contract, const Weights& weights, SumsBy by, bool folds_total);

  /// The side of the activations.
  Factors factors(PreparedOperand operand) const;

  /// out[i] = fp32 bits of inputs[i] times one row of weights, `bias` as Addends has it. Gives the row's own scale where it is not folded.
  std::uint32_t row(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n, std::span<const Factors* const> inputs,
                    std::optional<std::uint32_t> bias, std::span<std::uint32_t> out) const;

 private:
  WeightRow weight_row(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n) const;

  const ContractRow& contract_;
  const Weights& weights_;
  bool quick_;
  bool folds_total_;
  std::optional<kernels::dot::RowTable> table_;
};

}  // namespace mx::sim
