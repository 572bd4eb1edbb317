// Quantizers of exporters and compilers as their releases have them, in the host's fp32: NNCF without OpenVINO's own path, ModelOpt's exporter,
// transformers' Fp8Quantize, optimum-quanto.

#include <algorithm>
#include <array>
#include <cmath>

#include "props/numerics/programs.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kNanBits = 0x7FC00000U;

float power(int exponent) { return std::ldexp(1.0F, exponent); }
float log2_of(float x) { return static_cast<float>(std::log2(static_cast<double>(x))); }
float top_of(const ProgramInput& in) { return number_of(in.grid->values.back()); }
float amax_of(const ProgramInput& in) { return number_of(largest_of(in.x, false)); }
std::uint32_t nan_free(float number) { return std::isnan(number) ? kNanBits : bits_of(number); }

template <typename Code>
ProgramOutput block_of(std::uint32_t scale, const ProgramInput& in, const Code& code) {
  ProgramOutput out{scale, {}};
  for (const float x : in.x) out.codes.push_back(code(x));
  return out;
}

/// x86: the first operand's NaN, else the second's, else a negative one.
bool nan_is_negative(float first, float second) { return std::isnan(first) ? std::signbit(first) : !std::isnan(second) || std::signbit(second); }

std::uint32_t torch_code(const Grid& grid, float quotient, float first, float second) {
  if (!std::isnan(quotient)) return saturated(grid, quotient);
  return nan_is_negative(first, second) ? 0xFFU : 0x7FU;
}

/// OpenVINO's Convert: FP8 through fp16, where what is too large is a NaN; FP4 once.
std::uint32_t openvino_code(const ProgramInput& in, float quotient, float first, float second) {
  const bool is_fp4 = in.grid->format->name == "e2m1";
  if (std::isnan(quotient)) return nan_is_negative(first, second) ? (is_fp4 ? 0xFU : 0xFFU) : (is_fp4 ? 0x7U : 0x7FU);
  return is_fp4 ? saturated(*in.grid, quotient) : saturated_or_nan(*in.grid, stored(quotient, SourceType::fp16), 0x7F);
}

// calculate_float_quantization_params: 2^ceil(log2 of the scale), which is no less than fp32's epsilon.
ProgramOutput nncf_mx(const ProgramInput& in) {
  const float amax = amax_of(in);
  if (std::isnan(amax)) return block_of(255, in, [&](float x) { return openvino_code(in, NAN, x, NAN); });
  const float scale = std::max(amax / top_of(in), power(-23));
  const int exponent = static_cast<int>(std::clamp(std::ceil(log2_of(scale)), -127.0F, 127.0F));
  return block_of(static_cast<std::uint32_t>(exponent + 127), in, [&](float x) {
    const float quotient = x / power(exponent);
    return openvino_code(in, quotient, x, 1.0F);
  });
}

// FP8_E4M3 and FP4: elements are divided by the fp32 scale, of which the model file has what fp16 holds.
ProgramOutput nncf_group(const ProgramInput& in) {
  const float quotient = amax_of(in) / top_of(in);
  const float scale = quotient < power(-23) ? power(-23) : quotient;
  const std::uint32_t held = std::isnan(scale) ? kNanBits : bits_of(stored(scale, SourceType::fp16));
  return block_of(held, in, [&](float x) { return openvino_code(in, x / scale, x, scale); });
}

// do_float_quantization, NVFP4: FP4 by amax / 6 in fp32; then these scales are FP8 of one scale, d.
ProgramOutput nncf_nvfp4(const ProgramInput& in) {
  const float d = *in.tensor.decode;
  const float sixth = amax_of(in) / 6.0F;
  const float scale = sixth < power(-23) ? power(-23) : sixth;
  const float wanted = scale / d;
  const std::uint32_t code = std::isnan(wanted) ? 0x7FU : saturated_or_nan(grid_of("e4m3fn"), stored(wanted, SourceType::fp16), 0x7F);
  return block_of(code, in, [&](float x) { return std::isnan(x / scale) ? 0x7U : openvino_code(in, x / scale, x, scale); });
}

