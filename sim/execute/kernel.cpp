#include "sim/execute/kernel.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "model/error.hpp"
#include "model/families/between.hpp"
#include "model/families/device_rows.hpp"
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

/// As the row has it.
std::uint32_t used_weight(const families::ExecutionRow& row, std::uint32_t weight) { return row.bf16_weights ? to_bf16(weight) : weight; }

/// An activation costs as much as so many multiplications.
constexpr std::int64_t kActivationCost = 64;

}  // namespace

std::uint32_t to_bf16(std::uint32_t f32) {
  constexpr Conversion kNearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0x7FC0, 0x7FC0, 0, false};
  return convert(f32, kF32, kBf16, kNearest) << 16U;
}

std::uint32_t SlotStages::weight(std::uint32_t routing) const { return factor == f32::kOne ? routing : f32::mul(routing, factor); }
std::uint32_t SlotStages::whole(std::size_t column) const { return factor == f32::kOne ? down[column] : f32::mul(down[column], factor); }

Execution execution_on(const families::ExecutionRow& row, const families::Operation& operation, std::string_view activation_key,
                       ModelActivation activation, StaticScales scales, deployment::Engine engine) {
  const families::Arch arch = operation.arch;
  const families::Quantizer* first = &families::quantizer_on(row.first, arch, engine);
  const families::Quantizer* second = &families::quantizer_on(row.second, arch, engine);
  if (row.keyed) {
    if (const families::Quantizer* keyed = families::quantizer_of_key(activation_key))
      first = second = &families::quantizer_on(keyed->name, arch, engine);
  }
  first = &families::in_groups_of(*first, operation.block, arch, engine);
  second = &families::in_groups_of(*second, operation.block, arch, engine);
  return {.row = &row,
          .unit = &families::unit_on(row.unit, operation),
          .first = first,
          .second = second,
          .activation = std::move(activation),
          .scales = scales,
          .sum = families::slot_sum_on(row, arch, engine),
          .fnuz = operation.fnuz,
          .operation = operation,
          .engine = engine,
          .contract = families::unit_on(row.unit, operation).contract};
}

const families::Launched& Execution::launched() const {
  static const families::Launched kNone;
  return launch ? *launch : kNone;
}

Execution settled(Execution execution, const LaunchGeometry& geometry) {
  if (execution.launch) return execution;
  const std::int64_t tokens = execution.choice.find(families::LaunchKey::tokens).value_or(geometry.tokens);
  execution.batch = families::batch_of({execution.row->format, execution.row->backend, execution.operation, execution.engine, execution.first,
                                        execution.second, &execution.choice, tokens * geometry.top_k});
  execution.launch = families::launched(
      *execution.row, {execution.operation, execution.engine, geometry.sizes, tokens, geometry.top_k, execution.activation.name,
                       execution.activation.constants.limit != 0, geometry.gated, geometry.shared, geometry.mapped, execution.choice});
  const families::Launched& made = *execution.launch;
  if (!made.contract.empty()) execution.contract = contract_named(made.contract);
  if (!made.quantizer.empty()) {
    const families::Operation& on = execution.operation;
    const families::Quantizer& groups =
        families::in_groups_of(families::quantizer_on(made.quantizer, on.arch, execution.engine), on.block, on.arch, execution.engine);
    if (execution.row->first == families::kGroupQuantizer) execution.first = &groups;
    if (execution.row->second == families::kGroupQuantizer) execution.second = &groups;
  }
  return execution;
}

std::string unknown_products(const Execution& execution, const families::Setting& setting) {
  const bool is_mixed = makes_fp8(*execution.first) || makes_fp8(*execution.second);
  if (!families::leaves_fn(setting) || !is_mixed) return {};
  return "its weights stay e4m3fn, as the method leaves them, and the activations are e4m3fnuz, as the device's FP8 is: no product of that pair is "
         "in mxact";
}

