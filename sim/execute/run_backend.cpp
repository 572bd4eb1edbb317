#include "sim/execute/run_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/relayout/mover.hpp"
#include "model/error.hpp"
#include "model/families/fnuz.hpp"
#include "sim/execute/exchanges.hpp"
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

std::string how_text(const Execution& execution, families::Arch arch, deployment::Engine engine, bool is_asked) {
  const families::ExecutionRow& row = *execution.row;
  const families::Quantizer &first = *execution.first, &second = *execution.second;
  const std::string grounds =
      families::grounds_text(families::grounds_of(row, arch, first, second), families::differences_of(row, arch, engine, first, second));
  return fmt::format("{}{}{} x {}, {}", first.name, first.name == second.name ? "" : fmt::format(" and {}", second.name),
                     execution.fnuz ? " in e4m3fnuz" : "", name_of(execution.unit->contract), is_asked ? "as asked" : grounds);
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

/// The quick sums and tiles where they have an answer: panels would read whole matrices for the few rows that are computed.
SumsBy sums_of(const BackendSource& source, const families::UnitRow& unit) {
  const ContractRow& contract = row_of(unit.contract);
  return kernels::dot::takes(contract) || contract.scales == ScaleEntry::term ? source.sums : SumsBy::model;
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

}  // namespace

StaticScales usual_scales(layout::WeightFormat format) {
  if (format == layout::WeightFormat::nvfp4) return {power_of_two(-8), power_of_two(-8)};
  return {power_of_two(-6), power_of_two(-4)};
}

std::optional<BackendRun> run_backend(const BackendSource& source, const PackedLayer& packed, families::Arch arch, const BackendInput& input) {
  const CanonicalLayer& layer = source.layer;
  const families::ExecutionRow* const row = families::find_execution(layer.form.format, packed.backend);
  if (row == nullptr) return std::nullopt;
  Execution execution =
      execution_on(*row, arch, input.activation_key, {std::string(input.activation), input.constants}, usual_scales(layer.form.format));
  families::UnitRow unit = *execution.unit;
  unit.contract = source.contract.value_or(unit.contract);
  execution.unit = &unit;
  execution.sums = sums_of(source, unit);
  execution.fnuz = families::has_fnuz(packed.setting);
  try {
    used_activation(*row, execution.activation);
  } catch (const Error&) {
    return std::nullopt;
  }
  BackendRun run;
  run.how = how_text(execution, arch, packed.setting.engine, source.contract.has_value());
  if (!source.contract) {
    run.grounds = families::grounds_of(*row, arch, *execution.first, *execution.second);
    run.known = families::differences_of(*row, arch, packed.setting.engine, *execution.first, *execution.second);
  }
  run.unknown = unknown_products(execution, packed.setting);
  if (!run.unknown.empty()) return run;
  run.all_equal = true;
  std::vector<SlotWork> slots;
  for (std::size_t token = 0; token < input.slots.size(); ++token) {
    for (const moe::Slot& slot : input.slots[token]) slots.push_back({static_cast<std::int64_t>(token), slot.expert});
  }
  const Outputs outputs{computed(layer.sizes.intermediate), computed(layer.sizes.hidden)};
  const Weights weights = Weights::of_packed(packed, *row, kernel_order(*row, execution.activation));
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
    run.not_finite += std::ranges::count_if(want[i].down, [](std::uint32_t word) { return (word & kExponent) == kExponent; });
  }
  run.unseen = unseen_exchanges({execution, wanted, *x, slots, outputs, want});
  return run;
}

KernelOutputs run_kernel(const PackedLayer& packed, const BackendInput& input) {
  const layout::WeightFormat format = packed.setting.form.format;
  const families::ExecutionRow* const row = families::find_execution(format, packed.backend);
  if (row == nullptr) {
    throw Error(ErrorCode::unsupported, fmt::format("how its kernels compute {} is not known", layout::name_of(format)), packed.backend);
  }
  Execution execution =
      execution_on(*row, packed.setting.arch, input.activation_key, {std::string(input.activation), input.constants}, usual_scales(format));
  execution.sums = SumsBy::twins;
  execution.fnuz = families::has_fnuz(packed.setting);
  if (const std::string unknown = unknown_products(execution, packed.setting); !unknown.empty())
    throw Error(ErrorCode::unsupported, unknown, packed.backend);
  const std::int64_t hidden = packed.setting.sizes.hidden;
  Activations x = quantized(*execution.first, input.x, hidden, execution.scales.first, execution.fnuz);
  if (row->scales == families::ScaleMemory::tile_128x4) x = swizzled(std::move(x));
  std::vector<SlotWork> work;
  for (std::size_t token = 0; token < input.slots.size(); ++token) {
    for (const moe::Slot& slot : input.slots[token]) work.push_back({static_cast<std::int64_t>(token), slot.expert});
  }
  const Weights weights = Weights::of_packed(packed, *row, kernel_order(*row, execution.activation));
  const Outputs outputs{std::nullopt, or_all(std::nullopt, hidden)};
  const std::vector<SlotStages> stages = run_slots(execution, weights, x, work, outputs);
  KernelOutputs made{{}, how_text(execution, packed.setting.arch, packed.setting.engine, false)};
  std::size_t next = 0;
  for (const std::vector<moe::Slot>& slots : input.slots) {
    std::vector<WeighedSlot> weighed;
    for (const moe::Slot& slot : slots) weighed.push_back({slot.expert, slot.weight, stages[next++].down});
    for (const std::uint32_t f32 : combined(*row, std::move(weighed), static_cast<std::size_t>(hidden))) {
      made.out.push_back(static_cast<std::uint16_t>(f32 >> 16U));
    }
  }
  return made;
}

bool quantizes_activations(layout::WeightFormat format, std::string_view backend) {
  const families::ExecutionRow* const row = families::find_execution(format, backend);
  return row == nullptr || row->keyed || families::quantizer_named(row->first).scope != families::ScaleScope::none;
}

}  // namespace mx::sim
