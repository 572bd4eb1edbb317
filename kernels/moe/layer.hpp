#pragma once
// The fused MoE layer: pairs of token and expert sorted by expert, gate and up as one product with bias and activation on its tiles, the activation
// rounded or quantized, the down product with its bias, and the sum over each token's experts. Equal to mx::moe::run_scaled_layer bit for bit: on
// every tier, for any number of threads, and for a token alone or among others.

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/isa.hpp"
#include "kernels/moe/activation.hpp"
#include "kernels/moe/combine.hpp"
#include "kernels/moe/gemm.hpp"
#include "kernels/moe/sort.hpp"
#include "kernels/moe/stage.hpp"
#include "model/moe/scaled_layer.hpp"

namespace mx::kernels::moe {

/// Tokens with their experts. Weights are fp32 and finite.
struct RoutedTokens {
  std::span<const std::uint16_t> x;          ///< bf16 codes [tokens, hidden]
  std::span<const std::int32_t> experts;     ///< [tokens, top_k]
  std::span<const float> weights;            ///< [tokens, top_k]
  std::size_t top_k;                         ///< 1 or more
  std::span<const std::int32_t> expert_map;  ///< the rank's expert of each, or -1; empty: all are here
};

/// Tokens that already lie by expert: the format of batched exchanges.
struct BatchedTokens {
  std::span<const std::uint16_t> x;      ///< bf16 codes [experts, room, hidden]
  std::span<const std::int32_t> counts;  ///< [experts]: tokens of each, the rest of its room is not read
  std::size_t room;
};

/// What a layer makes on its way from x to out, in this order.
enum class FusedStage : std::uint8_t { x, x_codes, gate_up, act, act_codes, expert_out, out };

/// Rows in MXINT8, of contracts that take them: codes [rows, K] and E8M0 bytes [rows, K / 32].
struct Int8Memory {
  std::span<std::int8_t> codes;
  std::span<std::uint8_t> scales;
};

/// The stages of one run where a caller has them or wants them, each in a row for every slot, in the order of tokens and slots; x_codes has a row for
/// every token. Rows of slots without an expert here are neither read nor written. Empty: not wanted.
struct FusedStages {
  FusedStage start = FusedStage::x;   ///< this stage is read: the run begins behind it
  FusedStage last = FusedStage::out;  ///< nothing behind this one is computed
  Int8Memory x_codes;
  std::span<float> gate_up;  ///< [slots, halves * intermediate]: gate's columns, then up's
  std::span<float> act;      ///< [slots, intermediate]
  Int8Memory act_codes;
  std::span<float> expert_out;  ///< [slots, hidden], without the weight
};

/// A layer ready to run, with the memory that runs share: one run at a time.
class FusedLayer {
 public:
  /// `weights` must outlive the layer, and what `choices` points to. Throws Error(unsupported) for choices that no kernel has or a tier that this
  /// processor lacks, Error(usage) for constants that the activation does not take, matrices that do not fit together or to the activation, and rows
  /// that are not whole blocks.
  FusedLayer(const PanelLayer& weights, const mx::moe::ScaledChoices& choices, const IsaTier& tier);
  /// On isa_tier(), with gemm_kernel_in_use().
  FusedLayer(const PanelLayer& weights, const mx::moe::ScaledChoices& choices);

  /// out: fp32 [tokens, hidden]. Throws Error(usage), before anything is written, for sizes that disagree, experts that do not exist, weights that
  /// are not finite, an `out` or input that is misaligned, and an `out` that overlaps an input or the weights; for threads beyond 1 to kMostThreads.
  void run(const RoutedTokens& tokens, std::span<float> out, int threads);

  /// The same from a stage on and up to one, out empty where the last is another than out; x is read where the run starts from it, weights where they
  /// enter. Errors as run(), for stages of another size and for codes of a contract that has none; Error(usage) when a start is to lie behind a
  /// weight on the input.
  void run_stages(const RoutedTokens& tokens, const FusedStages& stages, std::span<float> out, int threads);

  /// out: fp32 [experts, room, hidden], of each token its expert's output without a weight; rooms beyond the counts are left alone. Errors as run(),
  /// and Error(usage) when the choices put a weight on the input.
  void run_batched(const BatchedTokens& tokens, std::span<float> out, int threads);

 private:
  /// What enters gate and up: rows of x, perhaps with a weight each, and which of them each pair takes.
  struct Sources {
    std::vector<const std::uint16_t*> rows;
    std::vector<float> weights;  ///< empty: none are on the input
    std::vector<std::size_t> of_pair;
  };
  /// What one thread works in.
  struct Scratch {
    Lines<float> tile;  ///< gate and up of some panels, or rows of x
    StagedRows act;     ///< of one block of rows
    std::vector<const std::uint16_t*> bf16;
    std::vector<const std::int8_t*> int8;
    std::vector<const std::uint8_t*> scales;
    std::vector<const float*> f32_scales;
    CurveScratch curve;
  };

  /// Stages of a run, and whose rows they are.
  struct Captured {
    const FusedStages& stages;
    std::span<const std::uint32_t> slot_of;  ///< of each pair
  };

  FusedLayer(const PanelLayer& weights, const mx::moe::ScaledChoices& choices, const GemmKernel& kernel, const IsaTier& tier);

  void require_apart_from_weights(std::span<float> out) const;
  void check_tokens(const RoutedTokens& tokens, const FusedStages& stages, std::span<float> out, int threads) const;
  void check_stages(const FusedStages& stages, std::size_t tokens, std::size_t slots) const;
  Sources sources_of(const RoutedTokens& tokens, const SortedPairs& pairs) const;
  void run_experts(std::span<const std::size_t> group_sizes, const Sources& sources, const Captured& captured, int threads);
  void take_x_codes(const FusedStages& stages);
  void take_start(std::size_t pair, const Captured& captured, Scratch& scratch);
  void hand_out_rows(std::size_t pair, const Captured& captured) const;
  void hand_out_gate_up(const Scratch& scratch, const RowBlock& rows, std::size_t panel, std::size_t taken, const Captured& captured) const;
  void stage_x(const Sources& sources, std::size_t first, Scratch& scratch);  ///< some rows from there on
  void fill_from_x(std::size_t block, const Sources& sources, Scratch& scratch);
  void fill_from_act(std::size_t block, const Captured& captured, Scratch& scratch);
  void fill(Operand& operand, std::size_t block, const StagedRows& staged, std::span<const std::size_t> rows, Scratch& scratch) const;
  void gate_and_up(std::size_t block, std::size_t first, std::size_t count, const Captured& captured, Scratch& scratch);
  void down(std::size_t block, std::size_t first, std::size_t count);
  void combine(const RoutedTokens& tokens, const SortedPairs& pairs, std::size_t token, std::span<float> out) const;

  const PanelLayer& weights_;
  mx::moe::ScaledChoices choices_;
  const GemmKernel& kernel_;
  TileActivation activation_;
  RowStage stage_;
  CombineFunction* combine_;
  std::size_t hidden_;
  std::size_t intermediate_;
  std::size_t first_chain_ = 0;  ///< of activations with scales beside them, else 0
  std::size_t second_chain_ = 0;
  StagedRows x_;    ///< empty where rows of x are taken as they are
  Operand first_;   ///< of gate and up
  Operand second_;  ///< of down
  std::vector<Scratch> scratch_;
  Lines<float> act_;         ///< [pairs, intermediate]
  Lines<float> expert_out_;  ///< [pairs, hidden]
};

}  // namespace mx::kernels::moe
