// The operation `moe_layer`: a whole layer as a kernel of Hopper computes it, every stage from the one before, by the arithmetic of sim/execute.

#include <fmt/format.h>

#include <algorithm>

#include "golden/witness/numbers.hpp"
#include "golden/witness/stage_tensors.hpp"
#include "model/deployment/version.hpp"
#include "sim/execute/run_layer.hpp"

namespace mx::golden {

namespace {

using families::LaunchKey;
using layout::Role;
using sim::LayerStage;

constexpr std::int64_t kBlock = 128;

/// A form of weights: where its tensors lie, and the types of what comes with them.
struct FormWord {
  std::string_view word;
  layout::Form form;
  std::string_view w13_layout;
  std::string_view weights;  ///< dtype of the routing weights
  std::string_view backends;
};
const FormWord kForms[] = {
    {"fp8_block", {layout::WeightFormat::fp8_block, layout::SourceOrder::standard}, "halves", "f32", " TRITON "},
    {"mxfp4", {layout::WeightFormat::mxfp4, layout::SourceOrder::gpt_oss}, "interleaved", "bf16", " TRITON TRITON_UNFUSED "},
};

/// Tensors of both matrices as a checkpoint has them.
layout::CanonicalLayer read_weights(const OpContext& context, const LayerShape& shape, const FormWord& form) {
  const bool in_blocks = form.form.format == layout::WeightFormat::fp8_block;
  if (in_blocks && (shape.hidden % kBlock != 0 || shape.intermediate % kBlock != 0))
    throw Unmodelled("an FP8 layer of sizes that are not whole blocks of 128");
  layout::CanonicalLayer layer{
      {shape.experts, shape.intermediate, shape.hidden, std::max<std::int64_t>(layout::group_of(form.form.format), 1)}, form.form, {}};
  const auto read = [&](Role role, const std::string& name, std::string_view dtype, const std::vector<std::int64_t>& extents) {
    layer[role] = input_of(context, name, dtype, extents).bytes;
  };
  const auto matrix = [&](const std::string& name, std::int64_t rows, std::int64_t k, Role weight, Role scale, Role bias) {
    if (in_blocks) {
      read(weight, name + "_codes", "u8", {shape.experts, rows, k});
      read(scale, name + "_scales", "f32", {shape.experts, rows / kBlock, k / kBlock});
      return;
    }
    constexpr std::int64_t kGroup = 32;
    if (k % kGroup != 0) broken(fmt::format("rows of {} in {} are not in blocks of {}", k, name, kGroup), context.entry.where);
    read(weight, name + "_codes", "u8", {shape.experts, rows, k / kGroup, kGroup / 2});
    read(scale, name + "_scales", "u8", {shape.experts, rows, k / kGroup});
    read(bias, name + "_bias", "bf16", {shape.experts, rows});
  };
  matrix("w13", 2 * shape.intermediate, shape.hidden, Role::w13_weight, Role::w13_weight_scale, Role::w13_bias);
  matrix("w2", shape.hidden, shape.intermediate, Role::w2_weight, Role::w2_weight_scale, Role::w2_bias);
  return layer;
}

sim::LayerTokens read_tokens(const OpContext& context, const LayerShape& shape, std::string_view weight_type) {
  const Tensor ids = input_of(context, "ids", "i32", {shape.tokens, shape.top_k});
  const Tensor weights = input_of(context, "weights", weight_type, {shape.tokens, shape.top_k});
  const Tensor x = input_of(context, "x", "bf16", {shape.tokens, shape.hidden});
  sim::LayerTokens tokens;
  tokens.top_k = shape.top_k;
  for (std::int64_t slot = 0; slot < shape.slots(); ++slot) {
    const std::int64_t expert = word_at(ids, slot);
    if (expert >= shape.experts) broken(fmt::format("'ids' has {}, there are {} experts", expert, shape.experts), context.entry.where);
    tokens.ids.push_back(static_cast<std::int32_t>(expert));
    tokens.weights.push_back(f32_at(weights, slot));
  }
  for (std::int64_t i = 0; i < x.size(); ++i) tokens.x.push_back(word_at(x, i));
  return tokens;
}

sim::ModelActivation read_activation(const OpContext& context, Fields& params, const FormWord& form) {
  if (form.form.format == layout::WeightFormat::mxfp4) return {"SWIGLUOAI", read_swiglu(context, params).constants};
  if (const std::string word = params.text("activation"); word != "silu_and_mul")
    throw Unmodelled("no model of an FP8 layer with activation " + word);
  return {"SILU", {}};
}

/// The launch that the entry says.
families::LaunchChoice read_choice(Fields& params) {
  families::LaunchChoice choice;
  const auto take = [&](const char* word, LaunchKey key) {
    if (params.has(word)) choice.set(key, params.integer(word, key == LaunchKey::e8m0 ? 0 : 1, kLargestExtent));
  };
  take("launch_tokens", LaunchKey::tokens);
  take("e8m0", LaunchKey::e8m0);
  take("block_m", LaunchKey::block_m);
  take("block_n", LaunchKey::block_n);
  take("step_k", LaunchKey::step_k);
  return choice;
}

constexpr std::string_view kBf16Word = "bf16";

/// A stage as the recording has it: fp32 numbers were rounded on their way out, columns of gate and up alternate where the rows of w13 do.
ModelOutput output_of_stage(const sim::StageValues& stage, bool by_turns) {
  std::vector<std::uint32_t> words = stage.words;
  if (stage.stage == LayerStage::h13 && stage.dtype == "F32") words = narrowed_all(words);
  if (stage.stage == LayerStage::h13 && by_turns) {
    const auto width = static_cast<std::size_t>(stage.shape[1]), half = width / 2;
    const std::vector<std::uint32_t> halves = words;
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = halves[i - i % width + i % width % 2 * half + i % width / 2];
  }
  const bool is_scale = stage.stage == LayerStage::a1_scales || stage.stage == LayerStage::act_scales;
  return output_of(stage.dtype == "U8" ? "u8" : is_scale ? "f32" : kBf16Word, stage.shape, words);
}

}  // namespace

ModelOutputs evaluate_moe_layer(const OpContext& context) {
  Fields params = params_of(context.entry);
  const FormWord& form = row_named(kForms, "form", params.text("form"));
  const LayerShape shape = read_layer_shape(params);
  const deployment::Engine engine = engine_of(params);
  const std::string backend = params.text("backend");
  if (form.backends.find(" " + backend + " ") == std::string_view::npos)
    throw Unmodelled(fmt::format("no model of a layer of {} by {}", form.word, backend));
  if (params.text("w13_layout") != form.w13_layout)
    throw Unmodelled(fmt::format("no model of a layer of {} with other rows than {}", form.word, form.w13_layout));
  const sim::ModelActivation activation = read_activation(context, params, form);
  const families::LaunchChoice choice = read_choice(params);
  params.finish();
  const bool has_bias = form.form.format == layout::WeightFormat::mxfp4;
  require_names(
      has_bias ? "x ids weights w13_codes w13_scales w13_bias w2_codes w2_scales w2_bias" : "x ids weights w13_codes w13_scales w2_codes w2_scales",
      context.entry.inputs, "input", context.entry.where);

  const families::ExecutionRow& row = families::execution_of(form.form.format, backend);
  const families::Operation device{.arch = families::Arch::sm90, .triton_kernels_3_6 = release_of(context) != families::triton::Release::v3_5};
  sim::Execution execution = sim::execution_on(row, device, {}, activation, {}, engine);
  execution.choice = choice;
  if (const std::vector<std::string> ignored = sim::ignored_constants(row, activation); !ignored.empty()) throw Unmodelled(ignored.front());
  const sim::LayerExperts experts{std::move(execution), sim::Weights::of_checkpoint(read_weights(context, shape, form), row), shape.hidden};
  const sim::LayerTokens tokens = read_tokens(context, shape, form.weights);
  std::vector<LayerStage> wanted;
  for (const sim::StageValues& stage : sim::stage_forms(experts, tokens)) wanted.push_back(stage.stage);
  ModelOutputs outputs;
  for (const sim::StageValues& stage : sim::run_layer(experts, tokens, {}, wanted))
    outputs.emplace(sim::row_of(stage.stage).name, output_of_stage(stage, form.form.order == layout::SourceOrder::gpt_oss));
  return outputs;
}

}  // namespace mx::golden
