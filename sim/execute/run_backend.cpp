#include "sim/execute/run_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/relayout/mover.hpp"
#include "model/error.hpp"
#include "model/families/fnuz.hpp"
#include "sim/execute/exchanges.hpp"
#include "sim/execute/run_layer.hpp"
#include "sim/execute/sample_layer.hpp"

namespace mx::sim {
namespace {

using families::PackedLayer;
using layout::CanonicalLayer;

constexpr std::uint32_t kExponent = 0x7F800000U;  // all ones: Inf or NaN

/// At most kComputedRows of 0..count-1.
std::vector<std::int64_t> computed(std::int64_t count) {
  const std::int64_t wanted = std::min(count, kComputedRows);
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < wanted; ++i) rows.push_back(i * count / wanted);
  return rows;
}

/// What the kernel computes from: the checkpoint's numbers, or what is left of them where the conversion says that it loses something.
Weights wanted_weights(const BackendSource& source, const PackedLayer& packed, const families::ExecutionRow& row) {
  const families::BackendLayout& backend = families::backend_layout_named(packed.backend, packed.setting.form.format, packed.setting.engine);
  const bool lossy = !packed.losses.empty() && backend.undo_values != nullptr;
  const bool fnuz = families::has_fnuz(packed.setting);
  if (!lossy) return Weights::of_checkpoint(source.layer.sizes, source.layer.form, source.units, row, fnuz);
  return Weights::of_checkpoint(families::restore(packed, families::OnLoss::mark, kernels::relayout::mover_of(kernels::relayout::MoveBy::plans)), row,
                                fnuz);
}

/// One stage of a slot. Sizes differ where the kernel's are padded: what is computed lies in front.
struct Stage {
  std::string_view name;
  std::vector<std::uint32_t> SlotStages::*values;
};
constexpr std::array kStages{Stage{"gate", &SlotStages::gate}, Stage{"up", &SlotStages::up}, Stage{"activation", &SlotStages::activation},
                             Stage{"output", &SlotStages::down}};

void compare_slot(const SlotWork& slot, const Outputs& outputs, const SlotStages& want, const SlotStages& got, BackendRun& run) {
  for (const Stage& stage : kStages) {
    if ((want.*stage.values).empty()) continue;  // up of experts without a gate
    const bool is_output = stage.values == &SlotStages::down;
    const std::vector<std::int64_t>& computed = is_output ? *outputs.columns : *outputs.rows;
    if (is_output && want.factor != got.factor && ++run.differing == 1) {
      run.first = fmt::format("the scale of expert {} is {:#010x} from the packed form and {:#010x} from the checkpoint's", slot.expert, got.factor,
                              want.factor);
    }
    for (std::size_t i = 0; i < computed.size(); ++i) {
      const auto at = is_output ? i : static_cast<std::size_t>(computed[i]);
      const std::uint32_t expected = (want.*stage.values)[at], found = (got.*stage.values)[at];
      ++run.compared;
      if (expected == found || ++run.differing > 1) continue;
      run.first = fmt::format("{} {} of token {}, expert {} is {:#010x} from the packed form and {:#010x} from the checkpoint's", stage.name,
                              computed[i], slot.row, slot.expert, found, expected);
    }
  }
}

std::int64_t top_k_of(const BackendInput& input) {
  std::size_t most = 1;
  for (const std::vector<moe::Slot>& slots : input.slots) most = std::max(most, slots.size());
  return static_cast<std::int64_t>(most);
}

}  // namespace

StaticScales usual_scales(layout::WeightFormat format) {
  if (format == layout::WeightFormat::nvfp4) return {power_of_two(-8), power_of_two(-8)};
  return {power_of_two(-6), power_of_two(-4)};
}

