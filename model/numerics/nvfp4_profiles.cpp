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
          .sources = kAnySource};
}

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
constexpr Three kWithout = two_level(TensorUse::none, kTorchaoBackSource);

constexpr std::string_view kFastMath = "device-functions-fast-math";
constexpr std::string_view kNoFastMath = "device-functions";

constexpr std::array<Profile, 10> kProfiles{{
    {"flashinfer-fast", "flashinfer", "nvfp4 fast", "h200", kFastMath, kFlashinferSource, {}, kFlashinferFast, {}},
    {"flashinfer-exact", "flashinfer", "nvfp4 exact", "h200", kFastMath, kFlashinferSource, {}, kFlashinferExact, {}},
    {"flashinfer-fast-no-fast-math", "flashinfer", "nvfp4 fast", "h200", kNoFastMath, kFlashinferSource, {}, kFlashinferFastIeee, {}},
    {"flashinfer-exact-no-fast-math", "flashinfer", "nvfp4 exact", "h200", kNoFastMath, kFlashinferSource, {}, kFlashinferExactIeee, {}},
    {"vllm-nvfp4", "vllm", "nvfp4", "cpu", "torch-reference", kVllmSource, {}, kVllmRecipe, kDividing},
    {"torchao-nvfp4", "torchao", "nvfp4", "cpu", "eager", kTorchaoSource, {}, kTorchao, kMultiplying},
    {"torchao-nvfp4-single", "torchao", "nvfp4_single", "cpu", "eager", kTorchaoSource, {}, kTorchaoSingle, kWithout},
    {"triton-kernels-nvfp4", "triton_kernels", "nvfp4_direct", "cpu", "torch-reference", kTritonSource, {}, kTriton, {}},
    {"triton-kernels-nvfp4-h200", "triton_kernels", "nvfp4_direct", "h200", "torch-reference", kTritonH200Source, {}, kTritonH200, {}},
    {"triton-kernels-gpu-nvfp4", "triton_kernels", "nvfp4_direct", "h200", "triton-kernel", kTritonSource, {}, kTritonGpu, {}},
}};

}  // namespace

std::span<const Profile> nvfp4_profiles() { return kProfiles; }

}  // namespace mx
