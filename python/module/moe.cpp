// Parts of a layer of experts: its activation, its router, and the layer itself from numbers.

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "model/error.hpp"
#include "model/moe/layer.hpp"
#include "model/moe/slot_rows.hpp"
#include "model/numerics/contract.hpp"
#include "python/module/memory.hpp"
#include "python/module/operand.hpp"

namespace mx::python {
namespace {

using Words = std::vector<std::uint32_t>;

/// alpha, beta, limit, linear_beta as fp32 bits; none: the row's.
using Constants = std::array<std::optional<std::uint32_t>, 4>;

moe::ActivationConstants constants_of(const Constants& given, const moe::ActivationConstants& row) {
  return {given[0].value_or(row.alpha), given[1].value_or(row.beta), given[2].value_or(row.limit), given[3].value_or(row.linear_beta)};
}

nb::object activate(const std::string& activation, const std::string& type, const Constants& constants, const Bytes& gate, const Bytes& up) {
  Words results = words_of<std::uint32_t>(gate);
  const Words ups = words_of<std::uint32_t>(up);
  {
    const nb::gil_scoped_release unlocked;
    const OrdinaryMode mode;
    const moe::Activation& row = moe::activation_named(activation);
    const Format& format = format_named(type);
    const moe::ActivationConstants numbers = constants_of(constants, row.constants);
    for (std::size_t i = 0; i < results.size(); ++i) results[i] = moe::activate(row, format, results[i], ups[i], numbers);
  }
  return bytes_of_words(results);
}

/// Experts as int32 and weights as fp32 bits, [tokens, top_k], from fp32 bits of logits [tokens, experts] and of a bias.
std::pair<nb::object, nb::object> route(const std::string& router, std::int64_t top_k, std::int64_t groups, std::int64_t topk_groups,
                                        std::uint32_t factor, std::size_t experts, const Bytes& logits, const Bytes& bias) {
  const Words all = words_of<std::uint32_t>(logits);
  const Words added = words_of<std::uint32_t>(bias);
  std::vector<std::int32_t> chosen;
  Words weights;
  {
    const nb::gil_scoped_release unlocked;
    const OrdinaryMode mode;
    const moe::RouterRecipe& recipe = moe::router_named(router);
    const moe::RouterSizes sizes{.top_k = top_k, .groups = groups, .topk_groups = topk_groups, .factor = decode(kF32, factor)};
    for (std::size_t at = 0; at < all.size(); at += experts) {
      for (const moe::Slot& slot : moe::route_logits<moe::F32Arithmetic>(recipe, sizes, std::span(all).subspan(at, experts), added)) {
        chosen.push_back(static_cast<std::int32_t>(slot.expert));
        weights.push_back(slot.weight);
      }
    }
  }
  return {bytes_of_words(chosen), bytes_of_words(weights)};
}

/// Rows of numbers, w13 of every expert its gate rows, then its up rows; biases as fp32 bits, or none.
class NumberExperts final : public moe::Experts {
 public:
  NumberExperts(const layout::Sizes& sizes, const Given& w13, const Given& w2, const Bytes& w13_bias, const Bytes& w2_bias)
      : sizes_(sizes),
        w13_(values_of(w13)),
        w2_(values_of(w2)),
        w13_bias_(words_of<std::uint32_t>(w13_bias)),
        w2_bias_(words_of<std::uint32_t>(w2_bias)) {}

  /// Numbers of each expert times its factor, exactly; no factors: as they are.
  void scale(const Bytes& w13_scale, const Bytes& w2_scale) {
    multiply(w13_, words_of<std::uint32_t>(w13_scale));
    multiply(w2_, words_of<std::uint32_t>(w2_scale));
  }

  layout::Sizes sizes() const override { return sizes_; }
  void w13_row(std::int64_t expert, std::int64_t half, std::int64_t row, std::span<Value> out) const override {
    copy(w13_, index13(expert, half, row), out);
  }
  void w2_row(std::int64_t expert, std::int64_t row, std::span<Value> out) const override { copy(w2_, index2(expert, row), out); }
  std::uint32_t w13_bias(std::int64_t expert, std::int64_t half, std::int64_t row) const override {
    return w13_bias_.empty() ? 0 : w13_bias_[index13(expert, half, row)];
  }
  std::uint32_t w2_bias(std::int64_t expert, std::int64_t row) const override { return w2_bias_.empty() ? 0 : w2_bias_[index2(expert, row)]; }

 private:
  std::size_t index13(std::int64_t expert, std::int64_t half, std::int64_t row) const {
    return static_cast<std::size_t>((2 * expert + half) * sizes_.intermediate + row);
  }
  std::size_t index2(std::int64_t expert, std::int64_t row) const { return static_cast<std::size_t>(expert * sizes_.hidden + row); }
  static void copy(std::span<const Value> all, std::size_t row, std::span<Value> out) {
    std::ranges::copy(all.subspan(row * out.size(), out.size()), out.begin());
  }
  static void multiply(std::vector<Value>& all, const Words& factors) {
    for (std::size_t i = 0; i < all.size() && !factors.empty(); ++i) {
      all[i] = exact_product(all[i], decode(kF32, factors[i / (all.size() / factors.size())]));
    }
  }

