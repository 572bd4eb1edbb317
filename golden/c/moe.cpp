// The C API of routers and of layers of experts.

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "golden/c/calls.hpp"
#include "golden/c/mxact.h"
#include "model/moe/layer.hpp"
#include "model/moe/slot_rows.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/f32.hpp"

namespace {

using namespace mx::golden::c_api;
using mx::Value;
using mx::moe::Slot;

/// The product of sizes, which is at most MXACT_MOST_LAYER.
std::size_t size_of(std::initializer_list<std::uint64_t> extents) {
  std::uint64_t size = 1;
  for (const std::uint64_t extent : extents) {
    require(extent > 0 && extent <= MXACT_MOST_LAYER, "a size out of range");
    size *= extent;
    require(size <= MXACT_MOST_LAYER, "a layer that is too large");
  }
  return static_cast<std::size_t>(size);
}

/// A caller's matrix: rows of codes and scales, checked once.
class Matrix {
 public:
  /// `factors` has one fp32 number for each `rows_of_factor` rows; empty: none.
  Matrix(const mxact_operand& given, std::size_t rows, std::size_t columns, std::span<const std::uint32_t> factors = {},
         std::size_t rows_of_factor = 1)
      : format_(&format_of(given.format)),
        columns_(columns),
        codes_(lanes_of(given.codes, rows * columns, MXACT_MOST_LAYER)),
        factors_(factors),
        rows_of_factor_(rows_of_factor) {
    require_codes(codes_, *format_);
    if (given.scale_format < 0) return;
    require(given.block > 0, "scales without a block");
    block_ = static_cast<std::size_t>(given.block);
    scale_format_ = &format_of(given.scale_format);
    scales_ = lanes_of(given.scales, rows * scales_of_row(), MXACT_MOST_LAYER);
    require_codes(scales_, *scale_format_);
  }

  /// The numbers of one row.
  void read(std::size_t row, std::span<Value> out) const {
    for (std::size_t k = 0; k < columns_; ++k) {
      Value value = mx::decode(*format_, codes_[row * columns_ + k]);
      if (scale_format_ != nullptr) value = mx::exact_product(value, mx::decode(*scale_format_, scales_[row * scales_of_row() + k / block_]));
      if (!factors_.empty()) value = mx::exact_product(value, mx::decode(mx::kF32, factors_[row / rows_of_factor_]));
      out[k] = value;
    }
  }

 private:
  std::size_t scales_of_row() const { return (columns_ + block_ - 1) / block_; }

  const mx::Format* format_;
  const mx::Format* scale_format_ = nullptr;
  std::size_t columns_;
  std::size_t block_ = 1;
  std::span<const std::uint32_t> codes_;
  std::span<const std::uint32_t> scales_;
  std::span<const std::uint32_t> factors_;
  std::size_t rows_of_factor_;
};

/// All numbers of a matrix of `rows` rows.
std::vector<Value> values_of(const mxact_operand* given, std::size_t rows, std::size_t columns) {
  require(given != nullptr, "a null pointer");
  const Matrix matrix(*given, rows, columns);
  std::vector<Value> values(rows * columns);
  for (std::size_t row = 0; row < rows; ++row) matrix.read(row, std::span(values).subspan(row * columns, columns));
  return values;
}

std::span<const std::uint32_t> lanes_or_none(const std::uint32_t* lanes, std::size_t count) {
  return lanes == nullptr ? std::span<const std::uint32_t>{} : std::span(lanes, count);
}

/// The caller's experts as the model reads them.
class GivenExperts final : public mx::moe::Experts {
 public:
  explicit GivenExperts(const mxact_experts& given)
      : sizes_{.experts = given.experts, .intermediate = given.intermediate, .hidden = given.hidden},
        rows13_(size_of({given.experts, 2, given.intermediate})),
        rows2_(size_of({given.experts, given.hidden})),
        w13_(given.w13, rows13_, given.hidden, lanes_or_none(given.w13_scale, given.experts), 2 * std::size_t{given.intermediate}),
        w2_(given.w2, rows2_, given.intermediate, lanes_or_none(given.w2_scale, given.experts), given.hidden),
        w13_bias_(lanes_or_none(given.w13_bias, rows13_)),
        w2_bias_(lanes_or_none(given.w2_bias, rows2_)) {}

