#include "model/engine/vllm/module_methods.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;
using deployment::Versions;

// Words of configurations.
constexpr std::array<Names, 1> kFormat{"mxfp4-pack-quantized"}, kFp4{"fp4"}, kPerGroup{"per_group"}, kThirtyTwo{"32"}, kMxfp4{"mxfp4"},
    kNvfp4{"NVFP4"}, kMixed{"MIXED_PRECISION"}, kMxfp8{"MXFP8"}, kMxFloat{"mx_fp"}, kFour{"4"}, kEight{"8"};
// Types of AutoRound that have no experts: INCFp8Scheme has linear layers alone, the others no scheme.
constexpr std::array<Names, 2> kBlockFloat{"fp", "fp8"};
constexpr std::array<Names, 3> kNvFloat{"nv_fp", "nv_fp4", "nv_fp4_with_static_gs"};
constexpr std::array<Names, 7> kNotInt{"mx_fp", "fp", "fp8", "nv_fp", "nv_fp4", "nv_fp4_with_static_gs", "mx_int"};
constexpr std::array<Names, 3> kFp4Algos{"NVFP4", "W4A16_NVFP4", "NVFP4_W4A16"};
constexpr std::array<Names, 3> kFp8Algos{"FP8", "FP8_PER_CHANNEL_PER_TOKEN", "FP8_PB_WO"};
constexpr std::array<Names, 1> kModelOpt{"modelopt"};

// Models.
constexpr std::array<Names, 2> kKimiK3{"KimiK3ForConditionalGeneration", "KimiK3MTPModel"};
constexpr std::array<Names, 2> kGptOss{"gpt_oss", "GptOssForCausalLM"};
constexpr std::array<Names, 1> kDeepSeekV4{"deepseek_v4"};
constexpr std::array<Names, 4> kDeepSeekV4All{"deepseek_v4", "deepseek_v4_text", "deepseek_v41", "deepseek_v41_text"};
constexpr std::array<Names, 4> kLing{"bailing_hybrid", "bailing_hybrid_v3", "BailingMoeV3ForCausalLM", "BailingMoeV3VLForConditionalGeneration"};

constexpr std::array kCtMxfp4{SaysRow{"format", kFormat}};
constexpr std::array kQuarkMx{SaysRow{"global_quant_config.weight.dtype", kFp4}, SaysRow{"global_quant_config.weight.qscheme", kPerGroup},
                              SaysRow{"global_quant_config.weight.group_size", kThirtyTwo}};
constexpr std::array kRoundMxfp4{SaysRow{"data_type", kMxFloat}, SaysRow{"bits", kFour}};
constexpr std::array kRoundMxfp8{SaysRow{"data_type", kMxFloat}, SaysRow{"bits", kEight}};
constexpr std::array kRoundMxOther{SaysRow{"data_type", kMxFloat}};
constexpr std::array kRoundBlock{SaysRow{"data_type", kBlockFloat}};
constexpr std::array kRoundNv{SaysRow{"data_type", kNvFloat}};
constexpr std::array kRoundNotInt{SaysRow{"data_type", kNotInt}};
constexpr std::array kStored{SaysRow{"store_dtype", kMxfp4}};
constexpr std::array kRouted{SaysRow{"routed_experts_quant_method", kMxfp4}, SaysRow{"weight_block_size", {}}};
constexpr std::array kIsFp4Algo{SaysRow{"quant_algo", kFp4Algos}};
constexpr std::array kIsMxfp8Algo{SaysRow{"quant_algo", kMxfp8}};
constexpr std::array kIsMixed{SaysRow{"quant_algo", kMixed}};
// Of hf_quant_config.json, or of its members within the quantization configuration: the producer must be named.
constexpr SaysRow kProducer{"producer.name", kModelOpt};
constexpr std::array kLegacyFp8{kProducer, SaysRow{"quantization.quant_algo", kFp8Algos}};
constexpr std::array kLegacyFp4{kProducer, SaysRow{"quantization.quant_algo", kNvfp4}};
constexpr std::array kLegacyMixed{kProducer, SaysRow{"quantization.quant_algo", kMixed}};
constexpr std::array kLegacyOther{kProducer, SaysRow{"quantization.quant_algo", {}}};