// AbsmaxOptimizer and quantize_symmetric: scale and quotients in the weight's type.
ProgramOutput quanto(const ProgramInput& in) {
  const float scale = stored(amax_of(in) / top_of(in), in.type);
  return block_of(nan_free(scale), in, [&](float x) { return torch_code(*in.grid, stored(x / scale, in.type), x, scale); });
}

// to_quantized_weight: a scale of the whole tensor has no dimension, so that the quotient has the weight's type; one a row makes fp32 of it.
ProgramOutput modelopt_export(const ProgramInput& in, bool whole_tensor) {
  const float scale = amax_of(in) / 448.0F;
  return block_of(nan_free(scale), in, [&](float x) {
    const float quotient = x / scale;
    return torch_code(*in.grid, whole_tensor ? stored(quotient, in.type) : quotient, x, scale);
  });
}

// int8_to_fp8 of compute_scale_zp's scale, and QuantizeLinear.
ProgramOutput modelopt_onnx(const ProgramInput& in) {
  float scale = amax_of(in) / 127.0F;
  if (scale < power(-126)) scale = 1.0F;
  scale = scale * 448.0F / 127.0F;
  return block_of(nan_free(scale), in, [&](float x) { return torch_code(*in.grid, x / scale, x, scale); });
}

// Fp8Quantize: a number over a tensor is the number times the tensor's reciprocal. A scale in E8M0 has no Inf.
ProgramOutput transformers(const ProgramInput& in, bool is_power) {
  const float amax = amax_of(in);
  float factor = amax > 0 ? 448.0F * (1.0F / amax) : 1.0F;
  float scale = 1.0F / factor;
  if (is_power) {
    scale = std::isinf(scale) ? NAN : power(static_cast<int>(std::ceil(log2_of(std::max(scale, power(-126))))));
    factor = 1.0F / scale;
  }
  return block_of(nan_free(scale), in, [&](float x) { return torch_code(*in.grid, x * factor, x, factor); });
}

constexpr std::string_view kAnyType = "f32 bf16 fp16";
constexpr std::string_view kTransformers = "fp8_e4m3 fp8_e4m3_128x128";

constexpr std::string_view kNncfGroups = "fp8_e4m3 fp8_e4m3_g128 fp8_e4m3_g32 fp4_e2m1_g128 fp4_e2m1_g32";

constexpr std::array kPrograms{
    Program{"nncf", "nncf-mx", "mxfp4 mxfp8_e4m3", kAnyType, nncf_mx},
    Program{"nncf", "nncf-group", kNncfGroups, kAnyType, nncf_group},
    Program{"nncf", "nncf-nvfp4", "nvfp4", kAnyType, nncf_nvfp4, Take::no, Take::must},
    Program{"quanto", "quanto-fp8", "fp8_e4m3 fp8_e5m2", kAnyType, quanto},
    Program{"modelopt", "modelopt-export-fp8-tensor", "fp8_e4m3", kAnyType, [](const ProgramInput& in) { return modelopt_export(in, true); }},
    Program{"modelopt", "modelopt-export-fp8-channel", "fp8_e4m3", kAnyType, [](const ProgramInput& in) { return modelopt_export(in, false); }},
    Program{"modelopt", "modelopt-onnx-fp8", "fp8_e4m3", "f32", modelopt_onnx},
    Program{"transformers", "transformers-fp8", kTransformers, kAnyType, [](const ProgramInput& in) { return transformers(in, false); }},
    Program{"transformers", "transformers-fp8-ue8m0", kTransformers, "bf16 fp16", [](const ProgramInput& in) { return transformers(in, true); }},
};

}  // namespace

std::span<const Program> bridge_programs() { return kPrograms; }

}  // namespace mx::props::numerics
