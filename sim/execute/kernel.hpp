#pragma once
// The experts of one rank, executed as a backend's row says.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/families/batch.hpp"
#include "model/families/launch.hpp"
#include "model/moe/routing.hpp"
#include "model/numerics/f32.hpp"
#include "sim/execute/activations.hpp"
#include "sim/execute/sums.hpp"
#include "sim/execute/weights.hpp"

namespace mx::sim {

/// The activation that a model asks for.
struct ModelActivation {
  std::string name;                    ///< the engine's: SWIGLUOAI, SILU, RELU2_NO_MUL
  moe::ActivationConstants constants;  ///< fp32 bits; a limit of 0: none
};

/// Calibrated scales of what enters the two products, fp32 bits; read where a quantizer needs one.
struct StaticScales {
  std::uint32_t first;
  std::uint32_t second;
};

/// A row of the execution table on a device, and by settled() under a launch.
struct Execution {
  const families::ExecutionRow* row;
  const families::UnitRow* unit;
  const families::Quantizer* first;
  const families::Quantizer* second;
  ModelActivation activation;
  StaticScales scales;
  SumsBy sums = SumsBy::model;
  families::SlotSum sum = families::SlotSum::f32;  ///< of the row, on the device, by the engine's version
  bool fnuz = false;                               ///< FP8 is e4m3fnuz: families::has_fnuz of the layer's setting
  families::Operation operation = {families::Arch::sm100};
  deployment::Engine engine = deployment::kDefaultEngine;
  Contract contract = Contract::exact;  ///< of the products: the unit's, or the launch's
  families::LaunchChoice choice = {};
  std::optional<families::Launched> launch = {};  ///< none: no launch was asked for, the row alone counts
  families::BatchWord batch = {};                 ///< under the launch

  const families::Launched& launched() const;
  families::EpilogueScale epilogue() const { return launched().epilogue.value_or(row->epilogue); }
};

/// What a launch follows from besides the execution.
struct LaunchGeometry {
  std::int64_t tokens;
  std::int64_t top_k;
  layout::Sizes sizes;  ///< of one rank, as the kernel has them
  bool gated = true;
  bool shared = false;  ///< several ranks compute the layer
  bool mapped = false;  ///< each has experts of its own, and a map of them
};
/// The execution under the launch of so many tokens; one that has its launch stays as it is.
Execution settled(Execution execution, const LaunchGeometry& geometry);

/// What computes the sums of an execution's products in the model's stead, for people: "quick rows", "panels"; empty: nothing does, the model sums.
std::string_view twin_of(const Execution& execution);

/// Throws Error(usage) when the activation key is none that the row takes.
Execution execution_on(const families::ExecutionRow& row, const families::Operation& operation, std::string_view activation_key,
                       ModelActivation activation, StaticScales scales, deployment::Engine engine = deployment::kDefaultEngine);

/// Why the products of such a layer are not known; empty: they are. A method that leaves e4m3fn codes on a device whose FP8 is e4m3fnuz has them
/// multiplied by activations that the engine quantizes to the device's own.
/// Source: vllm platforms/rocm.py fp8_dtype; triton third_party/amd MfmaGroup.cpp, whose table for gfx942 has no such pair.
std::string unknown_products(const Execution& execution, const families::Setting& setting);

/// "fp8-group128 x hopper-fp8-promoted, read": quantizers, contract, and on what grounds, then the launch where it decides on bits; of a contract in
/// the place of the device's own "as asked".
std::string how_text(const Execution& execution, const families::Operation& operation, deployment::Engine engine, bool is_asked);

/// The activation that the backend computes, with the constants that it uses. Throws Error(unsupported) when it takes none of that name.
struct UsedActivation {
  const moe::Activation* row;
  moe::ActivationConstants constants;
};
UsedActivation used_activation(const families::ExecutionRow& row, const ModelActivation& model);
/// Whether the backend bounds by a limit of 0 or below it; else it takes such a one for none, or takes no limit.
bool bounds_by_low_limit(const families::ExecutionRow& row, const ModelActivation& model, families::Arch arch, deployment::Engine engine);
/// The same on the execution's device.
UsedActivation used_activation(const Execution& execution);
/// Constants of the model that the backend does not use: "limit 0x40a00000 of the model, 0x40e00000 in the kernel". Empty: none.
std::vector<std::string> ignored_constants(const families::ExecutionRow& row, const ModelActivation& model);
/// The row order of w13 that the kernel expects its layout to start from.
layout::SourceOrder kernel_order(const families::ExecutionRow& row, const ModelActivation& model);

/// One (row of the activations, slot) pair that a rank computes.
struct SlotWork {
  std::int64_t row;     ///< of the activations
  std::int64_t expert;  ///< local
};

/// Which outputs of the two products are computed. A gate or up that is not counts as an activation of zero, here and in what is compared with it.
struct Outputs {
  std::optional<std::vector<std::int64_t>> rows = std::nullopt;     ///< of the intermediate size; none: all
  std::optional<std::vector<std::int64_t>> columns = std::nullopt;  ///< of the hidden size; none: all

