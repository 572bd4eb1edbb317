#include "sim/execute/kernel.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "model/error.hpp"
#include "model/families/fnuz.hpp"
#include "model/fault.hpp"
#include "model/names.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"
#include "sim/execute/product.hpp"
#include "support/rescue.hpp"

namespace mx::sim {
namespace {

using fault::Fault;
using fault::planted;

/// What a name of the engine means in a row.
struct ActivationName {
  std::string_view name;
  families::ActivationUse families::ExecutionRow::*use;
  layout::SourceOrder families::ExecutionRow::*order;
};
constexpr std::array kActivationNames{
    ActivationName{"SWIGLUOAI", &families::ExecutionRow::swiglu_oai, &families::ExecutionRow::oai_order},
    ActivationName{"SILU", &families::ExecutionRow::silu, &families::ExecutionRow::silu_order},
};

/// What the kernel makes of the model's activation.
const families::ActivationUse& use_of(const families::ExecutionRow& row, const ModelActivation& model) {
  const auto* const own = std::ranges::find(kActivationNames, model.name, &ActivationName::name);
  if (own != kActivationNames.end() && !(row.*own->use).row.empty()) return row.*own->use;
  const auto other = std::ranges::find(row.others, model.name, &families::NamedActivation::name);
  if (own == kActivationNames.end() && other != row.others.end()) return other->use;
  throw Error(ErrorCode::unsupported, "activation " + model.name + " is not one that the kernel takes", std::string(row.backend));
}

ByExpert by_expert(std::span<const SlotWork> slots, const Weights& weights, const Activations& input) {
  ByExpert groups;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].expert < 0 || slots[i].expert >= weights.sizes().experts || slots[i].row < 0 || slots[i].row >= input.rows) {
      throw Error(ErrorCode::usage, "slot of row " + std::to_string(slots[i].row) + " and local expert " + std::to_string(slots[i].expert) +
                                        ": there are " + std::to_string(input.rows) + " rows and " + std::to_string(weights.sizes().experts) +
                                        " experts");
    }
    groups[slots[i].expert].push_back(i);
  }
  return groups;
}

/// Products of fewer multiplications than this are not worth a thread.
constexpr std::int64_t kWorthThreads = std::int64_t{1} << 20;

/// Runs work(expert, positions, row) for every expert and row of its matrix, on all threads where there is enough to do.
template <class Work>
void for_rows(const ByExpert& groups, std::int64_t rows, std::int64_t length, const Work& work) {
  std::vector<const ByExpert::value_type*> experts;
  std::int64_t slots = 0;
  for (const auto& group : groups) {
    experts.push_back(&group);
    slots += static_cast<std::int64_t>(group.second.size());
  }
  const std::int64_t jobs = static_cast<std::int64_t>(experts.size()) * rows;
  support::Rescue rescue;
#pragma omp parallel for schedule(dynamic, 8) if (slots * rows * length > kWorthThreads)
  for (std::int64_t job = 0; job < jobs; ++job) {
    const ByExpert::value_type& group = *experts[static_cast<std::size_t>(job / rows)];
    rescue.run([&] { work(group.first, group.second, job % rows); });
  }
  rescue.rethrow();
}