constexpr Names kConvertor = "vllm/transformers_utils/model_arch_config_convertor.py", kModelConfigs = "vllm/model_executor/models/config.py",
                kV4Config = "vllm/models/deepseek_v4/quant_config.py", kFp8Py = "vllm/model_executor/layers/quantization/fp8.py",
                kModelOptPy = "vllm/model_executor/layers/quantization/modelopt.py", kLingPy = "vllm/model_executor/models/bailing_moe_v3.py",
                kQuarkPy = "vllm/model_executor/layers/quantization/quark/utils.py",
                kQuarkConfigPy = "vllm/model_executor/layers/quantization/quark/quark.py",
                kCtPy = "vllm/model_executor/layers/quantization/compressed_tensors/compressed_tensors.py",
                kGptqPy = "vllm/model_executor/layers/quantization/auto_gptq.py", kAwqPy = "vllm/model_executor/layers/quantization/auto_awq.py",
                kIncPy = "vllm/model_executor/layers/quantization/inc", kIncParserPy = "vllm/model_executor/layers/quantization/inc/config_parser.py";

constexpr std::array kHooks{
    HookRow{"", kLegacyFp8, {}, "modelopt", kConvertor},
    HookRow{"", kLegacyFp4, {}, "modelopt_fp4", kConvertor},
    HookRow{"", kLegacyMixed, {}, "modelopt_mixed", kConvertor},
    HookRow{"", kLegacyOther, {}, {}, kConvertor, kAlways, "ValueError: Unknown ModelOpt quant algo"},
    HookRow{"compressed-tensors", kCtMxfp4, kKimiK3, "mxfp4", kModelConfigs, kSinceAugust},
    HookRow{"mxfp4", {}, kGptOss, "gpt_oss_mxfp4", kModelConfigs},
    HookRow{"fp8", {}, kDeepSeekV4, "deepseek_v4_fp8", kV4Config, kUntilNovember},
    HookRow{"fp8", {}, kDeepSeekV4All, "deepseek_v4_fp8", kV4Config, kSinceNovember},
    HookRow{"quark", kQuarkMx, kDeepSeekV4, "deepseek_v4_fp8", kV4Config, kAugust},
    HookRow{"fp8", kStored, {}, "mxfp4_under_fp8", kFp8Py, kSinceAugust},
    HookRow{"fp8", kRouted, kLing, "mxfp4_under_fp8", kLingPy, kSinceAugust},
    HookRow{"modelopt", kIsFp4Algo, {}, "modelopt_fp4", kModelOptPy},
    HookRow{"modelopt", kIsMxfp8Algo, {}, "modelopt_mxfp8", kModelOptPy},
    HookRow{"modelopt", kIsMixed, {}, "modelopt_mixed", kModelOptPy},
    HookRow{"gptq", {}, {}, "auto_gptq", kGptqPy},
    HookRow{"awq", {}, {}, "auto_awq", kAwqPy, kSinceAugust},
    HookRow{"auto-round", kRoundNotInt, {}, {}, kIncPy, kMay, "ValueError: Unsupported data_type, currently only support {'int'}"},
    HookRow{"auto-round", kRoundMxfp4, {}, "inc_mxfp4", kIncPy, kSinceAugust},
    HookRow{"auto-round", kRoundMxfp8, {}, "inc_mxfp8", kIncPy, kSinceAugust},
    HookRow{"auto-round", kRoundMxOther, {}, {}, kIncPy, kSinceAugust, "AssertionError: INC MXFP only supports bits=4 or bits=8"},
    HookRow{"auto-round", kRoundBlock, {}, {}, kIncPy, kSinceAugust, "NotImplementedError: INCFp8Scheme does not support MoE layers"},
    HookRow{"auto-round", kRoundNv, {}, {}, kIncPy, kSinceAugust, "ValueError: Unsupported data_type"},
    HookRow{"auto-round", {}, {}, "inc", kIncPy},
};

