#pragma once
// One layer executed from codes and scales, under any contract: those that multiply codes and apply scales to sums of blocks need them apart, where
// layer.hpp speaks of values. Any weights but int4, any activation of the table, activations quantized in blocks or not, experts that this rank does
// not hold.

#include <cstdint>
#include <span>
#include <vector>

#include "model/layout/packed.hpp"
#include "model/moe/activation.hpp"
#include "model/moe/expert_rows.hpp"
#include "model/moe/routing.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/recipe.hpp"

namespace mx::moe {

/// A run's choices. What enters a product is rounded as the contract says, or quantized by `recipe`: x times its weight where that belongs there,
/// and the activation's fp32 result.
struct ScaledChoices {
  Contract contract;
  const Activation* activation;  ///< in fp32; of gate and up exactly when the experts are gated
  ActivationConstants constants;
  const Recipe* recipe = nullptr;  ///< blocks of fp32 numbers along the row, or the row as one; null: not quantized
  WeightPlace weight_on = WeightPlace::output;
  bool add_w2_bias = true;  ///< false on every tensor-parallel rank but the first
};

/// A row of fp32 numbers in blocks: an element's code each, and a scale's code of each block.
struct QuantizedRow {
  std::vector<std::uint32_t> codes;
  std::vector<std::uint32_t> scales;
};
/// fp32 bits by a recipe that needs no number of the whole tensor. Throws Error(usage) for a row that is not whole blocks.
QuantizedRow quantized_row(const Recipe& recipe, std::span<const std::uint32_t> f32);
/// Such a row as it enters a product.
ScaledRow entering(const Recipe& recipe, const QuantizedRow& row);
/// fp32 bits as they enter one without a recipe.
ScaledRow entering(std::span<const std::uint32_t> f32);

/// The rank's expert for each expert of the layer, -1 for those of other ranks; empty: all are here, under their own number.
using ExpertMap = std::span<const std::int64_t>;

/// Runs the experts on x (bf16 codes [tokens, hidden]). Returns fp32 bits [tokens, hidden]: per token, over its slots in order, one fp32 fma of
/// weight (1 where the input has it) and expert output each from +0. Slots of experts that the map sends to -1 add nothing. GEMM outputs with their
/// bias are fp32. Throws Error(usage) when sizes disagree, an expert does not exist, the map names one that the layer lacks, the contract does not
/// take such activations, or the experts are gated and the activation is not, or the other way round; Error(unsupported) for int4 weights.
std::vector<std::uint32_t> run_scaled_layer(const layout::CanonicalLayer& layer, const ScaledChoices& choices, std::span<const std::uint32_t> x_bf16,
                                            std::span<const std::vector<Slot>> slots, ExpertMap map);

}  // namespace mx::moe
