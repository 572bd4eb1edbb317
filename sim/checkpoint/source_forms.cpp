#include "sim/checkpoint/source_forms.hpp"

namespace mx::sim {
namespace {

using Text = std::string_view;
using layout::SourceOrder;
using layout::WeightFormat;

// Rows are output features and K is packed along the last axis in every form: nothing is transposed.

constexpr std::array<Projection, 2> kHuggingFace{{{"gate_up_proj", true, 0, 2}, {"down_proj", false, 0, 1}}};
constexpr std::array<Projection, 2> kOriginal{{{"1", true, 0, 2}, {"2", false, 0, 1}}};
constexpr std::array<Projection, 3> kProjections{{{"gate_proj", true, 0, 1}, {"up_proj", true, 1, 1}, {"down_proj", false, 0, 1}}};
constexpr std::array<Projection, 3> kNumberedProjections{{{"w1", true, 0, 1}, {"w3", true, 1, 1}, {"w2", false, 0, 1}}};

/// Source: transformers modeling_gpt_oss.py, integrations/mxfp4.py; openai/gpt-oss gpt_oss/torch/weights.py.
constexpr std::array<Naming, 1> kGptOssNames{
    {{"Hugging Face names", "model.layers.", ".mlp", ".experts.", false, kHuggingFace, ".router.weight", ".router.bias"}}};
constexpr std::array<Naming, 1> kGptOssOriginalNames{{{"original names", "block.", ".mlp", ".mlp", false, kOriginal, ".gate.weight", ".gate.bias"}}};
/// Source: vllm fused_moe/layer.py make_expert_params_mapping and its callers: gate_proj, up_proj, down_proj, or w1, w3, w2.
constexpr Naming kNamed{"gate_proj, up_proj, down_proj", {}, {}, ".experts.", true, kProjections, {}, {}};
constexpr Naming kNumbered{"w1, w3, w2", {}, {}, ".experts.", true, kNumberedProjections, {}, {}};
constexpr std::array<Naming, 2> kBothNames{kNamed, kNumbered};
constexpr std::array<Naming, 1> kOnlyNumbered{kNumbered};

constexpr std::array<Text, 1> kU8{"U8"};
constexpr std::array<Text, 2> kBytes{"I8", "U8"};
constexpr std::array<Text, 1> kBf16Name{"BF16"};
constexpr std::array<Text, 1> kF32Name{"F32"};
constexpr std::array<Text, 1> kE4m3Name{"F8_E4M3"};
constexpr std::array<Text, 2> kE8m0Names{"F8_E8M0", "U8"};

constexpr std::array<Extent, 4> kStackedBlocks{Extent::experts, Extent::rows, Extent::groups, Extent::bytes_of_group};
constexpr std::array<Extent, 3> kStackedGroups{Extent::experts, Extent::rows, Extent::groups};
constexpr std::array<Extent, 2> kStackedRows{Extent::experts, Extent::rows};
constexpr std::array<Extent, 2> kPacked{Extent::rows, Extent::packed_columns};
constexpr std::array<Extent, 2> kElements{Extent::rows, Extent::columns};
constexpr std::array<Extent, 2> kGroups{Extent::rows, Extent::groups};
constexpr std::array<Extent, 2> kBlocks{Extent::blocks_of_rows, Extent::blocks_of_columns};

constexpr std::array<TensorRow, 3> kGptOssTensors{{
    {Piece::weight, "_blocks", kU8, kStackedBlocks, "[E, 2I, H/32, 16]", "[E, H, I/32, 16]"},
    {Piece::scale, "_scales", kU8, kStackedGroups, "[E, 2I, H/32]", "[E, H, I/32]"},
    {Piece::bias, "_bias", kBf16Name, kStackedRows, "[E, 2I]", "[E, H]"},
}};
constexpr std::array<TensorRow, 3> kGptOssOriginalTensors{{
    {Piece::weight, "_weight.blocks", kU8, kStackedBlocks, "[E, 2I, H/32, 16]", "[E, H, I/32, 16]"},
    {Piece::scale, "_weight.scales", kU8, kStackedGroups, "[E, 2I, H/32]", "[E, H, I/32]"},
    {Piece::bias, "_bias", kBf16Name, kStackedRows, "[E, 2I]", "[E, H]"},
}};
constexpr std::array<TensorRow, 2> kCompressedMxfp4{{
    {Piece::weight, ".weight_packed", kU8, kPacked, "[I, H/2]", "[H, I/2]"},
    {Piece::scale, ".weight_scale", kU8, kGroups, "[I, H/32]", "[H, I/32]"},
}};
constexpr std::array<TensorRow, 4> kCompressedNvfp4{{
    {Piece::weight, ".weight_packed", kU8, kPacked, "[I, H/2]", "[H, I/2]"},
    {Piece::scale, ".weight_scale", kE4m3Name, kGroups, "[I, H/16]", "[H, I/16]"},
    {Piece::global_scale, ".weight_global_scale", kF32Name, {}, {}, {}, Meaning::reciprocal},
    {Piece::aside, ".input_global_scale", kF32Name, {}, {}, {}, Meaning::reciprocal, Companion::of_all},
}};
constexpr std::array<TensorRow, 4> kModelOptNvfp4{{
    {Piece::weight, ".weight", kU8, kPacked, "[I, H/2]", "[H, I/2]"},
    {Piece::scale, ".weight_scale", kE4m3Name, kGroups, "[I, H/16]", "[H, I/16]"},
    {Piece::global_scale, ".weight_scale_2", kF32Name, {}},
    {Piece::aside, ".input_scale", kF32Name, {}, {}, {}, Meaning::as_it_is, Companion::needed},
}};
constexpr std::array<TensorRow, 3> kModelOptFp8{{
    {Piece::weight, ".weight", kE4m3Name, kElements, "[I, H]", "[H, I]"},
    {Piece::scale, ".weight_scale", kF32Name, {}},
    {Piece::aside, ".input_scale", kF32Name, {}, {}, {}, Meaning::as_it_is, Companion::needed},
}};
constexpr std::array<TensorRow, 2> kModelOptMxfp8{{
    {Piece::weight, ".weight", kE4m3Name, kElements, "[I, H]", "[H, I]"},
    {Piece::scale, ".weight_scale", kU8, kGroups, "[I, H/32]", "[H, I/32]"},
}};
constexpr std::array<TensorRow, 2> kFp8Block{{
    {Piece::weight, ".weight", kE4m3Name, kElements, "[I, H]", "[H, I]"},
    {Piece::scale, ".weight_scale_inv", kF32Name, kBlocks, "[I/128, H/128]", "[H/128, I/128]"},
}};
constexpr std::array<TensorRow, 2> kDeepSeekV4{{
    {Piece::weight, ".weight", kBytes, kPacked, "[I, H/2]", "[H, I/2]"},
    {Piece::scale, ".scale", kE8m0Names, kGroups, "[I, H/32]", "[H, I/32]"},
}};
constexpr std::array<TensorRow, 3> kQuark{{
    {Piece::weight, ".weight", kU8, kPacked, "[I, H/2]", "[H, I/2]"},
    {Piece::scale, ".weight_scale", kU8, kGroups, "[I, H/32]", "[H, I/32]"},
    {Piece::aside, ".input_scale", kF32Name, {}},
}};

constexpr Text kMethod = "quantization_config.quant_method";
constexpr Text kAlgo = "quantization_config.quant_algo";
constexpr Text kModelOptAlgo = "hf_quant_config.quantization.quant_algo";
constexpr Text kModelOptGroup = "hf_quant_config.quantization.group_size";
constexpr Text kGroupBits = "quantization_config.config_groups.*.weights.num_bits";
constexpr Text kGroupType = "quantization_config.config_groups.*.weights.type";
constexpr Text kGroupStrategy = "quantization_config.config_groups.*.weights.strategy";
constexpr Text kGroupSize = "quantization_config.config_groups.*.weights.group_size";
constexpr Text kGroupSymmetric = "quantization_config.config_groups.*.weights.symmetric";

constexpr std::array<Text, 1> kIsMxfp4{"mxfp4"}, kIsGptOss{"gpt_oss"}, kIsCompressed{"compressed-tensors"}, kIsFour{"4"}, kIsFloat{"float"},
    kIsGroup{"group"}, kIsTensorGroup{"tensor_group"}, kIs32{"32"}, kIs16{"16"}, kIsTrue{"true"}, kIsNvfp4{"NVFP4"}, kIsFp8{"FP8"}, kIsMxfp8{"MXFP8"},
    kIsFp8Method{"fp8"}, kIsSquare{"[128,128]"}, kIsDeepSeekV4{"deepseek_v4"}, kIsFp4{"fp4"}, kIsQuark{"quark"}, kIsPerGroup{"per_group"},
    kIsE8m0{"e8m0"}, kIsNull{"null"};
constexpr std::array<Text, 2> kIsModelOptFp4{"modelopt", "modelopt_fp4"}, kIsModelOptOrFp8{"modelopt", "fp8"},
    kIsModelOptMxfp8{"modelopt", "modelopt_mxfp8"};

constexpr std::array<ConfigFact, 2> kGptOssFacts{{{kMethod, kIsMxfp4}, {"model_type", kIsGptOss}}};
constexpr std::array<ConfigFact, 6> kCompressedMxfp4Facts{{{kMethod, kIsCompressed},
                                                           {kGroupBits, kIsFour},
                                                           {kGroupType, kIsFloat},
                                                           {kGroupStrategy, kIsGroup},
                                                           {kGroupSize, kIs32},
                                                           {kGroupSymmetric, kIsTrue}}};
constexpr std::array<ConfigFact, 6> kCompressedNvfp4Facts{{{kMethod, kIsCompressed},
                                                           {kGroupBits, kIsFour},
                                                           {kGroupType, kIsFloat},
                                                           {kGroupStrategy, kIsTensorGroup},
                                                           {kGroupSize, kIs16},
                                                           {kGroupSymmetric, kIsTrue}}};
constexpr std::array<ConfigFact, 4> kModelOptNvfp4Facts{
    {{kMethod, kIsModelOptFp4}, {kAlgo, kIsNvfp4}, {kModelOptAlgo, kIsNvfp4}, {kModelOptGroup, kIs16}}};
constexpr std::array<ConfigFact, 4> kModelOptFp8Facts{
    {{kMethod, kIsModelOptOrFp8}, {kAlgo, kIsFp8}, {kModelOptAlgo, kIsFp8}, {"quantization_config.weight_block_size", kIsNull}}};
constexpr std::array<ConfigFact, 3> kModelOptMxfp8Facts{{{kMethod, kIsModelOptMxfp8}, {kAlgo, kIsMxfp8}, {kModelOptAlgo, kIsMxfp8}}};
constexpr std::array<ConfigFact, 2> kFp8BlockFacts{{{kMethod, kIsFp8Method}, {"quantization_config.weight_block_size", kIsSquare}}};
constexpr std::array<ConfigFact, 3> kDeepSeekV4Facts{{{kMethod, kIsFp8Method}, {"model_type", kIsDeepSeekV4}, {"expert_dtype", kIsFp4}}};
constexpr std::array<ConfigFact, 5> kQuarkFacts{{{kMethod, kIsQuark},
                                                 {"quantization_config.global_quant_config.weight.dtype", kIsFp4},
                                                 {"quantization_config.global_quant_config.weight.qscheme", kIsPerGroup},
                                                 {"quantization_config.global_quant_config.weight.group_size", kIs32},
                                                 {"quantization_config.global_quant_config.weight.scale_format", kIsE8m0}}};

constexpr Text kE8m0Meaning = "value = e2m1 * 2^(byte - 127)";
constexpr EngineUse kGptOssUse{"mxfp4", true, true, "own", "SWIGLUOAI", "RenormalizeNaive"};  // softmax scores, renormalized

constexpr Text kCommit = "7e1b45a09252a5b513cd83116aa7a2f310220c34";
constexpr layout::Source kModelOptSource{"vllm-project/vllm", "vllm/model_executor/layers/quantization/modelopt.py", "ModelOptNvFp4FusedMoE",
                                         kCommit};

constexpr std::array<SourceForm, 10> kForms{{
    {"gpt-oss (Hugging Face names)",
     SourceOrder::gpt_oss,
     kGptOssNames,
     kGptOssTensors,
     kGptOssFacts,
     kE8m0Meaning,
     kGptOssUse,
     {"vllm-project/vllm", "vllm/model_executor/models/gpt_oss.py", "_load_weights_mxfp4", kCommit}},
    {"gpt-oss (original names)",
     SourceOrder::gpt_oss,
     kGptOssOriginalNames,
     kGptOssOriginalTensors,
     kGptOssFacts,
     kE8m0Meaning,
     kGptOssUse,
     {"openai/gpt-oss", "gpt_oss/torch/weights.py", "Checkpoint, PARAM_NAME_MAP", "main"}},
    {"compressed-tensors MXFP4",
     {WeightFormat::mxfp4, SourceOrder::standard},
     kBothNames,
     kCompressedMxfp4,
     kCompressedMxfp4Facts,
     kE8m0Meaning,
     {"mxfp4", false, false, "compressed_tensors", "SILU", "Renormalize"},
     {"vllm-project/vllm", "vllm/model_executor/layers/quantization/compressed_tensors/compressed_tensors_moe/compressed_tensors_moe_w4a4_mxfp4.py",
      "create_weights", kCommit}},
    {"compressed-tensors NVFP4",
     {WeightFormat::nvfp4, SourceOrder::standard},
     kBothNames,
     kCompressedNvfp4,
     kCompressedNvfp4Facts,
     "value = e2m1 * e4m3 / weight_global_scale",
     {"nvfp4", true, false, "compressed_tensors", "SILU", "Renormalize"},
     {"vllm-project/vllm", "vllm/model_executor/layers/quantization/compressed_tensors/compressed_tensors.py", "_is_nvfp4_format", kCommit}},
    {"ModelOpt NVFP4",
     {WeightFormat::nvfp4, SourceOrder::standard},
     kBothNames,
     kModelOptNvfp4,
     kModelOptNvfp4Facts,
     "value = e2m1 * e4m3 * weight_scale_2",
     {"nvfp4", true, false, "own", "SILU", "Renormalize"},
     kModelOptSource},
    {"ModelOpt FP8",
     {WeightFormat::fp8_tensor, SourceOrder::standard},
     kBothNames,
     kModelOptFp8,
     kModelOptFp8Facts,
     "value = e4m3 * weight_scale",
     {"fp8-tensor", true, false, "own", "SILU", "Renormalize"},
     {kModelOptSource.repository, kModelOptSource.path, "ModelOptFp8MoEMethod", kCommit}},
    {"ModelOpt MXFP8",
     {WeightFormat::mxfp8, SourceOrder::standard},
     kBothNames,
     kModelOptMxfp8,
     kModelOptMxfp8Facts,
     "value = e4m3 * 2^(byte - 127)",
     {"mxfp8", true, false, "own", "SILU", "Renormalize"},
     {kModelOptSource.repository, kModelOptSource.path, "ModelOptMxFp8FusedMoE", kCommit}},
    {"FP8 block",
     {WeightFormat::fp8_block, SourceOrder::standard},
     kBothNames,
     kFp8Block,
     kFp8BlockFacts,
     "value = e4m3 * weight_scale_inv of its 128 x 128 block",
     {"fp8-block", true, false, "own", "SILU", "Renormalize"},
     {"vllm-project/vllm", "vllm/model_executor/layers/quantization/fp8.py", "Fp8MoEMethod.create_weights", kCommit}},
    {"DeepSeek-V4 MXFP4",
     {WeightFormat::mxfp4, SourceOrder::standard},
     kOnlyNumbered,
     kDeepSeekV4,
     kDeepSeekV4Facts,
     kE8m0Meaning,
     {"mxfp4-deepseek-v4", true, true, "own", "SILU", "DeepseekV4"},
     {"vllm-project/vllm", "vllm/models/deepseek_v4/quant_config.py", "DeepseekV4Fp8Config", kCommit}},
    {"Quark MXFP4",
     {WeightFormat::mxfp4, SourceOrder::standard},
     kBothNames,
     kQuark,
     kQuarkFacts,
     kE8m0Meaning,
     {"mxfp4", true, true, "quark", "SILU", "Renormalize"},
     {"vllm-project/vllm", "vllm/model_executor/layers/quantization/quark/quark_moe.py", "QuarkOCP_MX_MoEMethod", kCommit}},
}};

}  // namespace

std::span<const SourceForm> source_forms() { return kForms; }

}  // namespace mx::sim
