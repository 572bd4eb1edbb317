// The operation `moe`: one mixture-of-experts layer. The model computes fp32 results that are correctly rounded at every stage, so it can be held to
// the bound of an fp32 run; a run in fp64 states a bound that no fp32 result meets, and one in bf16 rounds where the model does not.

#include <fmt/format.h>

#include <bit>
#include <memory>

#include "golden/witness/ops.hpp"
#include "model/moe/layer.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {

namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 20;

/// A choice that the model makes in one way only.
struct OnlyWord {
  std::string_view key;
  std::string_view word;
};
constexpr OnlyWord kOnlyWords[] = {
    {"w13_layout", "interleaved"}, {"activation", "swiglu_oai"}, {"quant_x", "none"},      {"round_h13", "none"},   {"round_act", "none"},
    {"quant_act", "none"},         {"round_expert_out", "none"}, {"round_weight", "none"}, {"weight_on", "output"}, {"routing", "from_x"},
};

struct LayerShape {
  std::int64_t tokens, experts, hidden, intermediate, top_k;
};

// fp32 bits of a parameter that is written as fp64 bits: what an fp32 run makes of the constant.
std::uint32_t f32_constant(Fields& params, std::string_view key) {
  constexpr int kF64Digits = 16;
  return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(params.hex(key, kF64Digits))));
}

LayerShape read_shape_of_layer(Fields& params) {
  return {params.integer("T", 1, kLargest), params.integer("E", 1, kLargest), params.integer("H", 1, kLargest), params.integer("I", 1, kLargest),
          params.integer("top_k", 1, kLargest)};
}

moe::SwigluOai read_choices(Fields& params) {
  for (const OnlyWord& only : kOnlyWords) {
    if (const std::string word = params.text(only.key); word != only.word)
      throw Unmodelled(fmt::format("no model of moe with {} {}", only.key, word));
  }
  if (!params.boolean("bias")) throw Unmodelled("no model of moe without biases");
  if (f32_constant(params, "input_scale") != f32::kOne) throw Unmodelled("no model of moe with an input scale");
  if (params.integer("ep_size") != 1 || params.integer("ep_rank") != 0) throw Unmodelled("no model of moe on one expert-parallel rank");
  return {f32_constant(params, "alpha"), f32_constant(params, "beta"), f32_constant(params, "limit")};
}

/// One input, its shape and type checked.
Tensor input_of(const OpContext& context, const std::string& name, std::string_view dtype, const std::vector<std::int64_t>& shape) {
  if (!context.entry.inputs.contains(name)) broken("no input '" + name + "'", context.entry.where);
  Tensor tensor = context.input(name);
  require_dtype(tensor, dtype, name, context.entry.where);
  if (tensor.shape != shape) broken("'" + name + "' has another shape than the parameters give", context.entry.where);
  return tensor;
}

layout::CanonicalLayer read_layer(const OpContext& context, const LayerShape& shape) {
  constexpr std::int64_t kGroup = 32;
  constexpr std::int64_t kGroupBytes = kGroup / 2;
  layout::CanonicalLayer layer{{shape.experts, shape.intermediate, shape.hidden, kGroup}, layout::SourceOrder::gpt_oss, {}};
  const std::int64_t rows = 2 * shape.intermediate;
  using layout::Role;
  layer[Role::w13_weight] = input_of(context, "w13_codes", "u8", {shape.experts, rows, shape.hidden / kGroup, kGroupBytes}).bytes;
  layer[Role::w13_weight_scale] = input_of(context, "w13_scales", "u8", {shape.experts, rows, shape.hidden / kGroup}).bytes;
  layer[Role::w13_bias] = input_of(context, "w13_bias", "bf16", {shape.experts, rows}).bytes;
  layer[Role::w2_weight] = input_of(context, "w2_codes", "u8", {shape.experts, shape.hidden, shape.intermediate / kGroup, kGroupBytes}).bytes;
  layer[Role::w2_weight_scale] = input_of(context, "w2_scales", "u8", {shape.experts, shape.hidden, shape.intermediate / kGroup}).bytes;
  layer[Role::w2_bias] = input_of(context, "w2_bias", "bf16", {shape.experts, shape.hidden}).bytes;
  return layer;
}

std::vector<Value> values_of(const Tensor& tensor) {
  std::vector<Value> values;
  for (std::int64_t i = 0; i < tensor.size(); ++i) values.push_back(decode(*tensor.dtype->format, static_cast<std::uint32_t>(tensor.word(i))));
  return values;
}

std::vector<std::uint32_t> f32_of(const Tensor& tensor) {
  std::vector<std::uint32_t> bits;
  for (std::int64_t i = 0; i < tensor.size(); ++i) bits.push_back(to_f32(static_cast<std::uint32_t>(tensor.word(i)), *tensor.dtype->format));
  return bits;
}

}  // namespace

ModelOutputs evaluate_moe(const OpContext& context) {
  Fields params(context.entry.params, "params", context.entry.where);
  const std::string compute = params.text("compute");
  if (compute == "f64") throw Unmodelled("no model of moe with compute f64: the model rounds every stage to fp32, which no fp64 bound allows");
  if (compute != "f32") throw Unmodelled("no model of moe with compute " + compute);
  const LayerShape shape = read_shape_of_layer(params);
  const moe::SwigluOai activation = read_choices(params);
  params.finish();

  const layout::CanonicalLayer layer = read_layer(context, shape);
  const Tensor x = input_of(context, "x", "bf16", {shape.tokens, shape.hidden});
  const moe::Router router{shape.experts, shape.hidden, values_of(input_of(context, "router_w", "bf16", {shape.experts, shape.hidden})),
                           f32_of(input_of(context, "router_b", "bf16", {shape.experts}))};
  std::vector<std::uint32_t> codes;
  for (std::int64_t i = 0; i < x.size(); ++i) codes.push_back(static_cast<std::uint32_t>(x.word(i)));

  const std::vector<std::vector<moe::Slot>> slots = moe::route(Contract::exact, router, shape.top_k, codes);
  const std::vector<std::uint32_t> out = moe::run_experts(*moe::canonical_experts(layer), {Contract::exact, activation}, codes, shape.hidden, slots);
  Tensor values{&dtype_named("f32"), {shape.tokens, shape.hidden}, std::vector<std::uint8_t>(out.size() * 4)};
  for (std::size_t i = 0; i < out.size(); ++i) values.set_word(static_cast<std::int64_t>(i), out[i]);
  const auto origin = [slots, hidden = shape.hidden](std::int64_t i) {
    std::string text = fmt::format("token {}, experts", i / hidden);
    for (const moe::Slot& slot : slots[static_cast<std::size_t>(i / hidden)]) text += fmt::format(" {}", slot.expert);
    return text;
  };
  ModelOutputs outputs;
  outputs.emplace("out", ModelOutput{std::move(values), nullptr, false, origin});
  return outputs;
}

}  // namespace mx::golden
