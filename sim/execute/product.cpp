#include "sim/execute/product.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "kernels/dot/tile.hpp"
#include "kernels/moe/gemm.hpp"
#include "model/moe/weight_facts.hpp"
#include "model/numerics/f32.hpp"

namespace mx::sim {
namespace {

namespace panels = kernels::moe;

// What may compute sums in the model's stead.
constexpr std::string_view kQuickRows = "quick rows", kTiles = "tiles", kPanels = "panels";

std::uint32_t scaled(families::EpilogueScale order, std::uint32_t sum, std::uint32_t activations, std::uint32_t weights) {
  switch (order) {
    case families::EpilogueScale::product: return f32::mul(sum, f32::mul(activations, weights));
    case families::EpilogueScale::weight_first: return f32::mul(f32::mul(sum, weights), activations);
    case families::EpilogueScale::activation_first: break;
  }
  return f32::mul(f32::mul(sum, activations), weights);
}

std::uint32_t with_bias(const Execution& execution, std::uint32_t sum, std::uint32_t bias) {
  switch (execution.row->bias) {
    case families::BiasEntry::dropped: return sum;
    case families::BiasEntry::f32: return f32::add(sum, bias);
    case families::BiasEntry::after_bf16: break;
  }
  return in_bf16(execution, f32::add(in_bf16(execution, sum), in_bf16(execution, bias)));
}

/// Rows of 16-bit activations are what panels take.
bool is_bf16(const families::Quantizer& quantizer) { return quantizer.scope == families::ScaleScope::none || quantizer.back_to_bf16; }

/// Whether tiles take a row's products as they lie in memory: block scales that enter the terms, of both sides as the contract has them, and no
/// scale of a whole expert that changes those of the weights.
bool tiles_take(const ContractRow& contract, const families::Quantizer& quantizer, const families::ExecutionRow& row) {
  if (contract.scales != ScaleEntry::term || quantizer.scope != families::ScaleScope::block || quantizer.back_to_bf16) return false;
  const moe::WeightFacts& facts = moe::weight_facts(row.format);
  const bool keeps_scales = !layout::has_role(row.format, layout::Role::w13_global_scale) || row.global == families::GlobalScale::epilogue;
  return quantizer.format->block == contract.scale_block && quantizer.format->scale->width <= 8 && facts.coverage == moe::Coverage::group &&
         facts.scale != nullptr && keeps_scales;
}

/// Whether all scales of a format are those of blocks along k, which panels multiply in as the contract does; others enter behind a sum.
bool has_own_scales(layout::WeightFormat format) {
  const panels::PanelFormat& known = panels::panel_format_of(format);
  return known.scale != panels::PanelScale::e4m3 && known.scale_block != 0;
}

/// The bytes of some rows of every half of every expert, in their order: rows have equal parts of `bytes`.
std::vector<std::uint8_t> rows_alone(std::span<const std::uint8_t> bytes, const panels::PanelShape& shape, std::span<const std::int64_t> rows) {
  const std::size_t halves = shape.experts * shape.halves, width = bytes.size() / (halves * shape.columns);
  std::vector<std::uint8_t> alone;
  alone.reserve(halves * rows.size() * width);
  for (std::size_t half = 0; half < halves; ++half) {
    for (const std::int64_t row : rows) {
      const auto from = bytes.subspan((half * shape.columns + static_cast<std::size_t>(row)) * width, width);
      alone.insert(alone.end(), from.begin(), from.end());
    }
  }
  return alone;
}

}  // namespace

bool has_panels(Contract contract, layout::WeightFormat format) {
  const auto known = std::ranges::find(panels::panel_formats(), format, &panels::PanelFormat::format);
  if (known == panels::panel_formats().end()) return false;
  return std::ranges::any_of(panels::gemm_kernels(), [&](const panels::GemmKernel& kernel) {
    return kernel.contract == contract && kernel.kind == known->kind && kernel.needs == 0;
  });
}

std::string_view twin_of(const Execution& execution) {
  const Contract contract = execution.contract;
  if (execution.sums == SumsBy::model) return {};
  if (execution.launched().products.front()) return kernels::dot::takes(row_of(contract)) ? kQuickRows : std::string_view();
  if (kernels::dot::takes(row_of(contract))) return kQuickRows;
  if (tiles_take(row_of(contract), *execution.first, *execution.row) && tiles_take(row_of(contract), *execution.second, *execution.row))
    return kTiles;
  if (is_bf16(*execution.first) && is_bf16(*execution.second) && has_panels(contract, execution.row->format) && has_own_scales(execution.row->format))
    return kPanels;
  return {};
}

Product::Product(const Execution& execution, const Weights& weights, Matrix matrix, const Activations& input, families::ScaleMemory read_as,
                 const ByExpert& groups, std::span<const std::int64_t> row_of, std::optional<std::span<const std::int64_t>> wanted)
    : execution_(execution),
      row_(*execution.row),
      contract_(mx::row_of(execution.contract)),
      weights_(weights),
      matrix_(matrix),
      input_(input),
      sums_(contract_, weights, execution.sums, false, execution.launched().reading,
            kernel_order(*execution.row, execution.activation) == layout::SourceOrder::gpt_oss),
      wanted_(wanted.value_or(std::span<const std::int64_t>())) {
  constexpr std::int64_t kPanelBlock = 32;
  const std::int64_t length = weights.length(matrix);
  const std::string_view twin = twin_of(execution);
  const bool by_tiles = twin == kTiles && wanted && weights.is_coded() && length % contract_.scale_block == 0;
  const bool by_panels = twin == kPanels && wanted && length % kPanelBlock == 0;
  for (const auto& [expert, positions] : groups) {
    Group& group = groups_[expert];
    for (const std::size_t at : positions) group.rows.push_back(static_cast<std::size_t>(row_of[at]));
  }
  const std::optional<families::SharedSums>& sums =
      execution.launched().products.at(matrix == Matrix::w13 ? families::kFirstProduct : families::kSecondProduct);
  if (sums) {
    shared_.emplace(*sums, contract_, execution.sums);
    share_rows(read_as);
  } else if (by_tiles) {
    run_tiles(read_as);
  } else if (by_panels) {
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

void Product::share_rows(families::ScaleMemory read_as) {
  const std::int64_t length = shared_->sums().length;
  for (const auto& [expert, group] : groups_) {
    std::vector<PreparedOperand> slots;
    for (const std::size_t row : group.rows)
      slots.push_back(widened(prepared_row(contract_, input_, static_cast<std::int64_t>(row), read_as), length));
    shared_->add(expert, std::move(slots));
  }
  shared_->finish();
}

std::int64_t Product::column_of(std::int64_t half, std::int64_t n) const {
  if (matrix_ == Matrix::w2 || weights_.halves(matrix_) == 1) return n;
  return kernel_order(row_, execution_.activation) == layout::SourceOrder::gpt_oss ? 2 * n + half : half * (shared_->sums().columns / 2) + n;
}

/// Of the rows that are wanted, where not all are.
void Product::run_panels() {
  const auto length = static_cast<std::size_t>(weights_.length(matrix_));
  panels::PanelShape shape{static_cast<std::size_t>(weights_.sizes().experts), static_cast<std::size_t>(weights_.halves(matrix_)),
                           static_cast<std::size_t>(weights_.rows(matrix_)), length};
  const panels::PanelFormat& format = panels::panel_format_of(row_.format);
  std::span<const std::uint8_t> codes = weights_.codes_of(matrix_).bytes, scales = weights_.scales_of(matrix_).bytes;
  std::vector<std::uint8_t> few_codes, few_scales;
  // Scales of fp32 are those of squares of rows.
  if (format.scale == panels::PanelScale::e8m0 && !wanted_.empty() && wanted_.size() < shape.columns) {
    codes = few_codes = rows_alone(codes, shape, wanted_);
    scales = few_scales = rows_alone(scales, shape, wanted_);
    shape.columns = wanted_.size();
    for (std::size_t place = 0; place < wanted_.size(); ++place) place_of_[wanted_[place]] = place;
  }
  const panels::PanelMatrix matrix = panels::pack(shape, format, layout::SourceOrder::standard, {codes, scales, {}, {}});
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

void Product::run_tiles(families::ScaleMemory read_as) {
  const auto length = static_cast<std::size_t>(weights_.length(matrix_));
  const auto halves = static_cast<std::size_t>(weights_.halves(matrix_));
  for (std::size_t place = 0; place < wanted_.size(); ++place) place_of_[wanted_[place]] = place;
  CodedRow coded;
  for (auto& [expert, group] : groups_) {
    const CodedRows input = coded_rows(input_, group.rows, length, static_cast<std::size_t>(contract_.scale_block), read_as);
    CodedRows weights;
    for (std::size_t half = 0; half < halves; ++half) {
      for (const std::int64_t n : wanted_) {
        weights_.read_coded(matrix_, expert, static_cast<std::int64_t>(half), n, coded);
        weights.codes.insert(weights.codes.end(), coded.codes.begin(), coded.codes.end());
        weights.scales.insert(weights.scales.end(), coded.scales.begin(), coded.scales.end());
        group.totals.push_back(coded.total);
      }
    }
    const std::size_t columns = halves * wanted_.size();
    const auto block = static_cast<std::size_t>(contract_.scale_block);
    const Tile tile{.m = group.rows.size(),
                    .n = columns,
                    .k = length,
                    .a = {&element_format(input_), input.codes, input_.quantizer->format->scale, input.scales, block},
                    .b = {&weights_.element_format(), weights.codes, weights_.scale_format(), weights.scales, block}};
    std::vector<std::uint32_t> sums(tile.m * tile.n);
    kernels::dot::multiply(contract_, tile, sums, {&kernels::isa_tier(), omp_get_max_threads()});
    group.sums.resize(sums.size());
    std::ranges::transform(sums, group.sums.begin(), [](std::uint32_t bits) { return std::bit_cast<float>(bits); });
  }
}

void Product::row(std::int64_t expert, std::int64_t half, std::int64_t n, std::span<std::uint32_t> out, Possible* possible) const {
  const Group& group = groups_.at(expert);
  std::uint32_t total = f32::kOne;
  const std::uint32_t bias = weights_.bias(matrix_, expert, half, n);
  const bool has_bias = weights_.has_bias() && row_.bias != families::BiasEntry::dropped;
  bool adds_bias = has_bias;
  if (shared_) {
    WeightRow weight = sums_.weight_row(matrix_, expert, half, n);
    std::optional<std::uint32_t> scale;
    if (shared_->sums().scales_slices) {
      const bool has_one = weight.scales.size() == 1;
      scale = has_one ? to_f32(weight.scales.front()) : weight.total;
      if (has_one) weight.scales.clear();
      weight.total = f32::kOne;
    }
    total = weight.total;
    adds_bias = has_bias && !shared_->sums().adds_bias;
    shared_->row(expert, column_of(half, n), widened(prepare(contract_, Side::b, weight.operand()), shared_->sums().length),
                 {scale, has_bias && !adds_bias ? std::optional(bias) : std::nullopt}, out, possible);
  } else if (group.inputs) {
    total = sums_.row(matrix_, expert, half, n, *group.inputs, {}, out);
  } else {
    const std::size_t width = group.sums.size() / group.rows.size();
    const bool tiled = !group.totals.empty();
    const auto at = place_of_.empty() ? static_cast<std::size_t>(half * weights_.rows(matrix_) + n)
                                      : static_cast<std::size_t>(half) * wanted_.size() + place_of_.at(n);
    if (tiled) total = group.totals[at];
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::bit_cast<std::uint32_t>(group.sums[i * width + at]);
  }
  if (leaves_out_global()) total = f32::kOne;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto finish = [&](std::uint32_t& bits) {
      bits = scaled(execution_.epilogue(), bits, input_.row_scale[group.rows[i]], total);
      if (adds_bias) bits = with_bias(execution_, bits, bias);
    };
    finish(out[i]);
    if (possible != nullptr) std::ranges::for_each((*possible)[i], finish);
  }
}

std::uint32_t Product::weight_factor(std::int64_t expert) const { return leaves_out_global() ? weights_.global_scale(matrix_, expert) : f32::kOne; }

PreparedOperand Product::widened(PreparedOperand operand, std::int64_t length) const {
  const auto wanted = static_cast<std::size_t>(length);
  if (operand.elements >= wanted) return operand;
  const std::vector<Value> elements(wanted);
  Operand zeros{elements, contract_.a_formats.empty() ? nullptr : contract_.a_formats.front()};
  std::vector<Value> ones;
  if (contract_.scales == ScaleEntry::term) {
    ones.assign((wanted + static_cast<std::size_t>(contract_.scale_block) - 1) / static_cast<std::size_t>(contract_.scale_block),
                decode(kF32, f32::kOne));
    zeros.scales = ones;
    zeros.block = contract_.scale_block;
    zeros.scale_format = contract_.scale_format;
  }
  const PreparedOperand behind = prepare(contract_, Side::a, zeros);
  for (std::size_t k = operand.factors.size(); k < behind.factors.size(); ++k) operand.factors.push_back(behind.factors[k]);
  if (!operand.scales.empty() && operand.block != 0) operand.scales.resize((wanted + operand.block - 1) / operand.block, f32::kOne);
  operand.elements = wanted;
  return operand;
}

}  // namespace mx::sim
