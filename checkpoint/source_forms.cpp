#include "checkpoint/source_forms.hpp"

#include "checkpoint/source_tensors.hpp"

namespace mx::checkpoint {
namespace {

using namespace rows;
using layout::Form;
using layout::SourceOrder;
using layout::WeightFormat;

// Keys of DeclaredFact (declared.hpp).
constexpr Text kMethod = "method", kAlgo = "algo", kModel = "model", kGroup = "group", kSquare = "square", kActivations = "activations",
               kExpertDtype = "expert_dtype", kBits = "bits", kType = "type", kStrategy = "strategy", kSymmetric = "symmetric", kScheme = "qscheme",
               kDtype = "dtype", kScaleFormat = "scale_format", kActivationScheme = "activation_scheme", kMoeAlgo = "moe_algo";

constexpr std::array<Text, 1> kIsMxfp4{"mxfp4"}, kIsMxfp4UnderFp8{"mxfp4_under_fp8"}, kIsGptOss{"gpt_oss"}, kIsCompressed{"compressed-tensors"},
    kIsFour{"4"}, kIsEight{"8"}, kIsFloat{"float"}, kIsInt{"int"}, kIsInGroups{"group"}, kIsChannel{"channel"}, kIsTensor{"tensor"},
    kIsBlock{"block"}, kIs32{"32"}, kIs16{"16"}, kIsTrue{"true"}, kIsNvfp4{"NVFP4"}, kIsFp8{"FP8"}, kIsMxfp8{"MXFP8"}, kIsFp8Method{"fp8"},
    kIsSquare{"[128,128]"}, kIsDeepSeekV4{"deepseek_v4_fp8"}, kIsFp4{"fp4"}, kIsQuark{"quark"}, kIsPerGroup{"per_group"}, kIsPerTensor{"per_tensor"},
    kIsPerChannel{"per_channel"}, kIsPerBlock{"per_block"}, kIsE8m0{"e8m0"}, kIsNone{"none"}, kIsDynamic{"dynamic"}, kIsStatic{"static"},
    kIsPerToken{"FP8_PER_CHANNEL_PER_TOKEN"}, kIsFp4Activations{"fp4"}, kIsToken{"fp8-token"}, kIsStaticTensor{"fp8-tensor-static"};
constexpr std::array<Text, 2> kIsEitherMxfp4{"mxfp4", "gpt_oss_mxfp4"}, kIsModelOpt{"modelopt", "modelopt_mixed"}, kIsNull{"null", "none"};
constexpr std::array<Text, 2> kIsDynamicTensor{"fp8-tensor-dynamic", "fp8-token"}, kIsQuarkFp8{"fp8_e4m3", "fp8"},
    kIsTensorGroup{"tensor_group", "group"}, kIsFp4OrNone{"fp4", "none"}, kIsW4A16{"W4A16_NVFP4", "NVFP4_W4A16"};
constexpr std::array<Text, 3> kIsModelOptMxfp8{"modelopt", "modelopt_mxfp8", "modelopt_mixed"},
    kIsModelOptFp4{"modelopt", "modelopt_fp4", "modelopt_mixed"};
constexpr std::array<Text, 3> kIsFp8Activations{"fp8-token", "fp8-group", "fp8-tensor-dynamic"},
    kIsBlockAlgo{"FP8_PB_WO", "fp8_pb_wo", "FP8_BLOCK_SCALES"};
/// Source: transformers modeling_llama4.py Llama4TextExperts (gate_up_proj [E, H, 2I]), modeling_qwen3_vl_moe.py Qwen3VLMoeTextExperts;
/// NVIDIA/Model-Optimizer modelopt/torch/export/quant_utils.py maybe_transpose_expert_weight_dimensions: quantized along the inputs, written as
/// before.
constexpr std::array<Text, 4> kInputMajorModels{"llama4", "llama4_text", "qwen3_vl_moe", "qwen3_vl_moe_text"};

// clang-format off
constexpr ConfigFact kModelOptAny{kMethod, kIsModelOpt}, kCompressedMethod{kMethod, kIsCompressed}, kFourBits{kBits, kIsFour}, kEightBits{kBits, kIsEight},
    kFloats{kType, kIsFloat}, kAlike{kSymmetric, kIsTrue}, kQuarkMethod{kMethod, kIsQuark}, kNoSquare{kSquare, kIsNull}, kByModel{kModel, kInputMajorModels};
constexpr std::array kGptOssFacts{ConfigFact{kMethod, kIsEitherMxfp4}, ConfigFact{kModel, kIsGptOss}};
constexpr std::array<Text, 1> kIsGptOssMxfp4{"gpt_oss_mxfp4"};
constexpr std::array kStackedFacts{ConfigFact{kMethod, kIsGptOssMxfp4}};
// The bits of the whole, or those that extra_config gives the experts.
constexpr std::array<Text, 2> kIsIncMx{"inc_mxfp4", "inc_mxfp8"};
constexpr std::array kRoundMxfp4Facts{ConfigFact{kMethod, kIsIncMx}, kFourBits, ConfigFact{kGroup, kIs32}};
constexpr std::array kRoundMxfp8Facts{ConfigFact{kMethod, kIsIncMx}, kEightBits, ConfigFact{kGroup, kIs32}};
constexpr std::array kHookedFacts{ConfigFact{kMethod, kIsMxfp4}};
constexpr std::array kStoredFacts{ConfigFact{kMethod, kIsMxfp4UnderFp8}};
constexpr std::array kCtMxfp4Facts{kCompressedMethod, kFourBits, kFloats, ConfigFact{kStrategy, kIsInGroups}, ConfigFact{kGroup, kIs32}, kAlike, ConfigFact{kActivations, kIsNone}};
constexpr std::array kCtMxfp4W4A4Facts{kCompressedMethod, kFourBits, kFloats, ConfigFact{kStrategy, kIsInGroups}, ConfigFact{kGroup, kIs32}, kAlike, ConfigFact{kActivations, kIsFp4Activations}};
constexpr std::array kCtMxfp4W4A8Facts{kCompressedMethod, kFourBits, kFloats, ConfigFact{kStrategy, kIsInGroups}, ConfigFact{kGroup, kIs32}, kAlike, ConfigFact{kActivations, kIsFp8Activations}};
// Scales of activations in the file are for FP4 activations, whatever the group says.
constexpr std::array kCtNvfp4Facts{kCompressedMethod, kFourBits, kFloats, ConfigFact{kStrategy, kIsTensorGroup}, ConfigFact{kGroup, kIs16}, kAlike, ConfigFact{kActivations, kIsFp4OrNone}};
constexpr std::array kCtNvfp4A16Facts{kCompressedMethod, kFourBits, kFloats, ConfigFact{kStrategy, kIsTensorGroup}, ConfigFact{kGroup, kIs16}, kAlike, ConfigFact{kActivations, kIsNone}};
constexpr std::array kCtMxfp8Facts{kCompressedMethod, kEightBits, kFloats, ConfigFact{kStrategy, kIsInGroups}, ConfigFact{kGroup, kIs32}, kAlike};
constexpr std::array kCtBlockFacts{kCompressedMethod, kEightBits, kFloats, ConfigFact{kStrategy, kIsBlock}, ConfigFact{kSquare, kIsSquare}};
constexpr std::array kCtChannelFacts{kCompressedMethod, kEightBits, kFloats, ConfigFact{kStrategy, kIsChannel}, ConfigFact{kActivations, kIsToken}};
constexpr std::array kCtTensorFacts{kCompressedMethod, kEightBits, kFloats, ConfigFact{kStrategy, kIsTensor}, ConfigFact{kActivations, kIsStaticTensor}};
constexpr std::array kCtTensorDynamicFacts{kCompressedMethod, kEightBits, kFloats, ConfigFact{kStrategy, kIsTensor}, ConfigFact{kActivations, kIsDynamicTensor}};
constexpr std::array<Text, 1> kIsSixBits{"6"};
constexpr std::array kCtMxfp6Facts{kCompressedMethod, ConfigFact{kBits, kIsSixBits}, kFloats, ConfigFact{kStrategy, kIsInGroups}, ConfigFact{kGroup, kIs32}, kAlike};
constexpr std::array kCtInt4Facts{kCompressedMethod, kFourBits, ConfigFact{kType, kIsInt}};
constexpr std::array kModelOptNvfp4Facts{ConfigFact{kMethod, kIsModelOptFp4}, ConfigFact{kAlgo, kIsNvfp4}, ConfigFact{kGroup, kIs16}, ConfigFact{kActivations, kIsFp4Activations}};
// Groups of which none quantizes activations.
constexpr std::array<Text, 1> kIsModelOptFp4Alone{"modelopt_fp4"}, kIsModelOptPlain{"modelopt"}, kIsModelOptMixed{"modelopt_mixed"};
constexpr std::array kModelOptNvfp4AloneFacts{ConfigFact{kMethod, kIsModelOptFp4Alone}, ConfigFact{kAlgo, kIsNvfp4}, ConfigFact{kGroup, kIs16}, ConfigFact{kActivations, kIsNone}};
constexpr std::array kModelOptW4A16Facts{ConfigFact{kMethod, kIsModelOptFp4}, ConfigFact{kAlgo, kIsW4A16}, ConfigFact{kGroup, kIs16}};
constexpr std::array kModelOptFp8Facts{ConfigFact{kMethod, kIsModelOpt}, ConfigFact{kAlgo, kIsFp8}, kNoSquare, ConfigFact{kActivationScheme, kIsStatic}};
constexpr std::array<Text, 2> kIsModelOptMxfp4{"mxfp4", "MXFP4"};
constexpr std::array<Text, 1> kIsW4A8Mxfp4{"W4A8_MXFP4_FP8"}, kIsW4A8Nvfp4{"W4A8_NVFP4_FP8"};
constexpr std::array kModelOptMxfp4Facts{ConfigFact{kMethod, kIsModelOptPlain}, ConfigFact{kAlgo, kIsModelOptMxfp4}};
constexpr std::array kModelOptW4A8Mxfp4Facts{ConfigFact{kMethod, kIsModelOptPlain}, ConfigFact{kAlgo, kIsW4A8Mxfp4}};
constexpr std::array kModelOptW4A8Nvfp4Facts{ConfigFact{kMethod, kIsModelOptPlain}, ConfigFact{kAlgo, kIsW4A8Nvfp4}, ConfigFact{kGroup, kIs32}};
constexpr std::array kModelOptChannelFacts{kModelOptAny, ConfigFact{kAlgo, kIsPerToken}, kNoSquare};
constexpr std::array kModelOptBlockFacts{ConfigFact{kMethod, kIsModelOptPlain}, ConfigFact{kAlgo, kIsBlockAlgo}};
constexpr std::array kModelOptMixedBlockFacts{ConfigFact{kMethod, kIsModelOptMixed}, ConfigFact{kAlgo, kIsBlockAlgo}};
constexpr std::array kModelOptMxfp8Facts{ConfigFact{kMethod, kIsModelOptMxfp8}, ConfigFact{kAlgo, kIsMxfp8}};
constexpr std::array kFusedNvfp4Facts{ConfigFact{kMethod, kIsModelOptFp4}, ConfigFact{kAlgo, kIsNvfp4}, ConfigFact{kGroup, kIs16}, kByModel};
constexpr std::array kFusedFp8Facts{kModelOptAny, ConfigFact{kAlgo, kIsFp8}, kNoSquare, kByModel};
constexpr std::array kFp8BlockFacts{ConfigFact{kMethod, kIsFp8Method}, ConfigFact{kSquare, kIsSquare}};
constexpr std::array kFp8StaticFacts{ConfigFact{kMethod, kIsFp8Method}, kNoSquare, ConfigFact{kActivationScheme, kIsStatic}};
constexpr std::array kFp8DynamicFacts{ConfigFact{kMethod, kIsFp8Method}, kNoSquare, ConfigFact{kActivationScheme, kIsDynamic}};
constexpr ConfigFact kDeepSeekV4Method{kMethod, kIsDeepSeekV4};
constexpr std::array kDeepSeekV4Facts{kDeepSeekV4Method, ConfigFact{kExpertDtype, kIsFp4}, ConfigFact{kMoeAlgo, kIsNvfp4, true}};
constexpr std::array kDeepSeekV4Nvfp4Facts{kDeepSeekV4Method, ConfigFact{kExpertDtype, kIsFp4}, ConfigFact{kMoeAlgo, kIsNvfp4}};
constexpr std::array<Text, 1> kIsFp8Dtype{"fp8"};
constexpr std::array kDeepSeekV4Fp8Facts{kDeepSeekV4Method, ConfigFact{kExpertDtype, kIsFp8Dtype}, ConfigFact{kSquare, kIsSquare}};
constexpr std::array<Text, 1> kIsFp6Activations{"fp6"};
constexpr std::array<Text, 1> kIsE3m2{"fp6_e3m2"}, kIsE2m3{"fp6_e2m3"};
constexpr std::array kQuarkFacts{kQuarkMethod, ConfigFact{kDtype, kIsFp4}, ConfigFact{kScheme, kIsPerGroup}, ConfigFact{kGroup, kIs32}, ConfigFact{kScaleFormat, kIsE8m0}, ConfigFact{kActivations, kIsNone}};
constexpr std::array kQuarkW4A4Facts{kQuarkMethod, ConfigFact{kDtype, kIsFp4}, ConfigFact{kScheme, kIsPerGroup}, ConfigFact{kGroup, kIs32}, ConfigFact{kScaleFormat, kIsE8m0}, ConfigFact{kActivations, kIsFp4Activations}};
constexpr std::array kQuarkW4A8Facts{kQuarkMethod, ConfigFact{kDtype, kIsFp4}, ConfigFact{kScheme, kIsPerGroup}, ConfigFact{kGroup, kIs32}, ConfigFact{kScaleFormat, kIsE8m0}, ConfigFact{kActivations, kIsStaticTensor}};
constexpr std::array kQuarkW4A6Facts{kQuarkMethod, ConfigFact{kDtype, kIsFp4}, ConfigFact{kScheme, kIsPerGroup}, ConfigFact{kGroup, kIs32}, ConfigFact{kScaleFormat, kIsE8m0}, ConfigFact{kActivations, kIsFp6Activations}};
constexpr std::array kQuarkE3m2Facts{kQuarkMethod, ConfigFact{kDtype, kIsE3m2}, ConfigFact{kScheme, kIsPerGroup}, ConfigFact{kGroup, kIs32}, ConfigFact{kScaleFormat, kIsE8m0}};
constexpr std::array kQuarkE2m3Facts{kQuarkMethod, ConfigFact{kDtype, kIsE2m3}, ConfigFact{kScheme, kIsPerGroup}, ConfigFact{kGroup, kIs32}, ConfigFact{kScaleFormat, kIsE8m0}};
constexpr std::array kQuarkMxfp8Facts{kQuarkMethod, ConfigFact{kDtype, kIsQuarkFp8}, ConfigFact{kScheme, kIsPerGroup}, ConfigFact{kGroup, kIs32}, ConfigFact{kScaleFormat, kIsE8m0}};
constexpr std::array<Text, 1> kIsInt8{"int8"};
constexpr std::array kQuarkInt8ChannelFacts{kQuarkMethod, ConfigFact{kDtype, kIsInt8}, ConfigFact{kScheme, kIsPerChannel}};
constexpr std::array kQuarkInt8TensorFacts{kQuarkMethod, ConfigFact{kDtype, kIsInt8}, ConfigFact{kScheme, kIsPerTensor}};
constexpr std::array kCtInt8Facts{kCompressedMethod, kEightBits, ConfigFact{kType, kIsInt}, ConfigFact{kStrategy, kIsChannel}};
constexpr std::array kQuarkNvfp4Facts{kQuarkMethod, ConfigFact{kDtype, kIsFp4}, ConfigFact{kScheme, kIsPerGroup}, ConfigFact{kGroup, kIs16}};
constexpr std::array kQuarkBlockFacts{kQuarkMethod, ConfigFact{kDtype, kIsQuarkFp8}, ConfigFact{kScheme, kIsPerBlock}, ConfigFact{kSquare, kIsSquare}};
constexpr std::array kQuarkTensorFacts{kQuarkMethod, ConfigFact{kDtype, kIsQuarkFp8}, ConfigFact{kScheme, kIsPerTensor}};
constexpr std::array kQuarkChannelFacts{kQuarkMethod, ConfigFact{kDtype, kIsQuarkFp8}, ConfigFact{kScheme, kIsPerChannel}};
constexpr std::array kInputMajorFacts{kByModel};
constexpr ConfigFact kOutputsByModel{kModel, kInputMajorModels, true};
constexpr std::array kFusedBlockFacts{ConfigFact{kMethod, kIsFp8Method}, ConfigFact{kSquare, kIsSquare}, kOutputsByModel};
constexpr std::array kFusedBlockInputFacts{ConfigFact{kMethod, kIsFp8Method}, ConfigFact{kSquare, kIsSquare}, kByModel};
constexpr std::array kFusedStaticFacts{ConfigFact{kMethod, kIsFp8Method}, kNoSquare, ConfigFact{kActivationScheme, kIsStatic}, kOutputsByModel};
constexpr std::array kFusedChannelFacts{kCompressedMethod, kEightBits, kFloats, ConfigFact{kStrategy, kIsChannel}, ConfigFact{kActivations, kIsToken}, kByModel};
constexpr std::array kNativeFacts{ConfigFact{kMethod, kIsFp8Method}, kNoSquare, ConfigFact{kActivationScheme, kIsStatic}};
// clang-format on

constexpr Text kE8m0Meaning = "value = e2m1 * 2^(byte - 127)", kE8m0Fp8Meaning = "value = e4m3 * 2^(byte - 127)",
               kDivided = "value = e2m1 * e4m3 / weight_global_scale", kMultiplied = "value = e2m1 * e4m3 * weight_scale_2",
               kScaled = "value = e4m3 * weight_scale", kBlockMeaning = "value = e4m3 * scale of its 128 x 128 block",
               kRowMeaning = "value = e4m3 * weight_scale of its row";
constexpr EngineUse kGptOssUse{"mxfp4", true, "own", "SWIGLUOAI", "RenormalizeNaive"};  // softmax scores, renormalized

constexpr EngineUse asks(Text scheme, Text method, bool rounds = false, Text routing = "Renormalize") {
  return {scheme, rounds, method, "SILU", routing};
}
/// What is read and not converted.
constexpr EngineUse lacks(Text what) { return {{}, false, "own", "SILU", "Renormalize", what}; }

constexpr EngineUse kLacksSix = lacks("a layout of FP6 codes, which the engine emulates without asking an oracle (QuarkOCP_MX_MoEMethod, EMULATION)"),
                    kLacksModelOpt = lacks("an engine that loads them: vLLM's ModelOptQuantConfigBase raises ValueError for such a quant_algo");

constexpr Text kVllm = "vllm-project/vllm", kCommit = "7e1b45a09252a5b513cd83116aa7a2f310220c34",
               kAugust = "7ca49fbe4bab019e55d57cdc4b7fd3d55c67c1a6", kTransformers = "huggingface/transformers",
               kModelOpt = "vllm/model_executor/layers/quantization/modelopt.py", kFp8Py = "vllm/model_executor/layers/quantization/fp8.py",
               kCt = "vllm/model_executor/layers/quantization/compressed_tensors/compressed_tensors.py",
               kCtMxfp4 = "vllm/model_executor/layers/quantization/compressed_tensors/compressed_tensors_moe/compressed_tensors_moe_w4a4_mxfp4.py",
               kCtInit = "src/compressed_tensors/quantization/lifecycle/initialize.py",
               kQuarkMoe = "vllm/model_executor/layers/quantization/quark/quark_moe.py", kCtRepository = "vllm-project/compressed-tensors",
               kModelOptRepository = "NVIDIA/Model-Optimizer", kModelOptExport = "modelopt/torch/export/quant_utils.py";

constexpr Form standard(WeightFormat format) { return {format, SourceOrder::standard}; }
constexpr Form kMx4 = standard(WeightFormat::mxfp4), kNv4 = standard(WeightFormat::nvfp4), kMx8 = standard(WeightFormat::mxfp8),
               kTensor = standard(WeightFormat::fp8_tensor), kChannel = standard(WeightFormat::fp8_channel),
               kBlock = standard(WeightFormat::fp8_block), kInt = standard(WeightFormat::int4);

// One row a line. Of rows whose numbers are the same, the first is what a checkpoint without configuration is called.
// clang-format off
constexpr SourceForm kForms[] = {
    {"gpt-oss (Hugging Face names)", Form(SourceOrder::gpt_oss), kGptOssNames, kGptOssTensors, kGptOssFacts, kE8m0Meaning, kGptOssUse, {kVllm, "vllm/model_executor/models/gpt_oss.py", "_load_weights_mxfp4", kCommit}},
    {"gpt-oss (original names)", Form(SourceOrder::gpt_oss), kGptOssOriginalNames, kGptOssOriginalTensors, kGptOssFacts, kE8m0Meaning, kGptOssUse, {"openai/gpt-oss", "gpt_oss/torch/weights.py", "Checkpoint, PARAM_NAME_MAP", "main"}},
    {"MXFP4, w13 and w2 of all experts", kMx4, kStackedNames, kStackedMxfp4, kStackedFacts, kE8m0Meaning, asks("mxfp4", "own", true), {kVllm, "vllm/model_executor/layers/quantization/mxfp4.py", "Mxfp4MoEMethod.create_weights", kCommit}},
    {"MXFP4, w13 and w2 of all experts, of any model", kMx4, kStackedNames, kStackedMxfp4, kHookedFacts, kE8m0Meaning, asks("mxfp4-deepseek-v4", "own", true), {kVllm, "vllm/model_executor/layers/quantization/mxfp4.py", "Mxfp4MoEMethod.create_weights", kCommit}},
    {"compressed-tensors MXFP4", kMx4, kEachOrHalves, kCompressedMxfp4, kCtMxfp4Facts, kE8m0Meaning, asks("mxfp4", "compressed_tensors"), {kVllm, kCtMxfp4, "create_weights", kCommit}},
    {"compressed-tensors MXFP4, FP4 activations", kMx4, kEachOrHalves, kCompressedMxfp4, kCtMxfp4W4A4Facts, kE8m0Meaning, asks("mxfp4-mxfp4", "compressed_tensors"), {kVllm, kCtMxfp4, "create_weights", kCommit}},
    {"compressed-tensors MXFP4, FP8 activations", kMx4, kEachOrHalves, kCompressedMxfp4, kCtMxfp4W4A8Facts, kE8m0Meaning, asks("mxfp4", "compressed_tensors"), {kVllm, kCtMxfp4, "create_weights", kCommit}},
    {"MXFP4 in compressed-tensors' names", kMx4, kEachOrHalves, kCompressedMxfp4, kHookedFacts, kE8m0Meaning, asks("mxfp4-deepseek-v4", "own", true, "DeepSeekV3"), {kVllm, "vllm/model_executor/models/config.py", "KimiK3ForConditionalGenerationConfig", kAugust}},
    {"AutoRound MXFP4", kMx4, kEachOrHalves, kCompressedMxfp4, kRoundMxfp4Facts, kE8m0Meaning, asks("mxfp4", "compressed_tensors"), {kVllm, "vllm/model_executor/layers/quantization/inc/schemes/inc_mxfp4_moe.py", "INCMxfp4MoEMethod.create_weights", "055e47c28003156421365af985d676fc921cb075"}},
    {"compressed-tensors NVFP4", kNv4, kEachExpert, kCompressedNvfp4, kCtNvfp4Facts, kDivided, asks("nvfp4", "compressed_tensors"), {kVllm, kCt, "_is_nvfp4_format", kCommit}},
    {"compressed-tensors NVFP4A16", kNv4, kEachExpert, kCompressedNvfp4Alone, kCtNvfp4A16Facts, kDivided, asks("nvfp4-a16", "compressed_tensors"), {kVllm, kCt, "_is_nvfp4_format, input_quant None", kCommit}},
    {"ModelOpt NVFP4", kNv4, kEachExpert, kModelOptNvfp4, kModelOptNvfp4Facts, kMultiplied, asks("nvfp4", "own"), {kVllm, kModelOpt, "ModelOptNvFp4FusedMoE", kCommit}},
    {"DeepSeek-V4 NVFP4", kNv4, kOnlyNumbered, kModelOptNvfp4, kDeepSeekV4Nvfp4Facts, kMultiplied, asks("nvfp4", "own", false, "DeepseekV4"), {kVllm, "vllm/models/deepseek_v4/quant_config.py", "DeepseekV4FP8Config.get_quant_method, moe_quant_algo", kCommit}},
    {"ModelOpt NVFP4, weights alone", kNv4, kEachExpert, kModelOptNvfp4Alone, kModelOptNvfp4AloneFacts, kMultiplied, asks("nvfp4-a16", "own"), {kVllm, kModelOpt, "ModelOptNvFp4Config, config_groups without input_activations", kAugust}},
    {"ModelOpt W4A16_NVFP4", kNv4, kEachExpert, kModelOptNvfp4Alone, kModelOptW4A16Facts, kMultiplied, asks("nvfp4-a16", "own"), {kModelOptRepository, kModelOptExport, "QUANTIZATION_W4A16_NVFP4", "main"}},
    {"ModelOpt NVFP4, fused", kNv4, kGptOssNames, kFusedNvfp4, kFusedNvfp4Facts, kMultiplied, asks("nvfp4", "own"), {kModelOptRepository, kModelOptExport, "maybe_transpose_expert_weight_dimensions", "0023f71b95a2bb08a1af2ca5316d3fedaddb86b7"}, true, true},
    {"ModelOpt FP8", kTensor, kEachExpert, kFp8Static, kModelOptFp8Facts, kScaled, asks("fp8-tensor", "modelopt"), {kVllm, kModelOpt, "ModelOptFp8MoEMethod", kCommit}},
    {"FP8, static", kTensor, kEachExpert, kFp8Static, kFp8StaticFacts, kScaled, asks("fp8-tensor", "own"), {kVllm, kFp8Py, "Fp8MoEMethod.create_weights", kCommit}},
    {"FP8, dynamic", kTensor, kEachExpert, kFp8Dynamic, kFp8DynamicFacts, kScaled, asks("fp8-tensor-dynamic", "own"), {kVllm, kFp8Py, "Fp8MoEMethod.create_weights", kCommit}},
    {"ModelOpt FP8, fused", kTensor, kGptOssNames, kFusedFp8, kFusedFp8Facts, kScaled, asks("fp8-tensor", "modelopt"), {kModelOptRepository, kModelOptExport, "maybe_transpose_expert_weight_dimensions", "0023f71b95a2bb08a1af2ca5316d3fedaddb86b7"}, true, true},
    {"compressed-tensors FP8", kTensor, kEachExpert, kFp8Static, kCtTensorFacts, kScaled, asks("fp8-tensor", "compressed_tensors"), {kCtRepository, kCtInit, "initialize_qparams, strategy tensor", "main"}},
    {"compressed-tensors FP8, dynamic", kTensor, kEachExpert, kFp8Dynamic, kCtTensorDynamicFacts, kScaled, asks("fp8-tensor-dynamic", "compressed_tensors"), {kCtRepository, kCtInit, "initialize_qparams, strategy tensor", "main"}},
    {"Quark FP8", kTensor, kEachExpert, kFp8Static, kQuarkTensorFacts, kScaled, asks("fp8-tensor", "quark"), {kVllm, kQuarkMoe, "QuarkW8A8Fp8MoEMethod", kCommit}},
    {"compressed-tensors FP8 channel", kChannel, kEachOrHalves, kFp8Channel, kCtChannelFacts, kRowMeaning, asks("fp8-channel", "compressed_tensors"), {kCtRepository, kCtInit, "initialize_qparams, strategy channel", "main"}},
    {"ModelOpt FP8_PER_CHANNEL_PER_TOKEN", kChannel, kEachOrHalves, kFp8Channel, kModelOptChannelFacts, kRowMeaning, asks("fp8-channel", "modelopt"), {kVllm, "docs/features/quantization/modelopt.md", "FP8_PER_CHANNEL_PER_TOKEN", "main"}},
    {"Quark FP8 channel", kChannel, kEachOrHalves, kFp8Channel, kQuarkChannelFacts, kRowMeaning, asks("fp8-channel", "quark"), {kVllm, kQuarkMoe, "QuarkW8A8Fp8MoEMethod", kCommit}},
    {"FP8 block", kBlock, kEachOrHalves, kFp8Block, kFp8BlockFacts, kBlockMeaning, asks("fp8-block", "own"), {kVllm, kFp8Py, "Fp8MoEMethod.create_weights", kCommit}},
    {"compressed-tensors FP8 block", kBlock, kEachOrHalves, kFp8Block, kCtBlockFacts, kBlockMeaning, asks("fp8-block", "compressed_tensors"), {kCtRepository, kCtInit, "initialize_qparams, strategy block", "main"}},
    {"ModelOpt FP8_PB_WO", kBlock, kEachOrHalves, kFp8Block, kModelOptBlockFacts, kBlockMeaning, asks("fp8-block", "modelopt"), {kVllm, "docs/features/quantization/modelopt.md", "FP8_PB_WO", "main"}},
    {"ModelOpt FP8_PB_WO, MIXED_PRECISION", kBlock, kEachOrHalves, kFp8Block, kModelOptMixedBlockFacts, kBlockMeaning, asks("fp8-block", "own"), {kVllm, kModelOpt, "ModelOptMixedPrecisionConfig.get_quant_method, _BLOCK_FP8_MOE_ALGOS", "4ba787ec9"}},
    {"Quark FP8 block", kBlock, kEachOrHalves, kFp8Block, kQuarkBlockFacts, kBlockMeaning, asks("fp8-block", "quark"), {kVllm, "vllm/model_executor/layers/quantization/quark/quark.py", "_is_fp8_w8a8", kAugust}},
    {"DeepSeek-V4 FP8", kBlock, kOnlyNumbered, kFp8Block, kDeepSeekV4Fp8Facts, kBlockMeaning, asks("fp8-block", "own", false, "DeepseekV4"), {kVllm, "vllm/models/deepseek_v4/quant_config.py", "DeepseekV4Fp8Config, expert_dtype fp8", kCommit}},
    {"ModelOpt MXFP8", kMx8, kEachOrHalves, kMxfp8, kModelOptMxfp8Facts, kE8m0Fp8Meaning, asks("mxfp8", "own"), {kVllm, kModelOpt, "ModelOptMxFp8FusedMoE", kCommit}},
    {"compressed-tensors MXFP8", kMx8, kEachOrHalves, kMxfp8, kCtMxfp8Facts, kE8m0Fp8Meaning, asks("mxfp8", "compressed_tensors"), {kCtRepository, "src/compressed_tensors/compressors/mxfp8", "format mxfp8-quantized", "main"}},
    {"AutoRound MXFP8", kMx8, kEachOrHalves, kMxfp8, kRoundMxfp8Facts, kE8m0Fp8Meaning, asks("mxfp8", "own"), {kVllm, "vllm/model_executor/layers/quantization/inc/schemes/inc_mxfp8_moe.py", "INCMxfp8MoEMethod.create_weights", "2dc886c5e7071d95b2fd7e08d767038f25d4309e"}},
    {"DeepSeek-V4 MXFP4", kMx4, kOnlyNumbered, kDeepSeekV4, kDeepSeekV4Facts, kE8m0Meaning, asks("mxfp4-deepseek-v4", "own", true, "DeepseekV4"), {kVllm, "vllm/models/deepseek_v4/quant_config.py", "DeepseekV4Fp8Config", kCommit}},
    {"Quark MXFP4", kMx4, kEachOrHalves, kQuark, kQuarkFacts, kE8m0Meaning, asks("mxfp4", "quark", true), {kVllm, kQuarkMoe, "QuarkOCP_MX_MoEMethod", kCommit}},
    {"Quark MXFP4, FP4 activations", kMx4, kEachOrHalves, kQuark, kQuarkW4A4Facts, kE8m0Meaning, asks("mxfp4-mxfp4", "quark", true), {kVllm, kQuarkMoe, "QuarkOCP_MX_MoEMethod", kCommit}},
    {"Quark MXFP4, FP8 activations", kMx4, kEachOrHalves, kQuark, kQuarkW4A8Facts, kE8m0Meaning, asks("mxfp4-fp8", "quark", true), {kVllm, kQuarkMoe, "QuarkOCP_MX_MoEMethod", kCommit}},
    {"Quark MXFP4, FP6 activations", {}, kEachOrHalves, kQuark, kQuarkW4A6Facts, kE8m0Meaning, lacks("what the engine emulates without asking an oracle: FP6 activations (QuarkOCP_MX_MoEMethod, EMULATION)"), {kVllm, kQuarkMoe, "QuarkOCP_MX_MoEMethod", kCommit}},
    {"Quark MXFP6 E3M2", {}, kEachOrHalves, kQuarkMxfp6, kQuarkE3m2Facts, "value = e3m2 * 2^(byte - 127), four codes in three bytes", kLacksSix, {kVllm, kQuarkMoe, "QuarkOCP_MX_MoEMethod", kCommit}, false, false, SixBits::e3m2},
    {"Quark MXFP6 E2M3", {}, kEachOrHalves, kQuarkMxfp6, kQuarkE2m3Facts, "value = e2m3 * 2^(byte - 127), four codes in three bytes", kLacksSix, {kVllm, kQuarkMoe, "QuarkOCP_MX_MoEMethod", kCommit}, false, false, SixBits::e2m3},
    {"compressed-tensors MXFP6", {}, kEachExpert, kCompressedMxfp6, kCtMxfp6Facts, "value = e2m3 * 2^(byte - 127), four codes in three bytes", lacks("an engine that loads them: vLLM's CompressedTensorsMoEMethod has no experts of mxfp6-pack-quantized (ValueError)"), {kCtRepository, "src/compressed_tensors/compressors", "format mxfp6-pack-quantized", "0.20.1"}, false, false, SixBits::e2m3},
    {"ModelOpt MXFP4", {}, kEachOrHalves, kStoredMxfp4Plain, kModelOptMxfp4Facts, kE8m0Meaning, kLacksModelOpt, {kModelOptRepository, kModelOptExport, "QUANTIZATION_MXFP4", "0.47.0"}},
    {"ModelOpt W4A8_MXFP4_FP8", {}, kEachOrHalves, kStoredMxfp4Plain, kModelOptW4A8Mxfp4Facts, kE8m0Meaning, kLacksModelOpt, {kModelOptRepository, kModelOptExport, "QUANTIZATION_W4A8_MXFP4_FP8", "0.47.0"}},
    {"ModelOpt W4A8_NVFP4_FP8", {}, kEachExpert, kModelOptNvfp4Of32, kModelOptW4A8Nvfp4Facts, kMultiplied, kLacksModelOpt, {kModelOptRepository, kModelOptExport, "QUANTIZATION_W4A8_NVFP4_FP8", "0.47.0"}},
    {"Quark MXFP8", kMx8, kEachOrHalves, kMxfp8, kQuarkMxfp8Facts, kE8m0Fp8Meaning, asks("mxfp8", "quark"), {kVllm, kQuarkMoe, "QuarkW8A8Mxfp8MoEMethod", "bed874faf610cfd61d52e3e8e4d1b87643fb6c51"}},
    {"Quark NVFP4", kNv4, kEachExpert, kQuarkNvfp4, kQuarkNvfp4Facts, kMultiplied, asks("nvfp4", "quark"), {kVllm, kQuarkMoe, "QuarkNvfp4MoEMethod", kAugust}},
    {"MXFP4 under FP8", kMx4, kEachExpert, kStoredMxfp4, kStoredFacts, kE8m0Meaning, asks("mxfp4-deepseek-v4", "own", true, "DeepSeekV3"), {kVllm, "vllm/model_executor/models/bailing_moe_v3.py", "_configure_ling_fp8_quant_config", kAugust}},
    {"FP8 block, fused", kBlock, kGptOssNames, kFusedBlock, kFusedBlockFacts, kBlockMeaning, asks("fp8-block", "own"), {kTransformers, "src/transformers/integrations/finegrained/core.py", "FineGrainedExperts._register_projection", "32c86fd878554f99c45ba0a2fb6ababcd00bd990"}, false, true},
    {"FP8 block, fused, input-major", kBlock, kGptOssNames, kFusedBlockInput, kFusedBlockInputFacts, kBlockMeaning, asks("fp8-block", "own"), {kVllm, "vllm/model_executor/layers/fused_moe/routed_experts.py", "load_weights, is_fused_checkpoint_transposed", kAugust}, true, true},
    {"FP8, static, fused", kTensor, kGptOssNames, kFusedScaleOfAll, kFusedStaticFacts, kScaled, asks("fp8-tensor", "own"), {kTransformers, "src/transformers/models/mistral4/convert_mistral4_weight_to_hf.py", "_fuse_experts_for_layer", "1e8f1473e6e63551fd0b9d634dd6caa4f41524cf"}, false, true},
    {"compressed-tensors FP8 channel, fused", kChannel, kGptOssNames, kFusedChannel, kFusedChannelFacts, kRowMeaning, asks("fp8-channel", "compressed_tensors"), {kVllm, "vllm/model_executor/models/llama4.py", "load_moe_expert_weights", kAugust}, true, true},
    {"Mistral FP8", kTensor, kOnlyNumbered, kNativeFp8, kNativeFacts, kScaled, asks("fp8-tensor", "own"), {kVllm, "vllm/model_executor/models/mistral_large_3.py", "qscale_weight, qscale_act", kAugust}},
    {"not quantized", {}, kEachOrHalves, kPlain, {}, "value as it is", lacks("a layout of experts that are not quantized; `mxact select` knows the oracle unquantized"), {kVllm, "vllm/model_executor/layers/fused_moe/unquantized_fused_moe_method.py", "UnquantizedFusedMoEMethod", kCommit}},
    {"not quantized, fused", {}, kGptOssNames, kFusedPlain, {}, "value as it is", lacks("a layout of experts that are not quantized; `mxact select` knows the oracle unquantized"), {"huggingface/transformers", "src/transformers/models/gemma4/modeling_gemma4.py", "gate_up_proj [E, 2I, H]", "main"}},
    {"not quantized, fused, input-major", {}, kGptOssNames, kFusedPlainInput, kInputMajorFacts, "value as it is", lacks("a layout of experts that are not quantized; `mxact select` knows the oracle unquantized"), {"huggingface/transformers", "src/transformers/models/llama4/modeling_llama4.py", "gate_up_proj [E, H, 2I]", "main"}, true, true},
    {"compressed-tensors INT8", {}, kEachOrHalves, kInt8Channel, kCtInt8Facts, "value = code * weight_scale of its row", lacks("a layout of INT8 codes; `mxact select` knows the oracle int8"), {kVllm, "vllm/model_executor/layers/quantization/compressed_tensors/compressed_tensors_moe/compressed_tensors_moe_w8a8_int8.py", "create_weights", kAugust}},
    {"Quark INT8 channel", {}, kEachOrHalves, kInt8Channel, kQuarkInt8ChannelFacts, "value = code * weight_scale of its row", lacks("a layout of INT8 codes, whose kernel Quark's method calls itself (QuarkW8A8Int8MoEMethod)"), {kVllm, kQuarkMoe, "QuarkW8A8Int8MoEMethod", kAugust}},
    {"Quark INT8", {}, kEachExpert, kInt8Tensor, kQuarkInt8TensorFacts, "value = code * weight_scale", lacks("a layout of INT8 codes, whose kernel Quark's method calls itself (QuarkW8A8Int8MoEMethod)"), {kVllm, kQuarkMoe, "QuarkW8A8Int8MoEMethod", kAugust}},
    {"compressed-tensors int4 (pack-quantized)", kInt, kEachOrHalves, kInt4, kCtInt4Facts, "value = (code - 8) * weight_scale", lacks("a layout of int4 codes with 16-bit activations; `mxact select` knows the oracle int_wna16"), {kCtRepository, "src/compressed_tensors/compressors/quantized_compressors/pack_quantized.py", "pack_to_int32", "main"}},
};
// clang-format on
static_assert(std::size(kForms) <= 64, "a set of forms is 64 bits (form_sets.hpp)");

}  // namespace

std::span<const SourceForm> source_forms() { return kForms; }

}  // namespace mx::checkpoint