  mx::layout::Sizes sizes() const override { return sizes_; }
  void w13_row(std::int64_t expert, std::int64_t half, std::int64_t row, std::span<Value> out) const override {
    w13_.read(index13(expert, half, row), out);
  }
  void w2_row(std::int64_t expert, std::int64_t row, std::span<Value> out) const override { w2_.read(index2(expert, row), out); }
  std::uint32_t w13_bias(std::int64_t expert, std::int64_t half, std::int64_t row) const override {
    return w13_bias_.empty() ? 0 : w13_bias_[index13(expert, half, row)];
  }
  std::uint32_t w2_bias(std::int64_t expert, std::int64_t row) const override { return w2_bias_.empty() ? 0 : w2_bias_[index2(expert, row)]; }

 private:
  std::size_t index13(std::int64_t expert, std::int64_t half, std::int64_t row) const {
    return static_cast<std::size_t>((2 * expert + half) * sizes_.intermediate + row);
  }
  std::size_t index2(std::int64_t expert, std::int64_t row) const { return static_cast<std::size_t>(expert * sizes_.hidden + row); }

  mx::layout::Sizes sizes_;
  std::size_t rows13_;
  std::size_t rows2_;
  Matrix w13_;
  Matrix w2_;
  std::span<const std::uint32_t> w13_bias_;
  std::span<const std::uint32_t> w2_bias_;
};

mx::moe::StageRounding rounding_of(std::int32_t word) {
  require(word == MXACT_ROUND_NONE || word == MXACT_ROUND_BF16, "no such rounding of a stage");
  return word == MXACT_ROUND_NONE ? mx::moe::StageRounding::none : mx::moe::StageRounding::bf16;
}

mx::moe::Quantization quantization_of(std::int32_t word) {
  require(word == MXACT_QUANTIZE_NONE || word == MXACT_QUANTIZE_MXFP8_RCEIL, "no such quantization of a stage");
  return word == MXACT_QUANTIZE_NONE ? mx::moe::Quantization::none : mx::moe::Quantization::mxfp8_rceil;
}

mx::moe::LayerChoices<std::uint32_t> choices_of(const mxact_layer_choices& given) {
  const mx::moe::Activation& activation = row_of(mx::moe::all_activations(), given.activation);
  const std::optional<mx::moe::GatedKind> gated = mx::moe::gated_kind(activation);
  require(gated.has_value(), "an activation that layers do not take");
  const mx::moe::ActivationConstants constants = constants_of(given.constants, activation);
  mx::moe::LayerChoices<std::uint32_t> choices{*gated, constants.alpha, constants.beta, constants.limit, mx::f32::kOne, {}};
  choices.stages.quant_x = quantization_of(given.quantize_x);
  choices.stages.round_h13 = rounding_of(given.round_gate_up);
  choices.stages.round_act = rounding_of(given.round_act);
  choices.stages.quant_act = quantization_of(given.quantize_act);
  choices.stages.round_expert_out = rounding_of(given.round_expert_out);
  require(given.weight_on_input == 0 || given.weight_on_input == 1, "weight_on_input is 0 or 1");
  if (given.weight_on_input == 1) choices.stages.weight_on = mx::moe::WeightPlace::input;
  return choices;
}

/// The slots of each token that have an expert.
std::vector<std::vector<Slot>> slots_of(std::uint32_t tokens, std::uint32_t top_k, const std::int32_t* chosen, const std::uint32_t* weights) {
  require(chosen != nullptr && weights != nullptr, "a null pointer");
  std::vector<std::vector<Slot>> slots(tokens);
  for (std::size_t i = 0; i < std::size_t{tokens} * top_k; ++i) {
    require(chosen[i] >= -1, "an expert below -1");
    if (chosen[i] >= 0) slots[i / top_k].push_back({chosen[i], weights[i]});
  }
  return slots;
}

void write_stage(const std::vector<std::vector<std::uint32_t>>& rows, std::span<const std::int32_t> chosen, std::size_t width, std::uint32_t* out) {
  if (out != nullptr) mx::moe::write_slot_rows(rows, chosen, width, out);
}

void write_slots(const std::vector<Slot>& slots, std::int32_t* chosen, std::uint32_t* weights) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    chosen[i] = static_cast<std::int32_t>(slots[i].expert);
    weights[i] = slots[i].weight;
  }
}

}  // namespace

