// Quantizers whose scales are numbers: groups with fp32 scales, NVFP4, FP8.

#include <array>
#include <cmath>

#include "props/numerics/programs.hpp"
#include "props/numerics/recipe_facts.hpp"
#include "props/numerics/scale_facts.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kNanBits = 0x7FC00000U;
constexpr float kLargest = 0x1.FFFFFEp127F;

bool is_negative(float x) { return std::signbit(x); }
std::uint32_t nan_free(float number) { return std::isnan(number) ? kNanBits : bits_of(number); }

template <typename Code>
ProgramOutput block_of(std::uint32_t scale, const ProgramInput& in, const Code& code) {
  ProgramOutput out{scale, {}};
  for (const float x : in.x) out.codes.push_back(code(x));
  return out;
}

std::uint32_t group_scale_of(const ProgramInput& in, std::string_view profile) {
  const GroupFacts& facts = *group_facts_of(profile);
  const std::uint32_t amax = largest_of(in.x, facts.ignores_nan);
  // A maximum that ignores NaNs has its floor to fall back to.
  return restated_group_scale(amax == kNanBits && facts.ignores_nan ? 0 : amax, facts, facts_of(*in.grid->format));
}

// per_token_cast_to_fp8, per_block_cast_to_fp8, per_token_cast_to_fp4: x * (1 / s). fp8 is a plain cast; fp4 a search in which ties go toward zero, a
// NaN is 0 and so is -0. Of two NaNs the reciprocal's stays; an invalid product is x86's negative one.
ProgramOutput deepgemm(const ProgramInput& in, std::string_view profile) {
  const std::uint32_t scale = group_scale_of(in, profile);
  const float factor = 1.0F / number_of(scale);
  const bool is_fp4 = in.grid->format->name == "e2m1";
  return block_of(scale, in, [&](float x) {
    const float quotient = x * factor;
    if (is_fp4) {
      const std::uint32_t code = std::isnan(quotient) ? 0U : searched_code(*in.grid, bits_of(quotient), Rounding::nearest_toward_zero);
      return code == 8U ? 0U : code;
    }
    if (!std::isnan(quotient)) return saturated_or_nan(*in.grid, quotient, 0x7F);
    const bool minus = !std::isnan(factor) && (!std::isnan(x) || is_negative(x));
    return minus ? 0xFFU : 0x7FU;
  });
}

// _per_token_group_quant_fp8: clamp(x / s), which makes 448 of a NaN.
ProgramOutput vllm_group(const ProgramInput& in, std::string_view profile) {
  const std::uint32_t scale = group_scale_of(in, profile);
  return block_of(scale, in, [&](float x) {
    const float quotient = x / number_of(scale);
    return std::isnan(quotient) ? 0x7EU : saturated(*in.grid, quotient);
  });
}

// --- NVFP4

const Grid& e4m3() { return grid_of("e4m3fn"); }
std::uint32_t saturated_scale(float wanted) { return std::isnan(wanted) ? 0x7FU : saturated(e4m3(), wanted); }
float scale_value(std::uint32_t code) { return code == 0x7FU ? NAN : number_of(e4m3().values[code]); }
std::uint32_t e2m1_code(const ProgramInput& in, float product, std::uint32_t nan) { return std::isnan(product) ? nan : saturated(*in.grid, product); }
float sixth() { return 1.0F / 6.0F; }
float largest_number_of(const ProgramInput& in, bool ignores_nan) { return number_of(largest_of(in.x, ignores_nan)); }

// cvt_warp_fp16_to_fp4: g * (amax / 6) in E4M3; elements times 1 / (scale * (1 / g)), the reciprocals those of rcp.approx.ftz on the fast path. A
// build with fast math flushes every operand and result.
ProgramOutput flashinfer(const ProgramInput& in, bool fast_path, bool fast_math) {
  const auto ftz = [&](float x) { return fast_math && std::fabs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; };
  const auto device = [&](float x) { return fast_path && std::fabs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; };
  const float g = *in.tensor.encode;
  const float amax = largest_number_of(in, true);
  const std::uint32_t scale = saturated_scale(ftz(ftz(g) * ftz(ftz(amax) * sixth())));
  const float back = in.tensor.decode ? *in.tensor.decode : ftz(1.0F / ftz(g));
  const float product = device(ftz(ftz(scale_value(scale)) * ftz(back)));
  float factor = device(ftz(1.0F / product));
  if (product == 0) factor = fast_path ? INFINITY : kLargest;
  if (!fast_path && factor > kLargest) factor = kLargest;
  if (ftz(amax) == 0) factor = 0;
  return block_of(scale, in, [&](float x) { return e2m1_code(in, ftz(ftz(x) * ftz(factor)), 0x7); });
}

