// The operation `moe_layer`: a whole layer as a kernel of Hopper computes it, every stage from the one before.

#include <fmt/format.h>

#include "golden/witness/numbers.hpp"
#include "golden/witness/stage_tensors.hpp"
#include "model/deployment/version.hpp"
#include "model/families/between.hpp"
#include "model/families/device_rows.hpp"
#include "model/families/slot_sum.hpp"
#include "model/families/triton_moe_product.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {

namespace {

namespace triton_moe = families::triton_moe;

constexpr std::int64_t kBlock = 128;

deployment::Engine engine_of(Fields& params) {
  const std::string word = params.text("engine");
  for (const deployment::Engine engine : {deployment::kVllm2026_05, deployment::kVllm2026_08}) {
    if (deployment::name_of(engine).ends_with(word)) return engine;
  }
  throw Unmodelled("no model of engine " + word);
}

/// Slots in the order of token and position.
struct Slots {
  std::vector<std::int64_t> expert;
  std::vector<std::uint32_t> weight;  ///< fp32 bits
};

Slots read_slots(const OpContext& context, const LayerShape& shape, std::string_view weight_type) {
  const Tensor ids = input_of(context, "ids", "i32", {shape.tokens, shape.top_k});
  const Tensor weights = input_of(context, "weights", weight_type, {shape.tokens, shape.top_k});
  Slots slots;
  for (std::int64_t slot = 0; slot < shape.slots(); ++slot) {
    const std::int64_t expert = word_at(ids, slot);
    if (expert >= shape.experts) broken(fmt::format("'ids' has {}, there are {} experts", expert, shape.experts), context.entry.where);
    slots.expert.push_back(expert);
    slots.weight.push_back(f32_at(weights, slot));
  }
  return slots;
}

/// Rows of codes with a scale for each group of 128.
struct Quantized {
  std::vector<std::uint32_t> codes, scales;

  PreparedOperand row(const ContractRow& contract, std::int64_t index, std::int64_t k) const {
    std::vector<Value> elements, factors;
    for (std::int64_t i = index * k; i < (index + 1) * k; ++i) elements.push_back(decode(kE4m3fn, codes[static_cast<std::size_t>(i)]));
    for (std::int64_t i = index * (k / kBlock); i < (index + 1) * (k / kBlock); ++i)
      factors.push_back(decode(kF32, scales[static_cast<std::size_t>(i)]));
    return prepare(contract, Side::a, {elements, &kE4m3fn, factors, static_cast<int>(kBlock)});
  }
};

/// bf16 numbers, fp32 bits, by the engine's quantizer of groups.
Quantized by_groups(std::span<const std::uint32_t> numbers, bool e8m0) {
  const Recipe& how = families::device_recipe(e8m0 ? "vllm-group-cuda-ue8m0" : "vllm-group-cuda");
  Quantized made;
  for (std::size_t first = 0; first < numbers.size(); first += kBlock) {
    const QuantizedBlock block = quantize_block(numbers.subspan(first, kBlock), kF32, how);
    made.codes.insert(made.codes.end(), block.codes.begin(), block.codes.end());
    made.scales.push_back(block.scale);
  }
  return made;
}

/// Weights of one matrix of all experts in blocks.
struct BlockWeights {
  Tensor codes, scales;
  std::int64_t rows, k;