std::string how_text(const Execution& execution, const families::Operation& operation, deployment::Engine engine, bool is_asked) {
  const families::ExecutionRow& row = *execution.row;
  const families::Quantizer &first = *execution.first, &second = *execution.second;
  const std::string grounds =
      families::grounds_text(families::grounds_of(row, operation, first, second), families::differences_of(row, operation, engine, first, second));
  return std::string(first.name) + (first.name == second.name ? "" : " and " + std::string(second.name)) + (execution.fnuz ? " in e4m3fnuz" : "") +
         " x " + std::string(name_of(execution.contract)) + ", " + (is_asked ? "as asked" : grounds) +
         (is_asked || execution.launched().text.empty() ? "" : "; launch: " + execution.launched().text);
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
  return {&families::activation_row(limited && !use.limited_row.empty() ? use.limited_row : use.row), constants};
}

UsedActivation used_activation(const Execution& execution) {
  UsedActivation used = used_activation(*execution.row, execution.activation);
  if (const families::Between* const kernel = families::activates(execution.launched()))
    used = {&families::activation_of(*kernel, used.constants.limit), families::constants_of(*kernel, used.constants.limit)};
  if (execution.row->callback) used.row = &families::activation_on(used.row->name, execution.operation);
  return used;
}

bool bounds_by_low_limit(const families::ExecutionRow& row, const ModelActivation& model, families::Arch arch, deployment::Engine engine) {
  const families::ActivationUse& use = use_of(row, model);
  const families::Between* const applied = families::applied_by(row, {arch, engine, model.name, true, false});
  const std::string_view name = applied != nullptr ? applied->limited : use.limited_row.empty() ? use.row : use.limited_row;
  return use.takes_limit && !families::activation_row(name).limit_is_optional;
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

void run_first(const Execution& execution, const Weights& weights, const Activations& input, std::span<const SlotWork> slots,
               std::span<const std::int64_t> rows, std::vector<SlotStages>& stages) {
  const families::ExecutionRow& row = *execution.row;
  const ByExpert groups = by_expert(slots, weights, input);
  std::vector<std::int64_t> row_of;
  for (const SlotWork& slot : slots) row_of.push_back(slot.row);
  const Product product(execution, weights, Matrix::w13, input, row.by == families::QuantizedBy::kernel ? input.memory : row.scales, groups, row_of,
                        rows);
  const UsedActivation used = used_activation(execution);
  const bool gated = weights.halves(Matrix::w13) == 2;
  if (gated == (used.row->pairing == moe::Pairing::single))
    throw Error(ErrorCode::unsupported,
                "activation " + execution.activation.name + " is not one of experts " + (gated ? "with" : "without") + " a gate");
  const auto intermediate = static_cast<std::size_t>(weights.sizes().intermediate);
  for (SlotStages& slot : stages) {
    slot.gate.resize(intermediate);
    if (gated) slot.up.resize(intermediate);
    if (!product.may_vary()) continue;
    slot.gate_possible.resize(intermediate);
    if (gated) slot.up_possible.resize(intermediate);
  }
  for_rows(groups, static_cast<std::int64_t>(rows.size()), 2 * weights.sizes().hidden,
           [&](std::int64_t expert, const std::vector<std::size_t>& positions, std::int64_t r) {
             const std::int64_t i = rows[static_cast<std::size_t>(r)];
             std::vector<std::uint32_t> sums(positions.size());
             for (std::int64_t half = 0; half < (gated ? 2 : 1); ++half) {
               Possible possible(product.may_vary() ? positions.size() : 0);
               product.row(expert, half, i, sums, possible.empty() ? nullptr : &possible);
               for (std::size_t p = 0; p < positions.size(); ++p) {
                 SlotStages& slot = stages[positions[p]];
                 (half == 0 ? slot.gate : slot.up)[static_cast<std::size_t>(i)] = row.rounds_h13 ? in_bf16(execution, sums[p]) : sums[p];
                 if (!possible.empty()) (half == 0 ? slot.gate_possible : slot.up_possible)[static_cast<std::size_t>(i)] = std::move(possible[p]);
               }
             }
           });
}

void run_activation(const Execution& execution, std::span<const std::int64_t> rows, std::vector<SlotStages>& stages) {
  const families::Launched& launched = execution.launched();
  const families::Between* const kernel = families::activates(launched);
  const UsedActivation used = used_activation(execution);
  const Format& type = kernel == nullptr ? kBf16 : *kernel->type;
  const bool adds_zero = kernel != nullptr && kernel->adds_zero.has(execution.engine);
  const auto slots = static_cast<std::int64_t>(stages.size());
  support::Rescue rescue;
#pragma omp parallel for schedule(dynamic) if (slots * static_cast<std::int64_t>(rows.size()) * kActivationCost > kWorthThreads)
  for (std::int64_t at = 0; at < slots; ++at) {
    rescue.run([&] {
      SlotStages& slot = stages[static_cast<std::size_t>(at)];
      slot.activation.resize(slot.gate.size());
      for (const std::int64_t row : rows) {
        const auto i = static_cast<std::size_t>(row);
        const std::uint32_t up = slot.up.empty() ? 0 : adds_zero ? f32::add(slot.up[i], 0) : slot.up[i];
        const std::uint32_t act = moe::activate(*used.row, type, slot.gate[i], up, used.constants);
        slot.activation[i] = launched.between == nullptr ? in_bf16(execution, act) : act;
      }
    });
  }
  rescue.rethrow();
}

Activations second_input(const Execution& execution, std::int64_t intermediate, std::span<const SlotStages> stages) {
  if (const families::Between* const between = execution.launched().between) {
    std::vector<std::uint32_t> codes, scales;
    for (const SlotStages& slot : stages) {
      std::vector<std::uint32_t> row = slot.activation;
      row.resize(static_cast<std::size_t>(families::rounded_up(intermediate, execution.second->format->block)));
      const families::QuantizedRow made = families::quantize_between(*between, execution.launched().between_powers, row);
      codes.insert(codes.end(), made.codes.begin(), made.codes.end());
      scales.insert(scales.end(), made.scales.begin(), made.scales.end());
    }
    const std::int64_t columns = families::rounded_up(intermediate, execution.second->format->block);
    return quantized_already(*execution.second, columns, std::move(codes), std::move(scales), execution.scales.second, execution.fnuz);
  }
  std::vector<std::uint32_t> x;
  for (const SlotStages& slot : stages) {
    for (const std::uint32_t bits : slot.activation) x.push_back(bits >> 16U);
  }
  return quantized(*execution.second, x, intermediate, execution.scales.second, execution.fnuz);
}

void run_second(const Execution& execution, const Weights& weights, const Activations& input, std::span<const SlotWork> slots,
                std::span<const std::int64_t> columns, std::vector<SlotStages>& stages) {
  std::vector<SlotWork> by_slot;
  for (const SlotWork& slot : slots) by_slot.push_back({static_cast<std::int64_t>(by_slot.size()), slot.expert});
  const ByExpert groups = by_expert(by_slot, weights, input);
  std::vector<std::int64_t> row_of(slots.size());
  std::iota(row_of.begin(), row_of.end(), 0);
  const Product product(execution, weights, Matrix::w2, input, families::ScaleMemory::row_major, groups, row_of, columns);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    stages[i].down.resize(columns.size());
    stages[i].down_possible.resize(product.may_vary() ? columns.size() : 0);
    stages[i].factor = product.weight_factor(slots[i].expert);
  }
  for_rows(groups, static_cast<std::int64_t>(columns.size()), weights.sizes().intermediate,
           [&](std::int64_t expert, const std::vector<std::size_t>& positions, std::int64_t c) {
             std::vector<std::uint32_t> down(positions.size());
             Possible possible(product.may_vary() ? positions.size() : 0);
             product.row(expert, 0, columns[static_cast<std::size_t>(c)], down, possible.empty() ? nullptr : &possible);
             for (std::size_t p = 0; p < positions.size(); ++p) {
               SlotStages& slot = stages[positions[p]];
               slot.down[static_cast<std::size_t>(c)] = down[p];
               if (!possible.empty()) slot.down_possible[static_cast<std::size_t>(c)] = std::move(possible[p]);
             }
           });
}