std::optional<BackendRun> run_backend(const BackendSource& source, const PackedLayer& packed, families::Arch arch, const BackendInput& input) {
  const CanonicalLayer& layer = source.layer;
  const families::ExecutionRow* const row = families::find_execution(layer.form.format, packed.backend);
  if (row == nullptr) return std::nullopt;
  families::Operation operation = families::operation_of(packed.setting);
  operation.arch = arch;
  Execution execution = execution_on(*row, operation, input.activation_key, {std::string(input.activation), input.constants},
                                     usual_scales(layer.form.format), packed.setting.computes());
  try {
    used_activation(*row, execution.activation);
  } catch (const Error&) {
    return std::nullopt;
  }
  execution.sums = source.sums;
  execution.choice = input.launch;
  const Weights weights = Weights::of_packed(packed, *row, kernel_order(*row, execution.activation));
  BackendRun run;
  try {
    // A contract that was asked for is of no kernel's launch.
    if (!source.contract) {
      execution = settled(std::move(execution),
                          {static_cast<std::int64_t>(input.slots.size()), top_k_of(input), weights.sizes(), weights.halves(Matrix::w13) == 2});
    }
  } catch (const Error& error) {
    run.refused = error.what();
    return run;
  }
  execution.contract = source.contract.value_or(execution.contract);
  run.how = how_text(execution, operation, packed.setting.computes(), source.contract.has_value());
  if (!source.contract) {
    run.grounds = families::grounds_of(*row, operation, *execution.first, *execution.second);
    run.known = families::differences_of(*row, operation, packed.setting.computes(), *execution.first, *execution.second);
  }
  run.unknown = unknown_products(execution, packed.setting);
  if (!run.unknown.empty()) return run;
  run.all_equal = true;
  std::vector<SlotWork> slots;
  for (std::size_t token = 0; token < input.slots.size(); ++token) {
    for (const moe::Slot& slot : input.slots[token]) slots.push_back({static_cast<std::int64_t>(token), slot.expert});
  }
  const Outputs outputs{computed(layer.sizes.intermediate), computed(layer.sizes.hidden)};
  const Weights wanted = wanted_weights(source, packed, *row);
  std::vector<SlotStages> got, want;
  std::optional<Activations> x;
  try {
    x = quantized(*execution.first, input.x, layer.sizes.hidden, execution.scales.first, execution.fnuz);
    if (row->scales == families::ScaleMemory::tile_128x4) x = swizzled(*std::move(x));
    got = run_slots(execution, weights, *x, slots, outputs);
    want = run_slots(execution, wanted, *x, slots, outputs);
  } catch (const Error& error) {
    run.refused = error.what();
    return run;
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    compare_slot(slots[i], outputs, want[i], got[i], run);
    run.all_equal = run.all_equal && std::ranges::all_of(want[i].down, [&](std::uint32_t word) { return word == want[0].down[0]; });
    for (std::size_t n = 0; n < want[i].down.size(); ++n) run.not_finite += (want[i].whole(n) & kExponent) == kExponent ? 1 : 0;
  }
  run.unseen = unseen_exchanges({execution, wanted, *x, slots, outputs, want});
  return run;
}

KernelOutputs run_kernel(const PackedLayer& packed, const BackendInput& input) {
  const LayerExperts experts = packed_experts(packed, {std::string(input.activation), input.constants}, input.activation_key,
                                              usual_scales(packed.setting.form.format), SumsBy::twins, input.launch);
  LayerTokens tokens;
  for (const std::vector<moe::Slot>& slots : input.slots) tokens.top_k = std::max(tokens.top_k, static_cast<std::int64_t>(slots.size()));
  tokens.x.assign(input.x.begin(), input.x.end());
  tokens.ids.resize(input.slots.size() * static_cast<std::size_t>(tokens.top_k), -1);
  tokens.weights.resize(tokens.ids.size());
  for (std::size_t token = 0; token < input.slots.size(); ++token) {
    for (std::size_t slot = 0; slot < input.slots[token].size(); ++slot) {
      const std::size_t at = token * static_cast<std::size_t>(tokens.top_k) + slot;
      tokens.ids[at] = static_cast<std::int32_t>(input.slots[token][slot].expert);
      tokens.weights[at] = input.slots[token][slot].weight;
    }
  }
  KernelOutputs made{
      {}, how_text(settled(experts, tokens.tokens(), tokens.top_k).execution, families::operation_of(packed.setting), packed.setting.computes(), false)};
  constexpr std::array kOut{LayerStage::out};
  const std::vector<StageValues> stages = run_layer(experts, tokens, {}, kOut);
  for (const std::uint32_t code : stages.front().words) made.out.push_back(static_cast<std::uint16_t>(code));
  return made;
}

bool quantizes_activations(layout::WeightFormat format, std::string_view backend) {
  const families::ExecutionRow* const row = families::find_execution(format, backend);
  return row == nullptr || row->keyed || families::quantizer_named(row->first).scope != families::ScaleScope::none;
}

}  // namespace mx::sim
