#include "sim/execute/sums.hpp"

#include <algorithm>
#include <utility>

#include "model/families/shifted_scale.hpp"
#include "model/numerics/f32.hpp"

namespace mx::sim {

namespace quick = kernels::dot;

namespace {

constexpr std::uint8_t kLargestByte = 0xFF;

/// The scales of every so many blocks are those of the first.
void take_first(PreparedOperand& operand, std::int64_t every) {
  if (every == 1 || operand.scales.empty()) return;
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < operand.scales.size(); i += static_cast<std::size_t>(every)) kept.push_back(operand.scales[i]);
  operand.scales = std::move(kept);
  operand.block *= static_cast<std::size_t>(every);
}

}  // namespace

RowSums::RowSums(const ContractRow& contract, const Weights& weights, SumsBy by, bool folds_total, families::WeightReading reading, bool by_turns)
    : contract_(contract),
      weights_(weights),
      reading_(reading),
      by_turns_(by_turns),
      quick_(by == SumsBy::twins && quick::takes(contract)),
      folds_total_(folds_total) {
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

bool RowSums::is_cut(Matrix matrix, std::int64_t half, std::int64_t n) const {
  if (reading_.odd_rows_end == 0 || matrix != Matrix::w13) return false;
  return (by_turns_ ? half : half * weights_.rows(matrix) + n) % 2 == 1;
}

bool RowSums::reads_all(Matrix matrix, std::int64_t half, std::int64_t n, const CodedRow& row) const {
  if (is_cut(matrix, half, n) || reading_.scales_every != 1 || reading_.exponent != 0 || reading_.code != nullptr) return false;
  return !reading_.shifts_scales || std::ranges::none_of(row.scales, [](std::uint8_t byte) { return byte == 0 || byte == kLargestByte; });
}

Factors RowSums::factors(PreparedOperand operand) const {
  take_first(operand, reading_.scales_every);
  Factors factors{std::move(operand), {}};
  if (quick_) factors.quick = quick::quick_row(contract_, factors.operand);
  return factors;
}

void RowSums::read(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n, WeightRow& row) const {
  if (reading_.code != nullptr) {
    CodedRow coded;
    weights_.read_coded(matrix, expert, half, n, coded);
    for (std::size_t k = 0; k < row.elements.size(); ++k) row.elements[k] = reading_.code(coded.codes[k]);
    row.format = nullptr;
  }
  if (reading_.exponent != 0) {
    for (Value& element : row.elements) {
      if (element.cls == ValueClass::finite) element.exponent += reading_.exponent;
    }
    row.format = nullptr;
  }
  if (is_cut(matrix, half, n)) {
    for (auto k = static_cast<std::size_t>(reading_.odd_rows_end); k < row.elements.size(); ++k) row.elements[k] = {};
  }
  if (reading_.shifts_scales && row.scale_format != nullptr && *row.scale_format == kE8m0) {
    // The format's own readings of the bytes: NaN, and 2^-127, which no other byte has.
    for (Value& scale : row.scales) {
      if (scale.cls == ValueClass::nan) scale = families::shifted_scale(kLargestByte);
      if (scale == decode(kE8m0, 0)) scale = families::shifted_scale(0);
    }
  }
  if (reading_.scale == nullptr) return;
  const auto as_read = [&](std::uint32_t f32) { return reading_.scale(f32) << 16U; };
  for (Value& scale : row.scales) scale = decode(kF32, as_read(to_f32(scale)));
  if (row.scales.empty()) row.total = as_read(row.total);
}

WeightRow RowSums::weight_row(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n) const {
  WeightRow weight = weights_.row(matrix, expert, half, n);
  read(matrix, expert, half, n, weight);
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
      take_first(*operand, reading_.scales_every);
    }
    return *operand;
  };
  // Every row of a layer comes by: the memory is kept.
  thread_local CodedRow coded;
  thread_local quick::Row row_of_weights;
  bool by_table = false;
  if (table_) {
    weights_.read_coded(matrix, expert, half, n, coded);
    by_table = (!folds_total_ || coded.total == f32::kOne) && reads_all(matrix, half, n, coded);
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
