#include "model/engine/vllm/expert_schemes.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;

constexpr Names kCt = "compressed-tensors", kQuark = "quark", kMixed = "modelopt_mixed", kFp8ModelOpt = "modelopt";
constexpr Names kWeight = "weight.dtype", kInput = "input_tensors.dtype";
constexpr SchemeWord kFloat8{"weights.num_bits", {"8"}}, kFloat{"weights.type", {"float"}}, kInt{"weights.type", {"int"}},
    kInt4{"weights.num_bits", {"4"}};
constexpr SchemeWord kNoInput{"input_activations"}, kIntInput{"input_activations.type", {"int"}},
    kTokenInput{"input_activations.strategy", {"token"}};
constexpr SchemeWord kFourBits{"bits", {"4"}}, kEightBits{"bits", {"8"}}, kQuarkFp6{kWeight, {"fp6_e3m2", "fp6_e2m3"}};
constexpr std::string_view kEmulated =
    "MXFP6 weights or activations are emulated (EMULATION, OCP_MXQuantizationEmulationTritonExperts, QuarkOCP_MX_MoEMethod): no oracle is asked";
constexpr std::string_view kBlockCodec =
    "blocks of IQ2_XS, IQ2_XXS or Q8_0 are B12X's alone (ModelOptBlockQuantMoEMethod, SM12x, tensor parallelism): no oracle is asked";
constexpr SchemeWord kQuarkFp4{kWeight, {"fp4"}}, kQuarkFp8{kWeight, {"fp8_e4m3"}};

