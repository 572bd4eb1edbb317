#pragma once
// What the laws of a layer's stages draw and hold.

#include <rapidcheck.h>

#include <cstdint>
#include <vector>

#include "props/layout/generators.hpp"
#include "sim/execute/run_layer.hpp"
#include "sim/execute/sample_layer.hpp"

namespace mx::props {

/// 1 to `most` tokens of two slots each; some slots have no expert.
inline sim::LayerTokens pick_layer_tokens(std::int64_t most, std::int64_t hidden, std::int64_t experts, std::uint64_t seed) {
  const sim::SampleTokens drawn = sim::sample_tokens(pick(1, most), hidden, experts, 2, seed);
  sim::LayerTokens tokens{2, {}, {}, drawn.x};
  for (const std::vector<moe::Slot>& slots : drawn.slots) {
    for (const moe::Slot& slot : slots) {
      tokens.ids.push_back(pick(0, 5) == 0 ? -1 : static_cast<std::int32_t>(slot.expert));
      tokens.weights.push_back(slot.weight);
    }
  }
  return tokens;
}

/// Every stage of a run.
template <typename Experts>
std::vector<sim::StageValues> all_stages(const Experts& experts, const sim::LayerTokens& tokens) {
  std::vector<sim::LayerStage> all;
  for (const sim::StageValues& form : stage_forms(experts, tokens)) all.push_back(form.stage);
  return run_layer(experts, tokens, {}, all);
}

/// From each step of the whole run every later stage comes out as it did in that run.
template <typename Experts>
void hold_every_start(const Experts& experts, const sim::LayerTokens& tokens, const std::vector<sim::StageValues>& whole) {
  for (int step = 0; step < sim::row_of(sim::LayerStage::out).step; ++step) {
    std::vector<sim::StageValues> from, later;
    std::vector<sim::LayerStage> wanted;
    for (const sim::StageValues& stage : whole) {
      const int own = sim::row_of(stage.stage).step;
      if (own == step) from.push_back(stage);
      if (own <= step) continue;
      later.push_back(stage);
      wanted.push_back(stage.stage);
    }
    if (!from.empty()) RC_ASSERT(run_layer(experts, tokens, from, wanted) == later);
  }
}

}  // namespace mx::props
