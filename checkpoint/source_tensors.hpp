#pragma once
// The tensors that forms share, and how they are named: rows for the table of source_forms.cpp.

#include <array>

#include "checkpoint/source_forms.hpp"

namespace mx::checkpoint::rows {

using Text = std::string_view;

// clang-format off
inline constexpr std::array<Projection, 2> kFusedProjections{{{"gate_up_proj", true, 0, 2}, {"down_proj", false, 0, 1}}};
inline constexpr std::array<Projection, 2> kOriginal{{{"1", true, 0, 2}, {"2", false, 0, 1}}};
inline constexpr std::array<Projection, 2> kStacked{{{"w13", true, 0, 2}, {"w2", false, 0, 1}}};
inline constexpr std::array<Projection, 3> kProjections{{{"gate_proj", true, 0, 1}, {"up_proj", true, 1, 1}, {"down_proj", false, 0, 1}}};
inline constexpr std::array<Projection, 3> kNumberedProjections{{{"w1", true, 0, 1}, {"w3", true, 1, 1}, {"w2", false, 0, 1}}};
inline constexpr std::array<Projection, 2> kLayersOfTwo{{{"fc1", true, 0, 1}, {"fc2", false, 0, 1}}};
inline constexpr std::array<Projection, 3> kLinearProjections{{{"linear", true, 0, 1}, {"linear_v", true, 1, 1}, {"linear_1", false, 0, 1}}};
// clang-format on

/// Source: transformers modeling_gpt_oss.py, integrations/mxfp4.py; modeling_llama4.py Llama4TextExperts; openai/gpt-oss gpt_oss/torch/weights.py.
inline constexpr Naming kFused{"gate_up_proj, down_proj of all experts", {}, ".experts.", false, kFusedProjections, ".router.weight", ".router.bias"};
inline constexpr Naming kOriginalNaming{"mlp1, mlp2 of all experts", "block.", ".mlp", false, kOriginal, ".gate.weight", ".gate.bias"};
/// Source: vllm fused_moe/layer.py FusedMoE.weight_loader, names of its own parameters; files of ggml-org/llama.cpp#24738.
inline constexpr Naming kStackedNaming{"w13, w2 of all experts", {}, ".experts.", false, kStacked, {}, {}};
/// Source: vllm fused_moe/layer.py make_expert_params_mapping and its callers: gate_proj, up_proj, down_proj, or w1, w3, w2, or two layers alone.
inline constexpr Naming kNamed{"gate_proj, up_proj, down_proj", {}, ".experts.", true, kProjections, {}, {}};
inline constexpr Naming kNumbered{"w1, w3, w2", {}, ".experts.", true, kNumberedProjections, {}, {}};
inline constexpr Naming kTwoLayers{"fc1, fc2", {}, ".experts.", true, kLayersOfTwo, {}, {}};
/// Source: vllm models/grok1.py Grok1ForCausalLM, ckpt_gate_proj_name and its siblings.
inline constexpr Naming kLinear{"linear, linear_v, linear_1", {}, ".experts.", true, kLinearProjections, {}, {}};
/// Source: vllm of 7ca49fbe4 fused_moe/routed_experts.py build_expert_params_mapping, include_fused: gate and up of an expert in one.
inline constexpr Naming kFusedEach{"gate_up_proj, down_proj", {}, ".experts.", true, kFusedProjections, {}, {}};
inline constexpr Naming kStackedEach{"w13, w2", {}, ".experts.", true, kStacked, {}, {}};

inline constexpr std::array<Naming, 1> kGptOssNames{kFused};
inline constexpr std::array<Naming, 1> kGptOssOriginalNames{kOriginalNaming};
inline constexpr std::array<Naming, 1> kStackedNames{kStackedNaming};
inline constexpr std::array<Naming, 4> kEachExpert{kNamed, kNumbered, kTwoLayers, kLinear};
/// Of forms without a number of a whole tensor: the engine cannot cut one into that of gate and that of up.
inline constexpr std::array<Naming, 6> kEachOrHalves{kNamed, kNumbered, kTwoLayers, kLinear, kFusedEach, kStackedEach};
inline constexpr std::array<Naming, 1> kOnlyNumbered{kNumbered};

inline constexpr std::array<Text, 1> kU8{"U8"};
inline constexpr std::array<Text, 1> kI8{"I8"};
inline constexpr std::array<Text, 1> kI32{"I32"};
inline constexpr std::array<Text, 1> kI64{"I64"};
inline constexpr std::array<Text, 2> kCodes{"U8", "F4"};
inline constexpr std::array<Text, 3> kSignedCodes{"I8", "U8", "F4"};
inline constexpr std::array<Text, 1> kBf16Name{"BF16"};
inline constexpr std::array<Text, 3> kPlainNames{"BF16", "F16", "F32"};
inline constexpr std::array<Text, 1> kE4m3Name{"F8_E4M3"};
inline constexpr std::array<Text, 2> kE8m0Names{"F8_E8M0", "U8"};
inline constexpr std::array<Text, 5> kBlockScaleNames{"F32", "BF16", "F16", "F8_E8M0", "U8"};

/// Extents of a shape, outermost first.
template <Extent... kAxes>
inline constexpr std::array<Extent, sizeof...(kAxes)> kExtents{kAxes...};

// clang-format off
inline constexpr std::array<ShapeRow, 1> kStackedBlockShapes{{{kExtents<Extent::experts, Extent::rows, Extent::groups, Extent::bytes_of_group>, "[E, 2I, H/32, 16]", "[E, H, I/32, 16]"}}};
inline constexpr std::array<ShapeRow, 1> kStackedGroupShapes{{{kExtents<Extent::experts, Extent::rows, Extent::groups>, "[E, 2I, H/32]", "[E, H, I/32]"}}};
inline constexpr std::array<ShapeRow, 1> kStackedRowShapes{{{kExtents<Extent::experts, Extent::rows>, "[E, 2I]", "[E, H]"}}};
inline constexpr std::array<ShapeRow, 1> kStackedPackedShapes{{{kExtents<Extent::experts, Extent::rows, Extent::packed_columns>, "[E, 2I, H/2]", "[E, H, I/2]"}}};
inline constexpr std::array<ShapeRow, 1> kStackedElementShapes{{{kExtents<Extent::experts, Extent::rows, Extent::columns>, "[E, 2I, H]", "[E, H, I]"}}};
inline constexpr std::array<ShapeRow, 1> kInputPackedShapes{{{kExtents<Extent::experts, Extent::packed_columns, Extent::rows>, "[E, H/2, 2I]", "[E, I/2, H]"}}};
inline constexpr std::array<ShapeRow, 1> kInputGroup16Shapes{{{kExtents<Extent::experts, Extent::groups, Extent::rows>, "[E, H/16, 2I]", "[E, I/16, H]"}}};
inline constexpr std::array<ShapeRow, 1> kInputElementShapes{{{kExtents<Extent::experts, Extent::columns, Extent::rows>, "[E, H, 2I]", "[E, I, H]"}}};
inline constexpr std::array<ShapeRow, 1> kPackedShapes{{{kExtents<Extent::rows, Extent::packed_columns>, "[I, H/2]", "[H, I/2]"}}};
inline constexpr std::array<ShapeRow, 1> kWordShapes{{{kExtents<Extent::rows, Extent::word_columns>, "[I, H/8]", "[H, I/8]"}}};
inline constexpr std::array<ShapeRow, 1> kSixBitShapes{{{kExtents<Extent::rows, Extent::six_bit_columns>, "[I, 3H/4]", "[H, 3I/4]"}}};
inline constexpr std::array<ShapeRow, 1> kElementShapes{{{kExtents<Extent::rows, Extent::columns>, "[I, H]", "[H, I]"}}};
inline constexpr std::array<ShapeRow, 1> kGroup32Shapes{{{kExtents<Extent::rows, Extent::groups>, "[I, H/32]", "[H, I/32]"}}};
inline constexpr std::array<ShapeRow, 1> kGroup16Shapes{{{kExtents<Extent::rows, Extent::groups>, "[I, H/16]", "[H, I/16]"}}};
inline constexpr std::array<ShapeRow, 2> kBlockShapes{{{kExtents<Extent::blocks_of_rows, Extent::blocks_of_columns>, "[I/128, H/128]", "[H/128, I/128]"}, {kExtents<Extent::blocks_of_rows, Extent::one, Extent::blocks_of_columns, Extent::one>, "[I/128, 1, H/128, 1]", "[H/128, 1, I/128, 1]"}}};
inline constexpr std::array<ShapeRow, 1> kStackedSquareShapes{{{kExtents<Extent::experts, Extent::blocks_of_rows, Extent::blocks_of_columns>, "[E, 2I/128, H/128]", "[E, H/128, I/128]"}}};
inline constexpr std::array<ShapeRow, 1> kInputSquareShapes{{{kExtents<Extent::experts, Extent::blocks_of_columns, Extent::blocks_of_rows>, "[E, H/128, 2I/128]", "[E, I/128, H/128]"}}};
inline constexpr std::array<ShapeRow, 2> kInputRowShapes{{{kExtents<Extent::experts, Extent::one, Extent::rows>, "[E, 1, 2I]", "[E, 1, H]"}, {kExtents<Extent::experts, Extent::rows, Extent::one>, "[E, 2I, 1]", "[E, H, 1]"}}};
inline constexpr std::array<ShapeRow, 2> kRowShapes{{{kExtents<Extent::rows, Extent::one>, "[I, 1]", "[H, 1]"}, {kExtents<Extent::rows>, "[I]", "[H]"}}};
inline constexpr std::array<ShapeRow, 1> kShapeShapes{{{kExtents<Extent::two>, "[2]", "[2]"}}};
// clang-format on

inline constexpr std::array<Text, 1> kBlocksEnd{"_blocks"}, kScalesEnd{"_scales"}, kBiasEnd{"_bias"}, kOriginalBlocks{"_weight.blocks"},
    kOriginalScales{"_weight.scales"}, kWeightPacked{".weight_packed"}, kWeight{".weight"}, kWeightScale{".weight_scale"},
    kWeightGlobalScale{".weight_global_scale"}, kInputGlobalScale{".input_global_scale"}, kWeightScale2{".weight_scale_2"},
    kInputScale{".input_scale"}, kInputScale2{".input_scale_2"}, kScaleEnd{".scale"}, kStackedWeight{"_weight"}, kStackedScale{"_weight_scale"},
    kNothing{""}, kFusedScale{"_weight_scale"}, kFusedScale2{"_weight_scale_2"}, kFusedInput{"_input_scale"}, kWeightShape{".weight_shape"},
    kFusedScaleInv{"_scale_inv"}, kFusedActivation{"_activation_scale"}, kRowScale{"_scale"}, kNativeScale{".qscale_weight"},
    kNativeInput{".qscale_act"};
inline constexpr std::array<Text, 3> kScaleNames{".weight_scale_inv", ".weight_scale", ".scale"};
inline constexpr std::array<Text, 3> kInputScaleNames{".input_scale", ".activation_scale", ".act_scale"};

inline constexpr std::array<TensorRow, 3> kGptOssTensors{{
    {Piece::weight, kBlocksEnd, kU8, kStackedBlockShapes},
    {Piece::scale, kScalesEnd, kU8, kStackedGroupShapes},
    {Piece::bias, kBiasEnd, kBf16Name, kStackedRowShapes},
}};
inline constexpr std::array<TensorRow, 3> kGptOssOriginalTensors{{
    {Piece::weight, kOriginalBlocks, kU8, kStackedBlockShapes},
    {Piece::scale, kOriginalScales, kU8, kStackedGroupShapes},
    {Piece::bias, kBiasEnd, kBf16Name, kStackedRowShapes},
}};
inline constexpr std::array<TensorRow, 2> kStackedMxfp4{{
    {Piece::weight, kStackedWeight, kCodes, kStackedPackedShapes},
    {Piece::scale, kStackedScale, kE8m0Names, kStackedGroupShapes},
}};
inline constexpr std::array<TensorRow, 2> kCompressedMxfp4{{
    {Piece::weight, kWeightPacked, kCodes, kPackedShapes},
    {Piece::scale, kWeightScale, kE8m0Names, kGroup32Shapes},
}};
inline constexpr std::array<TensorRow, 4> kCompressedNvfp4{{
    {Piece::weight, kWeightPacked, kCodes, kPackedShapes},
    {Piece::scale, kWeightScale, kE4m3Name, kGroup16Shapes},
    {Piece::global_scale, kWeightGlobalScale, kPlainNames, {}, Meaning::reciprocal},
    {Piece::aside, kInputGlobalScale, kPlainNames, {}, Meaning::reciprocal, Companion::of_all},
}};
inline constexpr std::array<TensorRow, 3> kCompressedNvfp4Alone{{
    {Piece::weight, kWeightPacked, kCodes, kPackedShapes},
    {Piece::scale, kWeightScale, kE4m3Name, kGroup16Shapes},
    {Piece::global_scale, kWeightGlobalScale, kPlainNames, {}, Meaning::reciprocal},
}};
inline constexpr std::array<TensorRow, 4> kModelOptNvfp4{{
    {Piece::weight, kWeight, kCodes, kPackedShapes},
    {Piece::scale, kWeightScale, kE4m3Name, kGroup16Shapes},
    {Piece::global_scale, kWeightScale2, kPlainNames, {}},
    {Piece::aside, kInputScale, kPlainNames, {}, Meaning::as_it_is, Companion::needed},
}};
inline constexpr std::array<TensorRow, 4> kModelOptNvfp4Alone{{
    {Piece::weight, kWeight, kCodes, kPackedShapes},
    {Piece::scale, kWeightScale, kE4m3Name, kGroup16Shapes},
    {Piece::global_scale, kWeightScale2, kPlainNames, {}},
    {Piece::aside, kInputScale, kPlainNames, {}},
}};
inline constexpr std::array<TensorRow, 4> kFusedNvfp4{{
    {Piece::weight, kNothing, kU8, kInputPackedShapes},
    {Piece::scale, kFusedScale, kE4m3Name, kInputGroup16Shapes},
    {Piece::global_scale, kFusedScale2, kPlainNames, {}},
    {Piece::aside, kFusedInput, kPlainNames, {}, Meaning::as_it_is, Companion::needed},
}};
inline constexpr std::array<TensorRow, 3> kFusedFp8{{
    {Piece::weight, kNothing, kE4m3Name, kInputElementShapes},
    {Piece::scale, kFusedScale, kPlainNames, {}},
    {Piece::aside, kFusedInput, kPlainNames, {}, Meaning::as_it_is, Companion::needed},
}};
inline constexpr std::array<TensorRow, 2> kFusedBlock{{
    {Piece::weight, kNothing, kE4m3Name, kStackedElementShapes},
    {Piece::scale, kFusedScaleInv, kBlockScaleNames, kStackedSquareShapes},
}};
inline constexpr std::array<TensorRow, 2> kFusedBlockInput{{
    {Piece::weight, kNothing, kE4m3Name, kInputElementShapes},
    {Piece::scale, kFusedScaleInv, kBlockScaleNames, kInputSquareShapes},
}};
inline constexpr std::array<TensorRow, 3> kFusedScaleOfAll{{
    {Piece::weight, kNothing, kE4m3Name, kStackedElementShapes},
    {Piece::scale, kFusedScaleInv, kPlainNames, {}},
    {Piece::aside, kFusedActivation, kPlainNames, {}, Meaning::as_it_is, Companion::needed},
}};
inline constexpr std::array<TensorRow, 2> kFusedChannel{{
    {Piece::weight, kNothing, kE4m3Name, kInputElementShapes},
    {Piece::scale, kRowScale, kPlainNames, kInputRowShapes},
}};
inline constexpr std::array<TensorRow, 3> kNativeFp8{{
    {Piece::weight, kWeight, kE4m3Name, kElementShapes},
    {Piece::scale, kNativeScale, kPlainNames, {}},
    {Piece::aside, kNativeInput, kPlainNames, {}, Meaning::as_it_is, Companion::needed},
}};
inline constexpr std::array<TensorRow, 3> kFp8Static{{
    {Piece::weight, kWeight, kE4m3Name, kElementShapes},
    {Piece::scale, kScaleNames, kPlainNames, {}},
    {Piece::aside, kInputScaleNames, kPlainNames, {}, Meaning::as_it_is, Companion::needed},
}};
inline constexpr std::array<TensorRow, 3> kFp8Dynamic{{
    {Piece::weight, kWeight, kE4m3Name, kElementShapes},
    {Piece::scale, kScaleNames, kPlainNames, {}},
    {Piece::aside, kInputScaleNames, kPlainNames, {}},
}};
inline constexpr std::array<TensorRow, 2> kFp8Channel{{
    {Piece::weight, kWeight, kE4m3Name, kElementShapes},
    {Piece::scale, kScaleNames, kPlainNames, kRowShapes},
}};
inline constexpr std::array<TensorRow, 2> kMxfp8{{
    {Piece::weight, kWeight, kE4m3Name, kElementShapes},
    {Piece::scale, kScaleNames, kE8m0Names, kGroup32Shapes},
}};
inline constexpr std::array<TensorRow, 2> kFp8Block{{
    {Piece::weight, kWeight, kE4m3Name, kElementShapes},
    {Piece::scale, kScaleNames, kBlockScaleNames, kBlockShapes},
}};
inline constexpr std::array<TensorRow, 2> kDeepSeekV4{{
    {Piece::weight, kWeight, kSignedCodes, kPackedShapes},
    {Piece::scale, kScaleEnd, kE8m0Names, kGroup32Shapes},
}};
inline constexpr std::array<TensorRow, 3> kQuark{{
    {Piece::weight, kWeight, kCodes, kPackedShapes},
    {Piece::scale, kWeightScale, kE8m0Names, kGroup32Shapes},
    {Piece::aside, kInputScale, kPlainNames, {}},
}};
inline constexpr std::array<TensorRow, 2> kQuarkMxfp6{{
    {Piece::weight, kWeight, kU8, kSixBitShapes},
    {Piece::scale, kWeightScale, kE8m0Names, kGroup32Shapes},
}};
inline constexpr std::array<TensorRow, 2> kCompressedMxfp6{{
    {Piece::weight, kWeightPacked, kU8, kSixBitShapes},
    {Piece::scale, kWeightScale, kE8m0Names, kGroup32Shapes},
}};
inline constexpr std::array<TensorRow, 3> kStoredMxfp4Plain{{
    {Piece::weight, kWeight, kCodes, kPackedShapes},
    {Piece::scale, kWeightScale, kE8m0Names, kGroup32Shapes},
    {Piece::aside, kInputScale, kPlainNames, {}},
}};
inline constexpr std::array<TensorRow, 4> kModelOptNvfp4Of32{{
    {Piece::weight, kWeight, kCodes, kPackedShapes},
    {Piece::scale, kWeightScale, kE4m3Name, kGroup32Shapes},
    {Piece::global_scale, kWeightScale2, kPlainNames, {}},
    {Piece::aside, kInputScale, kPlainNames, {}},
}};
/// Scales of rows, or of a whole matrix.
inline constexpr std::array<TensorRow, 3> kInt8Channel{{
    {Piece::weight, kWeight, kI8, kElementShapes},
    {Piece::scale, kWeightScale, kPlainNames, kRowShapes},
    {Piece::aside, kInputScale, kPlainNames, {}},
}};
inline constexpr std::array<TensorRow, 3> kInt8Tensor{{
    {Piece::weight, kWeight, kI8, kElementShapes},
    {Piece::scale, kWeightScale, kPlainNames, {}},
    {Piece::aside, kInputScale, kPlainNames, {}},
}};
inline constexpr std::array<TensorRow, 4> kQuarkNvfp4{{
    {Piece::weight, kWeight, kCodes, kPackedShapes},
    {Piece::scale, kWeightScale, kE4m3Name, kGroup16Shapes},
    {Piece::global_scale, kWeightScale2, kPlainNames, {}},
    {Piece::aside, kInputScale2, kPlainNames, {}, Meaning::as_it_is, Companion::needed},
}};
inline constexpr std::array<TensorRow, 2> kStoredMxfp4{{
    {Piece::weight, kWeight, kCodes, kPackedShapes},
    {Piece::scale, kScaleNames, kE8m0Names, kGroup32Shapes},
}};
inline constexpr std::array<TensorRow, 1> kPlain{{{Piece::weight, kWeight, kPlainNames, kElementShapes}}};
inline constexpr std::array<TensorRow, 2> kFusedPlain{{
    {Piece::weight, kNothing, kPlainNames, kStackedElementShapes},
    {Piece::bias, kBiasEnd, kPlainNames, kStackedRowShapes},
}};
inline constexpr std::array<TensorRow, 2> kFusedPlainInput{{
    {Piece::weight, kNothing, kPlainNames, kInputElementShapes},
    {Piece::bias, kBiasEnd, kPlainNames, kStackedRowShapes},
}};
inline constexpr std::array<TensorRow, 3> kInt4{{
    {Piece::weight, kWeightPacked, kI32, kWordShapes},
    {Piece::scale, kWeightScale, kPlainNames, kGroup32Shapes},
    {Piece::aside, kWeightShape, kI64, kShapeShapes},
}};

}  // namespace mx::checkpoint::rows
