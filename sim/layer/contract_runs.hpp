#pragma once
// The two ways to run a layer under a contract. What is asked of a run is checked before.

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/layer/contract_layer.hpp"

namespace mx::sim {

/// `forms` are the layer's stages, `last` is the step of the last that is wanted.
std::vector<StageValues> run_fused(const ContractExperts& experts, const LayerTokens& tokens, std::span<const StageValues> forms,
                                   std::span<const StageValues> from, std::span<const LayerStage> wanted, int last);
std::vector<StageValues> run_rows(const ContractExperts& experts, const LayerTokens& tokens, std::span<const StageValues> forms,
                                  std::span<const StageValues> from, std::span<const LayerStage> wanted, int last, const support::StopPoint& stop,
                                  const std::function<void(std::string_view)>& begun);

/// Somebody's h13, gate's half in front.
std::vector<std::uint32_t> halves_of(const StageValues& h13, bool gated);

}  // namespace mx::sim
