// Building blocks of Marlin's weight preparation that change values, and its whole conversions of NVFP4 and FP8 experts.

#include "model/families/marlin/values.hpp"

#include <array>

#include "model/error.hpp"
#include "model/families/convert.hpp"
#include "model/families/marlin/family.hpp"
#include "model/families/value_block.hpp"
#include "model/layout/grains.hpp"
#include "model/layout/packed.hpp"

namespace mx::families {
namespace {

using Words = std::string_view;

const BlockTensor& input(const BlockTensors& inputs, Words name) { return inputs.find(name)->second; }

ParamsDtype dtype_of(const BlockParams& params, Words key) { return static_cast<ParamsDtype>(params.find(key)->second); }
InputDtype activations_of(const BlockParams& params) { return static_cast<InputDtype>(params.find("input_dtype")->second); }

[[noreturn]] void refuse(Words block, const std::string& text) { throw Error(ErrorCode::usage, text, std::string(block)); }

void demand_bits(Words block, Words name, const BlockTensor& tensor, int bits) {
  if (tensor.bits != bits)
    refuse(block, std::string(name) + " has elements of " + std::to_string(tensor.bits) + " bits, not " + std::to_string(bits));
}

void demand_rank(Words block, Words name, const BlockTensor& tensor, std::size_t rank) {
  if (tensor.shape.size() != rank) {
    refuse(block, std::string(name) + " has " + std::to_string(tensor.shape.size()) + " axes, not " + std::to_string(rank));
  }
}

void demand_fours(Words block, const BlockTensor& scale) {
  if (scale.bytes.size() % 4 != 0)
    refuse(block, "elements = " + std::to_string(scale.bytes.size()) + " is not a multiple of 4: scales are moved in fours");
}

void demand_wide_activations(Words block, InputDtype activations) {
  if (activations != InputDtype::none) {
    refuse(block, "activation dtype " + std::string(name_of(activations)) + ": only 16-bit activations are supported");
  }
}

/// Bytes 0, 2, 1, 3 of every four.
std::vector<std::uint8_t> middle_swapped(std::vector<std::uint8_t> bytes) {
  for (std::size_t i = 0; i + 3 < bytes.size(); i += 4) std::swap(bytes[i + 1], bytes[i + 2]);
  return bytes;
}

BlockTensors mxfp4_scales(const BlockTensors& inputs, const BlockParams& params) {
  constexpr Words kBlock = "marlin.mxfp4_process_scales";
  BlockTensor scale = input(inputs, "scale");
  demand_bits(kBlock, "scale", scale, 8);
  const InputDtype activations = activations_of(params);
  if (activations == InputDtype::int8) refuse(kBlock, "activation dtype int8: only 16 bits and e4m3 are supported");
  for (std::uint8_t& code : scale.bytes) code = marlin::e8m0_through(code, dtype_of(params, "params_dtype"));
  if (activations == InputDtype::none) {
    demand_fours(kBlock, scale);
    scale.bytes = middle_swapped(std::move(scale.bytes));
    return {{"scale", std::move(scale)}};
  }
  for (std::uint8_t& code : scale.bytes) {
    if (code > marlin::kLargestOffsetByte) refuse(kBlock, "scale_byte = " + std::to_string(code) + " is above 249: 6 is added to every scale");
    code = static_cast<std::uint8_t>(code + marlin::kFp8ActivationOffset);
  }
  return {{"scale", std::move(scale)}};
}

BlockTensors nvfp4_scales(const BlockTensors& inputs, const BlockParams& params) {
  constexpr Words kBlock = "marlin.nvfp4_process_scales";
  BlockTensor scale = input(inputs, "scale");
  BlockTensor global = input(inputs, "global_scale");
  demand_bits(kBlock, "scale", scale, 8);
  demand_bits(kBlock, "global_scale", global, 32);
  demand_fours(kBlock, scale);
  demand_wide_activations(kBlock, activations_of(params));
  const ParamsDtype dtype = dtype_of(params, "params_dtype");
  const int factor = marlin::nvfp4_factor(scale.bytes, dtype);
  for (std::uint8_t& code : scale.bytes) code = marlin::nvfp4_scale(code, factor);
  scale.bytes = middle_swapped(std::move(scale.bytes));
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(global.bytes.size()) / 4; ++i) {
    const auto f32 = static_cast<std::uint32_t>(layout::get_grain(global.bytes, i, 32));
    layout::set_grain(global.bytes, i, 32, marlin::nvfp4_global_scale(f32, factor, dtype));
  }
  BlockTensor out_factor{64, {1}, std::vector<std::uint8_t>(8)};
  constexpr int kF64Bias = 1023;
  layout::set_grain(out_factor.bytes, 0, 64, static_cast<std::uint64_t>(kF64Bias + factor) << 52U);
  return {{"scale", std::move(scale)}, {"global_scale", std::move(global)}, {"scale_factor", std::move(out_factor)}};
}

/// What a whole conversion starts from: sizes by the shapes of the weights, rows of w13 in halves.
Setting setting_of(Words block, const BlockTensors& inputs, const BlockParams& params, layout::WeightFormat format, Words dtype_key) {
  const BlockTensor& w13 = input(inputs, "w13");
  const BlockTensor& w2 = input(inputs, "w2");
  demand_rank(block, "w13", w13, 3);
  demand_rank(block, "w2", w2, 3);
  const bool gated = params.find("gated")->second != 0;
  const std::int64_t shards = gated ? 2 : 1;
  if (w13.shape[1] % shards != 0) refuse(block, "w13 has " + std::to_string(w13.shape[1]) + " rows: gate and up are its halves");
  const layout::Sizes sizes{w13.shape[0], w13.shape[1] / shards, w2.shape[1], std::max(layout::group_of(format), std::int64_t{1})};
  return {.sizes = sizes,
          .padded = sizes,
          .form = {format, layout::SourceOrder::standard, gated},
          .engine = deployment::kVllm2026_08,
          .params_dtype = dtype_of(params, dtype_key),
          .input_dtype = activations_of(params),
          .has_bias = false};
}

/// One weight with its scales, by their names in a recorded conversion.
struct Pair {
  Words weight;
  Words scale;
  Words global;
  layout::Role weight_role;
  layout::Role scale_role;
  layout::Role global_role;
};
constexpr std::array<Pair, 2> kPairs{
    {{"w13", "w13_scale", "w13_scale_2", layout::Role::w13_weight, layout::Role::w13_weight_scale, layout::Role::w13_global_scale},
     {"w2", "w2_scale", "w2_scale_2", layout::Role::w2_weight, layout::Role::w2_weight_scale, layout::Role::w2_global_scale}}};

/// Scales [E, groups, N].
BlockTensor scale_tensor(const layout::Layout& layout, std::vector<std::uint8_t> bytes) {
  BlockTensor out{layout.grain_bits(), {}, std::move(bytes)};
  for (const layout::Axis& axis : layout.view()) out.shape.push_back(axis.extent);
  return out;
}

/// A weight of N rows in 32-bit words, [E, K/16, N * bits / 2].
BlockTensor weight_tensor(const layout::Layout& layout, std::int64_t rows, std::vector<std::uint8_t> bytes) {
  const std::int64_t experts = layout.view().front().extent;
  const std::int64_t words = rows * layout.grain_bits() / 2;
  const std::int64_t tiles = static_cast<std::int64_t>(bytes.size()) / 4 / experts / words;
  return {32, {experts, tiles, words}, std::move(bytes)};
}

BlockTensors nvfp4_moe(const BlockTensors& inputs, const BlockParams& params) {
  const Setting setting = setting_of("marlin.nvfp4_moe", inputs, params, layout::WeightFormat::nvfp4, "params_dtype");
  layout::CanonicalLayer layer{setting.sizes, setting.form, {}};
  for (const Pair& pair : kPairs) {
    layer[pair.weight_role] = input(inputs, pair.weight).bytes;
    layer[pair.scale_role] = input(inputs, pair.scale).bytes;
    layer[pair.global_role] = input(inputs, pair.global).bytes;
  }
  PackedLayer packed = convert(layer, backend_layout_named("MARLIN", layout::WeightFormat::nvfp4, setting.engine), setting);
  BlockTensors out;
  for (const Pair& pair : kPairs) {
    const layout::PackedTensor& weight = *packed.find(pair.weight_role);
    const layout::PackedTensor& scale = *packed.find(pair.scale_role);
    out.emplace(pair.weight, weight_tensor(weight.layout, scale.layout.view().back().extent, weight.bytes));
    out.emplace(pair.scale, scale_tensor(scale.layout, scale.bytes));
    out.emplace(pair.global, BlockTensor{32, {setting.sizes.experts}, packed.find(pair.global_role)->bytes});
  }
  return out;
}

/// Formats by the number of the parameter scale_mode.
constexpr std::array<layout::WeightFormat, 3> kScaleModes{layout::WeightFormat::fp8_tensor, layout::WeightFormat::fp8_channel,
                                                          layout::WeightFormat::fp8_block};

/// Given scales as [E, rows] or, in blocks, [E, rows, columns] of scales. They need not be the checkpoint's: gate and up may have a scale each.
layout::Layout given_scales(Words block, const Pair& pair, const BlockTensor& scale, const Setting& setting) {
  demand_bits(block, pair.scale, scale, 32);
  const std::int64_t experts = setting.sizes.experts;
  const std::int64_t rows = layout::is_w13(pair.weight_role) ? (setting.form.gated ? 2 : 1) * setting.sizes.intermediate : setting.sizes.hidden;
  const auto count = static_cast<std::int64_t>(scale.bytes.size()) / 4;
  if (setting.form.format != layout::WeightFormat::fp8_block) {
    const std::int64_t scales = count / experts;
    if (scales < 1 || count % experts != 0 || rows % scales != 0) {
      refuse(block, std::string(pair.scale) + " has " + std::to_string(count) + " scales for " + std::to_string(experts) + " experts of " +
                        std::to_string(rows) + " rows: equally many rows share one");
    }
    return layout::Layout({{"E", experts}, {"rows", scales}}, 16);
  }
  constexpr std::int64_t kBlock = 128;
  const std::int64_t depth = layout::is_w13(pair.weight_role) ? setting.sizes.hidden : setting.sizes.intermediate;
  demand_rank(block, pair.scale, scale, 3);
  if (scale.shape[0] != experts || scale.shape[1] * kBlock < rows || scale.shape[2] != (depth + kBlock - 1) / kBlock) {
    refuse(block, std::string(pair.scale) + " has " + std::to_string(scale.shape[1]) + " x " + std::to_string(scale.shape[2]) + " blocks for " +
                      std::to_string(rows) + " x " + std::to_string(depth) + " elements");
  }
  return layout::Layout({{"E", experts}, {"rows", scale.shape[1]}, {"cols", scale.shape[2]}}, 16);
}

BlockTensors fp8_moe(const BlockTensors& inputs, const BlockParams& params) {
  constexpr Words kBlock = "marlin.fp8_moe";
  const layout::WeightFormat format = kScaleModes.at(static_cast<std::size_t>(params.find("scale_mode")->second));
  const Setting setting = setting_of(kBlock, inputs, params, format, "orig_dtype");
  const BackendLayout& row = backend_layout_named("MARLIN", format, setting.engine);
  check_needs(row, setting);
  BlockTensors out;
  for (const Pair& pair : kPairs) {
    const BlockTensor& weight = input(inputs, pair.weight);
    const BlockTensor& scale = input(inputs, pair.scale);
    const std::int64_t depth = layout::is_w13(pair.weight_role) ? setting.sizes.hidden : setting.sizes.intermediate;
    demand_bits(kBlock, pair.weight, weight, 8);
    if (weight.shape[0] != setting.sizes.experts || weight.shape[2] != depth) {
      refuse(kBlock, std::string(pair.weight) + " does not fit the other weight's sizes");
    }
    const layout::Layout order = marlin::fp8_scale_layout(given_scales(kBlock, pair, scale, setting), pair.scale_role, setting);
    std::vector<std::uint8_t> fused(scale.bytes.size() / 2);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(fused.size()) / 2; ++i) {
      layout::set_grain(fused, i, 16, marlin::fp8_scale(static_cast<std::uint32_t>(layout::get_grain(scale.bytes, i, 32)), setting.params_dtype));
    }
    const layout::Layout fragments = row.build(pair.weight_role, setting).layout;
    out.emplace(pair.weight, weight_tensor(fragments, order.view().back().extent, layout::from_row_major(fragments, weight.bytes, 0)));
    out.emplace(pair.scale, scale_tensor(order, layout::from_row_major(order, fused, 0)));
  }
  return out;
}

