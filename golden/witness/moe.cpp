// The operation `moe`: one mixture-of-experts layer. A run recorded in fp64 is held against the arithmetic of 64 significant bits, one in fp32
// against stages that are each correctly rounded, one in bf16 against PyTorch's elementwise bf16.

#include <fmt/format.h>

#include <memory>

#include "golden/witness/numbers.hpp"
#include "model/moe/layer.hpp"

namespace mx::golden {

namespace {

constexpr std::int64_t kGroup = 32;

enum class RoutingInput { given, from_x, top1_sigmoid };
constexpr EnumWord<RoutingInput> kRoutings[] = {
    {"given", RoutingInput::given}, {"from_x", RoutingInput::from_x}, {"top1_sigmoid", RoutingInput::top1_sigmoid}};
constexpr EnumWord<layout::SourceOrder> kW13Layouts[] = {{"interleaved", layout::SourceOrder::gpt_oss}, {"halves", layout::SourceOrder::standard}};
constexpr EnumWord<moe::GatedKind> kActivations[] = {{"swiglu_oai", moe::GatedKind::swiglu_oai}, {"silu_and_mul", moe::GatedKind::silu_and_mul}};
constexpr EnumWord<moe::Quantization> kQuantizations[] = {{"none", moe::Quantization::none}, {"mxfp8_rceil", moe::Quantization::mxfp8_rceil}};
constexpr EnumWord<moe::StageRounding> kStageRoundings[] = {{"none", moe::StageRounding::none}, {"bf16", moe::StageRounding::bf16}};
constexpr EnumWord<moe::StageRounding> kWeightRoundings[] = {{"none", moe::StageRounding::none}, {"f32", moe::StageRounding::f32}};
constexpr EnumWord<moe::WeightPlace> kWeightPlaces[] = {{"output", moe::WeightPlace::output}, {"input", moe::WeightPlace::input}};

template <typename Table>
auto word_value(const Table& table, Fields& params, std::string_view key) {
  return row_named(table, key, params.text(key)).value;
}

struct MoeCase {
  std::int64_t tokens, experts, hidden, intermediate, top_k;
  std::string compute;
  RoutingInput routing;
  layout::SourceOrder w13_layout;
  bool bias;
  moe::LayerChoices<Value> choices;
};

moe::Stages read_stages(Fields& params) {
  moe::Stages stages;
  stages.quant_x = word_value(kQuantizations, params, "quant_x");
  stages.round_h13 = word_value(kStageRoundings, params, "round_h13");
  stages.round_act = word_value(kStageRoundings, params, "round_act");
  stages.quant_act = word_value(kQuantizations, params, "quant_act");
  stages.round_expert_out = word_value(kStageRoundings, params, "round_expert_out");
  stages.round_weight = word_value(kWeightRoundings, params, "round_weight");
  stages.weight_on = word_value(kWeightPlaces, params, "weight_on");
  stages.expert_parallel = {params.integer("ep_size", 1, kLargestExtent), params.integer("ep_rank", 0, kLargestExtent)};
  return stages;
}

MoeCase read_case(Fields& params) {
  MoeCase read{};
  read.tokens = params.integer("T", 1, kLargestExtent);
  read.experts = params.integer("E", 1, kLargestExtent);
  read.hidden = params.integer("H", 1, kLargestExtent);
  read.intermediate = params.integer("I", 1, kLargestExtent);
  read.top_k = params.integer("top_k", 1, kLargestExtent);
  if (read.hidden % kGroup != 0 || read.intermediate % kGroup != 0)
    throw Unmodelled(fmt::format("H {} and I {} are not whole blocks of {}", read.hidden, read.intermediate, kGroup));
  read.compute = params.text("compute");
  read.routing = word_value(kRoutings, params, "routing");
  read.w13_layout = word_value(kW13Layouts, params, "w13_layout");
  read.bias = params.boolean("bias");
  read.choices.gated = word_value(kActivations, params, "activation");
  if (read.choices.gated == moe::GatedKind::swiglu_oai) {
    read.choices.alpha = real_parameter(params, "alpha");
    read.choices.beta = real_parameter(params, "beta");
    read.choices.limit = real_parameter(params, "limit");
  }
  if (read.routing == RoutingInput::top1_sigmoid && read.top_k != 1) throw Unmodelled("routing top1_sigmoid with a top_k that is not 1");
  read.choices.input_scale = real_parameter(params, "input_scale");
  read.choices.stages = read_stages(params);
  return read;
}

layout::CanonicalLayer read_layer(const OpContext& context, const MoeCase& layer_case) {
  constexpr std::int64_t kGroupBytes = kGroup / 2;
  const std::int64_t experts = layer_case.experts;
  const std::int64_t hidden = layer_case.hidden;
  const std::int64_t intermediate = layer_case.intermediate;
  const std::int64_t rows = 2 * intermediate;
  layout::CanonicalLayer layer{{experts, intermediate, hidden, kGroup}, layer_case.w13_layout, {}};
  using layout::Role;
  layer[Role::w13_weight] = input_of(context, "w13_codes", "u8", {experts, rows, hidden / kGroup, kGroupBytes}).bytes;
  layer[Role::w13_weight_scale] = input_of(context, "w13_scales", "u8", {experts, rows, hidden / kGroup}).bytes;
  layer[Role::w2_weight] = input_of(context, "w2_codes", "u8", {experts, hidden, intermediate / kGroup, kGroupBytes}).bytes;
  layer[Role::w2_weight_scale] = input_of(context, "w2_scales", "u8", {experts, hidden, intermediate / kGroup}).bytes;
  if (!layer_case.bias) return layer;
  layer[Role::w13_bias] = input_of(context, "w13_bias", "bf16", {experts, rows}).bytes;
  layer[Role::w2_bias] = input_of(context, "w2_bias", "bf16", {experts, hidden}).bytes;
  return layer;
}

template <class A>
using SlotsOf = std::vector<std::vector<moe::SlotOf<typename A::Number>>>;

template <class A>
SlotsOf<A> given_slots(const OpContext& context, const MoeCase& layer_case) {
  const std::vector<std::int64_t> shape{layer_case.tokens, layer_case.top_k};
  const std::vector<std::int64_t> ids = integers_of(input_of(context, "ids", shape), "ids", context.entry.where);
  const std::vector<Value> weights = values_of(input_of(context, "weights", shape), "weights", context.entry.where);
  SlotsOf<A> slots(static_cast<std::size_t>(layer_case.tokens));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= layer_case.experts)
      broken(fmt::format("'ids' has {}, there are {} experts", ids[i], layer_case.experts), context.entry.where);
    slots[i / static_cast<std::size_t>(layer_case.top_k)].push_back({ids[i], A::from(weights[i])});
  }
  return slots;
}