std::vector<SlotStages> run_slots(const Execution& execution, const Weights& weights, const Activations& input, std::span<const SlotWork> slots,
                                  const Outputs& outputs) {
  const std::vector<std::int64_t> rows = or_all(outputs.rows, weights.sizes().intermediate);
  const std::vector<std::int64_t> columns = or_all(outputs.columns, weights.sizes().hidden);
  std::vector<SlotStages> stages(slots.size());
  if (slots.empty()) return stages;
  run_first(execution, weights, input, slots, rows, stages);
  run_activation(execution, rows, stages);
  run_second(execution, weights, second_input(execution, weights.sizes().intermediate, stages), slots, columns, stages);
  return stages;
}

std::uint32_t in_bf16(const Execution& execution, std::uint32_t f32) { return narrowed(mx::row_of(execution.contract), f32, kBf16) << 16U; }

std::uint32_t slot_share(const Execution& execution, std::uint32_t down, std::uint32_t weight) {
  const std::uint32_t used = used_weight(*execution.row, weight);
  switch (execution.row->slot) {
    case families::SlotRule::weighted_rounded: return in_bf16(execution, f32::mul(down, used));
    case families::SlotRule::rounded_weighted_again: return in_bf16(execution, f32::mul(in_bf16(execution, down), to_bf16(used)));
    case families::SlotRule::rounded: break;
  }
  return in_bf16(execution, down);
}

