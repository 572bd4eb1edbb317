#pragma once
// One MoE layer under a named contract: routing, gate and up, activation, down, weighted sum. The weights come from any memory that can
// hand out rows: the checkpoint's own form or a backend's packed form.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/layout/packed.hpp"
#include "model/moe/activation.hpp"
#include "model/moe/routing.hpp"
#include "model/moe/stages.hpp"
#include "model/numerics/dot.hpp"

namespace mx::moe {

/// Rows of a layer's expert matrices as exact values. `half` 0 is gate, 1 is up.
class Experts {
 public:
  virtual ~Experts() = default;
  /// Sizes to execute with: the checkpoint's own, or a packed layer's padded ones.
  virtual layout::Sizes sizes() const = 0;
  virtual void w13_row(std::int64_t expert, std::int64_t half, std::int64_t row, std::span<Value> out) const = 0;  ///< out: [hidden]
  virtual void w2_row(std::int64_t expert, std::int64_t row, std::span<Value> out) const = 0;                      ///< out: [intermediate]
  virtual std::uint32_t w13_bias(std::int64_t expert, std::int64_t half, std::int64_t row) const = 0;              ///< fp32 bits
  virtual std::uint32_t w2_bias(std::int64_t expert, std::int64_t row) const = 0;                                  ///< fp32 bits
};

/// Reads the checkpoint's form. Throws Error(usage) when a weight or scale is missing or of another size than the layer's.
std::unique_ptr<Experts> canonical_experts(const layout::CanonicalLayer& layer);

/// One tensor in some memory.
struct ExpertMemory {
  layout::Role role;
  layout::Layout layout;
  const layout::Cast* cast;
  std::span<const std::uint8_t> bytes;
};
/// Reads memory where its layouts say. Throws Error(usage) when a tensor's bytes do not fit its layout or a weight is missing.
std::unique_ptr<Experts> memory_experts(const layout::Sizes& sizes, std::span<const ExpertMemory> tensors);

/// Gate and up of one expert, combined: what `activation.hpp` says of fp32, the same operations in the same order of any arithmetic.
enum class GatedKind {
  swiglu_oai,    ///< g = min(gate, limit), u = clamp(up, -limit, limit): g / (1 + exp(-(alpha * g))) * (u + beta)
  silu_and_mul,  ///< gate / (1 + exp(-gate)) * up
};

/// What run_layer makes of an activation of the table: none where it does not take it.
std::optional<GatedKind> gated_kind(const Activation& row);

/// A run's choices besides its arithmetic.
template <class Number>
struct LayerChoices {
  GatedKind gated;
  Number alpha, beta, limit;  ///< of swiglu_oai
  Number input_scale;         ///< multiplied into x first, then the weight if it belongs there, then quantization
  Stages stages;
};

/// Results of a run. Rows of h13 are [gate, up] halves of each slot; the stages are empty unless they were asked for.
template <class Number>
struct LayerOutputs {
  std::vector<Number> out;                      ///< [tokens, hidden_in]
  std::vector<std::vector<Number>> h13;         ///< one row of [2I] per slot, tokens in order; rounded as `stages` says
  std::vector<std::vector<Number>> act;         ///< [I] per slot, after round_act and quant_act
  std::vector<std::vector<Number>> expert_out;  ///< [hidden_in] per slot, after round_expert_out, without the weight
};

/// Runs the experts on x ([tokens, hidden_in], hidden_in <= sizes().hidden, the rest is zero) with given slots per token: out = sum over a token's
/// slots of weight * expert output, in the order of the slots. Slots of experts that the rank does not hold add nothing; they are computed only when
/// the stages are kept. Throws Error(usage) when sizes disagree, an expert does not exist or the ranks do not divide the experts, Error(unsupported)
/// outside the default floating-point environment.
template <class Arithmetic>
LayerOutputs<typename Arithmetic::Number> run_layer(const Arithmetic& arithmetic, const Experts& experts,
                                                    const LayerChoices<typename Arithmetic::Number>& choices, std::span<const Value> x,
                                                    std::int64_t hidden_in, std::span<const std::vector<SlotOf<typename Arithmetic::Number>>> slots,
                                                    bool keep_stages);

/// Fixed choices of a plain run under a contract.
struct RunConfig {
  Contract contract;
  SwigluOai activation;
  bool add_w2_bias = true;  ///< false on every tensor-parallel rank but the first: the bias enters the sum once
};

/// Runs the experts on x (bf16 codes [tokens, hidden_in], hidden_in <= sizes().hidden, the rest is zero) with given slots per token.
/// Returns fp32 bits [tokens, hidden_in]. Order: per token, slots in the given order; out = sum of weight * expert output, under `exact` the exact
/// sum rounded once, else one fp32 fma per slot from +0. GEMM outputs and activations are fp32.
/// Throws Error(usage) when sizes disagree or an expert does not exist, Error(unsupported) outside the default floating-point environment.
std::vector<std::uint32_t> run_experts(const Experts& experts, const RunConfig& config, std::span<const std::uint32_t> x_bf16, std::int64_t hidden_in,
                                       std::span<const std::vector<Slot>> slots);

/// Routes every token of x (bf16 codes [tokens, router.hidden]). Errors as run_experts.
std::vector<std::vector<Slot>> route(Contract contract, const Router& router, std::int64_t top_k, std::span<const std::uint32_t> x_bf16);

}  // namespace mx::moe