// Logits are not rounded further than the arithmetic does; under an exact contract not at all.
template <class A>
std::vector<moe::SlotOf<typename A::Number>> route_token(const A& arithmetic, std::span<const Value> x, const moe::Router& router,
                                                         std::int64_t top_k) {
  const moe::RouterSizes sizes{.top_k = top_k};
  return moe::route_logits<A>(moe::router_named("gpt-oss"), sizes, moe::router_logits(arithmetic, x, router), {});
}
std::vector<moe::Slot> route_token(const moe::F32Arithmetic& arithmetic, std::span<const Value> x, const moe::Router& router, std::int64_t top_k) {
  return moe::route_topk_softmax(arithmetic.contract().contract, x, router, top_k);
}

template <class A>
SlotsOf<A> slots_of(const OpContext& context, const A& arithmetic, const MoeCase& layer_case, std::span<const Value> x) {
  if (layer_case.routing == RoutingInput::given) return given_slots<A>(context, layer_case);
  SlotsOf<A> slots;
  if (layer_case.routing == RoutingInput::from_x) {
    const moe::Router router = read_router(context, layer_case.experts, layer_case.hidden);
    const auto hidden = static_cast<std::size_t>(layer_case.hidden);
    for (std::size_t at = 0; at < x.size(); at += hidden) slots.push_back(route_token(arithmetic, x.subspan(at, hidden), router, layer_case.top_k));
    return slots;
  }
  const Tensor logits = input_of(context, "logits", {layer_case.tokens, layer_case.experts});
  std::vector<typename A::Number> numbers;
  for (const Value& value : values_of(logits, "logits", context.entry.where)) numbers.push_back(A::from(value));
  const auto experts = static_cast<std::size_t>(layer_case.experts);
  for (std::size_t at = 0; at < numbers.size(); at += experts) {
    slots.push_back(moe::route_logits<A>(moe::router_named("llama4"), {.top_k = 1}, std::span(numbers).subspan(at, experts), {}));
  }
  return slots;
}

