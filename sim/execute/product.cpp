#include "sim/execute/product.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "kernels/moe/gemm.hpp"
#include "model/numerics/f32.hpp"

namespace mx::sim {
namespace {

namespace panels = kernels::moe;

std::uint32_t scaled(families::EpilogueScale order, std::uint32_t sum, std::uint32_t activations, std::uint32_t weights) {
  switch (order) {
    case families::EpilogueScale::product: return f32::mul(sum, f32::mul(activations, weights));
    case families::EpilogueScale::weight_first: return f32::mul(f32::mul(sum, weights), activations);
    case families::EpilogueScale::activation_first: break;
  }
  return f32::mul(f32::mul(sum, activations), weights);
}

std::uint32_t with_bias(families::BiasEntry entry, std::uint32_t sum, std::uint32_t bias) {
  switch (entry) {
    case families::BiasEntry::dropped: return sum;
    case families::BiasEntry::f32: return f32::add(sum, bias);
    case families::BiasEntry::after_bf16: break;
  }
  return to_bf16(f32::add(to_bf16(sum), to_bf16(bias)));
}

/// Rows of 16-bit activations are what panels take.
bool is_bf16(const families::Quantizer& quantizer) { return quantizer.scope == families::ScaleScope::none || quantizer.back_to_bf16; }

bool has_panels(Contract contract, layout::WeightFormat format) {
  const auto known = std::ranges::find(panels::panel_formats(), format, &panels::PanelFormat::format);
  if (known == panels::panel_formats().end()) return false;
  return std::ranges::any_of(panels::gemm_kernels(), [&](const panels::GemmKernel& kernel) {
    return kernel.contract == contract && kernel.kind == known->kind && kernel.needs == 0;
  });
}

}  // namespace

std::string_view twin_of(const Execution& execution) {
  const Contract contract = execution.unit->contract;
  if (execution.sums == SumsBy::model) return {};
  if (kernels::dot::takes(row_of(contract))) return "quick rows";
  if (is_bf16(*execution.first) && is_bf16(*execution.second) && has_panels(contract, execution.row->format)) return "panels";
  return {};
}

Product::Product(const Execution& execution, const Weights& weights, Matrix matrix, const Activations& input, families::ScaleMemory read_as,
                 const ByExpert& groups, std::span<const std::int64_t> row_of)
    : row_(*execution.row),
      contract_(mx::row_of(execution.unit->contract)),
      weights_(weights),
      matrix_(matrix),
      input_(input),
      sums_(contract_, weights, execution.sums, false) {
  constexpr std::int64_t kPanelBlock = 32;
  const std::int64_t length = weights.length(matrix);
  const bool by_panels = !twin_of(execution).empty() && !kernels::dot::takes(contract_) && length % kPanelBlock == 0;
  for (const auto& [expert, positions] : groups) {
    Group& group = groups_[expert];
    for (const std::size_t at : positions) group.rows.push_back(static_cast<std::size_t>(row_of[at]));
  }
  if (by_panels) {
    run_panels();
  } else {
    prepare_rows(read_as, length);
  }
}

void Product::prepare_rows(families::ScaleMemory read_as, std::int64_t length) {
  factors_.resize(static_cast<std::size_t>(input_.rows));
  for (std::size_t row = 0; row < factors_.size(); ++row)
    factors_[row] = sums_.factors(widened(prepared_row(contract_, input_, static_cast<std::int64_t>(row), read_as), length));
  for (auto& [expert, group] : groups_) {
    std::vector<const Factors*> own;
    for (const std::size_t row : group.rows) own.push_back(&factors_[row]);
    group.inputs = sums_.inputs(std::move(own));
  }
}

void Product::run_panels() {
  const auto length = static_cast<std::size_t>(weights_.length(matrix_));
  const panels::PanelShape shape{static_cast<std::size_t>(weights_.sizes().experts), static_cast<std::size_t>(weights_.halves(matrix_)),
                                 static_cast<std::size_t>(weights_.rows(matrix_)), length};
  const panels::PanelFormat& format = panels::panel_format_of(row_.format);
  const panels::PanelMatrix matrix =
      panels::pack(shape, format, layout::SourceOrder::standard, {weights_.codes_of(matrix_).bytes, weights_.scales_of(matrix_).bytes, {}, {}});
  const panels::GemmKernel& kernel = panels::gemm_kernel_in_use(contract_.contract, format);
  const auto columns = static_cast<std::size_t>(input_.columns);
  for (auto& [expert, group] : groups_) {
    std::vector<std::uint16_t> x(group.rows.size() * length);
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      for (std::size_t k = 0; k < columns; ++k) x[i * length + k] = static_cast<std::uint16_t>(input_.codes[group.rows[i] * columns + k]);
    }
    group.sums.resize(group.rows.size() * shape.halves * shape.columns);
    panels::gemm(kernel, matrix, static_cast<std::size_t>(expert), panels::Bf16Rows{x}, group.sums, omp_get_max_threads());
  }
}

void Product::row(std::int64_t expert, std::int64_t half, std::int64_t n, std::span<std::uint32_t> out) const {
  const Group& group = groups_.at(expert);
  std::uint32_t total = f32::kOne;
  if (group.inputs) {
    total = sums_.row(matrix_, expert, half, n, *group.inputs, {}, out);
  } else {
    const std::size_t width = group.sums.size() / group.rows.size();
    const auto at = static_cast<std::size_t>(half * weights_.rows(matrix_) + n);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::bit_cast<std::uint32_t>(group.sums[i * width + at]);
  }
  const std::uint32_t bias = weights_.bias(matrix_, expert, half, n);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint32_t sum = scaled(row_.epilogue, out[i], input_.row_scale[group.rows[i]], total);
    out[i] = weights_.has_bias() ? with_bias(row_.bias, sum, bias) : sum;
  }
}

PreparedOperand Product::widened(PreparedOperand operand, std::int64_t length) const {
  const auto wanted = static_cast<std::size_t>(length);
  if (operand.elements >= wanted) return operand;
  const PreparedOperand zeros = prepare(contract_, Side::a, {std::vector<Value>(wanted), contract_.a_formats.empty() ? nullptr : &kE4m3fn});
  for (std::size_t k = operand.factors.size(); k < zeros.factors.size(); ++k) operand.factors.push_back(zeros.factors[k]);
  if (!operand.scales.empty() && operand.block != 0) operand.scales.resize((wanted + operand.block - 1) / operand.block, f32::kOne);
  operand.elements = wanted;
  return operand;
}

}  // namespace mx::sim
