// The quant configs of the engine as data; quant_config.cpp interprets them.

#include <array>

#include "model/column.hpp"
#include "model/engine/vllm/setup/quant_config.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;

constexpr Symbols kWeightScales{"", "", "w1_scale", "w2_scale"};
constexpr Symbols kAllScales{"a1_scale", "a2_scale", "w1_scale", "w2_scale"};

// mxfp4

constexpr std::array<Names, 1> kDeepGemm = {"DEEPGEMM_MXFP4"};
constexpr std::array<Names, 1> kTrtllmMxfp8 = {"FLASHINFER_TRTLLM_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kCutlassMxfp8 = {"FLASHINFER_CUTLASS_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kAiterFp8 = {"AITER_MXFP4_FP8"};
constexpr std::array<Names, 1> kB12xMxfp8 = {"B12X_MXFP4_MXFP8"};
constexpr std::array<Names, 10> kSixteenBit = {"MARLIN",
                                               "BATCHED_MARLIN",
                                               "TRITON",
                                               "TRITON_UNFUSED",
                                               "FLASHINFER_TRTLLM_MXFP4_BF16",
                                               "FLASHINFER_CUTLASS_MXFP4_BF16",
                                               "AITER_MXFP4_BF16",
                                               "CPU",
                                               "B12X_MXFP4_BF16",
                                               "AITER_TRITON_MXFP4_BF16"};
// XPU is chosen as a backend for 16-bit activations, and its class asks for unquantized inputs; its config says mxfp4 all the same.
constexpr std::array<Names, 6> kMxfp4Both = {"AITER_MXFP4_MXFP4", "EMULATION", "XPU", "NONE", "AITER_TRITON_MXFP4_MXFP4", "CUTLASS_MXFP4_MXFP4"};
// The kernel of these quantizes activations itself, and owns its scales.
constexpr std::array<Names, 2> kMoeEp = {"FLASHINFER_MOE_EP_CUTEDSL", "FLASHINFER_MOE_EP_DEEP_GEMM"};

constexpr QuantConfigRow mxfp4_row(std::span<const Names> backends, Names activation_dtype, ShapeRule activation_shape) {
  return {.backends = backends,
          .activation_dtype = activation_dtype,
          .weight_dtype = "mxfp4",
          .activation_shape = activation_shape,
          .scales = kWeightScales,
          .takes_alpha_beta = true,
          .takes_limit = true,
          .takes_bias = true};
}
constexpr std::array<QuantConfigRow, 8> kMxfp4 = [] {
  std::array<QuantConfigRow, 8> rows = {
      mxfp4_row(kDeepGemm, kPlatformFp8, ShapeRule::block_128),
      mxfp4_row(kTrtllmMxfp8, "mxfp8", ShapeRule::none),
      mxfp4_row(kCutlassMxfp8, "mxfp8", ShapeRule::none),
      mxfp4_row(kAiterFp8, "fp8", ShapeRule::none),
      mxfp4_row(kSixteenBit, "", ShapeRule::none),
      mxfp4_row(kMxfp4Both, "mxfp4", ShapeRule::per_tensor),
      mxfp4_row(kB12xMxfp8, "mxfp8", ShapeRule::none),
      {.backends = kMoeEp, .activation_dtype = "nvfp4", .weight_dtype = "mxfp4", .activation_shape = ShapeRule::per_tensor},
  };
  // TRT-LLM quantizes linear scales over columns padded to 256, CUTLASS swizzled ones: mixing them up was a bug (vllm PR 42089).
  rows[1].swizzled = false;
  rows[1].mx_alignment = 256;
  // Its kernel has alpha and beta built in.
  rows[3].scales = kAllScales;
  rows[3].takes_alpha_beta = false;
  rows[6].versions = kSinceAugust;
  rows[7].versions = kSinceNovember;
  return rows;
}();

// fp8. Marlin and CPU take 16-bit activations, the flags are not handed to them; until 2026-08 neither were constants and biases, to the others the
// limit alone.

constexpr std::array<Names, 2> kWeightOnly = {"MARLIN", "CPU"};
constexpr std::array<Names, 1> kFlashinferCutlass = {"FLASHINFER_CUTLASS"};
constexpr std::array<Names, 2> kScalesInside = {"FLASHINFER_CUTLASS", "HPC"};
constexpr std::array<Names, 1> kCpuW8a8 = {"CPU_W8A8"};
constexpr std::array<Names, 13> kEveryFp8 = {"NONE",         "FLASHINFER_TRTLLM",    "FLASHINFER_CUTLASS",
                                             "DEEPGEMM",     "BATCHED_DEEPGEMM",     "MARLIN",
                                             "TRITON",       "BATCHED_TRITON",       "AITER",
                                             "VLLM_CUTLASS", "BATCHED_VLLM_CUTLASS", "XPU",
                                             "CPU"};
constexpr std::array<Names, 15> kEveryFp8AndMxfp8 = {"NONE",
                                                     "FLASHINFER_TRTLLM",
                                                     "FLASHINFER_CUTLASS",
                                                     "DEEPGEMM",
                                                     "BATCHED_DEEPGEMM",
                                                     "TRITON",
                                                     "BATCHED_TRITON",
                                                     "AITER",
                                                     "VLLM_CUTLASS",
                                                     "BATCHED_VLLM_CUTLASS",
                                                     "XPU",
                                                     "HPC",
                                                     "EMULATION",
                                                     "TRITON_MXFP8",
                                                     "AITER_MXFP8"};

constexpr QuantConfigRow since_august(QuantConfigRow row, std::span<const Names> backends, bool alpha_beta) {
  row.backends = backends;
  row.takes_alpha_beta = alpha_beta;
  row.takes_limit = true;
  row.takes_bias = true;
  row.versions = kSinceAugust;
  return row;
}
/// Products of scales as they come.
constexpr QuantConfigRow with_products(QuantConfigRow row) {
  row.gscales = {"(1.0/a1_scale)", "(1.0/a2_scale)", "(w1_scale*a1_scale)", "(w2_scale*a2_scale)"};
  return row;
}
constexpr QuantConfigRow until_august(QuantConfigRow row) {
  row.versions = kMay;
  return row;
}

constexpr QuantConfigRow kFp8WeightOnly{
    .backends = kWeightOnly, .weight_dtype = kPlatformFp8, .weight_shape = ShapeRule::given, .scales = kWeightScales};
// One factor for both operands of a product; the flags are not handed on.
constexpr QuantConfigRow kFp8ScalesInside{
    .backends = kFlashinferCutlass,
    .block = BlockRule::absent,
    .activation_dtype = kPlatformFp8,
    .weight_dtype = kPlatformFp8,
    .activation_shape = ShapeRule::per_tensor,
    .scales = kAllScales,
    .gscales = {"(1.0/a1_scale)", "(1.0/a2_scale)", "(w1_scale*a1_scale).squeeze()", "(w2_scale*a2_scale).squeeze()"},
    .needs_input_scales = true,
    .takes_limit = true};
// MXFP8 in fp8's clothes; the flags are not handed on.
constexpr QuantConfigRow kFp8Mx{.backends = kEveryFp8,
                                .block = BlockRule::mx,
                                .activation_dtype = "mxfp8",
                                .weight_dtype = "mxfp8",
                                .activation_shape = ShapeRule::given,
                                .weight_shape = ShapeRule::given,
                                .scales = kAllScales,
                                .swizzled = false,
                                .takes_limit = true};
// A block is that of the weights; the activations get it too, though their groups are one row high: a known inexactness of the engine.
constexpr QuantConfigRow kFp8Rest{.backends = kEveryFp8,
                                  .activation_dtype = kPlatformFp8,
                                  .weight_dtype = kPlatformFp8,
                                  .activation_shape = ShapeRule::from_flags,
                                  .weight_shape = ShapeRule::from_flags,
                                  .scales = kAllScales,
                                  .takes_limit = true};
// The flags are not handed on.
constexpr QuantConfigRow kFp8CpuW8a8{.backends = kCpuW8a8,
                                     .activation_dtype = kPlatformFp8,
                                     .weight_dtype = kPlatformFp8,
                                     .activation_shape = ShapeRule::block_or_tensor,
                                     .weight_shape = ShapeRule::given,
                                     .scales = {"a1_scale", "", "w1_scale", "w2_scale"},
                                     .versions = kSinceNovember};
constexpr std::array kFp8 = {
    until_august(kFp8WeightOnly),
    until_august(kFp8ScalesInside),
    until_august(kFp8Mx),
    until_august(kFp8Rest),
    kFp8CpuW8a8,
    since_august(kFp8WeightOnly, kWeightOnly, true),
    since_august(with_products(kFp8ScalesInside), kScalesInside, false),
    since_august(kFp8Mx, kEveryFp8AndMxfp8, true),
    since_august(kFp8Rest, kEveryFp8AndMxfp8, true),
};

// nvfp4. Weight alphas start as the second weight scale; the kernels' own preparation multiplies the input scale in.

constexpr std::array<Names, 1> kMarlin = {"MARLIN"};
constexpr std::array<Names, 1> kB12x = {"B12X"};
constexpr std::array<Names, 1> kEmulation = {"EMULATION"};
constexpr std::array<Names, 1> kTrtllm = {"FLASHINFER_TRTLLM"};
constexpr std::array<Names, 1> kCuteDsl = {"FLASHINFER_CUTEDSL"};
constexpr std::array<Names, 4> kSwizzledScales = {"FLASHINFER_CUTLASS", "FLASHINFER_CUTEDSL_BATCHED", "FLASHINFER_B12X", "VLLM_CUTLASS"};
constexpr std::array<Names, 5> kSwizzledScalesAndB12x = {"FLASHINFER_CUTLASS", "FLASHINFER_CUTEDSL_BATCHED", "FLASHINFER_B12X", "VLLM_CUTLASS",
                                                         "B12X"};
constexpr std::array<Names, 1> kNvfp4MoeEp = {"FLASHINFER_MOE_EP_CUTEDSL"};
constexpr Symbols kNvfp4Scales{"", "", "w13_scale", "w2_scale"};
constexpr Symbols kNvfp4MmaScales{"", "", "mma_view(w13_scale)", "mma_view(w2_scale)"};
constexpr Symbols kNvfp4Weights{"", "", "w13_scale_2", "w2_scale_2"};
constexpr Symbols kNvfp4Inverse{"(1.0/a13_scale)", "(1.0/a2_scale)", "w13_scale_2", "w2_scale_2"};

constexpr QuantConfigRow nvfp4_row(std::span<const Names> backends, const Symbols& gscales, bool swizzled) {
  return {.backends = backends,
          .activation_dtype = "nvfp4",
          .weight_dtype = "nvfp4",
          .activation_shape = ShapeRule::per_tensor,
          .scales = kNvfp4Scales,
          .gscales = gscales,
          .swizzled = swizzled};
}
constexpr QuantConfigRow nvfp4_weight_only(std::span<const Names> backends, SchemeRule scheme) {
  return {.backends = backends, .weight_dtype = "nvfp4", .scales = kNvfp4Scales, .gscales = kNvfp4Weights, .scheme = scheme};
}
/// The constants are handed on, biases are not.
constexpr QuantConfigRow with_constants(QuantConfigRow row) {
  row.takes_alpha_beta = true;
  row.takes_limit = true;
  row.versions = kSinceAugust;
  return row;
}
constexpr QuantConfigRow with_mma_scales(QuantConfigRow row) {
  row.scales = kNvfp4MmaScales;
  return row;
}
constexpr QuantConfigRow since_november(QuantConfigRow row) {
  row.versions = kSinceNovember;
  return row;
}
constexpr std::array kNvfp4 = {
    until_august(nvfp4_weight_only(kMarlin, SchemeRule::any)),
    until_august(nvfp4_row(kEmulation, {"a13_scale", "a2_scale", "w13_scale_2", "w2_scale_2"}, true)),
    until_august(nvfp4_row(kTrtllm, kNvfp4Inverse, false)),
    until_august(nvfp4_row(kCuteDsl, kNvfp4Inverse, false)),
    until_august(nvfp4_row(kSwizzledScales, kNvfp4Inverse, true)),
    with_constants(nvfp4_weight_only(kMarlin, SchemeRule::any)),
    with_constants(nvfp4_weight_only(kB12x, SchemeRule::sixteen_bit)),
    with_constants(nvfp4_row(kEmulation, {"a13_scale", "a2_scale", "w13_scale_2", "w2_scale_2"}, true)),
    with_constants(nvfp4_row(kTrtllm, kNvfp4Inverse, false)),
    with_constants(with_mma_scales(nvfp4_row(kCuteDsl, kNvfp4Inverse, false))),
    with_constants(nvfp4_row(kSwizzledScalesAndB12x, kNvfp4Inverse, true)),
    since_november(with_constants(nvfp4_row(kNvfp4MoeEp, kNvfp4Inverse, true))),
};

// w4a8: always e4m3fn, not the platform's fp8.

constexpr std::array<Names, 1> kCutlass = {"CUTLASS"};
constexpr std::array<QuantConfigRow, 1> kW4a8 = {{
    {.backends = kCutlass,
     .activation_dtype = "float8_e4m3fn",
     .weight_dtype = "int4",
     .activation_shape = ShapeRule::per_token,
     .weight_shape = ShapeRule::per_token,
     .scales = kWeightScales,
     .gscales = {"", "", "g1_alphas", "g2_alphas"}},
}};

// Without quantization the method makes it itself, of what the layer has.

constexpr std::array<Names, 7> kUnquantizedBackends = {"FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS", "AITER", "TRITON", "BATCHED_TRITON", "CPU", "XPU"};
constexpr std::array<QuantConfigRow, 1> kUnquantized = {{
    {.backends = kUnquantizedBackends, .takes_alpha_beta = true, .takes_limit = true, .takes_bias = true, .versions = kSinceAugust},
}};

// int_wna16: the backend is not looked at.

constexpr std::array<Names, 9> kWna16Backends = {
    "FLASHINFER_TRTLLM", "MARLIN", "BATCHED_MARLIN", "TRITON", "EMULATION", "CPU", "XPU", "RDNA3", "ZEN_CPU"};
constexpr std::array<QuantConfigRow, 1> kWna16 = {{
    {.backends = kWna16Backends,
     .weight_dtype = kIntegerOfWeights,
     .activation_shape = ShapeRule::given,
     .weight_shape = ShapeRule::given,
     .scales = kWeightScales,
     .takes_alpha_beta = true,
     .takes_limit = true,
     .takes_bias = true,
     .versions = kSinceAugust},
}};

// int8: biases alone, no constants.

constexpr std::array<Names, 2> kInt8Backends = {"TRITON", "CPU"};
constexpr std::array<QuantConfigRow, 2> kInt8 = {{
    {.backends = kInt8Backends,
     .weight_dtype = "int8",
     .scales = kWeightScales,
     .takes_bias = true,
     .versions = kSinceAugust,
     .scheme = SchemeRule::no_input_scales},
    {.backends = kInt8Backends,
     .activation_dtype = "int8",
     .weight_dtype = "int8",
     .activation_shape = ShapeRule::flag,
     .scales = kAllScales,
     .takes_bias = true,
     .versions = kSinceAugust},
}};

constexpr std::array<Names, 1> kCpuInt4 = {"CPU_INT4"};
constexpr std::array<QuantConfigRow, 1> kW4a8Int8 = {{
    {.backends = kCpuInt4, .activation_shape = ShapeRule::given, .weight_shape = ShapeRule::given, .versions = kSinceAugust},
}};

struct OracleRows {
  Names oracle;
  std::span<const QuantConfigRow> rows;
};
constexpr std::array<OracleRows, 10> kOracles = {{
    {"mxfp4", kMxfp4},
    {"mxfp4_deepseek_v4", kMxfp4},
    {"nvfp4", kNvfp4},
    {"fp8", kFp8},
    {"mxfp8", kFp8},
    {"w4a8", kW4a8},
    {"unquantized", kUnquantized},
    {"int_wna16", kWna16},
    {"int8", kInt8},
    {"w4a8_int8", kW4a8Int8},
}};
constexpr std::array kOracleNames = column_of(kOracles, &OracleRows::oracle);

}  // namespace

std::vector<QuantConfigRow> quant_config_rows(deployment::Engine engine, std::string_view oracle) {
  for (const OracleRows& row : kOracles) {
    if (row.oracle == oracle) return rows_of(engine, row.rows);
  }
  throw Error(ErrorCode::usage, unknown_name("oracle", oracle, kOracleNames));
}

}  // namespace mx::engine