template <class A>
std::vector<Value> flat(const std::vector<std::vector<typename A::Number>>& rows) {
  std::vector<Value> values;
  for (const auto& row : rows) {
    for (const auto& number : row) values.push_back(A::value(number));
  }
  return values;
}

// Rows of [gate, up] halves as the checkpoint orders its rows.
void order_rows(std::vector<Value>& h13, const MoeCase& layer_case) {
  if (layer_case.w13_layout == layout::SourceOrder::standard) return;
  const auto half = static_cast<std::size_t>(layer_case.intermediate);
  const std::vector<Value> halves = h13;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const std::size_t column = i % (2 * half);
    h13[i] = halves[i - column + (column % 2) * half + column / 2];
  }
}

template <class A>
ModelOutputs run_case(const OpContext& context, const A& arithmetic, const MoeCase& layer_case) {
  const std::int64_t tokens = layer_case.tokens;
  const std::vector<Value> x = values_of(input_of(context, "x", {tokens, layer_case.hidden}), "x", context.entry.where);
  const SlotsOf<A> slots = slots_of(context, arithmetic, layer_case, x);
  const moe::LayerChoices<Value>& read = layer_case.choices;
  const moe::LayerChoices<typename A::Number> choices{read.gated,          A::from(read.alpha),       A::from(read.beta),
                                                      A::from(read.limit), A::from(read.input_scale), read.stages};
  const auto& entry_outputs = context.entry.outputs;
  const bool stages = entry_outputs.contains("h13") || entry_outputs.contains("act") || entry_outputs.contains("expert_out");
  const auto experts = moe::canonical_experts(read_layer(context, layer_case));
  const auto got =
      moe::run_layer(arithmetic, *experts, choices, x, layer_case.hidden, std::span<const typename SlotsOf<A>::value_type>(slots), stages);

  std::vector<std::vector<std::int64_t>> ids;
  for (const auto& token : slots) {
    ids.emplace_back();
    for (const auto& slot : token) ids.back().push_back(slot.expert);
  }
  ModelOutputs outputs;
  const auto put = [&](const std::string& name, const std::vector<std::int64_t>& shape, const std::vector<Value>& values) {
    if (!entry_outputs.contains(name)) return;
    const auto origin = [ids, per_token = static_cast<std::int64_t>(values.size()) / tokens](std::int64_t i) {
      return fmt::format("token {}, experts {}", i / per_token, fmt::join(ids[static_cast<std::size_t>(i / per_token)], " "));
    };
    outputs.emplace(name, real_output(context, name, shape, values, origin));
  };
  std::vector<Value> out;
  for (const auto& number : got.out) out.push_back(A::value(number));
  put("out", {tokens, layer_case.hidden}, out);
  if (!stages) return outputs;
  std::vector<Value> h13 = flat<A>(got.h13);
  order_rows(h13, layer_case);
  put("h13", {tokens, layer_case.top_k, 2 * layer_case.intermediate}, h13);
  put("act", {tokens, layer_case.top_k, layer_case.intermediate}, flat<A>(got.act));
  put("expert_out", {tokens, layer_case.top_k, layer_case.hidden}, flat<A>(got.expert_out));
  return outputs;
}

}  // namespace

ModelOutputs evaluate_moe(const OpContext& context) {
  require_inputs_among(
      context, {"x", "ids", "weights", "router_w", "router_b", "logits", "w13_codes", "w13_scales", "w13_bias", "w2_codes", "w2_scales", "w2_bias"});
  Fields params = params_of(context.entry);
  const MoeCase layer_case = read_case(params);
  params.finish();
  ModelOutputs outputs;
  in_arithmetic(layer_case.compute, Contract::exact, [&](const auto& arithmetic) { outputs = run_case(context, arithmetic, layer_case); });
  return outputs;
}

}  // namespace mx::golden
