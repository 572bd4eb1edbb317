// The operation `moe_stage`: the steps of a fused layer as the Triton kernels of triton_kernels take them on Hopper. Weights become bf16, products
// are accumulated on 16-bit tensor cores, and each step rounds to bf16 where the next one reads memory.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "golden/witness/numbers.hpp"
#include "golden/witness/stage_tensors.hpp"
#include "model/moe/routing.hpp"
#include "model/numerics/dot.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {

namespace {

const ContractRow& read_accum(Fields& params) {
  if (const std::string word = params.text("accum"); word != "chain16") throw Unmodelled("no model of moe_stage with accum " + word);
  return row_of(Contract::hopper_bf16);
}

/// Where the sorted slots come from.
struct SortedSlots {
  std::vector<std::int64_t> source;  ///< token * top_k + position
  std::vector<std::int64_t> expert;
};

SortedSlots read_slots(const OpContext& context, const LayerShape& shape) {
  const Tensor gather = input_of(context, "gather_src", "i32", {shape.slots()});
  const Tensor histogram = input_of(context, "expert_hist", "i32", {shape.experts});
  SortedSlots slots;
  for (std::int64_t expert = 0; expert < shape.experts; ++expert) {
    const std::int64_t count = word_at(histogram, expert);
    if (count > shape.slots()) broken(fmt::format("expert_hist[{}] is {}, of {} slots", expert, count, shape.slots()), context.entry.where);
    slots.expert.insert(slots.expert.end(), static_cast<std::size_t>(count), expert);
  }
  if (static_cast<std::int64_t>(slots.expert.size()) != shape.slots()) broken("expert_hist does not add up to the slots", context.entry.where);
  for (std::int64_t slot = 0; slot < shape.slots(); ++slot) {
    const std::int64_t source = word_at(gather, slot);
    if (source >= shape.slots()) broken(fmt::format("gather_src[{}] is {}, of {} slots", slot, source, shape.slots()), context.entry.where);
    slots.source.push_back(source);
  }
  return slots;
}

/// fp32 results [slots][rows]: the row of x that `x_row` names for each slot, by the weights of the slot's expert, and the bias.
std::vector<std::uint32_t> expert_products(const ContractRow& contract, const SortedSlots& slots, const Tensor& x, const MxWeights& weights,
                                           const std::function<std::int64_t(std::size_t)>& x_row) {
  const auto rows = static_cast<std::size_t>(weights.rows);
  std::vector<std::uint32_t> results(slots.source.size() * rows);
  std::vector<PreparedOperand> inputs;
  for (std::size_t slot = 0; slot < slots.source.size(); ++slot) inputs.push_back(prepared_row(contract, x, x_row(slot), weights.k));
  for (std::size_t first = 0; first < slots.source.size();) {
    const std::int64_t expert = slots.expert[first];
    std::size_t last = first;
    while (last < slots.source.size() && slots.expert[last] == expert) ++last;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::int64_t index = expert * weights.rows + static_cast<std::int64_t>(row);
      const PreparedOperand operand = weights.row(contract, index);
      for (std::size_t slot = first; slot < last; ++slot)
        results[slot * rows + row] = dot(contract, inputs[slot], operand, {.c = {}, .bias = f32_at(weights.bias, index)});
    }
    first = last;
  }
  return results;
}

std::vector<std::uint32_t> first_gemm(const OpContext& context, const LayerShape& shape, const ContractRow& contract) {
  const SortedSlots slots = read_slots(context, shape);
  const Tensor x = input_of(context, "x", "bf16", {shape.tokens, shape.hidden});
  const MxWeights weights = read_w13(context, shape);
  return expert_products(contract, slots, x, weights, [&](std::size_t slot) { return slots.source[slot] / shape.top_k; });
}

/// Each token's experts in ascending order, then all of them by expert, tokens ascending.
ModelOutputs route_sort(const OpContext& context, Fields& params, const LayerShape& shape) {
  params.finish();
  const Tensor logits = input_of(context, "logits", "bf16", {shape.tokens, shape.experts});
  struct Row {
    moe::Slot slot;
    std::int64_t source;
  };
  std::vector<Row> sorted;
  for (std::int64_t token = 0; token < shape.tokens; ++token) {
    std::vector<std::uint32_t> row;
    for (std::int64_t expert = 0; expert < shape.experts; ++expert) row.push_back(f32_at(logits, token * shape.experts + expert));
    std::vector<moe::Slot> slots = moe::route_logits<moe::F32Arithmetic>(moe::router_named("gpt-oss"), {.top_k = shape.top_k}, row, {});
    std::ranges::sort(slots, {}, &moe::Slot::expert);
    for (std::size_t position = 0; position < slots.size(); ++position)
      sorted.push_back({slots[position], token * shape.top_k + static_cast<std::int64_t>(position)});
  }
  std::ranges::stable_sort(sorted, {}, [](const Row& row) { return row.slot.expert; });

  std::vector<std::uint32_t> sources;
  std::vector<std::uint32_t> histogram(static_cast<std::size_t>(shape.experts));
  std::vector<std::uint32_t> gates;
  for (const Row& row : sorted) {
    sources.push_back(static_cast<std::uint32_t>(row.source));
    ++histogram[static_cast<std::size_t>(row.slot.expert)];
    gates.push_back(narrowed_bf16(row.slot.weight));
  }
  ModelOutputs outputs;
  outputs.emplace("gather_src", output_of("i32", {shape.slots()}, sources));
  outputs.emplace("expert_hist", output_of("i32", {shape.experts}, histogram));
  outputs.emplace("gate_scal", output_of("bf16", {shape.slots()}, gates));
  return outputs;
}

