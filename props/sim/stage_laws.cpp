// Runs of a layer that start on the way, held against the run from x.

#include <rapidcheck.h>

#include <algorithm>

#include "props/sim/generators.hpp"
#include "props/sim/laws.hpp"
#include "sim/execute/run_layer.hpp"
#include "sim/execute/sample_layer.hpp"

namespace mx::props {
namespace {

constexpr int kCases = 12;  // a case is a layer and as many runs as it has steps

/// Whether the unit's products have the scales that multiply their terms: no device runs a backend whose quantizer makes others.
bool has_scales(const sim::Execution& execution) {
  const ContractRow& row = row_of(execution.contract);
  const auto gives = [&](const families::Quantizer* quantizer) { return quantizer->scope == families::ScaleScope::block; };
  return row.scales != ScaleEntry::term || (gives(execution.first) && gives(execution.second));
}

/// A layer in the checkpoint's form as some row computes it on some device, with what quantizers need.
sim::LayerExperts pick_experts(std::uint64_t seed) {
  const auto rows = families::execution_rows();
  const families::ExecutionRow& row = rows[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(rows.size()) - 1))];
  const std::int64_t group = std::max<std::int64_t>(layout::group_of(row.format), 1);
  const layout::Sizes sizes{3, 256, 256, group};
  const bool is_oai = !row.swiglu_oai.row.empty();
  const layout::Form form(row.format, is_oai ? row.oai_order : row.silu_order);
  constexpr moe::ActivationConstants kOai{0x3FD9DB23U, 0x3F800000U, 0x40E00000U, 0};
  const sim::ModelActivation activation{is_oai ? "SWIGLUOAI" : "SILU", is_oai ? kOai : moe::ActivationConstants{}};
  sim::Execution execution = sim::execution_on(row, {pick(0, 1) == 0 ? families::Arch::sm90 : families::Arch::sm100}, "None", activation,
                                               {sim::power_of_two(-6), sim::power_of_two(-4)});
  RC_PRE(has_scales(execution));
  execution.sums = sim::SumsBy::twins;
  const layout::CanonicalLayer layer = sim::sample_layer(sizes, form, row.bias != families::BiasEntry::dropped, seed);
  return {std::move(execution), sim::Weights::of_checkpoint(layer, row), sizes.hidden};
}

}  // namespace

Outcome law_stages(const Law& law) {
  return check_property(
      law,
      [] {
        const auto seed = static_cast<std::uint64_t>(pick(1, 1 << 20));
        const sim::LayerExperts experts = pick_experts(seed);
        const sim::LayerTokens tokens = pick_layer_tokens(3, experts.hidden, experts.weights.sizes().experts, seed);
        hold_every_start(experts, tokens, all_stages(experts, tokens));
      },
      kCases);
}

}  // namespace mx::props
