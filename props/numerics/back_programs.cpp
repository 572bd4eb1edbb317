#include "props/numerics/back_programs.hpp"

#include <array>
#include <cmath>

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kNanByte = 255;

std::uint32_t infinity_of(SourceType type) { return type == SourceType::f32 ? 0x7F800000U : type == SourceType::bf16 ? 0x7F80U : 0x7C00U; }
std::uint32_t nan_of(SourceType type) { return type == SourceType::f32 ? 0x7FC00000U : type == SourceType::bf16 ? 0x7FC0U : 0x7E00U; }
std::uint32_t sign_of(SourceType type) { return type == SourceType::f32 ? 0x80000000U : 0x8000U; }

enum class Above { infinite, largest };

/// The target's code nearest to a number that has at most fp32's 24 bits or is rounded to fp32 alone.
std::uint32_t into(double number, SourceType target, Above above) {
  if (std::isnan(number)) return nan_of(target);
  const std::uint32_t sign = std::signbit(number) ? sign_of(target) : 0U;
  const std::uint32_t beyond = infinity_of(target) - (above == Above::largest ? 1U : 0U);
  const std::uint32_t f32 = bits_of(static_cast<float>(std::fabs(number)));
  if (f32 >= 0x7F800000U) return sign | beyond;
  if (target == SourceType::f32) return sign | f32;
  const Grid& grid = grid_of(target == SourceType::bf16 ? "bf16" : "fp16");
  const std::uint32_t code = rounded_code(grid, f32, Rounding::nearest_even);
  return sign | (code < grid.values.size() ? code : beyond);
}

/// 2^(byte - 127) as a variable of the type holds it.
double power_in(std::uint32_t byte, SourceType type) {
  const double power = std::ldexp(1.0, static_cast<int>(byte) - 127);
  return power > 0x1p127 ? INFINITY : stored(static_cast<float>(power), type);
}

/// The byte in an exponent field of the type: 0 for byte 0, Inf for byte 255.
double field_in(std::uint32_t byte, SourceType type) { return byte == 0 ? 0.0 : byte == kNanByte ? INFINITY : power_in(byte, type); }

// MX 1.0 section 5.2: the exact product, rounded once.
std::uint32_t ocp(const BackInput& in) {
  if (in.scale == kNanByte) return nan_of(in.target);
  return into(in.element * std::ldexp(1.0, static_cast<int>(in.scale) - 127), in.target, Above::infinite);
}

// get_fp_scale and to_dtype: scale and product in the target's type, NaN for byte 255.
std::uint32_t torchao(const BackInput& in) {
  return in.scale == kNanByte ? nan_of(in.target) : into(in.element * power_in(in.scale, in.target), in.target, Above::infinite);
}

// upcast_from_mxfp_torch: in fp32, clamped to the target's range.
std::uint32_t triton(const BackInput& in) {
  return into(static_cast<float>(in.element * field_in(in.scale, SourceType::f32)), in.target, Above::largest);
}

// _upcast_from_mxfp: in the target's type, clamped so that a NaN becomes the largest number; NaN for byte 255.
std::uint32_t triton_gpu(const BackInput& in) {
  if (in.scale == kNanByte) return nan_of(in.target);
  const double product = in.element * field_in(in.scale, in.target);
  return std::isnan(product) ? infinity_of(in.target) - 1U : into(product, in.target, Above::largest);
}

// Quark's emulation: 2^(byte - 127) in the target's type, byte 255 included.
std::uint32_t by_power(const BackInput& in) { return into(in.element * power_in(in.scale, in.target), in.target, Above::infinite); }

// dequant_fp8_scales of Marlin in bf16, byte << 23 of DeepSeek-V4 in fp32.
std::uint32_t by_field(const BackInput& in) { return into(in.element * field_in(in.scale, in.target), in.target, Above::infinite); }

/// The element times a factor in fp32, then the target.
std::uint32_t scaled(const BackInput& in, float factor) {
  return into(static_cast<float>(in.element * static_cast<double>(factor)), in.target, Above::infinite);
}
float e4m3_scale(const BackInput& in) { return static_cast<float>(element_number(grid_of("e4m3fn"), in.scale)); }

std::uint32_t vllm_nvfp4(const BackInput& in) { return scaled(in, e4m3_scale(in) / *in.tensor.encode); }
std::uint32_t torchao_nvfp4(const BackInput& in) { return scaled(in, e4m3_scale(in) * *in.tensor.decode); }
std::uint32_t torchao_nvfp4_single(const BackInput& in) { return scaled(in, e4m3_scale(in)); }
std::uint32_t torchao_fp8(const BackInput& in) { return scaled(in, number_of(in.scale)); }

// dequantize of ModelOpt: the same in fp32, then the target. MLX and compressed-tensors hold both in the target's type.
std::uint32_t by_power_in_f32(const BackInput& in) {
  return into(static_cast<float>(in.element * power_in(in.scale, SourceType::f32)), in.target, Above::infinite);
}

