// NVFP4 as implementations do it. Grounds: numerics specification section 4; quantization is held against recorded outputs, all of them from bf16;
// other sources and the dequantizers are by the sources alone.

#include <array>

#include "model/numerics/dequantize.hpp"
#include "model/numerics/profile_tables.hpp"

namespace mx {
namespace {

constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kLargest = 0x7F7FFFFFU;
constexpr std::uint32_t kTwoToMinus6 = 0x3C800000U;       // the smallest normal E4M3 number
constexpr std::uint32_t kHundredMillionth = 0x322BCC77U;  // 1e-8

constexpr Conversion saturating(std::uint32_t nan) { return {Rounding::nearest_even, Overflow::saturate, NanRule::fixed, nan, nan, 0, false}; }
constexpr Conversion kScaleSaturates = saturating(0x7F);
constexpr Conversion kScaleOverflowsToNan{Rounding::nearest_even, Overflow::nan, NanRule::fixed, 0x7F, 0x7F, 0, false};
constexpr std::uint32_t kTwoToMinus9 = 0x3B000000U;  // the smallest E4M3 number
constexpr std::uint32_t kTwoToMinus23 = 0x34000000U;
constexpr std::uint32_t kOne = 0x3F800000U;
constexpr Conversion search(Rounding rounding) { return {rounding, Overflow::saturate, NanRule::fixed, 0x0, 0x0, 0, false}; }
// The conversion instruction turns a NaN into the largest value. torch's comparison of rounding thresholds gives the code 4 on a CPU.
constexpr Conversion kElement = saturating(0x7);
constexpr Conversion kTorchaoElement = saturating(0x4);

// What flushes depends on the build, what the reciprocals are on the path.
constexpr Nvfp4Recipe flashinfer(bool fast_path, bool fast_math_build) {
  return {.rule = Nvfp4Scale::global,
          .multiplier = Nvfp4Multiplier::reciprocal_of_product,
          .scale = kScaleSaturates,
          .element = kElement,
          .amax_ignores_nan = true,
          .least_scale = 0,
          .multiplier_of_zero = fast_path ? kInfinity : kLargest,
          .largest_multiplier = fast_path ? kInfinity : kLargest,
          .zero_block_multiplies_by_zero = true,
          .approximate_reciprocal = fast_path,
          .flush_subnormals = fast_math_build,
          .drops_zero_sign = false,
          .in_source_type = false,
          .encode_may_be_missing = false,
          .zero_wanted = 0,
          .zero_scale_code = 0,
          .zero_scale_value = 0,
          .sources = kHalfSources};
}

// A zero divisor is replaced by 1e8; torch.sign(-0) is 0, which drops the sign of zero.
constexpr Nvfp4Recipe kVllm{.rule = Nvfp4Scale::global,
                            .multiplier = Nvfp4Multiplier::reciprocal_of_product,
                            .scale = kScaleSaturates,
                            .element = kElement,
                            .amax_ignores_nan = false,
                            .least_scale = 0,
                            .multiplier_of_zero = kHundredMillionth,
                            .largest_multiplier = kInfinity,
                            .zero_block_multiplies_by_zero = false,
                            .approximate_reciprocal = false,
                            .flush_subnormals = false,
                            .drops_zero_sign = true,
                            .in_source_type = false,
                            .encode_may_be_missing = false,
                            .zero_wanted = 0,
                            .zero_scale_code = 0,
                            .zero_scale_value = 0,
                            .sources = kAnySource};

// nvfp4_quantize asserts float or bfloat16.
constexpr Sources kTorchaoSources{true, true, false};

constexpr Nvfp4Recipe torchao(Nvfp4Scale rule, Nvfp4Multiplier multiplier) {
  return {.rule = rule,
          .multiplier = multiplier,
          .scale = kScaleSaturates,
          .element = kTorchaoElement,
          .amax_ignores_nan = false,
          .least_scale = kTwoToMinus6,
          .multiplier_of_zero = kInfinity,
          .largest_multiplier = kInfinity,
          .zero_block_multiplies_by_zero = false,
          .approximate_reciprocal = false,
          .flush_subnormals = false,
          .drops_zero_sign = false,
          .in_source_type = false,
          .encode_may_be_missing = false,
          .zero_wanted = 0,
          .zero_scale_code = 0,
          .zero_scale_value = 0,
          .sources = kTorchaoSources};
}

constexpr Nvfp4Recipe triton_kernels(const Conversion& scale, bool amax_ignores_nan) {
  return {.rule = Nvfp4Scale::direct,
          .multiplier = Nvfp4Multiplier::reciprocal_of_scale,
          .scale = scale,
          .element = kElement,
          .amax_ignores_nan = amax_ignores_nan,
          .least_scale = 0,
          .multiplier_of_zero = 0,
          .largest_multiplier = kInfinity,
          .zero_block_multiplies_by_zero = false,
          .approximate_reciprocal = false,
          .flush_subnormals = false,
          .drops_zero_sign = false,
          .in_source_type = false,
          .encode_may_be_missing = false,
          .zero_wanted = 0,
          .zero_scale_code = 0,
          .zero_scale_value = 0,
          .sources = kAnySource};
}

/// What the recipes of Python libraries share: any source, no device arithmetic, NaNs that win.
constexpr Nvfp4Recipe library(Nvfp4Scale rule, Nvfp4Multiplier multiplier, const Conversion& element) {
  return {.rule = rule,
          .multiplier = multiplier,
          .scale = kScaleSaturates,
          .element = element,
          .amax_ignores_nan = false,
          .least_scale = 0,
          .multiplier_of_zero = 0,
          .largest_multiplier = kInfinity,
          .zero_block_multiplies_by_zero = false,
          .approximate_reciprocal = false,
          .flush_subnormals = false,
          .drops_zero_sign = false,
          .in_source_type = false,
          .encode_may_be_missing = false,
          .zero_wanted = 0,
          .zero_scale_code = 0,
          .zero_scale_value = 0,
          .sources = kAnySource};
}

// The scale is made of a quotient in the tensor's type; one that rounds to 0 becomes 2^-3.
constexpr Nvfp4Recipe compressed_tensors() {
  Nvfp4Recipe how = library(Nvfp4Scale::quotient, Nvfp4Multiplier::divided_by_quotient, saturating(0x0));
  how.in_source_type = true;
  how.zero_scale_code = 0x20;
  how.drops_zero_sign = true;
  return how;
}

// A quotient of 0 becomes 1, and none is below the smallest E4M3 number: no scale is 0.
constexpr Nvfp4Recipe modelopt() {
  Nvfp4Recipe how = library(Nvfp4Scale::six_decodes, Nvfp4Multiplier::divided_by_product, kElement);
  how.zero_wanted = kOne;
  how.least_scale = kTwoToMinus9;
  how.drops_zero_sign = true;
  return how;
}

constexpr Nvfp4Recipe flashinfer_reference() {
  Nvfp4Recipe how = library(Nvfp4Scale::quotient, Nvfp4Multiplier::scaled_then_divided, search(Rounding::first_least_distance));
  how.zero_scale_value = kOne;
  return how;
}

// vLLM's steps, but a scale of 0 multiplies by 0.
constexpr Nvfp4Recipe auto_round() {
  Nvfp4Recipe how = library(Nvfp4Scale::global, Nvfp4Multiplier::reciprocal_of_product, kElement);
  how.drops_zero_sign = true;
  return how;
}

constexpr Nvfp4Recipe mlx() {
  Nvfp4Recipe how = library(Nvfp4Scale::quotient, Nvfp4Multiplier::divided_then_scaled, search(Rounding::first_least_distance_signed));
  how.scale = saturating(0x7E);
  how.in_source_type = true;
  how.encode_may_be_missing = true;
  return how;
}

// The scale code says amax / 6, no less than 2^-23, over d; elements are divided by that number itself. Both go by OpenVINO's casts; the sign of a
// NaN is not followed.
constexpr Nvfp4Recipe nncf() {
  Nvfp4Recipe how = library(Nvfp4Scale::per_tensor, Nvfp4Multiplier::divided_by_wanted, kElement);
  how.scale = kScaleOverflowsToNan;
  how.scale.before.through = &kFp16;
  how.least_sixth = kTwoToMinus23;
  return how;
}

constexpr std::string_view kNncfSource =
    "nncf 3.4.0 quantization/algorithms/weight_compression/weight_lowering.py do_float_quantization, NNCF_DISABLE_OPTIMIZED_COMPRESSION; recorded";
constexpr std::string_view kCompressedSource =
    "compressed-tensors 0.20.0 quantization/utils/helpers.py calculate_qparams, lifecycle/forward.py quantize";
constexpr std::string_view kModeloptSource = "modelopt 0.47.0 torch/quantization/qtensor/nvfp4_tensor.py NVFP4QTensor.quantize";
constexpr std::string_view kModeloptBackSource = "modelopt 0.47.0 torch/quantization/qtensor/nvfp4_tensor.py NVFP4QTensor.dequantize";
constexpr std::string_view kFlashinferReferenceSource = "flashinfer-python 0.7.2.post1 trace/templates/quantize.py _nvfp4_quantize_reference";
constexpr std::string_view kAutoRoundSource = "auto-round 0.16.1 data_type/nvfp.py ref_nvfp4_quant";
constexpr std::string_view kMlxSource = "mlx 0.32.4 mlx/backend/cpu/quantized.cpp fp_quantize, mode nvfp4";
constexpr std::string_view kFlashinferSource = "flashinfer fb28d72 csrc/nv_internal quantization_utils.cuh, cvt_warp_fp16_to_fp4";
constexpr std::string_view kVllmSource = "vllm 28be48f nvfp4_emulation_utils.py ref_nvfp4_quant";
constexpr std::string_view kVllmBackSource = "vllm 28be48f nvfp4_emulation_utils.py dequantize_to_dtype (read, not run)";
constexpr std::string_view kTorchaoSource = "torchao 36027d8 prototype/mx_formats/nvfp4_tensor.py nvfp4_quantize";
constexpr std::string_view kTorchaoBackSource = "torchao 36027d8 prototype/mx_formats/nvfp4_tensor.py dequantize (read, not run)";
constexpr std::string_view kTritonSource = "triton_kernels db4666f numerics_details/mxfp.py, e4m3 scales";

constexpr std::string_view kTritonH200Source =
    "triton_kernels db4666f numerics_details/mxfp.py, e4m3 scales: same torch code, recorded on the cpu; one NaN, as PTX mul.f32 has it";

using One = std::array<Recipe, 1>;
constexpr One kFlashinferFast{{{&kNvfp4, flashinfer(true, true), kFlashinferSource}}};
constexpr One kFlashinferExact{{{&kNvfp4, flashinfer(false, true), kFlashinferSource}}};
constexpr One kFlashinferFastIeee{{{&kNvfp4, flashinfer(true, false), kFlashinferSource}}};
constexpr One kFlashinferExactIeee{{{&kNvfp4, flashinfer(false, false), kFlashinferSource}}};
constexpr One kVllmRecipe{{{&kNvfp4, kVllm, kVllmSource}}};
constexpr One kTorchao{{{&kNvfp4, torchao(Nvfp4Scale::per_tensor, Nvfp4Multiplier::reciprocal_over_scale), kTorchaoSource}}};
constexpr One kTorchaoSingle{{{&kNvfp4, torchao(Nvfp4Scale::single, Nvfp4Multiplier::reciprocal_of_scale), kTorchaoSource}}};
constexpr One kTriton{{{&kNvfp4, triton_kernels(kScaleOverflowsToNan, false), kTritonSource}}};
constexpr One kTritonH200{{{&kNvfp4, triton_kernels(kScaleOverflowsToNan, false), kTritonH200Source}}};
constexpr One kTritonGpu{{{&kNvfp4, triton_kernels(kScaleSaturates, true), kTritonSource}}};

constexpr One kCompressed{{{&kNvfp4, compressed_tensors(), kCompressedSource}}};
constexpr One kModelopt{{{&kNvfp4, modelopt(), kModeloptSource}}};
constexpr One kFlashinferReference{{{&kNvfp4, flashinfer_reference(), kFlashinferReferenceSource}}};
constexpr One kAutoRound{{{&kNvfp4, auto_round(), kAutoRoundSource}}};
constexpr One kNncf{{{&kNvfp4, nncf(), kNncfSource}}};
constexpr One kMlx{{{&kNvfp4, mlx(), kMlxSource}}};

// The factor of a block is one fp32 number, the element's product with it another; then the target.
constexpr Dequantizer two_level(const Format& target, TensorUse tensor, std::string_view source) {
  return {.format = &kNvfp4,
          .target = &target,
          .reading = ScaleReading::value,
          .arithmetic = &kF32,
          .range = ProductRange::infinite,
          .nan_scale_wins = false,
          .tensor = tensor,
          .source = source};
}

using Three = std::array<Dequantizer, 3>;
constexpr Three two_level(TensorUse tensor, std::string_view source) {
  return {{two_level(kF32, tensor, source), two_level(kBf16, tensor, source), two_level(kFp16, tensor, source)}};
}
constexpr Three kDividing = two_level(TensorUse::divides_scale, kVllmBackSource);
constexpr Three kMultiplying = two_level(TensorUse::multiplies_scale, kTorchaoBackSource);
constexpr Three without_zero_signs(Three rows) {
  for (Dequantizer& row : rows) row.drops_zero_sign = true;
  return rows;
}
constexpr std::string_view kModeloptFp16Source =
    "modelopt 0.47.0 torch/quantization/qtensor/nvfp4_tensor.py NVFP4QTensor.dequantize: same code, not recorded";
constexpr Three kModeloptBack = without_zero_signs(
    {{two_level(kF32, TensorUse::multiplies_scale, kModeloptBackSource), two_level(kBf16, TensorUse::multiplies_scale, kModeloptBackSource),
      two_level(kFp16, TensorUse::multiplies_scale, kModeloptFp16Source)}});
constexpr Three kWithout = two_level(TensorUse::none, kTorchaoBackSource);

constexpr std::string_view kFastMath = "device-functions-fast-math";
constexpr std::string_view kNoFastMath = "device-functions";

/// Release and commit do the same.
constexpr Releases kTorchao018{"0.18", "0.18", "36027d8"};
constexpr Releases only(std::string_view release) { return {release, release, {}}; }
constexpr Releases kCompressed020{"0.20", "0.20.1", {}};
constexpr Releases kFlashinfer07{"0.7.2", "0.7.4", {}};

constexpr std::array<Profile, 16> kProfiles{{
    {"flashinfer-fast", "flashinfer", "nvfp4 fast", "h200", kFastMath, kFlashinferSource, {}, kFlashinferFast, {}},
    {"flashinfer-exact", "flashinfer", "nvfp4 exact", "h200", kFastMath, kFlashinferSource, {}, kFlashinferExact, {}},
    {"flashinfer-fast-no-fast-math", "flashinfer", "nvfp4 fast", "h200", kNoFastMath, kFlashinferSource, {}, kFlashinferFastIeee, {}},
    {"flashinfer-exact-no-fast-math", "flashinfer", "nvfp4 exact", "h200", kNoFastMath, kFlashinferSource, {}, kFlashinferExactIeee, {}},
    {"vllm-nvfp4", "vllm", "nvfp4", "cpu", "torch-reference", kVllmSource, {}, kVllmRecipe, kDividing},
    {"torchao-nvfp4", "torchao", "nvfp4", "cpu", "eager", kTorchaoSource, {}, kTorchao, kMultiplying, kTorchao018},
    {"torchao-nvfp4-single", "torchao", "nvfp4_single", "cpu", "eager", kTorchaoSource, {}, kTorchaoSingle, kWithout, kTorchao018},
    {"triton-kernels-nvfp4", "triton_kernels", "nvfp4_direct", "cpu", "torch-reference", kTritonSource, {}, kTriton, {}},
    {"triton-kernels-nvfp4-h200", "triton_kernels", "nvfp4_direct", "h200", "torch-reference", kTritonH200Source, {}, kTritonH200, {}},
    {"triton-kernels-gpu-nvfp4", "triton_kernels", "nvfp4_direct", "h200", "triton-kernel", kTritonSource, {}, kTritonGpu, {}},
    {"compressed-tensors-nvfp4", "compressed_tensors", "nvfp4_ct", "cpu", "torch-reference", kCompressedSource, {}, kCompressed, {}, kCompressed020},
    {"modelopt-nvfp4", "modelopt", "nvfp4_modelopt", "cpu", "torch-reference", kModeloptSource, {}, kModelopt, kModeloptBack, only("0.47")},
    {"flashinfer-reference-nvfp4",
     "flashinfer",
     "nvfp4_flashinfer_reference",
     "cpu",
     "trace-reference",
     kFlashinferReferenceSource,
     {},
     kFlashinferReference,
     {},
     kFlashinfer07},
    {"auto-round-nvfp4", "auto_round", "nvfp4", "cpu", "torch-reference", kAutoRoundSource, {}, kAutoRound, {}, only("0.16.1")},
    {"nncf-nvfp4", "nncf", "nvfp4_nncf", "cpu", "numpy", kNncfSource, {}, kNncf, {}, only("3.4")},
    {"mlx-cpu-nvfp4", "mlx", "nvfp4_mlx_cpu", "cpu", "mlx-cpu", kMlxSource, {}, kMlx, {}, only("0.32.4")},
}};

}  // namespace

std::span<const Profile> nvfp4_profiles() { return kProfiles; }

}  // namespace mx
