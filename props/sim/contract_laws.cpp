// Layers under a contract: the fused kernels held against the model, stage by stage and from every stage.

#include <rapidcheck.h>

#include <algorithm>
#include <array>

#include "kernels/moe/gemm.hpp"
#include "props/sim/generators.hpp"
#include "props/sim/laws.hpp"
#include "sim/execute/product.hpp"
#include "sim/execute/sample_layer.hpp"
#include "sim/layer/contract_layer.hpp"

namespace mx::props {
namespace {

using sim::StageValues;

constexpr int kCases = 12;  // a case is a layer by two ways, and as many runs as it has steps

/// A format and a contract that kernels have for it.
struct Drawn {
  layout::WeightFormat format;
  Contract contract;
};
Drawn pick_kernel() {
  std::vector<Drawn> all;
  for (const kernels::moe::PanelFormat& format : kernels::moe::panel_formats()) {
    for (const Contract contract : {Contract::bf16_chain, Contract::bf16_block, Contract::bf16_pair, Contract::int8_block}) {
      if (sim::has_panels(contract, format.format)) all.push_back({format.format, contract});
    }
  }
  return all[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(all.size()) - 1))];
}

/// The sums of a run's slots as the layer of model/moe has them.
std::vector<std::uint32_t> model_out(const layout::CanonicalLayer& layer, const moe::ScaledChoices& choices, const sim::LayerTokens& tokens) {
  std::vector<std::vector<moe::Slot>> slots(static_cast<std::size_t>(tokens.tokens()));
  for (std::size_t slot = 0; slot < tokens.ids.size(); ++slot) {
    if (tokens.ids[slot] >= 0) slots[slot / static_cast<std::size_t>(tokens.top_k)].push_back({tokens.ids[slot], tokens.weights[slot]});
  }
  return moe::run_scaled_layer(layer, choices, tokens.x, slots, {});
}

void hold(const Drawn& drawn, std::uint64_t seed) {
  const bool is_oai = pick(0, 1) == 0, gated = is_oai || pick(0, 3) != 0;
  const std::int64_t group = std::max<std::int64_t>(layout::group_of(drawn.format), 1), least = std::max<std::int64_t>(group, 32);
  const layout::Sizes sizes{3, least * pick(1, 2), least * pick(1, 2), group};
  const layout::Form form(drawn.format, is_oai ? layout::SourceOrder::gpt_oss : layout::SourceOrder::standard, gated);
  const layout::CanonicalLayer layer = sim::sample_layer(sizes, form, pick(0, 1) == 0, seed);
  const sim::ModelActivation activation{is_oai ? "SWIGLUOAI" : gated ? "SILU" : "RELU2_NO_MUL", {}};
  const sim::ContractExperts kernels = sim::contract_experts(layer, activation, drawn.contract, sim::SumsBy::twins);
  const sim::ContractExperts model = sim::contract_experts(layer, activation, drawn.contract, sim::SumsBy::model);
  RC_ASSERT(kernels.panels != nullptr);
  RC_ASSERT(model.panels == nullptr);
  const sim::LayerTokens tokens = pick_layer_tokens(5, sizes.hidden, sizes.experts, seed);
  const std::vector<StageValues> whole = all_stages(model, tokens);
  RC_ASSERT(all_stages(kernels, tokens) == whole);
  RC_ASSERT(whole.back().words == model_out(layer, model.choices, tokens));
  hold_every_start(kernels, tokens, whole);
  hold_every_start(model, tokens, whole);
}

}  // namespace

Outcome law_contract_stages(const Law& law) {
  return check_property(
      law, [] { hold(pick_kernel(), static_cast<std::uint64_t>(pick(1, 1 << 20))); }, kCases);
}

}  // namespace mx::props
