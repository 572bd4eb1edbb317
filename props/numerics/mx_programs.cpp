#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "props/numerics/programs.hpp"
#include "props/numerics/recipe_facts.hpp"
#include "props/numerics/scale_facts.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kInfinityBits = 0x7F800000U;
constexpr std::uint32_t kNanBits = 0x7FC00000U;
constexpr std::uint32_t kNanByte = 255;

float power(int exponent) { return std::ldexp(1.0F, exponent); }
bool is_negative(float x) { return std::signbit(x); }

/// The scale byte by the exact thresholds of scale_facts.hpp.
std::uint32_t byte_of(const ProgramInput& in, std::string_view facts_of_profile) {
  const ScaleFacts& facts = *scale_facts_of(facts_of_profile);
  return restated_scale(largest_of(in.x, facts.ignores_nan), facts, facts_of(*in.grid->format));
}

template <typename Code>
ProgramOutput block_of(std::uint32_t byte, const ProgramInput& in, const Code& code) {
  ProgramOutput out{byte, {}};
  for (const float x : in.x) out.codes.push_back(code(x));
  return out;
}

/// What stands for a NaN in each element format: its NaN, or the largest value where it has none.
std::uint32_t nan_code(const Grid& grid) {
  const std::uint32_t top = static_cast<std::uint32_t>(grid.values.size()) - 1U;
  const bool has_nan = grid.format->name == "e4m3fn" || grid.format->name == "e5m2";
  return has_nan ? 0x7FU : top;
}

// MX 1.0 section 6.3: x / 2^(byte - 127), exact, rounded once.
ProgramOutput ocp(const ProgramInput& in) {
  const std::uint32_t byte = byte_of(in, "ocp");
  return block_of(byte, in, [&](float x) {
    if (byte == kNanByte || std::isnan(x)) return nan_code(*in.grid);
    const double quotient = std::ldexp(static_cast<double>(x), 127 - static_cast<int>(byte));
    // Below fp32's normal range every format rounds to zero.
    const float kept = std::fabs(quotient) < 0x1p-126 ? std::copysign(std::fabs(quotient) > 0 ? 0x1p-149F : 0.0F, x) : static_cast<float>(quotient);
    return saturated(*in.grid, kept);
  });
}

// to_mx: x * 2^(127 - byte) in fp32; blocks of scale NaN as numerics section 3's table of special blocks has them.
ProgramOutput torchao(const ProgramInput& in, std::string_view profile) {
  constexpr std::array<std::pair<std::string_view, std::uint32_t>, 5> kNanBlocks{
      {{"e4m3fn", 0x7F}, {"e5m2", 0x7F}, {"e2m3", 0x0C}, {"e3m2", 0x0E}, {"e2m1", 0x03}}};
  const std::uint32_t byte = byte_of(in, profile);
  return block_of(byte, in, [&](float x) {
    if (byte == kNanByte) {
      for (const auto& [name, code] : kNanBlocks) {
        if (name == in.grid->format->name) return code;
      }
    }
    return saturated(*in.grid, x * power(127 - static_cast<int>(byte)));
  });
}

// downcast_to_mxfp: times 1 / scale, where the scales 0 and Inf (bytes 0 and 255) have the factor 0. x86 keeps a NaN's sign and makes a negative one
// of Inf * 0; a GPU has one NaN.
ProgramOutput triton(const ProgramInput& in, std::string_view profile, bool on_x86) {
  const std::uint32_t byte = byte_of(in, profile);
  const float factor = byte == 0 || byte == kNanByte ? 0.0F : power(127 - static_cast<int>(byte));
  const std::uint32_t negative = 1U << (in.grid->format->width - 1);
  return block_of(byte, in, [&](float x) {
    const float quotient = x * factor;
    if (!std::isnan(quotient)) return saturated(*in.grid, quotient);
    const bool minus = on_x86 && (!std::isnan(x) || is_negative(x));
    return nan_code(*in.grid) | (minus ? negative : 0U);
  });
}

// _quantize_mx: x / 2^(byte - 127), then sign(q) * floor(|q| + 0.5) with sign(-0) = 0, or truncation.
ProgramOutput microxcaling(const ProgramInput& in, std::string_view profile) {
  const std::uint32_t byte = byte_of(in, profile);
  return block_of(byte, in, [&](float x) {
    if (byte == kNanByte || std::isnan(x)) return nan_code(*in.grid);
    const float quotient = x / power(static_cast<int>(byte) - 127);
    return restated_quotient_code(bits_of(quotient), *in.grid, element_rule_of(profile));
  });
}

float flushed(float x) { return std::fabs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; }