// ref_nvfp4_quant: a zero divisor is replaced by 1e8, sign(-0) is 0.
ProgramOutput vllm_nvfp4(const ProgramInput& in) {
  const float g = *in.tensor.encode;
  const std::uint32_t scale = saturated_scale(g * (largest_number_of(in, false) * sixth()));
  const float product = scale_value(scale) * (in.tensor.decode ? *in.tensor.decode : 1.0F / g);
  const float factor = product == 0 ? 1e-8F : 1.0F / product;
  return block_of(scale, in, [&](float x) {
    const float scaled = x * factor;
    return scaled == 0 ? 0U : e2m1_code(in, scaled, 0x7);
  });
}

// nvfp4_quantize: max((amax / 6) / d, 2^-6) in E4M3, elements times (1 / d) / scale; the search gives 4 for a NaN.
ProgramOutput torchao_nvfp4(const ProgramInput& in) {
  const float d = in.tensor.decode.value_or(1.0F);
  const float wanted = largest_number_of(in, false) / 6.0F / d;
  const std::uint32_t scale = saturated_scale(wanted < 0x1p-6F ? 0x1p-6F : wanted);
  const float factor = 1.0F / d / scale_value(scale);
  return block_of(scale, in, [&](float x) { return e2m1_code(in, x * factor, 0x4); });
}

// mxfp.py with e4m3 scales: amax / 6, elements times 1 / scale, where a scale of 0 has the factor 0. The reference's cast overflows to NaN.
ProgramOutput triton_nvfp4(const ProgramInput& in, bool kernel) {
  const float wanted = largest_number_of(in, kernel) / 6.0F;
  const std::uint32_t scale = std::isnan(wanted) ? 0x7FU : kernel ? saturated(e4m3(), wanted) : saturated_or_nan(e4m3(), wanted, 0x7F);
  const float factor = scale == 0 ? 0.0F : 1.0F / scale_value(scale);
  return block_of(scale, in, [&](float x) { return e2m1_code(in, x * factor, 0x7); });
}

// --- FP8 with a scale of the tensor or token

/// torch's cast: a NaN keeps its sign, that of an invalid operation is negative (x86).
std::uint32_t torch_cast(const Grid& grid, float quotient, float first, float second) {
  if (!std::isnan(quotient)) return saturated(grid, quotient);
  if (std::isnan(first)) return is_negative(first) ? 0xFFU : 0x7FU;
  return std::isnan(second) ? 0x7FU : 0xFFU;
}

float top_of(const ProgramInput& in) { return number_of(in.grid->values.back()); }

// _choose_scale_float8, _quantize_affine_float8: x / s.
ProgramOutput torchao_fp8(const ProgramInput& in) {
  const float scale = in.tensor.decode ? *in.tensor.decode : largest_number_of(in, false) / top_of(in);
  return block_of(nan_free(scale), in, [&](float x) { return torch_cast(*in.grid, x / scale, x, scale); });
}

/// The device's fmaxf over all magnitudes, which starts from 0 and passes every NaN over; the host's own makes a NaN of a signalling one.
float fmax_of(const ProgramInput& in) {
  float largest = 0;
  for (const float x : in.x) {
    if (std::fabs(x) > largest) largest = std::fabs(x);
  }
  return largest;
}

std::uint32_t clamped(const ProgramInput& in, float quotient) { return std::isnan(quotient) ? 0x7EU : saturated(*in.grid, quotient); }

// scaled_fp8_conversion of common.cuh: by a given scale or one of the tensor, times its reciprocal or divided; fminf and fmaxf make 448 of a NaN.
ProgramOutput vllm_tensor(const ProgramInput& in, bool divides) {
  const float scale = in.tensor.decode ? *in.tensor.decode : fmax_of(in) / top_of(in);
  const float factor = 1.0F / scale;
  return block_of(bits_of(scale), in, [&](float x) { return clamped(in, divides ? x / scale : x * factor); });
}

// dynamic_per_token_scaled_fp8_quant: max(min(amax, ub) / 448, 1 / (448 * 512)).
ProgramOutput vllm_token(const ProgramInput& in) {
  const float amax = in.tensor.amax_bound ? std::fmin(fmax_of(in), *in.tensor.amax_bound) : fmax_of(in);
  const float scale = std::fmax(amax / top_of(in), 1.0F / (448.0F * 512.0F));
  return block_of(bits_of(scale), in, [&](float x) { return clamped(in, x / scale); });
}

