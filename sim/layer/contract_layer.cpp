#include "sim/layer/contract_layer.hpp"

#include <algorithm>
#include <array>

#include "kernels/dot/row.hpp"
#include "kernels/moe/gemm.hpp"
#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "sim/execute/product.hpp"
#include "sim/execute/stage_checks.hpp"
#include "sim/layer/contract_runs.hpp"

namespace mx::sim {
namespace {

namespace quick = kernels::dot;
namespace panels = kernels::moe;

[[noreturn]] void refuse(const std::string& text, std::string_view where) { throw Error(ErrorCode::usage, text, std::string(where)); }

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

int step_of(LayerStage stage) { return row_of(stage).step; }

/// An activation of the engine in fp32. Sources are those of the rows of model/moe/activation_table.cpp.
struct NameRow {
  std::string_view name;
  std::string_view row;
  std::string_view limited = {};  ///< of a model with a limit; empty: `row`
};
constexpr std::array kNames{NameRow{"SWIGLUOAI", "swiglu_oai"},
                            NameRow{"SWIGLUOAI_UNINTERLEAVE", "swiglu_oai_uninterleave"},
                            NameRow{"SILU", "silu_and_mul", "silu_and_mul_clamp_torch"},
                            NameRow{"GELU", "gelu_and_mul"},
                            NameRow{"GELU_TANH", "gelu_tanh_and_mul"},
                            NameRow{"SWIGLUSTEP", "swiglu_step"},
                            NameRow{"SITU", "situ_and_mul"},
                            NameRow{"SILU_NO_MUL", "silu_no_mul"},
                            NameRow{"GELU_NO_MUL", "gelu_no_mul"},
                            NameRow{"GELU_TANH_NO_MUL", "gelu_tanh_no_mul"},
                            NameRow{"RELU2_NO_MUL", "relu2_no_mul"}};

/// Whether kernels take rows of such sizes: whole blocks of panels.
bool fits(const layout::Sizes& sizes) {
  constexpr std::int64_t kPanelBlock = 32;
  return sizes.hidden % kPanelBlock == 0 && sizes.intermediate % kPanelBlock == 0;
}

void check_inputs(const ContractExperts& experts, const LayerTokens& tokens, std::span<const StageValues> from, int last) {
  check_experts(tokens.ids, tokens.top_k, experts.sizes.experts);
  if (from.empty()) {
    require_columns(tokens, experts.sizes.hidden);
    if (tokens.x.size() != at(tokens.tokens() * experts.sizes.hidden))
      refuse("has " + std::to_string(tokens.x.size()) + " values for " + std::to_string(tokens.tokens()) + " tokens of " +
                 std::to_string(experts.sizes.hidden),
             "x");
  }
  if (last == step_of(LayerStage::out) && tokens.weights.size() != tokens.ids.size())
    refuse("has " + std::to_string(tokens.weights.size()) + " values for " + std::to_string(tokens.ids.size()) + " slots", "weights");
}

}  // namespace

const Recipe* recipe_under(Contract contract) { return contract == Contract::int8_block ? &recipe(profile_named(kOcp), kMxint8Block) : nullptr; }

UsedActivation activation_under_contracts(const ModelActivation& model) {
  const auto* const name = std::ranges::find(kNames, model.name, &NameRow::name);
  if (name == kNames.end()) throw Error(ErrorCode::unsupported, "activation " + model.name + " is none of the table's in fp32", "--contract");
  const moe::Activation& row = moe::activation_named(model.constants.limit != 0 && !name->limited.empty() ? name->limited : name->row);
  const auto own = [](std::uint32_t asked, std::uint32_t usual) { return asked == 0 ? usual : asked; };
  return {&row,
          {own(model.constants.alpha, row.constants.alpha), own(model.constants.beta, row.constants.beta),
           own(model.constants.limit, row.constants.limit), own(model.constants.linear_beta, row.constants.linear_beta)}};
}

ContractExperts contract_experts(const layout::CanonicalLayer& layer, const ModelActivation& activation, Contract contract, SumsBy sums,
                                 bool add_w2_bias) {
  const UsedActivation used = activation_under_contracts(activation);
  return contract_experts(
      layer,
      {.contract = contract, .activation = used.row, .constants = used.constants, .recipe = recipe_under(contract), .add_w2_bias = add_w2_bias},
      sums);
}

ContractExperts contract_experts(const layout::CanonicalLayer& layer, const moe::ScaledChoices& choices, SumsBy sums) {
  const bool single = choices.activation->pairing == moe::Pairing::single;
  if (layer.form.gated == single)
    refuse("experts are " + std::string(layer.form.gated ? "gated" : "not gated") + ", " + std::string(choices.activation->name) +
               " is an activation of " + (single ? "one row" : "gate and up"),
           "layer");
  ContractExperts experts{choices, layer.sizes, layer.form.gated, {}, {}, sums};
  const bool is_fused = choices.recipe == recipe_under(choices.contract) && choices.weight_on == moe::WeightPlace::output;
  if (sums == SumsBy::twins && is_fused && has_panels(choices.contract, layer.form.format) && fits(layer.sizes)) {
    experts.panels = std::make_shared<const panels::PanelLayer>(panels::pack(layer));
  } else {
    experts.rows = std::make_shared<const moe::ExpertRows>(layer);
  }
  return experts;
}

std::string how_text(const ContractExperts& experts) {
  const moe::ScaledChoices& choices = experts.choices;
  return std::string(choices.recipe == nullptr ? "none" : choices.recipe->format->name) + " x " + std::string(name_of(choices.contract)) + ", " +
         std::string(choices.activation->name) + " in fp32";
}

std::string_view twin_of(const ContractExperts& experts) {
  if (experts.panels) return "fused kernels";
  return experts.sums == SumsBy::twins && quick::takes(row_of(experts.choices.contract)) ? "quick rows" : "";
}

std::string_view kernel_of(const ContractExperts& experts) {
  return experts.panels ? panels::gemm_kernel_in_use(experts.choices.contract, *experts.panels->w13.format).name : "";
}

std::vector<StageValues> stage_forms(const ContractExperts& experts, const LayerTokens& tokens) {
  if (tokens.top_k < 1 || tokens.ids.empty() || tokens.ids.size() % at(tokens.top_k) != 0)
    refuse(std::to_string(tokens.ids.size()) + " experts are not tokens with " + std::to_string(tokens.top_k) + " each", "ids");
  const layout::Sizes& sizes = experts.sizes;
  const auto slots = static_cast<std::int64_t>(tokens.ids.size());
  std::vector<StageValues> forms;
  const auto add_codes = [&](LayerStage codes, LayerStage scales, std::int64_t rows, std::int64_t columns) {
    const Recipe* const recipe = experts.choices.recipe;
    if (recipe == nullptr) return;
    const std::int64_t block = recipe->format->block == 0 ? columns : recipe->format->block;
    forms.push_back({codes, "U8", {rows, columns}});
    forms.push_back({scales, *recipe->format->scale == kF32 ? "F32" : "U8", {rows, columns / block}});
  };
  add_codes(LayerStage::a1_codes, LayerStage::a1_scales, tokens.tokens(), sizes.hidden);
  forms.push_back({LayerStage::h13, "F32", {slots, (experts.gated ? 2 : 1) * sizes.intermediate}});
  forms.push_back({LayerStage::act, "F32", {slots, sizes.intermediate}});
  add_codes(LayerStage::act_codes, LayerStage::act_scales, slots, sizes.intermediate);
  forms.push_back({LayerStage::y, "F32", {slots, sizes.hidden}});
  forms.push_back({LayerStage::out, "F32", {tokens.tokens(), sizes.hidden}});
  return forms;
}

std::vector<StageValues> run_layer(const ContractExperts& experts, const LayerTokens& tokens, std::span<const StageValues> from,
                                   std::span<const LayerStage> wanted, const support::StopPoint& stop,
                                   const std::function<void(std::string_view)>& begun) {
  const std::vector<StageValues> forms = stage_forms(experts, tokens);
  const std::string_view contract = name_of(experts.choices.contract);
  if (!from.empty()) check_start(forms, from, contract);
  const int last = last_step(forms, from, wanted, contract);
  if (last < 0) return {};
  check_inputs(experts, tokens, from, last);
  stop.check();
  if (!experts.panels) return run_rows(experts, tokens, forms, from, wanted, last, stop, begun);
  if (begun) begun("the fused kernels");
  return run_fused(experts, tokens, forms, from, wanted, last);
}

std::uint64_t run_bytes(const ContractExperts& experts, const LayerTokens& tokens) {
  std::uint64_t elements = 0;
  for (const StageValues& form : stage_forms(experts, tokens)) elements += elements_of(form.shape);
  // Once as numbers, once as words, once as they are handed out.
  constexpr std::uint64_t kCopies = 3;
  return kCopies * elements * sizeof(std::uint32_t);
}

}  // namespace mx::sim