constexpr std::array<Names, 3> kNvfp4Words{"quantization.group_size", "quantization.kv_cache_quant_algo", "quantization.exclude_modules"};
constexpr std::array<Names, 2> kMxfp8Words{"quantization.kv_cache_quant_algo", "quantization.exclude_modules"};
constexpr std::array kRequired{RequiredRow{"modelopt_fp4", kNvfp4Words, kModelOptPy}, RequiredRow{"modelopt_mxfp8", kMxfp8Words, kModelOptPy}};

// Rules of the methods' own code.
constexpr std::array kFp8Rules{EntryRule::of_experts};
constexpr std::array kLingRules{EntryRule::end};
constexpr std::array kModelOptRules{EntryRule::of_experts, EntryRule::equal, EntryRule::part, EntryRule::wildcard};
constexpr std::array kCtRules{EntryRule::equal, EntryRule::expression};
constexpr std::array kKind{EntryRule::kind, EntryRule::expression};
constexpr std::array kQuarkMayRules{EntryRule::equal, EntryRule::expression};
constexpr std::array kQuarkRules{EntryRule::equal, EntryRule::below, EntryRule::expression};
constexpr std::array kQuarkOwn{EntryRule::wildcard};
constexpr std::array kQuarkLayerRules{EntryRule::around, EntryRule::star};
constexpr std::array kEqual{EntryRule::equal};
constexpr std::array kSearch{EntryRule::search};
constexpr std::array kBelow{EntryRule::below};
constexpr std::array kBeside{EntryRule::beside};

constexpr std::array<Names, 2> kFp8Keys{"ignored_layers", "modules_to_not_convert"};
constexpr std::array<Names, 3> kV4Keys{"ignored_layers", "modules_to_not_convert", "exclude"};
constexpr std::array<Names, 3> kModelOptKeys{"quantization.exclude_modules", "ignore", "exclude_modules"};
constexpr std::array<Names, 1> kIgnore{"ignore"};
constexpr std::array<Names, 1> kExclude{"exclude"};
constexpr std::array<Names, 2> kBlocks{"block_name_to_quantize", "to_quant_block_names"};

// The list of method mxfp4 is of linear layers: it never names experts.
constexpr std::array kLeft{
    LeftRow{"fp8", kFp8Keys, kLingRules, Against::module, kLing, kLingPy, kSinceAugust},
    LeftRow{"mxfp4_under_fp8", kFp8Keys, kLingRules, Against::module, kLing, kLingPy, kSinceAugust},
    LeftRow{"fp8", kFp8Keys, kFp8Rules, Against::module, {}, kFp8Py},
    LeftRow{"mxfp4_under_fp8", kFp8Keys, kFp8Rules, Against::module, {}, kFp8Py},
    LeftRow{"deepseek_v4_fp8", kV4Keys, kFp8Rules, Against::module, {}, kV4Config},
    LeftRow{"modelopt", kModelOptKeys, kModelOptRules, Against::module, {}, kModelOptPy},
    LeftRow{"modelopt_fp4", kModelOptKeys, kModelOptRules, Against::module, {}, kModelOptPy},
    LeftRow{"modelopt_mxfp8", kModelOptKeys, kModelOptRules, Against::module, {}, kModelOptPy},
    LeftRow{"modelopt_mixed", kModelOptKeys, kModelOptRules, Against::module, {}, kModelOptPy},
    LeftRow{"compressed-tensors", kIgnore, kCtRules, Against::own_projections, {}, kCtPy, kUntilNovember},
    LeftRow{"compressed-tensors", kIgnore, kCtRules, Against::projections, {}, kCtPy, kSinceNovember},
    LeftRow{"quark", kExclude, kQuarkMayRules, Against::module, {}, kQuarkPy, kMay, kQuarkOwn},
    LeftRow{"quark", kExclude, kQuarkRules, Against::module, {}, kQuarkPy, kSinceAugust, kQuarkOwn},
};