// input_to_float8 on a tensor of the type: 448 / max(amax, 1e-12), x times it, each held in the type; the scale is its reciprocal in fp32.
ProgramOutput vllm_input(const ProgramInput& in) {
  const float least = stored(1e-12F, in.type);
  float amax = largest_number_of(in, false);
  if (amax < least) amax = least;
  const float factor = stored(top_of(in) / amax, in.type);
  return block_of(nan_free(1.0F / factor), in, [&](float x) { return torch_cast(*in.grid, stored(x * factor, in.type), x, factor); });
}

constexpr std::string_view kAnyType = "f32 bf16 fp16";
constexpr std::string_view kHalves = "bf16 fp16";
constexpr std::string_view kWide = "f32 bf16";
constexpr std::string_view kDeepGemm = "fp8_e4m3_g128 fp8_e4m3_g32 fp4_e2m1_g128 fp4_e2m1_g32 fp8_e4m3_128x128";
constexpr std::string_view kVllmGroups = "fp8_e4m3_g128 fp8_e4m3_g32";

constexpr std::array kPrograms{
    Program{"deepgemm", "deepgemm", kDeepGemm, kAnyType, [](const ProgramInput& in) { return deepgemm(in, "deepgemm"); }},
    Program{"deepgemm", "deepgemm-ue8m0", kDeepGemm, kAnyType, [](const ProgramInput& in) { return deepgemm(in, "deepgemm-ue8m0"); }},
    Program{"vllm", "vllm-group", kVllmGroups, kAnyType, [](const ProgramInput& in) { return vllm_group(in, "vllm-group"); }},
    Program{"vllm", "vllm-group-ue8m0", kVllmGroups, kAnyType, [](const ProgramInput& in) { return vllm_group(in, "vllm-group-ue8m0"); }},
    Program{"flashinfer", "flashinfer-fast", "nvfp4", kHalves, [](const ProgramInput& in) { return flashinfer(in, true, true); }, Take::must,
            Take::must},
    Program{"flashinfer", "flashinfer-exact", "nvfp4", kHalves, [](const ProgramInput& in) { return flashinfer(in, false, true); }, Take::must,
            Take::may},
    Program{"flashinfer", "flashinfer-fast-no-fast-math", "nvfp4", kHalves, [](const ProgramInput& in) { return flashinfer(in, true, false); },
            Take::must, Take::must},
    Program{"flashinfer", "flashinfer-exact-no-fast-math", "nvfp4", kHalves, [](const ProgramInput& in) { return flashinfer(in, false, false); },
            Take::must, Take::may},
    Program{"vllm", "vllm-nvfp4", "nvfp4", kAnyType, vllm_nvfp4, Take::must, Take::may},
    Program{"torchao", "torchao-nvfp4", "nvfp4", kWide, torchao_nvfp4, Take::no, Take::must},
    Program{"torchao", "torchao-nvfp4-single", "nvfp4", kWide, torchao_nvfp4},
    Program{"triton_kernels", "triton-kernels-nvfp4", "nvfp4", kAnyType, [](const ProgramInput& in) { return triton_nvfp4(in, false); }},
    Program{"triton_kernels", "triton-kernels-nvfp4-h200", "nvfp4", kAnyType, [](const ProgramInput& in) { return triton_nvfp4(in, false); }},
    Program{"triton_kernels", "triton-kernels-gpu-nvfp4", "nvfp4", kAnyType, [](const ProgramInput& in) { return triton_nvfp4(in, true); }},
    Program{"torchao", "torchao-fp8", "fp8_e4m3 fp8_e5m2", kAnyType, torchao_fp8},
    Program{"torchao", "torchao-fp8-static", "fp8_e4m3 fp8_e5m2", kAnyType, torchao_fp8, Take::no, Take::must},
    Program{"vllm", "vllm-fp8-static", "fp8_e4m3", kAnyType, [](const ProgramInput& in) { return vllm_tensor(in, false); }, Take::no, Take::must},
    Program{"vllm", "vllm-fp8-static-divided", "fp8_e4m3", kAnyType, [](const ProgramInput& in) { return vllm_tensor(in, true); }, Take::no,
            Take::must},
    Program{"vllm", "vllm-fp8-tensor", "fp8_e4m3", kAnyType, [](const ProgramInput& in) { return vllm_tensor(in, false); }},
    Program{"vllm", "vllm-fp8-token", "fp8_e4m3", kAnyType, vllm_token, Take::no, Take::no, Take::may},
    Program{"vllm", "vllm-input-to-float8", "fp8_e4m3", kAnyType, vllm_input},
};

}  // namespace

std::span<const Program> scaled_programs() { return kPrograms; }

}  // namespace mx::props::numerics
