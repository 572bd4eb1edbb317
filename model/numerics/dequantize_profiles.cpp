// How implementations dequantize blocks with E8M0 scales. Grounds: numerics specification section 2.

#include <array>

#include "model/numerics/profile_tables.hpp"

namespace mx {
namespace {

constexpr Dequantizer row(const BlockFormat& format, const Format& target, ScaleReading reading, const Format* arithmetic, ProductRange range,
                          bool nan_scale_wins, std::string_view source) {
  return {.format = &format,
          .target = &target,
          .reading = reading,
          .arithmetic = arithmetic,
          .range = range,
          .nan_scale_wins = nan_scale_wins,
          .tensor = TensorUse::none,
          .source = source};
}

constexpr std::string_view kTorchaoSource = "torchao 36027d8 prototype/mx_formats/mx_tensor.py to_dtype, get_fp_scale (read, not run)";
constexpr std::string_view kTritonSource = "triton_kernels db4666f numerics_details/mxfp.py upcast_from_mxfp_torch";
constexpr std::string_view kTritonGpuSource = "triton_kernels db4666f numerics_details/mxfp_details/_upcast_from_mxfp.py";
constexpr std::string_view kVllmSource = "vllm 28be48f quark mxfp4 emulation, torch dequantization";
constexpr std::string_view kVllmF32Source = "vllm 28be48f quark mxfp4 emulation, torch dequantization (read, not run)";
constexpr std::string_view kMarlinSource = "vllm csrc/quantization/marlin/dequant.h dequant_fp8_scales (read, not run)";
constexpr std::string_view kDeepSeekSource = "vllm models/deepseek_v4/nvidia/model.py, E8M0 byte << 23 (read, not run)";

// Scale and element in the target's type, the scale's NaN set explicitly.
constexpr Dequantizer torchao(const BlockFormat& format, const Format& target) {
  return row(format, target, ScaleReading::value, &target, ProductRange::infinite, true, kTorchaoSource);
}
constexpr std::array<Dequantizer, 15> kTorchao{{
    torchao(kMxfp8E4m3, kF32),
    torchao(kMxfp8E4m3, kBf16),
    torchao(kMxfp8E4m3, kFp16),
    torchao(kMxfp8E5m2, kF32),
    torchao(kMxfp8E5m2, kBf16),
    torchao(kMxfp8E5m2, kFp16),
    torchao(kMxfp6E2m3, kF32),
    torchao(kMxfp6E2m3, kBf16),
    torchao(kMxfp6E2m3, kFp16),
    torchao(kMxfp6E3m2, kF32),
    torchao(kMxfp6E3m2, kBf16),
    torchao(kMxfp6E3m2, kFp16),
    torchao(kMxfp4, kF32),
    torchao(kMxfp4, kBf16),
    torchao(kMxfp4, kFp16),
}};

// The byte goes into fp32's exponent field; products are clamped to the target's range, 0 * Inf stays NaN.
constexpr Dequantizer triton(const Format& target) {
  return row(kMxfp4, target, ScaleReading::field, &kF32, ProductRange::clamped, false, kTritonSource);
}
constexpr std::array<Dequantizer, 3> kTriton{{triton(kF32), triton(kBf16), triton(kFp16)}};

// The same in the target's type: fp16 loses scales below 2^-24 and makes Inf of those from 2^16, whose NaN products the clamp takes away.
// Scale byte 255 is set to NaN at the end.
constexpr Dequantizer triton_gpu(const Format& target) {
  return row(kMxfp4, target, ScaleReading::field, &target, ProductRange::clamped_with_nan, true, kTritonGpuSource);
}
constexpr std::array<Dequantizer, 3> kTritonGpu{{triton_gpu(kF32), triton_gpu(kBf16), triton_gpu(kFp16)}};

// 2^(byte - 127) in the target's type, byte 255 included.
constexpr Dequantizer vllm(const Format& target, std::string_view source) {
  return row(kMxfp4, target, ScaleReading::power, &target, ProductRange::infinite, false, source);
}
constexpr std::array<Dequantizer, 3> kVllm{{vllm(kF32, kVllmF32Source), vllm(kBf16, kVllmSource), vllm(kFp16, kVllmSource)}};

constexpr std::array<Dequantizer, 1> kMarlin{{row(kMxfp4, kBf16, ScaleReading::field, &kBf16, ProductRange::infinite, false, kMarlinSource)}};
constexpr std::array<Dequantizer, 1> kDeepSeek{{row(kMxfp4, kF32, ScaleReading::field, &kF32, ProductRange::infinite, false, kDeepSeekSource)}};

constexpr std::string_view kOperation = "dequantize";

constexpr std::array<Profile, 6> kProfiles{{
    {"torchao-dequantize", "torchao", kOperation, "cpu", "eager", kTorchaoSource, {}, {}, kTorchao},
    {"triton-kernels-dequantize", "triton_kernels", kOperation, "h200", "torch-reference", kTritonSource, {}, {}, kTriton},
    {"triton-kernels-gpu-dequantize", "triton_kernels", kOperation, "h200", "triton-kernel", kTritonGpuSource, {}, {}, kTritonGpu},
    {"vllm-dequantize", "vllm", kOperation, "cpu", "torch-reference", kVllmSource, {}, {}, kVllm},
    {"marlin", "vllm", "dequantize marlin", "cuda", "default", kMarlinSource, {}, {}, kMarlin},
    {"deepseek-v4", "vllm", "dequantize deepseek-v4", "cuda", "eager", kDeepSeekSource, {}, {}, kDeepSeek},
}};

}  // namespace

std::span<const Profile> dequantize_profiles() { return kProfiles; }

}  // namespace mx
