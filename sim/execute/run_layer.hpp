#pragma once
// One layer of experts as a backend computes it: from any stage to any later ones.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/execute/kernel.hpp"
#include "sim/execute/stages.hpp"
#include "support/stop.hpp"

namespace mx::sim {

/// A rank's experts and how they compute.
struct LayerExperts {
  Execution execution;
  Weights weights;
  std::int64_t hidden;  ///< of the checkpoint: that of x, y and out
};

/// The experts of packed tensors, whoever packed them, on the device of their setting; `scales` are read where a quantizer needs one. Throws
/// Error(unsupported) where the backend's arithmetic is not known or takes no such activation, Error as Weights::of_packed does.
LayerExperts packed_experts(const families::PackedLayer& packed, const ModelActivation& activation, std::string_view activation_key,
                            const StaticScales& scales, SumsBy sums, const families::LaunchChoice& launch = {});

/// The experts under the launch that such tokens come to.
LayerExperts settled(LayerExperts experts, std::int64_t tokens, std::int64_t top_k);

/// Throws Error(usage) naming `where` unless scales are given where a quantizer reads them, and there alone.
void require_scales(const Execution& execution, bool is_given, const std::string& where);

/// What goes through them.
struct LayerTokens {
  std::int64_t top_k = 0;
  std::vector<std::int32_t> ids;            ///< [tokens, top_k]; -1: no expert
  std::vector<std::uint32_t> weights = {};  ///< fp32 bits [tokens, top_k]; empty where neither y nor out is computed
  std::vector<std::uint32_t> x = {};        ///< bf16 codes [tokens, hidden]; empty where a run starts behind it
  std::int64_t columns = 0;                 ///< of x as it was given; 0: nobody said

  std::int64_t tokens() const { return static_cast<std::int64_t>(ids.size()) / top_k; }
};

/// Throws Error(usage) where x was given with other columns than the layer's hidden size.
void require_columns(const LayerTokens& tokens, std::int64_t hidden);

/// The stages that such a layer has, in their order, with dtype and shape and without words. Throws Error(usage) where ids are not whole tokens.
std::vector<StageValues> stage_forms(const LayerExperts& experts, const LayerTokens& tokens);

/// All of a layer's stages that a run can compute behind its start: without weights nothing that they enter.
std::vector<LayerStage> stages_behind(std::span<const StageValues> forms, const LayerTokens& tokens, std::span<const StageValues> from);

/// The wanted stages in their order. `from`: all stages of one step, which the run starts behind; empty: it starts with x. `begun` is told each
/// step's name. All threads. Throws Error(usage) where a stage is none of the layer's, lies before the start or is not whole, an expert or a code
/// does not exist, or x or the weights are missing or of another size; Error as run_first does; Stopped.
std::vector<StageValues> run_layer(const LayerExperts& experts, const LayerTokens& tokens, std::span<const StageValues> from,
                                   std::span<const LayerStage> wanted, const support::StopPoint& stop = support::StopPoint(),
                                   const std::function<void(std::string_view)>& begun = {});

/// The bytes that a run of these tokens takes at most beside the experts.
std::uint64_t run_bytes(const LayerExperts& experts, const LayerTokens& tokens);

}  // namespace mx::sim