// In the order in which they are tried; of compressed-tensors and quark words of the layer's group, of modelopt_mixed of its entry.
constexpr std::array kRows = {
    ExpertSchemeRow{"gpt_oss_mxfp4", {}, "mxfp4", "kMxfp4Static"},
    ExpertSchemeRow{"mxfp4", {}, "mxfp4_deepseek_v4", "kMxfp4Static"},
    ExpertSchemeRow{"mxfp4_under_fp8", {}, "mxfp4_deepseek_v4", "kMxfp4Static"},
    // Its method takes the class by the device as compressed-tensors' does: inc/schemes/inc_mxfp4_moe.py.
    ExpertSchemeRow{"inc_mxfp4", {kFourBits}, "mxfp4", "kMxfp4Static", "None", false, "compressed_tensors"},
    ExpertSchemeRow{"inc_mxfp8", {kFourBits}, "mxfp4", "kMxfp4Static", "None", false, "compressed_tensors"},
    // inc/schemes/inc_mxfp8_moe.py: select_mxfp8_moe_backend.
    ExpertSchemeRow{"inc_mxfp4", {kEightBits}, "mxfp8", "kMxfp8Static", "kMxfp8Dynamic"},
    ExpertSchemeRow{"inc_mxfp8", {kEightBits}, "mxfp8", "kMxfp8Static", "kMxfp8Dynamic"},
    ExpertSchemeRow{"experts_int8", {}, "int8", "kInt8StaticChannelSym", "kInt8DynamicTokenSym"},
    ExpertSchemeRow{"modelopt",
                    {SchemeWord{"quant_algo", {"FP8", "FP8_PER_CHANNEL_PER_TOKEN", "FP8_PB_WO"}}},
                    "fp8",
                    "kFp8StaticTensorSym",
                    "kFp8StaticTensorSym",
                    false,
                    kFp8ModelOpt},
    ExpertSchemeRow{"modelopt_mxfp8", {}, "mxfp8", "kMxfp8Static", "kMxfp8Dynamic"},
    ExpertSchemeRow{kMixed, {SchemeWord{"quant_algo", {"FP8"}}}, "fp8", "kFp8StaticTensorSym", "kFp8StaticTensorSym", false, kFp8ModelOpt},
    ExpertSchemeRow{kMixed,
                    {SchemeWord{"quant_algo", {"FP8_PB_WO", "FP8_BLOCK_SCALES", "fp8_pb_wo"}}},
                    "fp8",
                    "kFp8Static128BlockSym",
                    "kFp8Dynamic128Sym",
                    false,
                    "own",
                    kSinceNovember},
    ExpertSchemeRow{kMixed, {SchemeWord{"quant_algo", {"IQ2_XS", "IQ2_XXS", "Q8_0"}}}, {}, "None", "None", false, "own", kSinceNovember, kBlockCodec},
    ExpertSchemeRow{kMixed, {SchemeWord{"quant_algo", {"NVFP4"}}}, "nvfp4", "kNvfp4Static", "kNvfp4Dynamic"},
    ExpertSchemeRow{kMixed, {SchemeWord{"quant_algo", {"W4A16_NVFP4", "NVFP4_W4A16"}}}, "nvfp4", "kNvfp4Static"},
    ExpertSchemeRow{kMixed, {SchemeWord{"quant_algo", {"MXFP8"}}}, "mxfp8", "kMxfp8Static", "kMxfp8Dynamic", false, "own", kSinceAugust},
    ExpertSchemeRow{kCt, {SchemeWord{"format", {"nvfp4-pack-quantized"}}, kNoInput}, "nvfp4", "kNvfp4Static"},
    ExpertSchemeRow{kCt, {SchemeWord{"format", {"nvfp4-pack-quantized"}}}, "nvfp4", "kNvfp4Static", "kNvfp4Dynamic"},
    ExpertSchemeRow{kCt, {SchemeWord{"format", {"mxfp4-pack-quantized"}}}, "mxfp4", "kMxfp4Static", "None", false, "compressed_tensors"},
    ExpertSchemeRow{kCt,
                    {kFloat, kFloat8, SchemeWord{"weights.strategy", {"group"}}, SchemeWord{"weights.group_size", {"32"}}},
                    "mxfp8",
                    "kMxfp8Static",
                    "kMxfp8Dynamic"},
    ExpertSchemeRow{
        kCt, {kFloat, kFloat8, SchemeWord{"weights.strategy", {"channel"}}, kTokenInput}, "fp8", "kFp8StaticChannelSym", "kFp8DynamicTokenSym", true},
    ExpertSchemeRow{kCt,
                    {kFloat, kFloat8, SchemeWord{"weights.strategy", {"tensor"}}, SchemeWord{"input_activations.strategy", {"tensor"}},
                     SchemeWord{"input_activations.dynamic", {"false"}}},
                    "fp8",
                    "kFp8StaticTensorSym",
                    "kFp8StaticTensorSym",
                    true},
    // The engine hands its class the key of groups, which MARLIN alone overlooks.
    ExpertSchemeRow{kCt,
                    {kFloat, kFloat8, SchemeWord{"weights.strategy", {"tensor"}}, SchemeWord{"input_activations.strategy", {"tensor"}}},
                    "fp8",
                    "kFp8StaticTensorSym",
                    "kFp8Dynamic128Sym",
                    true},
    ExpertSchemeRow{kCt, {kFloat, kFloat8, SchemeWord{"weights.strategy", {"block"}}}, "fp8", "kFp8Static128BlockSym", "kFp8Dynamic128Sym", true},
    ExpertSchemeRow{kCt, {kInt, kFloat8, kIntInput, kTokenInput}, "int8", "kInt8StaticChannelSym", "kInt8DynamicTokenSym"},
    ExpertSchemeRow{kCt, {kInt, kInt4, SchemeWord{"input_activations.type", {"float"}}, kTokenInput}, "w4a8", "kInt4Static", "kFp8DynamicTokenSym"},
    ExpertSchemeRow{kCt, {kInt, kInt4, kIntInput, SchemeWord{"weights.group_size", {"128"}}}, "w4a8_int8", "kInt4W4A8StaticGroup128Sym"},
    ExpertSchemeRow{kCt, {kInt, kInt4, kIntInput, SchemeWord{"weights.group_size", {"64"}}}, "w4a8_int8", "kInt4W4A8StaticGroup64Sym"},
    ExpertSchemeRow{kCt, {kInt, kInt4, kIntInput, SchemeWord{"weights.group_size", {"32"}}}, "w4a8_int8", "kInt4W4A8StaticGroup32Sym"},
    ExpertSchemeRow{kCt, {kInt, kInt4, kIntInput, SchemeWord{"weights.strategy", {"channel"}}}, "w4a8_int8", "kInt8StaticChannelSym"},
    ExpertSchemeRow{kCt,
                    {kInt, kInt4, kNoInput, SchemeWord{"weights.symmetric", {"false"}}, SchemeWord{"weights.group_size", {"32"}}},
                    "int_wna16",
                    "kInt4Static32Asym"},
    ExpertSchemeRow{kCt, {kInt, kInt4, kNoInput, SchemeWord{"weights.symmetric", {"false"}}}, "int_wna16", "kInt4StaticAsym"},
    ExpertSchemeRow{kCt, {kInt, kInt4, kNoInput, SchemeWord{"weights.group_size", {"32"}}}, "int_wna16", "kInt4Static32"},
    ExpertSchemeRow{kCt, {kInt, kInt4, kNoInput}, "int_wna16", "kInt4Static"},
    ExpertSchemeRow{kCt, {kInt, kFloat8, kNoInput}, "int_wna16", "kInt8Static"},
    ExpertSchemeRow{kQuark,
                    {SchemeWord{"weight.0.dtype", {"fp4"}}, SchemeWord{"weight.0.group_size", {"16"}}},
                    "nvfp4",
                    "kNvfp4Static",
                    "kNvfp4Dynamic",
                    false,
                    "quark"},
    ExpertSchemeRow{kQuark, {kQuarkFp6}, {}, "None", "None", false, "quark", kAlways, kEmulated},
    ExpertSchemeRow{kQuark, {kQuarkFp4, SchemeWord{kInput, {"fp6_e3m2", "fp6_e2m3"}}}, {}, "None", "None", false, "quark", kAlways, kEmulated},
    ExpertSchemeRow{kQuark,
                    {kQuarkFp4, SchemeWord{kInput, {"fp8_e4m3"}}, SchemeWord{"input_tensors.is_dynamic", {"true"}}},
                    {},
                    "None",
                    "None",
                    false,
                    "quark",
                    kAlways,
                    "the engine raises NotImplementedError: QuarkOCP_MX_MoEMethod with dynamic input scales is currently not implemented for OCP MX "
                    "scheme w_mxfp4_a_fp8"},
    ExpertSchemeRow{kQuark, {kQuarkFp4, SchemeWord{"input_tensors"}}, "mxfp4", "kMxfp4Static", "None", false, "quark"},
    ExpertSchemeRow{kQuark, {kQuarkFp4, SchemeWord{kInput, {"fp4"}}}, "mxfp4", "kMxfp4Static", "kMxfp4Dynamic", false, "quark"},
    ExpertSchemeRow{kQuark, {kQuarkFp4, SchemeWord{kInput, {"fp8_e4m3"}}}, "mxfp4", "kMxfp4Static", "kFp8StaticTensorSym", false, "quark"},
    // MXFP8 came after August: until then the method has no experts for it.
    ExpertSchemeRow{kQuark,
                    {kQuarkFp8, SchemeWord{"weight.qscheme", {"per_group"}}, SchemeWord{"weight.group_size", {"32"}},
                     SchemeWord{"weight.scale_format", {"e8m0"}}},
                    "mxfp8",
                    "kMxfp8Static",
                    "kMxfp8Dynamic",
                    false,
                    kQuark},
    ExpertSchemeRow{
        kQuark, {kQuarkFp8, SchemeWord{"weight.qscheme", {"per_channel"}}}, "fp8", "kFp8StaticChannelSym", "kFp8DynamicTokenSym", false, "quark"},
    ExpertSchemeRow{kQuark,
                    {kQuarkFp8, SchemeWord{"weight.qscheme", {"per_tensor"}}, SchemeWord{"input_tensors.is_dynamic", {"true"}}},
                    "fp8",
                    "kFp8StaticTensorSym",
                    "kFp8DynamicTensorSym",
                    false,
                    "quark"},
    ExpertSchemeRow{
        kQuark, {kQuarkFp8, SchemeWord{"weight.qscheme", {"per_tensor"}}}, "fp8", "kFp8StaticTensorSym", "kFp8StaticTensorSym", false, "quark"},
    ExpertSchemeRow{kQuark,
                    {kQuarkFp8, SchemeWord{"weight.qscheme", {"per_block", "per_group"}}},
                    "fp8",
                    "kFp8Static128BlockSym",
                    "kFp8Dynamic128Sym",
                    false,
                    "quark"},
    ExpertSchemeRow{"auto_gptq", {SchemeWord{"bits", {"4"}}}, "int_wna16", "kInt4Static"},
    ExpertSchemeRow{"auto_gptq", {SchemeWord{"bits", {"8"}}}, "int_wna16", "kInt8Static"},
    ExpertSchemeRow{"auto_awq", {SchemeWord{"bits", {"4"}}}, "int_wna16", "kInt4Static"},
    ExpertSchemeRow{"auto_awq", {SchemeWord{"w_bit", {"4"}}}, "int_wna16", "kInt4Static"},
    ExpertSchemeRow{"inc", {SchemeWord{"bits", {"4"}}}, "int_wna16", "kInt4Static"},
    ExpertSchemeRow{"inc", {SchemeWord{"bits", {"8"}}}, "int_wna16", "kInt8Static"},
};

/// Methods that the engine names only to refuse them.
constexpr std::array kRefused = {
    RefusedMethodRow{"fbgemm_fp8", "is deprecated: the engine refuses it without --allow-deprecated-quantization"},
    RefusedMethodRow{"fp_quant", "is deprecated: the engine refuses it without --allow-deprecated-quantization"},
    RefusedMethodRow{"torchao", "needs a package that the engine does not bring, and its experts' schemes are not known here"},
};

}  // namespace

std::span<const ExpertSchemeRow> expert_schemes() { return kRows; }
std::span<const RefusedMethodRow> refused_methods() { return kRefused; }

}  // namespace mx::engine