ModelOutputs gemm1(const OpContext& context, Fields& params, const LayerShape& shape) {
  const ContractRow& contract = read_accum(params);
  params.finish();
  ModelOutputs outputs;
  outputs.emplace("h13", output_of("bf16", {shape.slots(), 2 * shape.intermediate}, narrowed_all(first_gemm(context, shape, contract))));
  return outputs;
}

ModelOutputs gemm1_swiglu(const OpContext& context, Fields& params, const LayerShape& shape) {
  const ContractRow& contract = read_accum(params);
  const Swiglu swiglu = read_swiglu(context, params);
  params.finish();
  const std::vector<std::uint32_t> h13 = first_gemm(context, shape, contract);
  std::vector<std::uint32_t> activations;
  for (std::size_t i = 0; i + 1 < h13.size(); i += 2) activations.push_back(swiglu(h13[i], h13[i + 1]));
  ModelOutputs outputs;
  outputs.emplace("act", output_of("bf16", {shape.slots(), shape.intermediate}, narrowed_all(activations)));
  return outputs;
}

ModelOutputs gemm2_combine(const OpContext& context, Fields& params, const LayerShape& shape) {
  const ContractRow& contract = read_accum(params);
  params.finish();
  const SortedSlots slots = read_slots(context, shape);
  const Tensor act = input_of(context, "act", "bf16", {shape.slots(), shape.intermediate});
  const Tensor gates = input_of(context, "gate_scal", "bf16", {shape.slots()});
  const MxWeights weights = read_w2(context, shape);
  const std::vector<std::uint32_t> products =
      expert_products(contract, slots, act, weights, [](std::size_t slot) { return static_cast<std::int64_t>(slot); });

  const auto hidden = static_cast<std::size_t>(shape.hidden);
  std::vector<std::uint32_t> weighted(products.size());  // [token * top_k + position][hidden]
  for (std::size_t slot = 0; slot < slots.source.size(); ++slot) {
    const std::uint32_t gate = f32_at(gates, static_cast<std::int64_t>(slot));
    const std::size_t source = static_cast<std::size_t>(slots.source[slot]);
    for (std::size_t n = 0; n < hidden; ++n)
      weighted[source * hidden + n] = to_f32(narrowed(contract, f32::mul(products[slot * hidden + n], gate), kBf16), kBf16);
  }
  std::vector<std::uint32_t> sums(static_cast<std::size_t>(shape.tokens) * hidden);
  for (std::size_t source = 0; source < slots.source.size(); ++source) {
    const std::size_t token = source / static_cast<std::size_t>(shape.top_k);
    for (std::size_t n = 0; n < hidden; ++n) sums[token * hidden + n] = f32::add(sums[token * hidden + n], weighted[source * hidden + n]);
  }
  ModelOutputs outputs;
  outputs.emplace("out", output_of("bf16", {shape.tokens, shape.hidden}, narrowed_all(sums)));
  return outputs;
}

struct StageWord {
  std::string_view word;
  std::string_view inputs;
  std::string_view outputs;
  ModelOutputs (*evaluate)(const OpContext&, Fields&);
};
template <ModelOutputs (*kEvaluate)(const OpContext&, Fields&, const LayerShape&)>
ModelOutputs of_layer(const OpContext& context, Fields& params) {
  const LayerShape shape = read_layer_shape(params);
  return kEvaluate(context, params, shape);
}
constexpr std::string_view kFirstInputs = "x w13_codes w13_scales w13_bias gather_src expert_hist";
constexpr StageWord kStages[] = {
    {"route_sort", "logits", "gather_src expert_hist gate_scal", of_layer<route_sort>},
    {"gemm1", kFirstInputs, "h13", of_layer<gemm1>},
    {"gemm1_swiglu", kFirstInputs, "act", of_layer<gemm1_swiglu>},
    {"gemm2_combine", "act w2_codes w2_scales w2_bias gather_src expert_hist gate_scal", "out", of_layer<gemm2_combine>},
    {"gemm1_marlin", {}, "h13", marlin_first},
    {"gemm2_marlin", {}, "y", marlin_second},
    {"humming", {}, "h", humming_product},
    {"humming_activation", "gate up", "act", humming_activation},
};

}  // namespace

ModelOutputs evaluate_moe_stage(const OpContext& context) {
  Fields params = params_of(context.entry);
  const StageWord& stage = row_named(kStages, "stage", params.text("stage"));
  require_names(stage.inputs, context.entry.inputs, "input", context.entry.where);
  require_names(stage.outputs, context.entry.outputs, "output", context.entry.where);
  return stage.evaluate(context, params);
}

}  // namespace mx::golden