void first_product(const Execution& execution, const Weights& weights, const Activations& input, std::span<const SlotWork> slots,
                   const ByExpert& groups, std::span<const std::int64_t> wanted, std::vector<SlotStages>& stages) {
  const families::ExecutionRow& row = *execution.row;
  std::vector<std::int64_t> row_of;
  for (const SlotWork& slot : slots) row_of.push_back(slot.row);
  const Product product(execution, weights, Matrix::w13, input, row.by == families::QuantizedBy::kernel ? input.memory : row.scales, groups, row_of,
                        wanted);
  const UsedActivation used = used_activation(row, execution.activation);
  const bool gated = weights.halves(Matrix::w13) == 2;
  if (gated == (used.row->pairing == moe::Pairing::single))
    throw Error(ErrorCode::unsupported,
                "activation " + execution.activation.name + " is not one of experts " + (gated ? "with" : "without") + " a gate");
  const auto intermediate = static_cast<std::size_t>(weights.sizes().intermediate);
  for (SlotStages& slot : stages) {
    for (auto* stage : {&slot.gate, &slot.activation}) stage->resize(intermediate);
    if (gated) slot.up.resize(intermediate);
  }
  const auto count = static_cast<std::int64_t>(wanted.size());
  for_rows(groups, count, 2 * weights.sizes().hidden, [&](std::int64_t expert, const std::vector<std::size_t>& positions, std::int64_t r) {
    const std::int64_t i = wanted[static_cast<std::size_t>(r)];
    std::vector<std::uint32_t> gate(positions.size());
    std::vector<std::uint32_t> up(positions.size());
    product.row(expert, 0, i, gate);
    if (gated) product.row(expert, 1, i, up);
    for (std::size_t p = 0; p < positions.size(); ++p) {
      SlotStages& slot = stages[positions[p]];
      const auto at = static_cast<std::size_t>(i);
      slot.gate[at] = row.rounds_h13 ? to_bf16(gate[p]) : gate[p];
      if (gated) slot.up[at] = row.rounds_h13 ? to_bf16(up[p]) : up[p];
      slot.activation[at] = moe::activate(*used.row, kBf16, slot.gate[at], gated ? slot.up[at] : 0, used.constants);
    }
  });
}

void second_product(const Execution& execution, const Weights& weights, const ByExpert& groups, std::span<const std::int64_t> columns,
                    std::vector<SlotStages>& stages) {
  std::vector<std::uint32_t> x;
  for (const SlotStages& slot : stages) {
    for (const std::uint32_t bits : slot.activation) x.push_back(bits >> 16U);
  }
  const Activations input = quantized(*execution.second, x, weights.sizes().intermediate, execution.scales.second, execution.fnuz);
  std::vector<std::int64_t> row_of(stages.size());
  std::iota(row_of.begin(), row_of.end(), 0);
  const Product product(execution, weights, Matrix::w2, input, families::ScaleMemory::row_major, groups, row_of, columns);
  for (SlotStages& slot : stages) slot.down.resize(columns.size());
  for_rows(groups, static_cast<std::int64_t>(columns.size()), weights.sizes().intermediate,
           [&](std::int64_t expert, const std::vector<std::size_t>& positions, std::int64_t c) {
             std::vector<std::uint32_t> down(positions.size());
             product.row(expert, 0, columns[static_cast<std::size_t>(c)], down);
             for (std::size_t p = 0; p < positions.size(); ++p) stages[positions[p]].down[static_cast<std::size_t>(c)] = down[p];
           });
}

std::uint32_t slot_share(const families::ExecutionRow& row, std::uint32_t sum, std::uint32_t down, std::uint32_t weight) {
  const auto added = [&](std::uint32_t share) {
    const std::uint32_t next = f32::add(sum, share);
    return row.sum == families::SlotSum::bf16 ? to_bf16(next) : next;
  };
  switch (row.slot) {
    case families::SlotRule::weighted_rounded: return added(to_bf16(f32::mul(down, weight)));
    case families::SlotRule::rounded_weighted_again: return added(to_bf16(f32::mul(to_bf16(down), to_bf16(weight))));
    case families::SlotRule::rounded: break;
  }
  return f32::fma(to_bf16(down), weight, sum);
}

}  // namespace

std::uint32_t to_bf16(std::uint32_t f32) {
  constexpr Conversion kNearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0x7FC0, 0x7FC0, 0, false};
  return convert(f32, kF32, kBf16, kNearest) << 16U;
}

Execution execution_on(const families::ExecutionRow& row, families::Arch arch, std::string_view activation_key, ModelActivation activation,
                       StaticScales scales) {
  const families::Quantizer* first = &families::quantizer_named(row.first);
  const families::Quantizer* second = &families::quantizer_named(row.second);
  if (row.keyed) {
    if (const families::Quantizer* keyed = families::quantizer_of_key(activation_key)) first = second = keyed;
  }
  return {&row, &families::unit_on(row.unit, arch), first, second, std::move(activation), scales};
}