  PreparedOperand row(const ContractRow& contract, std::int64_t expert, std::int64_t n) const {
    const std::int64_t down = rows / kBlock, across = k / kBlock;
    std::vector<Value> factors;
    for (std::int64_t i = 0; i < across; ++i) factors.push_back(decode(kF32, word_at(scales, (expert * down + n / kBlock) * across + i)));
    const std::vector<Value> elements = row_values(codes, kE4m3fn, expert * rows + n, k, k);
    return prepare(contract, Side::b, {elements, &kE4m3fn, factors, static_cast<int>(kBlock)});
  }
};

BlockWeights read_block_weights(const OpContext& context, const LayerShape& shape, const std::string& name, std::int64_t rows, std::int64_t k) {
  return {input_of(context, name + "_codes", "u8", {shape.experts, rows, k}),
          input_of(context, name + "_scales", "f32", {shape.experts, rows / kBlock, k / kBlock}), rows, k};
}

/// fp32 bits [slots][rows] of products; `row_of` has each slot's operand.
template <class Weights>
std::vector<std::uint32_t> products(const ContractRow& contract, const Slots& slots, const Weights& weights, std::int64_t rows,
                                    const std::function<const PreparedOperand&(std::size_t)>& row_of, const Tensor* bias) {
  std::vector<std::uint32_t> results(slots.expert.size() * static_cast<std::size_t>(rows));
  std::map<std::int64_t, std::vector<std::size_t>> by_expert;
  for (std::size_t slot = 0; slot < slots.expert.size(); ++slot) by_expert[slots.expert[slot]].push_back(slot);
  for (const auto& [expert, own] : by_expert) {
    for (std::int64_t n = 0; n < rows; ++n) {
      const PreparedOperand operand = weights(expert, n);
      std::optional<std::uint32_t> term;
      if (bias != nullptr) term = f32_at(*bias, expert * rows + n);
      for (const std::size_t slot : own)
        results[slot * static_cast<std::size_t>(rows) + static_cast<std::size_t>(n)] = dot(contract, row_of(slot), operand, {.c = {}, .bias = term});
    }
  }
  return results;
}

/// bf16 as fp32 bits of y times each slot's routing weight.
std::vector<std::uint32_t> weighted(const Slots& slots, const std::vector<std::uint32_t>& products) {
  const std::size_t columns = products.size() / slots.weight.size();
  std::vector<std::uint32_t> y;
  for (std::size_t i = 0; i < products.size(); ++i) y.push_back(in_bf16(f32::mul(products[i], slots.weight[i / columns])));
  return y;
}

std::vector<std::uint32_t> summed(const LayerShape& shape, families::SlotSum rule, const std::vector<std::uint32_t>& y) {
  const auto top_k = static_cast<std::size_t>(shape.top_k), hidden = static_cast<std::size_t>(shape.hidden);
  std::vector<std::uint32_t> out, shares(top_k);
  for (std::size_t token = 0; token < static_cast<std::size_t>(shape.tokens); ++token) {
    for (std::size_t n = 0; n < hidden; ++n) {
      for (std::size_t k = 0; k < top_k; ++k) shares[k] = y[(token * top_k + k) * hidden + n];
      out.push_back(families::sum_of_slots(rule, shares));
    }
  }
  return out;
}

ModelOutput bf16_output(std::int64_t rows, std::int64_t columns, const std::vector<std::uint32_t>& f32) {
  return output_of("bf16", {rows, columns}, narrowed_all(f32));
}

std::vector<std::uint32_t> numbers_of(const Tensor& x) {
  std::vector<std::uint32_t> numbers;
  for (std::int64_t i = 0; i < x.size(); ++i) numbers.push_back(f32_at(x, i));
  return numbers;
}

/// Halves of each row of h13, fp32 bits of bf16 numbers, through one kernel's activation.
std::vector<std::uint32_t> activated(const families::Between& kernel, const std::vector<std::uint32_t>& h13, std::size_t intermediate,
                                     deployment::Engine engine) {
  const moe::Activation& activation = families::activation_row(kernel.activation);
  const bool adds_zero = kernel.recipe.empty() && families::adds_zero_to_up(engine);
  std::vector<std::uint32_t> act;
  for (std::size_t row = 0; row < h13.size(); row += 2 * intermediate) {
    for (std::size_t i = row; i < row + intermediate; ++i) {
      const std::uint32_t up = h13[i + intermediate];
      act.push_back(moe::activate(activation, *kernel.type, h13[i], adds_zero ? f32::add(up, 0) : up, kernel.constants));
    }
  }
  return act;
}

ModelOutputs fp8_block_layer(const OpContext& context, Fields& params, const LayerShape& shape, deployment::Engine engine) {
  if (const std::string backend = params.text("backend"); backend != "TRITON") throw Unmodelled("no model of an FP8 layer by " + backend);
  if (params.text("w13_layout") != "halves" || params.text("activation") != "silu_and_mul")
    throw Unmodelled("no model of an FP8 layer with another activation than silu_and_mul of halves");
  const bool e8m0 = params.integer("e8m0", 0, 1) == 1;
  const auto number = [&](std::string_view key) { return params.integer(key, 1, kLargestExtent); };
  const triton_moe::Launch launch{number("block_m"), number("block_n"), number("step_k")};
  params.finish();
  if (shape.hidden % kBlock != 0 || shape.intermediate % kBlock != 0) throw Unmodelled("an FP8 layer of sizes that are not whole blocks of 128");
  require_names("x ids weights w13_codes w13_scales w2_codes w2_scales", context.entry.inputs, "input", context.entry.where);

  const ContractRow contract = triton_moe::contract_of(launch, triton_moe::Scales::blocks, engine);
  const std::int64_t n = 2 * shape.intermediate, slots_count = shape.slots();
  const Slots slots = read_slots(context, shape, "f32");
  const BlockWeights w13 = read_block_weights(context, shape, "w13", n, shape.hidden);
  const BlockWeights w2 = read_block_weights(context, shape, "w2", shape.hidden, shape.intermediate);
  const Quantized x = by_groups(numbers_of(input_of(context, "x", "bf16", {shape.tokens, shape.hidden})), e8m0);
  std::vector<PreparedOperand> rows;
  for (std::int64_t token = 0; token < shape.tokens; ++token) rows.push_back(x.row(contract, token, shape.hidden));
  const auto top_k = static_cast<std::size_t>(shape.top_k);
  std::vector<std::uint32_t> h13 = products(
      contract, slots, [&](std::int64_t expert, std::int64_t row) { return w13.row(contract, expert, row); }, n,
      [&](std::size_t slot) -> const PreparedOperand& { return rows[slot / top_k]; }, nullptr);
  for (std::uint32_t& number_bits : h13) number_bits = in_bf16(number_bits);

  const families::Between& between = families::between_named(e8m0 ? "silu_and_mul" : "silu_and_mul_per_block_quant");
  const std::vector<std::uint32_t> act = activated(between, h13, static_cast<std::size_t>(shape.intermediate), engine);
  Quantized second;
  if (e8m0) {
    second = by_groups(act, true);
  } else {
    families::QuantizedRow made = families::quantize_between(between, false, act);
    second = {std::move(made.codes), std::move(made.scales)};
  }
  std::vector<PreparedOperand> second_rows;
  for (std::int64_t slot = 0; slot < slots_count; ++slot) second_rows.push_back(second.row(contract, slot, shape.intermediate));
  const std::vector<std::uint32_t> y =
      weighted(slots, products(
                          contract, slots, [&](std::int64_t expert, std::int64_t row) { return w2.row(contract, expert, row); }, shape.hidden,
                          [&](std::size_t slot) -> const PreparedOperand& { return second_rows[slot]; }, nullptr));
  ModelOutputs outputs;
  outputs.emplace("a1_codes", output_of("u8", {shape.tokens, shape.hidden}, x.codes));
  outputs.emplace("a1_scales", output_of("f32", {shape.tokens, shape.hidden / kBlock}, x.scales));
  outputs.emplace("h13", bf16_output(slots_count, n, h13));
  if (e8m0) outputs.emplace("act", bf16_output(slots_count, shape.intermediate, act));
  outputs.emplace("act_codes", output_of("u8", {slots_count, shape.intermediate}, second.codes));
  outputs.emplace("act_scales", output_of("f32", {slots_count, shape.intermediate / kBlock}, second.scales));
  outputs.emplace("y", bf16_output(slots_count, shape.hidden, y));
  outputs.emplace("out", bf16_output(shape.tokens, shape.hidden, summed(shape, families::moe_sum_of(engine), y)));
  return outputs;
}

/// Whether the activation is part of the first product.
constexpr EnumWord<bool> kMxfp4Backends[] = {{"TRITON", true}, {"TRITON_UNFUSED", false}};

ModelOutputs mxfp4_layer(const OpContext& context, Fields& params, const LayerShape& shape, deployment::Engine engine) {
  const bool fused = row_named(kMxfp4Backends, "backend", params.text("backend")).value;
  if (params.text("w13_layout") != "interleaved") throw Unmodelled("no model of an MXFP4 layer whose rows do not alternate");
  const Swiglu swiglu = read_swiglu(context, params);
  for (const char* key : {"block_m", "block_n", "step_k"}) {
    if (params.has(key)) params.integer(key, 1, kLargestExtent);  // no tile changes a bit
  }
  params.finish();
  require_names("x ids weights w13_codes w13_scales w13_bias w2_codes w2_scales w2_bias", context.entry.inputs, "input", context.entry.where);
  const ContractRow& contract = row_of(Contract::hopper_bf16);
  const std::int64_t n = 2 * shape.intermediate;
  const Slots slots = read_slots(context, shape, "bf16");
  const MxWeights w13 = read_w13(context, shape);
  const MxWeights w2 = read_w2(context, shape);
  const Tensor x = input_of(context, "x", "bf16", {shape.tokens, shape.hidden});
  std::vector<PreparedOperand> rows;
  for (std::int64_t token = 0; token < shape.tokens; ++token) rows.push_back(prepared_row(contract, x, token, shape.hidden));
  const auto top_k = static_cast<std::size_t>(shape.top_k);
  const std::vector<std::uint32_t> h13 = products(
      contract, slots, [&](std::int64_t expert, std::int64_t row) { return w13.row(contract, expert * n + row); }, n,
      [&](std::size_t slot) -> const PreparedOperand& { return rows[slot / top_k]; }, &w13.bias);
  const moe::Activation& unfused = families::activation_row("swiglu_oai_cuda_sm90");
  std::vector<std::uint32_t> act;
  for (std::size_t i = 0; i < h13.size(); i += 2) {
    act.push_back(
        in_bf16(fused ? swiglu(h13[i], h13[i + 1]) : moe::activate(unfused, kBf16, in_bf16(h13[i]), in_bf16(h13[i + 1]), swiglu.constants)));
  }
  const Tensor act_rows = bf16_output(shape.slots(), shape.intermediate, act).values;
  std::vector<PreparedOperand> second_rows;
  for (std::int64_t slot = 0; slot < shape.slots(); ++slot) second_rows.push_back(prepared_row(contract, act_rows, slot, shape.intermediate));
  const std::vector<std::uint32_t> y =
      weighted(slots, products(
                          contract, slots, [&](std::int64_t expert, std::int64_t row) { return w2.row(contract, expert * shape.hidden + row); },
                          shape.hidden, [&](std::size_t slot) -> const PreparedOperand& { return second_rows[slot]; }, &w2.bias));
  ModelOutputs outputs;
  outputs.emplace("h13", bf16_output(shape.slots(), n, h13));
  outputs.emplace("act", bf16_output(shape.slots(), shape.intermediate, act));
  outputs.emplace("y", bf16_output(shape.slots(), shape.hidden, y));
  outputs.emplace("out", bf16_output(shape.tokens, shape.hidden, summed(shape, fused ? families::SlotSum::f32 : families::moe_sum_of(engine), y)));
  return outputs;
}

struct FormWord {
  std::string_view word;
  ModelOutputs (*evaluate)(const OpContext&, Fields&, const LayerShape&, deployment::Engine);
};
constexpr FormWord kForms[] = {{"fp8_block", fp8_block_layer}, {"mxfp4", mxfp4_layer}};

}  // namespace

ModelOutputs evaluate_moe_layer(const OpContext& context) {
  Fields params = params_of(context.entry);
  const FormWord& form = row_named(kForms, "form", params.text("form"));
  const LayerShape shape = read_layer_shape(params);
  const deployment::Engine engine = engine_of(params);
  params.integer("launch_tokens", 1, kLargestExtent);  // of which these tokens are recorded; the tile is given beside it
  return form.evaluate(context, params, shape, engine);
}

}  // namespace mx::golden