  friend bool operator==(const Outputs&, const Outputs&) = default;
};
/// The wanted numbers, or all of 0..count-1.
std::vector<std::int64_t> or_all(const std::optional<std::vector<std::int64_t>>& wanted, std::int64_t count);

/// Of each element the values that it may take, fp32 bits ascending, where its sum has no fixed order; none where it has one. Empty: all have one.
using Possible = std::vector<std::vector<std::uint32_t>>;

/// Stages of a slot, as fp32 bits. Whatever is bf16 in the backend is a bf16 number.
struct SlotStages {
  std::vector<std::uint32_t> gate;        ///< [I] of the kernel's padded size
  std::vector<std::uint32_t> up;          ///< [I]; empty without a gate
  std::vector<std::uint32_t> activation;  ///< [I]
  std::vector<std::uint32_t> down;        ///< one for each of the columns asked for: second product with its bias, before the slot rule
  std::uint32_t factor = f32::kOne;       ///< of the routing weight, fp32 bits: the expert's scale where the second product lacks it

  Possible gate_possible = {}, up_possible = {}, down_possible = {};

  /// The routing weight as the slot rule takes it.
  std::uint32_t weight(std::uint32_t routing) const;
  /// An output without a routing weight.
  std::uint32_t whole(std::size_t column) const;
};

/// Executes the slots. Activations with fewer columns than the kernel's hidden size are zero there. All threads. Throws Error(usage) when a slot
/// names a row or an expert that does not exist.
std::vector<SlotStages> run_slots(const Execution& execution, const Weights& weights, const Activations& input, std::span<const SlotWork> slots,
                                  const Outputs& outputs);

/// The steps of run_slots, one by one: each fills its own stages from those before it. `rows` of the intermediate size, as Outputs has them.
/// Gate and up. Throws as run_slots does, and Error(unsupported) for an activation that is none of such experts.
void run_first(const Execution& execution, const Weights& weights, const Activations& input, std::span<const SlotWork> slots,
               std::span<const std::int64_t> rows, std::vector<SlotStages>& stages);
/// The activation of gate and up.
void run_activation(const Execution& execution, std::span<const std::int64_t> rows, std::vector<SlotStages>& stages);
/// What enters the second product: activations as bf16 codes [slots, I], quantized.
Activations second_input(const Execution& execution, std::int64_t intermediate, std::span<const SlotStages> stages);
/// The second product of what second_input() gave, or who else has its codes.
void run_second(const Execution& execution, const Weights& weights, const Activations& input, std::span<const SlotWork> slots,
                std::span<const std::int64_t> columns, std::vector<SlotStages>& stages);

/// What a slot adds to its token's sum, in the order of the row; `weight` as fp32 bits.
struct WeighedSlot {
  std::int64_t expert;  ///< global
  std::uint32_t weight;
  std::span<const std::uint32_t> down;
  std::size_t position;  ///< among the token's slots, of all ranks
};
/// What a slot leaves for its token's sum: a bf16 number as fp32 bits, with the weight where the row multiplies it in before it rounds.
std::uint32_t slot_share(const Execution& execution, std::uint32_t down, std::uint32_t weight);
/// combined() of shares: `down` of each slot has those of its columns.
std::vector<std::uint32_t> summed(const Execution& execution, std::vector<WeighedSlot> shares, std::size_t top_k, std::size_t columns);
/// bf16 numbers as fp32 bits, one per column: the sum over a token's slots on one rank, without slots +0. Of its `top_k` slots those of other ranks
/// are zeros.
std::vector<std::uint32_t> combined(const Execution& execution, std::vector<WeighedSlot> slots, std::size_t top_k, std::size_t columns);

/// Nearest bf16 number of fp32 bits, as fp32 bits, NaN as the products' contract has it.
std::uint32_t in_bf16(const Execution& execution, std::uint32_t f32);

/// A slot alone after the slot rule, weight 1: what batched experts hand back to the exchange.
std::vector<std::uint32_t> unweighted(const SlotStages& slot);

/// Nearest bf16 number of fp32 bits, as fp32 bits.
std::uint32_t to_bf16(std::uint32_t f32);

}  // namespace mx::sim