constexpr std::array<std::span<const EntryRule>, 2> kCtPasses{kCtRules, kKind};
constexpr std::array<std::span<const EntryRule>, 1> kQuarkPasses{kQuarkLayerRules};
constexpr std::array<std::span<const EntryRule>, 2> kMixedMayPasses{kEqual, kBelow};
constexpr std::array<std::span<const EntryRule>, 3> kMixedPasses{kEqual, kBelow, kBeside};
constexpr std::array<std::span<const EntryRule>, 2> kIncPasses{kEqual, kSearch};
// Algorithms for which get_quant_method of ModelOptMixedPrecisionConfig has experts; for others it answers None.
constexpr std::array<Names, 3> kMixedMayAlgorithms{"FP8", "NVFP4", "W4A16_NVFP4"};
constexpr std::array<Names, 4> kMixedAugustAlgorithms{"FP8", "NVFP4", "W4A16_NVFP4", "MXFP8"};
constexpr std::array<Names, 9> kMixedAlgorithms{"FP8", "NVFP4", "W4A16_NVFP4", "MXFP8", "FP8_PB_WO", "FP8_BLOCK_SCALES", "IQ2_XS", "IQ2_XXS", "Q8_0"};

constexpr std::array kTables{
    SchemeTableRow{"compressed-tensors", "config_groups", false, kCtPasses, Against::own_projections, {}, kCtPy, kUntilNovember},
    SchemeTableRow{"compressed-tensors", "config_groups", false, kCtPasses, Against::projections, {}, kCtPy, kSinceNovember},
    SchemeTableRow{"quark", "layer_quant_config", true, kQuarkPasses, Against::module, "global_quant_config", kQuarkConfigPy},
    SchemeTableRow{"modelopt_mixed", "quantized_layers", true, kMixedMayPasses, Against::module, {}, kModelOptPy, kMay, false, kMixedMayAlgorithms},
    SchemeTableRow{
        "modelopt_mixed", "quantized_layers", true, kMixedPasses, Against::module, {}, kModelOptPy, kAugust, false, kMixedAugustAlgorithms},
    SchemeTableRow{
        "modelopt_mixed", "quantized_layers", true, kMixedPasses, Against::module, {}, kModelOptPy, kSinceNovember, false, kMixedAlgorithms},
    SchemeTableRow{
        "modelopt_mixed", "quantization.quantized_layers", true, kMixedMayPasses, Against::module, {}, kModelOptPy, kMay, false, kMixedMayAlgorithms},
    SchemeTableRow{"modelopt_mixed",
                   "quantization.quantized_layers",
                   true,
                   kMixedPasses,
                   Against::module,
                   {},
                   kModelOptPy,
                   kAugust,
                   false,
                   kMixedAugustAlgorithms},
    SchemeTableRow{"modelopt_mixed",
                   "quantization.quantized_layers",
                   true,
                   kMixedPasses,
                   Against::module,
                   {},
                   kModelOptPy,
                   kSinceNovember,
                   false,
                   kMixedAlgorithms},
    SchemeTableRow{"inc_mxfp4", "extra_config", true, kIncPasses, Against::module, {}, kIncParserPy, kAlways, true},
    SchemeTableRow{"inc_mxfp8", "extra_config", true, kIncPasses, Against::module, {}, kIncParserPy, kAlways, true},
    SchemeTableRow{"inc", "extra_config", true, kIncPasses, Against::module, {}, kIncParserPy, kAlways, true},
};

constexpr std::array kOnly{OnlyRow{"inc_mxfp4", kBlocks, kIncParserPy}, OnlyRow{"inc_mxfp8", kBlocks, kIncParserPy},
                           OnlyRow{"inc", kBlocks, kIncParserPy}};
// Experts of `ignore` stay in the model's own MXFP4: the draft layers of nvidia/DeepSeek-V4.1-Flash-NVFP4.
constexpr std::array kDropped{DroppedRow{"deepseek_v4_fp8", "moe_quant_algo", "ignore", kV4Config, kSinceNovember}};

}  // namespace

std::span<const HookRow> method_hooks() { return kHooks; }
std::span<const RequiredRow> required_words() { return kRequired; }
std::span<const LeftRow> left_rows() { return kLeft; }
std::span<const SchemeTableRow> scheme_tables() { return kTables; }
std::span<const OnlyRow> only_rows() { return kOnly; }
std::span<const DroppedRow> dropped_rows() { return kDropped; }

}  // namespace mx::engine
