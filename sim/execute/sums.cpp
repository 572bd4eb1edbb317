#include "sim/execute/sums.hpp"

#include <utility>

#include "model/numerics/f32.hpp"

namespace mx::sim {

namespace quick = kernels::dot;

RowSums::RowSums(const ContractRow& contract, const Weights& weights, SumsBy by, bool folds_total)
    : contract_(contract), weights_(weights), quick_(by == SumsBy::twins && quick::takes(contract)), folds_total_(folds_total) {
  const bool is_coded = weights.is_coded() || (weights.is_coded_in_squares() && quick::scales_chains(contract));
  if (quick_ && is_coded && quick::RowTable::takes(contract, weights.element_format(), weights.scale_format()))
    table_.emplace(contract, Side::b, weights.element_format(), weights.scale_format());
}

Inputs::Inputs(const ContractRow& contract, std::vector<const Factors*> factors, bool quick) : factors_(std::move(factors)) {
  if (!quick) return;
  std::vector<const quick::Row*> rows;
  for (const Factors* one : factors_) rows.push_back(&one->quick);
  quick_.emplace(contract, std::move(rows));
}

Factors RowSums::factors(PreparedOperand operand) const {
  Factors factors{std::move(operand), {}};
  if (quick_) factors.quick = quick::quick_row(contract_, factors.operand);
  return factors;
}

WeightRow RowSums::weight_row(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n) const {
  WeightRow weight = weights_.row(matrix, expert, half, n);
  if (!folds_total_) return weight;
  const Value total = decode(kF32, std::exchange(weight.total, f32::kOne));
  if (weight.scales.empty()) {
    weight.scales = {total};
    weight.block = static_cast<int>(weight.elements.size());
  } else {
    for (Value& scale : weight.scales) scale = exact_product(scale, total);
  }
  return weight;
}

std::uint32_t RowSums::row(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n, const Inputs& inputs,
                           std::optional<std::uint32_t> bias, std::span<std::uint32_t> out) const {
  std::optional<PreparedOperand> operand;
  std::uint32_t total = f32::kOne;
  const auto prepared = [&]() -> const PreparedOperand& {
    if (!operand) {
      const WeightRow weight = weight_row(matrix, expert, half, n);
      total = weight.total;
      operand = prepare(contract_, Side::b, weight.operand());
    }
    return *operand;
  };
  // Every row of a layer comes by: the memory is kept.
  thread_local CodedRow coded;
  thread_local quick::Row row_of_weights;
  bool by_table = false;
  if (table_) {
    weights_.read_coded(matrix, expert, half, n, coded);
    by_table = !folds_total_ || coded.total == f32::kOne;
  }
  if (by_table) {
    table_->fill(row_of_weights, coded.codes, coded.scales, static_cast<std::size_t>(weights_.sizes().group));
    row_of_weights.scales = coded.square_scales;
    row_of_weights.block = static_cast<std::size_t>(coded.square);
    total = coded.total;
  } else if (quick_) {
    row_of_weights = quick::quick_row(contract_, prepared());
  }
  thread_local std::vector<std::optional<std::uint32_t>> quick_sums;
  quick_sums.assign(inputs.size(), std::nullopt);
  if (quick_) inputs.quick_->dots(row_of_weights, bias, quick_sums);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    out[i] = quick_sums[i] ? *quick_sums[i] : dot(contract_, inputs.factors_[i]->operand, prepared(), {.c = {}, .bias = bias});
  return total;
}

}  // namespace mx::sim