std::string unknown_products(const Execution& execution, const families::Setting& setting) {
  const bool is_mixed = makes_fp8(*execution.first) || makes_fp8(*execution.second);
  if (!families::leaves_fn(setting) || !is_mixed) return {};
  return "its weights stay e4m3fn, as the method leaves them, and the activations are e4m3fnuz, as the device's FP8 is: no product of that pair is "
         "in mxact";
}

UsedActivation used_activation(const families::ExecutionRow& row, const ModelActivation& model) {
  const families::ActivationUse& use = use_of(row, model);
  moe::ActivationConstants constants = use.constants;
  const bool limited = use.takes_limit && model.constants.limit != 0 && !planted(Fault::sim_ignores_limit);
  if (use.takes_alpha && !planted(Fault::sim_drops_alpha)) constants.alpha = model.constants.alpha;
  if (use.takes_beta) {
    constants.beta = model.constants.beta;
    constants.linear_beta = model.constants.linear_beta;
  }
  if (limited) constants.limit = model.constants.limit;
  return {&moe::activation_named(limited && !use.limited_row.empty() ? use.limited_row : use.row), constants};
}

std::vector<std::string> ignored_constants(const families::ExecutionRow& row, const ModelActivation& model) {
  const UsedActivation used = used_activation(row, model);
  std::vector<std::string> ignored;
  const auto compare = [&](std::string_view name, std::uint32_t asked, std::uint32_t found) {
    if (asked == found) return;
    ignored.push_back(std::string(name) + " " + f32::text(asked) + " of the model is ignored, the kernel has " + f32::text(found));
  };
  compare("limit", model.constants.limit, used.constants.limit);
  if (used.row->curve == moe::Curve::silu && model.constants.alpha == 0) return ignored;
  compare("alpha", model.constants.alpha, used.constants.alpha);
  compare("beta", model.constants.beta, used.constants.beta);
  return ignored;
}

layout::SourceOrder kernel_order(const families::ExecutionRow& row, const ModelActivation& model) {
  const auto* const own = std::ranges::find(kActivationNames, model.name, &ActivationName::name);
  return own == kActivationNames.end() ? row.silu_order : row.*own->order;
}

std::vector<std::int64_t> or_all(const std::optional<std::vector<std::int64_t>>& wanted, std::int64_t count) {
  if (wanted) return *wanted;
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<SlotStages> run_slots(const Execution& execution, const Weights& weights, const Activations& input, std::span<const SlotWork> slots,
                                  const Outputs& outputs) {
  const std::vector<std::int64_t> rows = or_all(outputs.rows, weights.sizes().intermediate);
  const std::vector<std::int64_t> columns = or_all(outputs.columns, weights.sizes().hidden);
  std::vector<SlotStages> stages(slots.size());
  if (slots.empty()) return stages;
  const ByExpert groups = by_expert(slots, weights, input);
  first_product(execution, weights, input, slots, groups, rows, stages);
  second_product(execution, weights, groups, columns, stages);
  return stages;
}

std::vector<std::uint32_t> combined(const families::ExecutionRow& row, std::vector<WeighedSlot> slots, std::size_t columns) {
  if (row.order == families::SlotOrder::expert) std::ranges::stable_sort(slots, {}, &WeighedSlot::expert);
  std::vector<std::uint32_t> sums(columns, 0);
  for (const WeighedSlot& slot : slots) {
    const std::uint32_t weight = row.bf16_weights ? to_bf16(slot.weight) : slot.weight;
    for (std::size_t n = 0; n < columns; ++n) sums[n] = slot_share(row, sums[n], slot.down[n], weight);
  }
  for (std::uint32_t& sum : sums) sum = to_bf16(sum);
  return sums;
}

std::vector<std::uint32_t> unweighted(std::span<const std::uint32_t> down) {
  std::vector<std::uint32_t> rounded;
  for (const std::uint32_t bits : down) rounded.push_back(to_bf16(bits));
  return rounded;
}

}  // namespace mx::sim
