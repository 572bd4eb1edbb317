// The quant configs of the engine as data; quant_config.cpp interprets them.

#include <array>

#include "model/column.hpp"
#include "model/engine/vllm/setup/quant_config.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::oracle {
namespace {

using Names = std::string_view;

constexpr Symbols kWeightScales{"", "", "w1_scale", "w2_scale"};
constexpr Symbols kAllScales{"a1_scale", "a2_scale", "w1_scale", "w2_scale"};

// mxfp4

constexpr std::array<Names, 1> kDeepGemm = {"DEEPGEMM_MXFP4"};
constexpr std::array<Names, 1> kTrtllmMxfp8 = {"FLASHINFER_TRTLLM_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kCutlassMxfp8 = {"FLASHINFER_CUTLASS_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kAiterFp8 = {"AITER_MXFP4_FP8"};
constexpr std::array<Names, 8> kSixteenBit = {
    "MARLIN", "BATCHED_MARLIN", "TRITON", "TRITON_UNFUSED", "FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_BF16", "AITER_MXFP4_BF16",
    "CPU"};
// XPU is chosen as a backend for 16-bit activations, and its class asks for unquantized inputs; its config says mxfp4 all the same.
constexpr std::array<Names, 4> kMxfp4Both = {"AITER_MXFP4_MXFP4", "EMULATION", "XPU", "NONE"};

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
constexpr std::array<QuantConfigRow, 6> kMxfp4 = [] {
  std::array<QuantConfigRow, 6> rows = {
      mxfp4_row(kDeepGemm, kPlatformFp8, ShapeRule::block_128),
      mxfp4_row(kTrtllmMxfp8, "mxfp8", ShapeRule::none),
      mxfp4_row(kCutlassMxfp8, "mxfp8", ShapeRule::none),
      mxfp4_row(kAiterFp8, "fp8", ShapeRule::none),
      mxfp4_row(kSixteenBit, "", ShapeRule::none),
      mxfp4_row(kMxfp4Both, "mxfp4", ShapeRule::per_tensor),
  };
  // TRT-LLM quantizes linear scales over columns padded to 256, CUTLASS swizzled ones: mixing them up was a bug (vllm PR 42089).
  rows[1].swizzled = false;
  rows[1].mx_alignment = 256;
  // Its kernel has alpha and beta built in.
  rows[3].scales = kAllScales;
  rows[3].takes_alpha_beta = false;
  return rows;
}();

// fp8. Marlin and CPU take 16-bit activations, the flags and the limit are not handed to them.

constexpr std::array<Names, 2> kWeightOnly = {"MARLIN", "CPU"};
constexpr std::array<Names, 1> kFlashinferCutlass = {"FLASHINFER_CUTLASS"};
constexpr std::array<Names, 13> kEveryFp8 = {"NONE",         "FLASHINFER_TRTLLM",    "FLASHINFER_CUTLASS",
                                             "DEEPGEMM",     "BATCHED_DEEPGEMM",     "MARLIN",
                                             "TRITON",       "BATCHED_TRITON",       "AITER",
                                             "VLLM_CUTLASS", "BATCHED_VLLM_CUTLASS", "XPU",
                                             "CPU"};
constexpr std::array<QuantConfigRow, 4> kFp8 = {{
    {.backends = kWeightOnly, .weight_dtype = kPlatformFp8, .weight_shape = ShapeRule::given, .scales = kWeightScales},
    // One factor for both operands of a product; the flags are not handed on.
    {.backends = kFlashinferCutlass,
     .block = BlockRule::absent,
     .activation_dtype = kPlatformFp8,
     .weight_dtype = kPlatformFp8,
     .activation_shape = ShapeRule::per_tensor,
     .scales = kAllScales,
     .gscales = {"(1.0/a1_scale)", "(1.0/a2_scale)", "(w1_scale*a1_scale).squeeze()", "(w2_scale*a2_scale).squeeze()"},
     .needs_input_scales = true,
     .takes_limit = true},
    // MXFP8 in fp8's clothes; the flags are not handed on.
    {.backends = kEveryFp8,
     .block = BlockRule::mx,
     .activation_dtype = "mxfp8",
     .weight_dtype = "mxfp8",
     .activation_shape = ShapeRule::given,
     .weight_shape = ShapeRule::given,
     .scales = kAllScales,
     .swizzled = false,
     .takes_limit = true},
    // A block is that of the weights; the activations get it too, though their groups are one row high: a known inexactness of the engine.
    {.backends = kEveryFp8,
     .activation_dtype = kPlatformFp8,
     .weight_dtype = kPlatformFp8,
     .activation_shape = ShapeRule::from_flags,
     .weight_shape = ShapeRule::from_flags,
     .scales = kAllScales,
     .takes_limit = true},
}};

// nvfp4. Weight alphas start as the second weight scale; the kernels' own preparation multiplies the input scale in.

constexpr std::array<Names, 1> kMarlin = {"MARLIN"};
constexpr std::array<Names, 1> kEmulation = {"EMULATION"};
constexpr std::array<Names, 2> kLinearScales = {"FLASHINFER_TRTLLM", "FLASHINFER_CUTEDSL"};
constexpr std::array<Names, 4> kSwizzledScales = {"FLASHINFER_CUTLASS", "FLASHINFER_CUTEDSL_BATCHED", "FLASHINFER_B12X", "VLLM_CUTLASS"};
constexpr Symbols kNvfp4Scales{"", "", "w13_scale", "w2_scale"};
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
constexpr std::array<QuantConfigRow, 4> kNvfp4 = {{
    {.backends = kMarlin, .weight_dtype = "nvfp4", .scales = kNvfp4Scales, .gscales = {"", "", "w13_scale_2", "w2_scale_2"}},
    nvfp4_row(kEmulation, {"a13_scale", "a2_scale", "w13_scale_2", "w2_scale_2"}, true),
    nvfp4_row(kLinearScales, kNvfp4Inverse, false),
    nvfp4_row(kSwizzledScales, kNvfp4Inverse, true),
}};

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
    // Of these no configuration was recorded.
    {"unquantized", {}},
    {"int_wna16", {}},
    {"int8", {}},
    {"w4a8_int8", {}},
}};
constexpr std::array kOracleNames = column_of(kOracles, &OracleRows::oracle);

}  // namespace

std::span<const QuantConfigRow> quant_config_rows(std::string_view oracle) {
  for (const OracleRows& row : kOracles) {
    if (row.oracle == oracle) return row.rows;
  }
  throw Error(ErrorCode::usage, unknown_name("oracle", oracle, kOracleNames));
}

}  // namespace mx::oracle
