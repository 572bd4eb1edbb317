// The operation `moe_stage`: the steps of a fused layer as the Triton kernels of triton_kernels take them on Hopper. Weights become bf16, products
// are accumulated on 16-bit tensor cores, and each step rounds to bf16 where the next one reads memory.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "golden/witness/numbers.hpp"
#include "model/moe/routing.hpp"
#include "model/numerics/dot.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {

namespace {

constexpr std::int64_t kGroup = 32;
constexpr std::uint32_t kSignBit = 0x80000000U;

struct LayerShape {
  std::int64_t tokens, experts, hidden, intermediate, top_k;

  std::int64_t slots() const { return tokens * top_k; }
};

LayerShape read_layer_shape(Fields& params) {
  return {params.integer("T", 1, kLargestExtent), params.integer("E", 1, kLargestExtent), params.integer("H", 1, kLargestExtent),
          params.integer("I", 1, kLargestExtent), params.integer("top_k", 1, kLargestExtent)};
}

const ContractRow& read_accum(Fields& params) {
  if (const std::string word = params.text("accum"); word != "chain16") throw Unmodelled("no model of moe_stage with accum " + word);
  return row_of(Contract::hopper_bf16);
}

std::uint32_t word_at(const Tensor& tensor, std::int64_t i) { return static_cast<std::uint32_t>(tensor.word(i)); }

std::uint32_t f32_at(const Tensor& tensor, std::int64_t i) { return to_f32(word_at(tensor, i), *tensor.dtype->format); }

ModelOutput output_of(std::string_view dtype, std::vector<std::int64_t> shape, const std::vector<std::uint32_t>& words) {
  const Dtype& type = dtype_named(dtype);
  Tensor values{&type, std::move(shape), std::vector<std::uint8_t>(words.size() * static_cast<std::size_t>(type.bytes))};
  for (std::size_t i = 0; i < words.size(); ++i) values.set_word(static_cast<std::int64_t>(i), words[i]);
  return {std::move(values), nullptr, false, {}};
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

/// The weights of one matrix of all experts, [experts][rows][k], and the biases of its rows.
struct Weights {
  Tensor codes, scales, bias;
  std::int64_t rows, k;

  /// The contract folds the scales into the codes.
  PreparedOperand row(const ContractRow& contract, std::int64_t index) const {
    std::vector<Value> values;
    for (std::int64_t i = 0; i < k; ++i) {
      const std::uint32_t byte = word_at(codes, (index * k + i) / 2);
      values.push_back(decode(kE2m1, i % 2 == 0 ? byte & 0xFU : byte >> 4));
    }
    std::vector<Value> factors;
    for (std::int64_t i = 0; i < k / kGroup; ++i) factors.push_back(decode(kE8m0, word_at(scales, index * (k / kGroup) + i)));
    return prepare(contract, Side::b, {values, &kE2m1, factors, static_cast<int>(kGroup)});
  }
};

Weights read_weights(const OpContext& context, const LayerShape& shape, const std::string& name, std::int64_t rows, std::int64_t k) {
  if (k % kGroup != 0) broken(fmt::format("rows of {} in {} are not in blocks of {}", k, name, kGroup), context.entry.where);
  return {input_of(context, name + "_codes", "u8", {shape.experts, rows, k / kGroup, kGroup / 2}),
          input_of(context, name + "_scales", "u8", {shape.experts, rows, k / kGroup}),
          input_of(context, name + "_bias", "bf16", {shape.experts, rows}), rows, k};
}

PreparedOperand prepared_row(const ContractRow& contract, const Tensor& x, std::int64_t row, std::int64_t k) {
  std::vector<Value> values;
  for (std::int64_t i = 0; i < k; ++i) values.push_back(decode(*x.dtype->format, word_at(x, row * k + i)));
  return prepare(contract, Side::a, {.elements = values});
}

/// fp32 results [slots][rows]: the row of x that `x_row` names for each slot, by the weights of the slot's expert, and the bias.
std::vector<std::uint32_t> expert_products(const ContractRow& contract, const SortedSlots& slots, const Tensor& x, const Weights& weights,
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
  const Weights weights = read_weights(context, shape, "w13", 2 * shape.intermediate, shape.hidden);
  return expert_products(contract, slots, x, weights, [&](std::size_t slot) { return slots.source[slot] / shape.top_k; });
}

std::vector<std::uint32_t> narrowed_all(const ContractRow& contract, const std::vector<std::uint32_t>& f32) {
  std::vector<std::uint32_t> words;
  for (std::uint32_t bits : f32) words.push_back(narrowed(contract, bits, kBf16));
  return words;
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
    gates.push_back(narrowed(row_of(Contract::hopper_bf16), row.slot.weight, kBf16));
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
  outputs.emplace("h13", output_of("bf16", {shape.slots(), 2 * shape.intermediate}, narrowed_all(contract, first_gemm(context, shape, contract))));
  return outputs;
}

/// Constants of the activation as fp32 bits.
struct Swiglu {
  std::uint32_t alpha, limit;

  /// s = g / (1 + exp(-(alpha * g))), then fma(s, u, s), of clamped g and u; every operation is one fp32 rounding.
  std::uint32_t operator()(std::uint32_t gate, std::uint32_t up) const {
    const std::uint32_t g = f32::min(gate, limit);
    const std::uint32_t u = f32::max(f32::min(up, limit), limit ^ kSignBit);
    const std::uint32_t s = f32::div(g, f32::add(f32::kOne, f32::exp(f32::mul(alpha, g) ^ kSignBit)));
    return f32::fma(s, u, s);
  }
};

Swiglu read_swiglu(Fields& params) {
  const auto f32_parameter = [&](std::string_view key) { return to_f32(real_parameter(params, key)); };
  if (const std::string word = params.text("activation"); word != "swiglu_oai") throw Unmodelled("no model of moe_stage with activation " + word);
  if (f32_parameter("beta") != f32::kOne) throw Unmodelled("no model of moe_stage with a beta other than 1: the kernel adds s itself");
  return {f32_parameter("alpha"), f32_parameter("limit")};
}

ModelOutputs gemm1_swiglu(const OpContext& context, Fields& params, const LayerShape& shape) {
  const ContractRow& contract = read_accum(params);
  const Swiglu swiglu = read_swiglu(params);
  params.finish();
  const std::vector<std::uint32_t> h13 = first_gemm(context, shape, contract);
  std::vector<std::uint32_t> activations;
  for (std::size_t i = 0; i + 1 < h13.size(); i += 2) activations.push_back(swiglu(h13[i], h13[i + 1]));
  ModelOutputs outputs;
  outputs.emplace("act", output_of("bf16", {shape.slots(), shape.intermediate}, narrowed_all(contract, activations)));
  return outputs;
}

ModelOutputs gemm2_combine(const OpContext& context, Fields& params, const LayerShape& shape) {
  const ContractRow& contract = read_accum(params);
  params.finish();
  const SortedSlots slots = read_slots(context, shape);
  const Tensor act = input_of(context, "act", "bf16", {shape.slots(), shape.intermediate});
  const Tensor gates = input_of(context, "gate_scal", "bf16", {shape.slots()});
  const Weights weights = read_weights(context, shape, "w2", shape.hidden, shape.intermediate);
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
  outputs.emplace("out", output_of("bf16", {shape.tokens, shape.hidden}, narrowed_all(contract, sums)));
  return outputs;
}

struct StageWord {
  std::string_view word;
  std::string_view inputs;
  std::string_view outputs;
  ModelOutputs (*evaluate)(const OpContext&, Fields&, const LayerShape&);
};
constexpr std::string_view kFirstInputs = "x w13_codes w13_scales w13_bias gather_src expert_hist";
constexpr StageWord kStages[] = {
    {"route_sort", "logits", "gather_src expert_hist gate_scal", route_sort},
    {"gemm1", kFirstInputs, "h13", gemm1},
    {"gemm1_swiglu", kFirstInputs, "act", gemm1_swiglu},
    {"gemm2_combine", "act w2_codes w2_scales w2_bias gather_src expert_hist gate_scal", "out", gemm2_combine},
};

}  // namespace

ModelOutputs evaluate_moe_stage(const OpContext& context) {
  Fields params = params_of(context.entry);
  const StageWord& stage = row_named(kStages, "stage", params.text("stage"));
  require_names(stage.inputs, context.entry.inputs, "input", context.entry.where);
  require_names(stage.outputs, context.entry.outputs, "output", context.entry.where);
  const LayerShape shape = read_layer_shape(params);
  return stage.evaluate(context, params, shape);
}

}  // namespace mx::golden
