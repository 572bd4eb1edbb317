// FP8 with fp32 scales as implementations do it. Grounds: numerics specification section 4; torchao's recipes are held against recorded outputs.

#include <array>

#include "model/numerics/profile_tables.hpp"

namespace mx {
namespace {

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
                                   .sources = kAnySource};

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

// code * scale in fp32, then the target.
constexpr Dequantizer scaled(const BlockFormat& format, const Format& target) {
  return {&format, &target, ScaleReading::value, &kF32, ProductRange::infinite, false, TensorUse::none, kTorchaoBackSource};
}
constexpr std::array<Dequantizer, 6> kScaled{{scaled(kFp8E4m3, kF32), scaled(kFp8E4m3, kBf16), scaled(kFp8E4m3, kFp16), scaled(kFp8E5m2, kF32),
                                              scaled(kFp8E5m2, kBf16), scaled(kFp8E5m2, kFp16)}};

constexpr std::array<Profile, 7> kProfiles{{
    {"torchao-fp8", "torchao", "fp8 amax_div_max", "cpu", "eager", kTorchaoSource, {}, kTorchao, kScaled},
    {"torchao-fp8-static", "torchao", "fp8 given", "cpu", "eager", kTorchaoSource, {}, kTorchaoStatic, kScaled},
    {"vllm-fp8-static", "vllm", "fp8 given, inverted", "cuda", "default", kVllmSource, {}, kVllmStatic, {}},
    {"vllm-fp8-static-divided", "vllm", "fp8 given, divided", "cuda", "default", kVllmSource, {}, kVllmStaticDivided, {}},
    {"vllm-fp8-tensor", "vllm", "fp8 amax_div_max per tensor", "cuda", "default", kVllmSource, {}, kVllmTensor, {}},
    {"vllm-fp8-token", "vllm", "fp8 amax_div_max per token", "cuda", "default", kVllmSource, {}, kVllmToken, {}},
    {"vllm-input-to-float8", "vllm", "fp8 max_div_amax", "cpu", "eager", kInputSource, {}, kVllmInput, {}},
}};

}  // namespace

std::span<const Profile> fp8_profiles() { return kProfiles; }

}  // namespace mx
