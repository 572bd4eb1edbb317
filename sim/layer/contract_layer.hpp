#pragma once
// One layer of experts under a contract and on no device: both products under it, all between them in fp32 (model/moe/scaled_layer.hpp), from any
// stage to any later ones. By the fused kernels where they have the contract, else row by row.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/moe/panel.hpp"
#include "model/moe/scaled_layer.hpp"
#include "sim/execute/run_layer.hpp"

namespace mx::sim {

/// A rank's experts, and how they compute.
struct ContractExperts {
  moe::ScaledChoices choices;
  layout::Sizes sizes;
  bool gated;
  std::shared_ptr<const kernels::moe::PanelLayer> panels;  ///< where the fused kernels compute
  std::shared_ptr<const moe::ExpertRows> rows;             ///< else
  SumsBy sums;                                             ///< who sums such rows
};

/// What enters products of a contract: MXINT8 by the profile ocp for int8-block, else nothing is quantized.
const Recipe* recipe_under(Contract contract);

/// Both products under `contract`. The activation is that of fp32; constants that the model has not are the row's. By SumsBy::model nothing but the
/// model computes. Throws Error(unsupported) for an activation that no row of the table is, for int4 weights and for a contract that takes no such
/// numbers; Error(usage) as run_scaled_layer does.
ContractExperts contract_experts(const layout::CanonicalLayer& layer, const ModelActivation& activation, Contract contract, SumsBy sums,
                                 bool add_w2_bias = true);
/// The same with choices of the caller's.
ContractExperts contract_experts(const layout::CanonicalLayer& layer, const moe::ScaledChoices& choices, SumsBy sums);

/// Which row of the activation table a name of the engine is in fp32, and with which constants.
UsedActivation activation_under_contracts(const ModelActivation& model);

/// "none x bf16-block, swiglu_oai in fp32": what is quantized in front of a product, contract and activation.
std::string how_text(const ContractExperts& experts);

/// What computes, for people: "fused kernels", "quick rows"; empty: the model, number by number.
std::string_view twin_of(const ContractExperts& experts);
/// The kernel of the products, by the processor's tier: "bf16-block avx2"; empty where none computes. Throws as gemm_kernel_in_use does.
std::string_view kernel_of(const ContractExperts& experts);

/// As of LayerExperts: h13, act, y and out are F32, codes and scales those of what the contract takes quantized.
std::vector<StageValues> stage_forms(const ContractExperts& experts, const LayerTokens& tokens);
std::vector<StageValues> run_layer(const ContractExperts& experts, const LayerTokens& tokens, std::span<const StageValues> from,
                                   std::span<const LayerStage> wanted, const support::StopPoint& stop = support::StopPoint(),
                                   const std::function<void(std::string_view)>& begun = {});
std::uint64_t run_bytes(const ContractExperts& experts, const LayerTokens& tokens);

}  // namespace mx::sim