// cvt_warp_fp16_to_mxfp8 and cvt_warp_fp16_to_fp4: fp8 times rcp.approx.ftz(scale), 0 for 2^127 and Inf for 2^-127 (which fast math flushes, and
// tests for 0); fp4 times exp2(127 - byte), 1 for byte 0. A NaN becomes the largest number.
ProgramOutput flashinfer(const ProgramInput& in, bool fast_math) {
  const std::uint32_t byte = byte_of(in, fast_math ? "flashinfer-mx-fast-math" : "flashinfer-mx");
  const bool is_fp4 = in.grid->format->name == "e2m1";
  float factor = byte == kNanByte ? NAN : power(127 - static_cast<int>(byte));
  if (byte == 0) factor = is_fp4 ? 1.0F : fast_math ? 0.0F : INFINITY;
  if (byte == 254 && (!is_fp4 || fast_math)) factor = 0.0F;
  const std::uint32_t top = static_cast<std::uint32_t>(in.grid->values.size()) - 1U;
  return block_of(byte, in, [&](float x) {
    const float quotient = fast_math ? flushed(flushed(x) * factor) : x * factor;
    return std::isnan(quotient) ? top : saturated(*in.grid, quotient);
  });
}

// f32_to_mx_e8m0_scale gives scales alone.
ProgramOutput aiter(const ProgramInput& in, std::string_view profile) { return {byte_of(in, profile), {}}; }

// _mxfp8_e4m3_quantize_torch: x / 2^(byte - 127) and a plain cast, in which Inf becomes NaN; a NaN makes the divisor NaN.
ProgramOutput vllm_mxfp8(const ProgramInput& in) {
  const bool nan_block = largest_of(in.x, false) > kInfinityBits;
  const std::uint32_t byte = byte_of(in, "vllm-mxfp8-torch");
  return block_of(byte, in, [&](float x) {
    if (nan_block) return std::isnan(x) && is_negative(x) ? 0xFFU : 0x7FU;
    return saturated_or_nan(*in.grid, x / power(static_cast<int>(byte) - 127), 0x7F);
  });
}

// qdq_mxfp4_torch: in the bits of the type half a unit of E2M1's one mantissa bit is added to amax and the mantissa cut; the byte is 0 for what is
// not finite then. The divisor 2^(byte - 127) is held in the type. 0 / 0 and Inf / Inf are x86's negative NaN.
ProgramOutput quark(const ProgramInput& in) {
  const bool half = in.type == SourceType::fp16;
  const std::uint32_t amax = largest_of(in.x, false);
  std::uint32_t byte = 0;
  if (amax < kInfinityBits) {
    const float number = number_of(amax);
    int exponent = 0;
    // A quarter of the power of two carries numbers from 1.75 on; subnormals have no power of two but the smallest normal one.
    const float mantissa = std::frexp(number, &exponent) * 2.0F;
    const int least = half ? -14 : -126;
    const int most = half ? 15 : 127;
    int power_of_two = exponent - 1 + (mantissa >= 1.75F ? 1 : 0);
    if (number < power(least)) power_of_two = number >= 0.75F * power(least) ? least : -1000;
    if (power_of_two <= most && power_of_two >= least) byte = static_cast<std::uint32_t>(std::max(power_of_two - 2 + 127, 0));
  }
  const float divisor = stored(power(static_cast<int>(byte) - 127), in.type);
  return block_of(byte, in, [&](float x) {
    const float quotient = x / divisor;
    if (!std::isnan(quotient)) return saturated(*in.grid, quotient);
    return !std::isnan(x) || is_negative(x) ? 0xFU : 0x7U;
  });
}

constexpr std::string_view kAllMx = "mxfp8_e4m3 mxfp8_e5m2 mxfp6_e2m3 mxfp6_e3m2 mxfp4 mxint8";
constexpr std::string_view kFloats = "mxfp8_e4m3 mxfp8_e5m2 mxfp6_e2m3 mxfp6_e3m2 mxfp4";
constexpr std::string_view kTritonFormats = "mxfp8_e4m3 mxfp8_e5m2 mxfp4";
constexpr std::string_view kAiterFormats = "mxfp8_e4m3 mxfp8_e4m3fnuz mxfp4";
constexpr std::string_view kAnyType = "f32 bf16 fp16";
constexpr std::string_view kHalves = "bf16 fp16";
constexpr std::string_view kWide = "f32 bf16";