extern "C" {

std::int32_t mxact_router_id(const char* name) { return id_of(mx::moe::all_routers(), name, mx::moe::router_named); }

std::int32_t mxact_route_logits(const mxact_routing* routing, const std::uint32_t* logits, const std::uint32_t* bias, std::int32_t* chosen,
                                std::uint32_t* weights) {
  return guarded([&] {
    require(routing != nullptr && chosen != nullptr && weights != nullptr, "a null pointer");
    const mx::moe::RouterRecipe& recipe = row_of(mx::moe::all_routers(), routing->router);
    const mx::moe::RouterSizes sizes{
        .top_k = routing->top_k, .groups = routing->groups, .topk_groups = routing->topk_groups, .factor = mx::decode(mx::kF32, routing->factor)};
    const auto all = lanes_of(logits, routing->experts, MXACT_MOST_LENGTH);
    write_slots(mx::moe::route_logits<mx::moe::F32Arithmetic>(recipe, sizes, all, lanes_or_none(bias, routing->experts)), chosen, weights);
  });
}

std::int32_t mxact_route_token(std::int32_t contract, std::uint32_t experts, std::uint32_t hidden, std::uint32_t top_k, const mxact_operand* x,
                               const mxact_operand* weight, const std::uint32_t* bias, std::int32_t* chosen, std::uint32_t* weights) {
  return guarded([&] {
    require(chosen != nullptr && weights != nullptr, "a null pointer");
    const mx::ContractRow& row = contract_of(contract);
    size_of({experts, hidden});
    mx::moe::Router router{experts, hidden, values_of(weight, experts, hidden), {}};
    const auto given = lanes_or_none(bias, experts);
    router.bias.assign(given.begin(), given.end());
    write_slots(mx::moe::route_topk_softmax(row.contract, values_of(x, 1, hidden), router, top_k), chosen, weights);
  });
}

std::int32_t mxact_moe_layer(const mxact_experts* experts, const mxact_layer_choices* choices, std::uint32_t tokens, std::uint32_t top_k,
                             const mxact_operand* x, const std::int32_t* chosen, const std::uint32_t* weights, const mxact_layer_stages* stages,
                             std::uint32_t* out) {
  return guarded([&] {
    require(experts != nullptr && choices != nullptr && out != nullptr, "a null pointer");
    const GivenExperts given(*experts);
    const std::size_t hidden = experts->hidden;
    const std::size_t intermediate = experts->intermediate;
    size_of({tokens, top_k, 2, std::max(hidden, intermediate)});
    const mx::moe::F32Arithmetic arithmetic{contract_of(choices->contract).contract};
    const auto slots = slots_of(tokens, top_k, chosen, weights);
    const auto run =
        mx::moe::run_layer(arithmetic, given, choices_of(*choices), values_of(x, tokens, hidden), experts->hidden, slots, stages != nullptr);
    std::ranges::copy(run.out, out);
    if (stages == nullptr) return;
    const std::span all_slots(chosen, std::size_t{tokens} * top_k);
    write_stage(run.h13, all_slots, 2 * intermediate, stages->gate_up);
    write_stage(run.act, all_slots, intermediate, stages->act);
    write_stage(run.expert_out, all_slots, hidden, stages->expert_out);
  });
}

}  // extern "C"
