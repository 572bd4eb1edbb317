// FP8 with fp32 scales as implementations do it. Grounds: numerics specification section 4; torchao's recipes are held against recorded outputs.

#include <array>

#include "model/numerics/profile_tables.hpp"

namespace mx {
namespace {

constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t k1em12 = 0x2B8CBCCCU;             // 1e-12
constexpr std::uint32_t kOneIn448Times512 = 0x36924925U;  // 1 / (448 * 512)

// torch.clamp keeps a NaN, the cast its sign. fmin and fmax make a NaN the largest number.
constexpr Conversion kTorchCast{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0x7F, 0xFF, 0, false};
constexpr Conversion kCudaClamp{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0x7E, 0x7E, 0, false};

constexpr Fp8Recipe torchao(Fp8Scale rule) {
  return {.rule = rule,
          .scaling = Fp8Scaling::divide,
          .element = kTorchCast,
          .amax_ignores_nan = false,
          .takes_amax_bound = false,
          .least_amax = 0,
          .least_scale = 0,
          .at_source_width = false,
          .invalid_nan_is_negative = true,
          .zero_scale_is_epsilon = false,
          .drops_zero_sign = false,
          .largest_factor = kInfinity,
          .factor_is_power = false,
          .returns_factor = false,
          .sources = kAnySource};
}

constexpr Fp8Recipe vllm_kernel(Fp8Scale rule, Fp8Scaling scaling, bool takes_amax_bound, std::uint32_t least_scale) {
  return {.rule = rule,
          .scaling = scaling,
          .element = kCudaClamp,
          .amax_ignores_nan = true,
          .takes_amax_bound = takes_amax_bound,
          .least_amax = 0,
          .least_scale = least_scale,
          .at_source_width = false,
          .invalid_nan_is_negative = false,
          .zero_scale_is_epsilon = false,
          .drops_zero_sign = false,
          .largest_factor = kInfinity,
          .factor_is_power = false,
          .returns_factor = false,
          .sources = kAnySource};
}

constexpr Fp8Recipe kInputToFloat8{.rule = Fp8Scale::max_over_amax,
                                   .scaling = Fp8Scaling::reciprocal,
                                   .element = kTorchCast,
                                   .amax_ignores_nan = false,
                                   .takes_amax_bound = false,
                                   .least_amax = k1em12,
                                   .least_scale = 0,
                                   .at_source_width = true,
                                   .invalid_nan_is_negative = true,
                                   .zero_scale_is_epsilon = false,
                                   .drops_zero_sign = false,
                                   .largest_factor = kInfinity,
                                   .factor_is_power = false,
                                   .returns_factor = false,
                                   .sources = kAnySource};

// amax / 448 and the quotients in the source's type, as optimum-quanto has them, too.
constexpr Fp8Recipe modelopt() {
  Fp8Recipe how = torchao(Fp8Scale::amax_over_max);
  how.at_source_width = true;
  return how;
}

constexpr Fp8Recipe compressed_tensors() {
  Fp8Recipe how = modelopt();
  how.zero_scale_is_epsilon = true;
  how.drops_zero_sign = true;
  return how;
}

// What ModelOpt's exporter ships: the scale in fp32; one of a whole tensor is no tensor to torch, so that quotients keep the weight's type.
constexpr Fp8Recipe modelopt_export(bool whole_tensor) {
  Fp8Recipe how = torchao(Fp8Scale::amax_over_max);
  how.quotients_at_source_width = whole_tensor;
  return how;
}

// onnxruntime's INT8 scales of a weight's columns times 448 / 127, its QuantizeLinear of FP8. A NaN among the weights it refuses, which is not
// followed.
constexpr Fp8Recipe modelopt_onnx() {
  Fp8Recipe how = torchao(Fp8Scale::int8_rescaled);
  how.sources = {.f32 = true, .bf16 = false, .fp16 = false};
  return how;
}

// 448 * (1 / amax), 1 where amax is 0 or NaN; with scale_fmt ue8m0 the scale is a power of two, the factor its reciprocal.
constexpr Fp8Recipe transformers(bool power_of_two) {
  Fp8Recipe how = torchao(Fp8Scale::max_over_amax);
  how.scaling = Fp8Scaling::reciprocal;
  how.reciprocal_first = true;
  how.unit_factor_at_zero = true;
  how.scale_is_power = power_of_two;
  // torch's logarithm of fp32 is a unit off beside some powers of two, which no number of 16 bits comes to.
  if (power_of_two) how.sources = kHalfSources;
  return how;
}

// 448 / max(amax, 1e-12) in fp64, which rounds to what fp32 division gives but where 1e-12, no fp32 number, takes the place of amax.
constexpr Fp8Recipe torchao_float8(bool power_of_two, std::uint32_t largest_factor) {
  Fp8Recipe how = torchao(Fp8Scale::max_over_amax);
  how.scaling = Fp8Scaling::reciprocal;
  how.largest_factor = largest_factor;
  how.factor_is_power = power_of_two;
  return how;
}
constexpr std::uint32_t kLargestFactorE4m3 = 0x57CBBA10U;  // 448 / 1e-12

constexpr std::string_view kCompressedSource = "compressed-tensors 0.20.0 quantization/utils/helpers.py calculate_qparams, strategy token";
constexpr std::string_view kModeloptSource = "modelopt 0.47.0 torch/quantization/qtensor/fp8_tensor.py FP8QTensor.quantize";
constexpr std::string_view kQuantoSource = "optimum-quanto 0.2.7 AbsmaxOptimizer.optimize, quantize_symmetric; recorded";
constexpr std::string_view kModeloptExportSource = "modelopt 0.47.0 torch/export/quant_utils.py get_scaling_factor, to_quantized_weight; recorded";
constexpr std::string_view kModeloptOnnxSource =
    "modelopt 0.47.0 onnx/quantization/fp8.py int8_to_fp8, onnxruntime 1.32.0 quantization/quant_utils.py compute_scale_zp; recorded";
constexpr std::string_view kTransformersSource = "transformers 5.24.0 integrations/finegrained_fp8.py Fp8Quantize; recorded";
constexpr std::string_view kFloat8Source = "torchao 0.18.0 float8/float8_utils.py tensor_to_scale, to_fp8_saturated";
constexpr std::string_view kTorchaoSource = "torchao 36027d8 quantization/quant_primitives.py _choose_scale_float8, _quantize_affine_float8";
constexpr std::string_view kTorchaoBackSource = "torchao 36027d8 quantization/quant_primitives.py _dequantize_affine_float8 (read, not run)";
constexpr std::string_view kVllmSource = "vllm csrc/quantization/w8a8/fp8/common.cu, common.cuh scaled_fp8_conversion (read, not run)";
constexpr std::string_view kInputSource = "vllm layers/quantization/utils/fp8_utils.py input_to_float8 (read, not run)";

using One = std::array<Recipe, 1>;
using Two = std::array<Recipe, 2>;
constexpr Two kTorchao{
    {{&kFp8E4m3, torchao(Fp8Scale::amax_over_max), kTorchaoSource}, {&kFp8E5m2, torchao(Fp8Scale::amax_over_max), kTorchaoSource}}};
constexpr Two kTorchaoStatic{{{&kFp8E4m3, torchao(Fp8Scale::given), kTorchaoSource}, {&kFp8E5m2, torchao(Fp8Scale::given), kTorchaoSource}}};
constexpr One kVllmStatic{{{&kFp8E4m3, vllm_kernel(Fp8Scale::given, Fp8Scaling::reciprocal, false, 0), kVllmSource}}};
constexpr One kVllmStaticDivided{{{&kFp8E4m3, vllm_kernel(Fp8Scale::given, Fp8Scaling::divide, false, 0), kVllmSource}}};
constexpr One kVllmTensor{{{&kFp8E4m3, vllm_kernel(Fp8Scale::amax_over_max, Fp8Scaling::reciprocal, false, 0), kVllmSource}}};
constexpr One kVllmToken{{{&kFp8E4m3, vllm_kernel(Fp8Scale::amax_over_max, Fp8Scaling::divide, true, kOneIn448Times512), kVllmSource}}};
constexpr One kVllmInput{{{&kFp8E4m3, kInputToFloat8, kInputSource}}};

constexpr One kCompressed{{{&kFp8E4m3, compressed_tensors(), kCompressedSource}}};
constexpr One kModelopt{{{&kFp8E4m3, modelopt(), kModeloptSource}}};
constexpr Two kQuanto{{{&kFp8E4m3, modelopt(), kQuantoSource}, {&kFp8E5m2, modelopt(), kQuantoSource}}};
constexpr One kModeloptExportTensor{{{&kFp8E4m3, modelopt_export(true), kModeloptExportSource}}};
constexpr One kModeloptExportChannel{{{&kFp8E4m3, modelopt_export(false), kModeloptExportSource}}};
constexpr One kModeloptOnnx{{{&kFp8E4m3, modelopt_onnx(), kModeloptOnnxSource}}};
constexpr Two kTransformers{{{&kFp8E4m3, transformers(false), kTransformersSource}, {&kFp8E4m3Square, transformers(false), kTransformersSource}}};
constexpr Two kTransformersPower{{{&kFp8E4m3, transformers(true), kTransformersSource}, {&kFp8E4m3Square, transformers(true), kTransformersSource}}};
constexpr One kFloat8{{{&kFp8E4m3, torchao_float8(false, kLargestFactorE4m3), kFloat8Source}}};
constexpr One kFloat8Power{{{&kFp8E4m3, torchao_float8(true, kLargestFactorE4m3), kFloat8Source}}};

// code * scale in fp32, then the target.
constexpr Dequantizer scaled(const BlockFormat& format, const Format& target) {
  return {&format, &target, ScaleReading::value, &kF32, ProductRange::infinite, false, TensorUse::none, kTorchaoBackSource};
}
constexpr std::array<Dequantizer, 6> kScaled{{scaled(kFp8E4m3, kF32), scaled(kFp8E4m3, kBf16), scaled(kFp8E4m3, kFp16), scaled(kFp8E5m2, kF32),
                                              scaled(kFp8E5m2, kBf16), scaled(kFp8E5m2, kFp16)}};

constexpr Releases only(std::string_view release) { return {release, release, {}}; }
constexpr Releases kCompressed020{"0.20", "0.20.1", {}};

constexpr std::array<Profile, 17> kProfiles{{
    {"torchao-fp8", "torchao", "fp8 amax_div_max", "cpu", "eager", kTorchaoSource, {}, kTorchao, kScaled},
    {"torchao-fp8-static", "torchao", "fp8 given", "cpu", "eager", kTorchaoSource, {}, kTorchaoStatic, kScaled},
    {"vllm-fp8-static", "vllm", "fp8 given, inverted", "cuda", "default", kVllmSource, {}, kVllmStatic, {}},
    {"vllm-fp8-static-divided", "vllm", "fp8 given, divided", "cuda", "default", kVllmSource, {}, kVllmStaticDivided, {}},
    {"vllm-fp8-tensor", "vllm", "fp8 amax_div_max per tensor", "cuda", "default", kVllmSource, {}, kVllmTensor, {}},
    {"vllm-fp8-token", "vllm", "fp8 amax_div_max per token", "cuda", "default", kVllmSource, {}, kVllmToken, {}},
    {"vllm-input-to-float8", "vllm", "fp8 max_div_amax", "cpu", "eager", kInputSource, {}, kVllmInput, {}},
    {"compressed-tensors-fp8",
     "compressed_tensors",
     "fp8 amax_div_max",
     "cpu",
     "torch-reference",
     kCompressedSource,
     {},
     kCompressed,
     {},
     kCompressed020},
    {"modelopt-fp8", "modelopt", "fp8 amax_div_max", "cpu", "torch-reference", kModeloptSource, {}, kModelopt, {}, only("0.47")},
    {"quanto-fp8", "quanto", "fp8 amax_div_max", "cpu", "torch-reference", kQuantoSource, {}, kQuanto, {}, only("0.2.7")},
    {"modelopt-export-fp8-tensor",
     "modelopt",
     "fp8 amax_div_max",
     "cpu",
     "hf-export-tensor",
     kModeloptExportSource,
     {},
     kModeloptExportTensor,
     {},
     only("0.47")},
    {"modelopt-export-fp8-channel",
     "modelopt",
     "fp8 amax_div_max",
     "cpu",
     "hf-export-channel",
     kModeloptExportSource,
     {},
     kModeloptExportChannel,
     {},
     only("0.47")},
    {"modelopt-onnx-fp8", "modelopt", "fp8 int8_rescaled", "cpu", "onnx-export", kModeloptOnnxSource, {}, kModeloptOnnx, {}, only("0.47")},
    {"transformers-fp8", "transformers", "fp8 max_div_amax", "cpu", "fp8-quantize", kTransformersSource, {}, kTransformers, {}, only("5.24")},
    {"transformers-fp8-ue8m0",
     "transformers",
     "fp8 max_div_amax_pow2",
     "cpu",
     "fp8-quantize",
     kTransformersSource,
     {},
     kTransformersPower,
     {},
     only("5.24")},
    {"torchao-float8", "torchao", "fp8 max_div_amax_f64", "cpu", "eager-0.18", kFloat8Source, {}, kFloat8, {}, only("0.18")},
    {"torchao-float8-pow2", "torchao", "fp8 max_div_amax_f64_pow2_log2", "cpu", "eager-0.18", kFloat8Source, {}, kFloat8Power, {}, only("0.18")},
}};

}  // namespace

std::span<const Profile> fp8_profiles() { return kProfiles; }

}  // namespace mx