constexpr std::array kPrograms{
    Program{"ocp", "ocp", kAllMx, kAnyType, ocp},
    Program{"torchao", "torchao-floor@36027d8", kFloats, kWide, [](const ProgramInput& in) { return torchao(in, "torchao-floor@36027d8"); }},
    Program{"torchao", "torchao-ceil@36027d8", kFloats, kWide, [](const ProgramInput& in) { return torchao(in, "torchao-ceil@36027d8"); }},
    Program{"torchao", "torchao-rceil@36027d8", kFloats, kWide, [](const ProgramInput& in) { return torchao(in, "torchao-rceil@36027d8"); }},
    Program{"torchao", "torchao-even@36027d8", kFloats, kWide, [](const ProgramInput& in) { return torchao(in, "torchao-even@36027d8"); }},
    Program{"triton_kernels", "triton-kernels-floor", kTritonFormats, kAnyType,
            [](const ProgramInput& in) { return triton(in, "triton-kernels-floor", true); }},
    Program{"triton_kernels", "triton-kernels-rceil", kTritonFormats, kAnyType,
            [](const ProgramInput& in) { return triton(in, "triton-kernels-rceil", true); }},
    Program{"triton_kernels", "triton-kernels-floor-h200", kTritonFormats, kAnyType,
            [](const ProgramInput& in) { return triton(in, "triton-kernels-floor", false); }},
    Program{"triton_kernels", "triton-kernels-rceil-h200", kTritonFormats, kAnyType,
            [](const ProgramInput& in) { return triton(in, "triton-kernels-rceil", false); }},
    Program{"triton_kernels", "triton-kernels-gpu-floor", kTritonFormats, kAnyType,
            [](const ProgramInput& in) { return triton(in, "triton-kernels-gpu-floor", false); }},
    Program{"triton_kernels", "triton-kernels-gpu-rceil", kTritonFormats, kAnyType,
            [](const ProgramInput& in) { return triton(in, "triton-kernels-gpu-rceil", false); }},
    Program{"microxcaling", "microxcaling-even", kAllMx, kAnyType, [](const ProgramInput& in) { return microxcaling(in, "microxcaling-even"); }},
    Program{"microxcaling", "microxcaling-nearest", kAllMx, kAnyType,
            [](const ProgramInput& in) { return microxcaling(in, "microxcaling-nearest"); }},
    Program{"microxcaling", "microxcaling-floor", kAllMx, kAnyType, [](const ProgramInput& in) { return microxcaling(in, "microxcaling-floor"); }},
    Program{"flashinfer", "flashinfer-mx", "mxfp8_e4m3 mxfp4", kHalves, [](const ProgramInput& in) { return flashinfer(in, false); }},
    Program{"flashinfer", "flashinfer-mx-fast-math", "mxfp8_e4m3 mxfp4", kHalves, [](const ProgramInput& in) { return flashinfer(in, true); }},
    Program{"aiter", "aiter-floor", kAiterFormats, kAnyType, [](const ProgramInput& in) { return aiter(in, "aiter-floor"); }},
    Program{"aiter", "aiter-ceil", kAiterFormats, kAnyType, [](const ProgramInput& in) { return aiter(in, "aiter-ceil"); }},
    Program{"aiter", "aiter-rceil", kAiterFormats, kAnyType, [](const ProgramInput& in) { return aiter(in, "aiter-rceil"); }},
    Program{"aiter", "aiter-even", kAiterFormats, kAnyType, [](const ProgramInput& in) { return aiter(in, "aiter-even"); }},
    Program{"vllm", "vllm-mxfp8-torch", "mxfp8_e4m3", kAnyType, vllm_mxfp8},
    Program{"vllm", "vllm-quark-even", "mxfp4", kHalves, quark},
};

}  // namespace

float number_of(std::uint32_t f32) { return std::bit_cast<float>(f32); }
std::uint32_t bits_of(float number) { return std::bit_cast<std::uint32_t>(number); }

std::uint32_t largest_of(const std::vector<float>& x, bool ignores_nan) {
  std::uint32_t largest = 0;
  std::size_t nans = 0;
  for (const float number : x) {
    const std::uint32_t magnitude = bits_of(number) & ~kSign;
    if (magnitude > kInfinityBits) {
      ++nans;
    } else {
      largest = std::max(largest, magnitude);
    }
  }
  return nans == x.size() || (nans > 0 && !ignores_nan) ? kNanBits : largest;
}

std::uint32_t saturated(const Grid& grid, float quotient) { return searched_code(grid, bits_of(quotient), Rounding::nearest_even); }

std::uint32_t saturated_or_nan(const Grid& grid, float quotient, std::uint32_t nan) {
  const bool beyond = rounded_code(grid, bits_of(quotient), Rounding::nearest_even) >= grid.values.size();
  return beyond ? nan | (is_negative(quotient) ? 1U << (grid.format->width - 1) : 0U) : saturated(grid, quotient);
}

float stored(float number, SourceType type) {
  if (type == SourceType::f32 || std::isnan(number)) return number;
  const Grid& grid = grid_of(type == SourceType::bf16 ? "bf16" : "fp16");
  const std::uint32_t code = rounded_code(grid, bits_of(number), Rounding::nearest_even);
  return std::copysign(code < grid.values.size() ? number_of(grid.values[code]) : INFINITY, number);
}

std::span<const Program> mx_programs() { return kPrograms; }

}  // namespace mx::props::numerics
