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
constexpr std::string_view kTritonCpuSource =
    "triton_kernels db4666f numerics_details/mxfp.py upcast_from_mxfp_torch: same torch code, recorded on the h200";
constexpr std::string_view kTritonFp8Source = "triton_kernels db4666f numerics_details/mxfp.py upcast_from_mxfp_torch (read, not run)";
constexpr std::string_view kTritonGpuFp8Source = "triton_kernels db4666f numerics_details/mxfp_details/_upcast_from_mxfp.py (read, not run)";
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

// The byte goes into fp32's exponent field; products are clamped to the target's range, 0 * Inf stays NaN. No row for e5m2: its Inf elements are
// an exception to the clamp.
constexpr Dequantizer triton(const BlockFormat& format, const Format& target, std::string_view source) {
  return row(format, target, ScaleReading::field, &kF32, ProductRange::clamped, false, source);
}
constexpr std::array<Dequantizer, 6> triton_rows(std::string_view mxfp4_source) {
  return {{triton(kMxfp4, kF32, mxfp4_source), triton(kMxfp4, kBf16, mxfp4_source), triton(kMxfp4, kFp16, mxfp4_source),
           triton(kMxfp8E4m3, kF32, kTritonFp8Source), triton(kMxfp8E4m3, kBf16, kTritonFp8Source), triton(kMxfp8E4m3, kFp16, kTritonFp8Source)}};
}
constexpr auto kTriton = triton_rows(kTritonSource);
constexpr auto kTritonCpu = triton_rows(kTritonCpuSource);

// The same in the target's type: fp16 loses scales below 2^-24 and makes Inf of those from 2^16, whose NaN products the clamp takes away.
// Scale byte 255 is set to NaN at the end.
constexpr Dequantizer triton_gpu(const BlockFormat& format, const Format& target, std::string_view source) {
  return row(format, target, ScaleReading::field, &target, ProductRange::clamped_with_nan, true, source);
}
constexpr std::array<Dequantizer, 6> kTritonGpu{{triton_gpu(kMxfp4, kF32, kTritonGpuSource), triton_gpu(kMxfp4, kBf16, kTritonGpuSource),
                                                 triton_gpu(kMxfp4, kFp16, kTritonGpuSource), triton_gpu(kMxfp8E4m3, kF32, kTritonGpuFp8Source),
                                                 triton_gpu(kMxfp8E4m3, kBf16, kTritonGpuFp8Source),
                                                 triton_gpu(kMxfp8E4m3, kFp16, kTritonGpuFp8Source)}};

// 2^(byte - 127) in the target's type, byte 255 included.
constexpr Dequantizer vllm(const Format& target, std::string_view source) {
  return row(kMxfp4, target, ScaleReading::power, &target, ProductRange::infinite, false, source);
}
constexpr std::array<Dequantizer, 3> kVllm{{vllm(kF32, kVllmF32Source), vllm(kBf16, kVllmSource), vllm(kFp16, kVllmSource)}};

constexpr std::array<Dequantizer, 1> kMarlin{{row(kMxfp4, kBf16, ScaleReading::field, &kBf16, ProductRange::infinite, false, kMarlinSource)}};
constexpr std::array<Dequantizer, 1> kDeepSeek{{row(kMxfp4, kF32, ScaleReading::field, &kF32, ProductRange::infinite, false, kDeepSeekSource)}};

constexpr std::string_view kOperation = "dequantize";

constexpr std::array<Profile, 7> kProfiles{{
    {"torchao-dequantize", "torchao", kOperation, "cpu", "eager", kTorchaoSource, {}, {}, kTorchao, {"0.18", "0.18", "36027d8"}},
    {"triton-kernels-dequantize", "triton_kernels", kOperation, "h200", "torch-reference", kTritonSource, {}, {}, kTriton},
    {"triton-kernels-dequantize-cpu", "triton_kernels", kOperation, "cpu", "torch-reference", kTritonCpuSource, {}, {}, kTritonCpu},
    {"triton-kernels-gpu-dequantize", "triton_kernels", kOperation, "h200", "triton-kernel", kTritonGpuSource, {}, {}, kTritonGpu},
    {"vllm-dequantize", "vllm", kOperation, "cpu", "torch-reference", kVllmSource, {}, {}, kVllm},
    {"marlin", "vllm", "dequantize marlin", "cuda", "default", kMarlinSource, {}, {}, kMarlin},
    {"deepseek-v4", "vllm", "dequantize deepseek-v4", "cuda", "eager", kDeepSeekSource, {}, {}, kDeepSeek},
}};

}  // namespace

std::span<const Profile> dequantize_profiles() { return kProfiles; }

}  // namespace mx