std::vector<std::uint32_t> summed(const Execution& execution, std::vector<WeighedSlot> shares, std::size_t top_k, std::size_t columns) {
  const families::ExecutionRow& row = *execution.row;
  const bool by_expert = row.order == families::SlotOrder::expert;
  const bool weight_in_sum = row.slot == families::SlotRule::rounded;
  if (by_expert) std::ranges::stable_sort(shares, {}, &WeighedSlot::expert);
  std::vector<std::uint32_t> weights;
  for (const WeighedSlot& slot : shares) weights.push_back(used_weight(row, slot.weight));
  std::vector<std::uint32_t> sums(columns, 0);
  std::vector<std::uint32_t> terms;
  for (std::size_t n = 0; n < columns; ++n) {
    terms.assign(weight_in_sum ? shares.size() : std::max(top_k, shares.size()), 0);
    for (std::size_t i = 0; i < shares.size(); ++i) terms[weight_in_sum || by_expert ? i : shares[i].position] = shares[i].down[n];
    sums[n] = in_bf16(execution, weight_in_sum ? families::fused_sum_of_slots(terms, weights) : families::sum_of_slots(execution.sum, terms));
  }
  return sums;
}

std::vector<std::uint32_t> combined(const Execution& execution, std::vector<WeighedSlot> slots, std::size_t top_k, std::size_t columns) {
  std::vector<std::vector<std::uint32_t>> shares;
  for (WeighedSlot& slot : slots) {
    shares.emplace_back();
    for (std::size_t n = 0; n < columns; ++n) shares.back().push_back(slot_share(execution, slot.down[n], slot.weight));
    slot.down = shares.back();
  }
  return summed(execution, std::move(slots), top_k, columns);
}

std::vector<std::uint32_t> unweighted(const SlotStages& slot) {
  std::vector<std::uint32_t> rounded;
  for (std::size_t n = 0; n < slot.down.size(); ++n) rounded.push_back(to_bf16(slot.whole(n)));
  return rounded;
}

}  // namespace mx::sim