constexpr BlockParam kParamsDtype{"params_dtype", 0, 0, 1, "dtype of the layer's parameters: 0 bf16, 1 fp16"};
constexpr BlockParam kInputDtype{"input_dtype", 0, 0, 2, "activations: 0 none (16 bits), 1 float8_e4m3fn, 2 int8"};
constexpr BlockParam kGated{"gated", 1, 0, 1, "1: w13 holds gate and up"};
constexpr std::array<BlockParam, 2> kScaleParams{kParamsDtype, kInputDtype};
constexpr std::array<BlockParam, 3> kNvfp4Params{kParamsDtype, kInputDtype, kGated};
constexpr std::array<BlockParam, 4> kFp8Params{{{"orig_dtype", 0, 0, 1, "dtype of the layer before quantization: 0 bf16, 1 fp16"},
                                                kInputDtype,
                                                kGated,
                                                {"scale_mode", 0, 0, 2, "scales: 0 tensor, 1 channel, 2 block (128 x 128)"}}};

constexpr std::array<Words, 1> kScale{"scale"};
constexpr std::array<Words, 2> kNvfp4Inputs{"scale", "global_scale"};
constexpr std::array<Words, 3> kNvfp4Outputs{"scale", "scale_factor", "global_scale"};
constexpr std::array<Words, 6> kNvfp4Layer{"w13", "w13_scale", "w13_scale_2", "w2", "w2_scale", "w2_scale_2"};
constexpr std::array<Words, 4> kFp8Layer{"w13", "w13_scale", "w2", "w2_scale"};
constexpr std::array<Words, 1> kVersions{"vllm-2026-08"};