  layout::Sizes sizes_;
  std::vector<Value> w13_;
  std::vector<Value> w2_;
  Words w13_bias_;
  Words w2_bias_;
};

/// quantize_x, round_gate_up, round_act, quantize_act, round_expert_out, weight_on_input.
using Switches = std::array<bool, 6>;

moe::LayerChoices<std::uint32_t> choices_of(const std::string& activation, const Constants& constants, const Switches& on) {
  const moe::Activation& row = moe::activation_named(activation);
  const std::optional<moe::GatedKind> gated = moe::gated_kind(row);
  if (!gated) {
    throw Error(ErrorCode::usage, "'" + activation + "' is none that layers take: swiglu_oai or silu_and_mul", "activation");
  }
  const moe::ActivationConstants numbers = constants_of(constants, row.constants);
  moe::LayerChoices<std::uint32_t> choices{*gated, numbers.alpha, numbers.beta, numbers.limit, f32::kOne, {}};
  const auto quantized = [](bool wanted) { return wanted ? moe::Quantization::mxfp8_rceil : moe::Quantization::none; };
  const auto rounded = [](bool wanted) { return wanted ? moe::StageRounding::bf16 : moe::StageRounding::none; };
  choices.stages.quant_x = quantized(on[0]);
  choices.stages.round_h13 = rounded(on[1]);
  choices.stages.round_act = rounded(on[2]);
  choices.stages.quant_act = quantized(on[3]);
  choices.stages.round_expert_out = rounded(on[4]);
  if (on[5]) choices.stages.weight_on = moe::WeightPlace::input;
  return choices;
}

/// A row for each slot.
Words with_gaps(const std::vector<Words>& rows, std::span<const std::int32_t> chosen, std::size_t width) {
  Words all(chosen.size() * width);
  moe::write_slot_rows(rows, chosen, width, all.data());
  return all;
}

using Layer = std::tuple<Given, Given, Bytes, Bytes, Bytes, Bytes>;  ///< w13, w2, their factors, their biases

/// fp32 bits of out [tokens, hidden], and with `keep` of gate_up, act and expert_out, a row for each slot.
std::vector<nb::object> moe_layer(const std::string& contract, const std::string& activation, const Constants& constants, const Switches& on,
                                  const std::array<std::int64_t, 3>& extents, const Layer& layer, const Given& x, std::size_t top_k, const Bytes& ids,
                                  const Bytes& weights, bool keep) {
  const std::vector<std::int32_t> chosen = words_of<std::int32_t>(ids);
  const Words factors = words_of<std::uint32_t>(weights);
  moe::LayerOutputs<std::uint32_t> made;
  const auto [experts, intermediate, hidden] = extents;
  {
    const nb::gil_scoped_release unlocked;
    const OrdinaryMode mode;
    const Team team;
    const auto& [w13, w2, w13_scale, w2_scale, w13_bias, w2_bias] = layer;
    const moe::LayerChoices<std::uint32_t> choices = choices_of(activation, constants, on);
    NumberExperts given({.experts = experts, .intermediate = intermediate, .hidden = hidden}, w13, w2, w13_bias, w2_bias);
    given.scale(w13_scale, w2_scale);
    std::vector<std::vector<moe::Slot>> slots(chosen.size() / top_k);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] >= 0) slots[i / top_k].push_back({chosen[i], factors[i]});
    }
    const moe::F32Arithmetic arithmetic{row_of(contract_named(contract)).contract};
    made = moe::run_layer(arithmetic, given, choices, values_of(x), hidden, std::span<const std::vector<moe::Slot>>(slots), keep);
  }
  std::vector<nb::object> results{bytes_of_words(made.out)};
  if (!keep) return results;
  results.push_back(bytes_of_words(with_gaps(made.h13, chosen, 2 * static_cast<std::size_t>(intermediate))));
  results.push_back(bytes_of_words(with_gaps(made.act, chosen, static_cast<std::size_t>(intermediate))));
  results.push_back(bytes_of_words(with_gaps(made.expert_out, chosen, static_cast<std::size_t>(hidden))));
  return results;
}

}  // namespace

void bind_moe(nb::module_& module) {
  module.def("activate", activate, nb::arg("activation"), nb::arg("type"), nb::arg("constants"), nb::arg("gate"), nb::arg("up"));
  module.def("route", route, nb::arg("router"), nb::arg("top_k"), nb::arg("groups"), nb::arg("topk_groups"), nb::arg("factor"), nb::arg("experts"),
             nb::arg("logits"), nb::arg("bias"));
  module.def("moe_layer", moe_layer, nb::arg("contract"), nb::arg("activation"), nb::arg("constants"), nb::arg("switches"), nb::arg("extents"),
             nb::arg("layer"), nb::arg("x"), nb::arg("top_k"), nb::arg("ids"), nb::arg("weights"), nb::arg("keep"));
}

}  // namespace mx::python