// convert_moe_packed_tensors: ldexp, exact up to byte 255, which is 2^128.
std::uint32_t by_ldexp(const BackInput& in) { return into(std::ldexp(in.element, static_cast<int>(in.scale) - 127), in.target, Above::infinite); }

BackInput without_zero_sign(const BackInput& in) {
  BackInput own = in;
  if (own.element == 0) own.element = 0;
  return own;
}

std::uint32_t gguf(const BackInput& in) { return by_ldexp(without_zero_sign(in)); }
std::uint32_t modelopt_nvfp4(const BackInput& in) { return torchao_nvfp4(without_zero_sign(in)); }

constexpr std::string_view kAllMx = "mxfp8_e4m3 mxfp8_e5m2 mxfp6_e2m3 mxfp6_e3m2 mxfp4 mxint8";
constexpr std::string_view kFloats = "mxfp8_e4m3 mxfp8_e5m2 mxfp6_e2m3 mxfp6_e3m2 mxfp4";
constexpr std::string_view kTriton = "mxfp4 mxfp8_e4m3";
constexpr std::string_view kFp8 = "fp8_e4m3 fp8_e5m2";
constexpr std::string_view kQuark = "fp4_e2m1_g32 fp6_e2m3_g32 fp8_e4m3_g32";
constexpr std::string_view kAnyTarget = "f32 bf16 fp16";

constexpr std::array kPrograms{
    BackProgram{"ocp", "ocp", kAllMx, kAnyTarget, ocp},
    BackProgram{"torchao", "torchao-dequantize", kFloats, kAnyTarget, torchao},
    BackProgram{"triton_kernels", "triton-kernels-dequantize", kTriton, kAnyTarget, triton},
    BackProgram{"triton_kernels", "triton-kernels-dequantize-cpu", kTriton, kAnyTarget, triton},
    BackProgram{"triton_kernels", "triton-kernels-gpu-dequantize", kTriton, kAnyTarget, triton_gpu},
    BackProgram{"vllm", "vllm-dequantize", "mxfp4", kAnyTarget, by_power},
    BackProgram{"vllm", "vllm-quark-even", "mxfp4", "bf16 fp16", by_power},
    BackProgram{"vllm", "marlin", "mxfp4", "bf16", by_field},
    BackProgram{"vllm", "deepseek-v4", "mxfp4", "f32", by_field},
    BackProgram{"vllm", "vllm-nvfp4", "nvfp4", kAnyTarget, vllm_nvfp4, Take::must},
    BackProgram{"torchao", "torchao-nvfp4", "nvfp4", kAnyTarget, torchao_nvfp4, Take::no, Take::must},
    BackProgram{"torchao", "torchao-nvfp4-single", "nvfp4", kAnyTarget, torchao_nvfp4_single},
    BackProgram{"torchao", "torchao-fp8", kFp8, kAnyTarget, torchao_fp8},
    BackProgram{"torchao", "torchao-fp8-static", kFp8, kAnyTarget, torchao_fp8},
    BackProgram{"modelopt", "modelopt-mx", kTriton, kAnyTarget, by_power_in_f32},
    BackProgram{"modelopt", "modelopt-nvfp4", "nvfp4", kAnyTarget, modelopt_nvfp4, Take::no, Take::must},
    BackProgram{"mlx", "mlx-cpu-mx", kTriton, kAnyTarget, by_power},
    BackProgram{"compressed_tensors", "compressed-tensors-mx", "mxfp4", kAnyTarget, by_power},
    BackProgram{"transformers", "transformers-mxfp4", "mxfp4", "f32 bf16", by_ldexp},
    BackProgram{"gguf", "gguf-mxfp4", "mxfp4", "f32", gguf},
    BackProgram{"quark", "quark-mx-even", kQuark, "f32 bf16", torchao_fp8},
    BackProgram{"quark", "quark-mx-floor", kQuark, "f32 bf16", torchao_fp8},
    BackProgram{"quark", "quark-mx-ceil", kQuark, "f32 bf16", torchao_fp8},
};

}  // namespace

double element_number(const Grid& grid, std::uint32_t code) {
  const int width = grid.format->width;
  if (grid.format->name == "mxint8") return static_cast<double>(static_cast<std::int8_t>(code)) / 64.0;
  const std::uint32_t magnitude = code & ((1U << (width - 1)) - 1U);
  const bool infinite = grid.format->name == "e5m2" && magnitude == grid.values.size();
  const double number = magnitude < grid.values.size() ? number_of(grid.values[magnitude]) : infinite ? INFINITY : NAN;
  return code >> (width - 1) == 0 ? number : -number;
}

std::span<const BackProgram> back_programs() { return kPrograms; }

}  // namespace mx::props::numerics