constexpr layout::Source source(Words path, Words symbol) { return {"vllm-project/vllm", path, symbol, "017e9f4448b700e85ee16023287b025693c72b9e"}; }
constexpr Words kFp4Path = "vllm/model_executor/layers/quantization/utils/marlin_utils_fp4.py";
constexpr Words kFp8Path = "vllm/model_executor/layers/quantization/utils/marlin_utils_fp8.py";

constexpr std::array<ValueBlock, 4> kBuildingBlocks{{
    {"marlin.mxfp4_process_scales", "e8m0 scales, permuted already, through the parameters' dtype",
     "[0,2,1,3] within fours and back to e8m0; for e4m3 activations instead 6 added to each byte up to 249", kScale, kScale, kVersions, kScaleParams,
     mxfp4_scales, source(kFp4Path, "mxfp4_marlin_process_scales")},
    {"marlin.nvfp4_process_scales", "e4m3 scales, permuted already, as S0E5M3; global scales without the dequantizer's exponents",
     "sf = 2^floor(log2(448 / max(scale))) for bf16, 1 for fp16; x = 128 * sf * scale in fp16, 0 below 2; byte = bits 14..7 of x; "
     "global * 2^(b-7) / sf, b = 126 or 14",
     kNvfp4Inputs, kNvfp4Outputs, kVersions, kScaleParams, nvfp4_scales, source(kFp4Path, "nvfp4_marlin_process_scales")},
    {"marlin.nvfp4_moe", "NVFP4 experts: I padded shard by shard, weights in mma fragments, scales as marlin.nvfp4_process_scales",
     "marlin.repack.w4a16, marlin.permute_scales, marlin.nvfp4_process_scales with one factor for all experts", kNvfp4Layer, kNvfp4Layer, kVersions,
     kNvfp4Params, nvfp4_moe, source(kFp4Path, "prepare_nvfp4_moe_layer_for_marlin")},
    {"marlin.fp8_moe", "e4m3 experts with fp32 scales: I padded shard by shard, weights in mma fragments, one scale per row and group",
     "marlin.repack.w8a16, marlin.permute_scales of the scales rounded into the dtype, times 2^120 (bf16) or 2^8 (fp16)", kFp8Layer, kFp8Layer,
     kVersions, kFp8Params, fp8_moe, source(kFp8Path, "prepare_fp8_moe_layer_for_marlin")},
}};

}  // namespace

constinit const std::span<const ValueBlock> kMarlinValueBlocks{kBuildingBlocks};

}  // namespace mx::families
