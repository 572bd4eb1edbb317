// Quantizers of Python libraries as their releases have them, in the host's fp32; logarithms are the C library's double, rounded to fp32.

#include <algorithm>
#include <array>
#include <cmath>

#include "props/numerics/programs.hpp"
#include "props/numerics/recipe_facts.hpp"
#include "props/numerics/scale_facts.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kInfinityBits = 0x7F800000U;
constexpr std::uint32_t kNanBits = 0x7FC00000U;
constexpr std::uint32_t kByteOfOne = 0x7F;

float power(int exponent) { return std::ldexp(1.0F, exponent); }
bool is_negative(float x) { return std::signbit(x); }
float log2_of(float x) { return static_cast<float>(std::log2(static_cast<double>(x))); }
float top_of(const ProgramInput& in) { return number_of(in.grid->values.back()); }
std::string_view element_of(const ProgramInput& in) { return in.grid->format->name; }
std::uint32_t sign_bit(const ProgramInput& in) { return 1U << (in.grid->format->width - 1); }

/// The largest magnitude, a NaN where there is one.
float amax_of(const ProgramInput& in) { return number_of(largest_of(in.x, false)); }

template <typename Code>
ProgramOutput block_of(std::uint32_t scale, const ProgramInput& in, const Code& code) {
  ProgramOutput out{scale, {}};
  for (const float x : in.x) out.codes.push_back(code(x));
  return out;
}

/// The code of a NaN that an operation on x86 made, x its first operand: x's sign, or that of an invalid operation, which is negative.
std::uint32_t by_nan_sign(float x, bool other_is_nan, std::uint32_t positive, std::uint32_t negative) {
  const bool minus = std::isnan(x) ? is_negative(x) : !other_is_nan;
  return minus ? negative : positive;
}

/// The first of the least distances among the magnitudes, and then the negative numbers where these count too.
std::uint32_t first_nearest(const ProgramInput& in, float v, bool is_signed) {
  const auto& values = in.grid->values;
  std::uint32_t best = 0;
  float least = NAN;
  for (std::uint32_t i = 0; i < (is_signed ? 2 : 1) * values.size(); ++i) {
    const bool negative = i >= values.size();
    const float value = number_of(values[i % values.size()]);
    const float distance = std::fabs((is_signed ? v : std::fabs(v)) - (negative ? -value : value));
    if (i != 0 && !(distance < least)) continue;
    best = static_cast<std::uint32_t>(i % values.size()) | (negative ? sign_bit(in) : 0U);
    least = distance;
  }
  return best | (!is_signed && v < 0 ? sign_bit(in) : 0U);
}

/// E8M0 byte of a whole exponent.
std::uint32_t byte_at(float exponent) { return static_cast<std::uint32_t>(std::clamp(exponent, -127.0F, 127.0F) + 127.0F); }

// --- torchao 0.18

struct NanCode {
  std::string_view element;
  std::uint32_t code;
};
std::uint32_t torchao_nan(const ProgramInput& in) {
  constexpr std::array<NanCode, 5> kCodes{{{"e4m3fn", 0x7F}, {"e5m2", 0x7F}, {"e2m3", 0x0C}, {"e3m2", 0x0E}, {"e2m1", 0x03}}};
  return std::ranges::find(kCodes, element_of(in), &NanCode::element)->code;
}

enum class Mode { floor, ceil, even };

// to_mx: the exponent field, Inf's too, less emax; x / 2^(byte - 127) with 2^-126 for byte 0 and Inf for byte 255.
ProgramOutput torchao(const ProgramInput& in, Mode mode) {
  const ElementFacts& facts = facts_of(*in.grid->format);
  std::uint32_t bits = largest_of(in.x, false);
  std::uint32_t byte = 255;
  if (bits <= kInfinityBits) {
    if (mode == Mode::even && bits < kInfinityBits) bits += 1U << (22 - facts.mantissa_bits);
    const bool next = mode == Mode::ceil && bits % (1U << 23) != 0;
    byte = static_cast<std::uint32_t>(std::max(static_cast<int>(bits >> 23) + (next ? 1 : 0) - facts.emax, 0));
  }
  const float divisor = byte == 0 ? power(-126) : byte == 255 ? INFINITY : power(static_cast<int>(byte) - 127);
  return block_of(byte, in, [&](float x) {
    const float quotient = x / divisor;
    if (!std::isnan(quotient)) return saturated(*in.grid, quotient);
    return by_nan_sign(x, false, torchao_nan(in), torchao_nan(in) | sign_bit(in));
  });
}

// _to_mx_rceil: ceil(log2(amax / max)); x times 2^(127 - byte), 1 for byte 0, a positive NaN for byte 255.
ProgramOutput torchao_rceil(const ProgramInput& in) {
  const float d = amax_of(in) / top_of(in);
  const std::uint32_t byte = std::isnan(d) ? 255 : std::isinf(d) ? 254 : byte_at(std::ceil(log2_of(d)));
  const float factor = byte == 0 ? 1.0F : byte == 255 ? NAN : power(127 - static_cast<int>(byte));
  return block_of(byte, in, [&](float x) { return std::isnan(x * factor) ? torchao_nan(in) : saturated(*in.grid, x * factor); });
}

// tensor_to_scale: 448 / max(amax, 1e-12) in double.
ProgramOutput torchao_float8(const ProgramInput& in, bool power_of_two) {
  const double amax = amax_of(in);
  float factor = static_cast<float>(448.0 / (amax < 1e-12 ? 1e-12 : amax));
  if (power_of_two && factor > 0) factor = power(static_cast<int>(std::floor(log2_of(factor))));
  const float scale = 1.0F / factor;
  return block_of(std::isnan(scale) ? kNanBits : bits_of(scale), in, [&](float x) {
    const float product = x * factor;
    return std::isnan(product) ? by_nan_sign(x, std::isnan(factor), 0x7F, 0xFF) : saturated(*in.grid, product);
  });
}

// --- compressed-tensors

/// The exponent of amax rounded half up to so many bits of mantissa in the bits of its type; 1000 past the largest number, -1000 for none.
int even_exponent(float amax, int mantissa_bits, SourceType type) {
  const bool half = type == SourceType::fp16;
  const int least = half ? -14 : -126;
  const float carries = 2.0F - power(-mantissa_bits - 1);
  int exponent = 0;
  const float mantissa = std::frexp(amax, &exponent) * 2.0F;
  if (amax < power(least)) return amax >= (carries - 1.0F) * power(least) ? least : -1000;
  const int rounded = exponent - 1 + (mantissa >= carries ? 1 : 0);
  return rounded > (half ? 15 : 127) ? 1000 : rounded;
}

ProgramOutput compressed_mx(const ProgramInput& in) {
  const ElementFacts& facts = facts_of(*in.grid->format);
  const float amax = amax_of(in);
  const int exponent = std::isfinite(amax) ? even_exponent(amax, element_of(in) == "e2m3" ? 3 : 1, in.type) : 1000;
  std::uint32_t byte = exponent == 1000 ? kByteOfOne : static_cast<std::uint32_t>(std::max(exponent - facts.emax + 127, 0));
  float divisor = exponent == 1000 ? INFINITY : stored(power(static_cast<int>(byte) - 127), in.type);
  if (divisor == 0) {
    byte = kByteOfOne;
    divisor = 1.0F;
  }
  return block_of(byte, in, [&](float x) {
    const float quotient = stored(x / divisor, in.type);
    if (quotient == 0) return 0U;
    if (!std::isnan(quotient)) return saturated(*in.grid, quotient);
    if (element_of(in) != "e4m3fn") return element_of(in) == "e2m1" ? 0U : 0x1FU;
    return in.type == SourceType::bf16 ? 0x7FU : by_nan_sign(x, false, 0x7F, 0xFF);
  });
}

const Grid& e4m3() { return grid_of("e4m3fn"); }
std::uint32_t saturated_scale(float wanted, std::uint32_t nan) { return std::isnan(wanted) ? nan : saturated(e4m3(), wanted); }
float scale_value(std::uint32_t code) { return code == 0x7FU ? NAN : number_of(e4m3().values[code]); }

std::uint32_t without_zero_sign(const ProgramInput& in, float quotient, std::uint32_t nan) {
  return quotient == 0 ? 0U : std::isnan(quotient) ? nan : saturated(*in.grid, quotient);
}

ProgramOutput compressed_nvfp4(const ProgramInput& in) {
  const float g = *in.tensor.encode;
  std::uint32_t scale = saturated_scale(g * stored(amax_of(in) / 6.0F, in.type), 0x7F);
  if (scale == 0) scale = 0x20;
  return block_of(scale, in, [&](float x) { return without_zero_sign(in, x / (scale_value(scale) / g), 0x0); });
}

float epsilon(SourceType type) { return power(type == SourceType::f32 ? -23 : type == SourceType::bf16 ? -7 : -10); }

ProgramOutput row_fp8(const ProgramInput& in, bool replaces_zeros) {
  float scale = stored(amax_of(in) / top_of(in), in.type);
  if (scale == 0 && replaces_zeros) scale = epsilon(in.type);
  return block_of(std::isnan(scale) ? kNanBits : bits_of(scale), in, [&](float x) {
    const float quotient = stored(x / scale, in.type);
    if (std::isnan(quotient)) return by_nan_sign(x, std::isnan(scale), 0x7F, 0xFF);
    return quotient == 0 && replaces_zeros ? 0U : saturated(*in.grid, quotient);
  });
}

// --- ModelOpt

ProgramOutput modelopt_mx(const ProgramInput& in) {
  const float amax = amax_of(in);
  const float exponent = std::ceil(std::max(log2_of(amax / top_of(in)), -127.0F));
  if (element_of(in) == "e2m1") {
    if (!std::isfinite(amax)) return block_of(0, in, [](float) { return 0x8U; });
    return block_of(byte_at(exponent), in, [&](float x) {
      const float quotient = x / power(static_cast<int>(exponent));
      return quotient == 0 ? 0x8U : searched_code(*in.grid, bits_of(quotient), Rounding::nearest_toward_zero);
    });
  }
  const std::uint32_t byte = std::isnan(amax) || !(amax / top_of(in) > 0) ? 0 : std::isinf(amax) ? 254 : byte_at(exponent);
  return block_of(byte, in, [&](float x) {
    return std::isnan(x) ? by_nan_sign(x, false, 0x7F, 0xFF) : saturated(*in.grid, x * power(127 - static_cast<int>(byte)));
  });
}

ProgramOutput modelopt_nvfp4(const ProgramInput& in) {
  const float d = *in.tensor.decode;
  float wanted = amax_of(in) / (6.0F * d);
  if (wanted == 0) wanted = 1.0F;
  if (wanted < power(-9)) wanted = power(-9);
  const std::uint32_t scale = saturated_scale(wanted, 0x7F);
  return block_of(scale, in, [&](float x) { return without_zero_sign(in, x / (scale_value(scale) * d), 0x7); });
}

// --- flashinfer's references

ProgramOutput flashinfer_mx(const ProgramInput& in) {
  const float d = amax_of(in) / top_of(in);
  const std::uint32_t byte = !(d > 0) ? kByteOfOne : std::isinf(d) ? 0 : byte_at(std::floor(log2_of(d)));
  return block_of(byte, in, [&](float x) {
    const float quotient = x / power(static_cast<int>(byte) - 127);
    if (element_of(in) == "e2m1") return first_nearest(in, quotient, false);
    return std::isnan(x) ? by_nan_sign(x, false, 0x7F, 0xFF) : saturated(*in.grid, quotient);
  });
}

ProgramOutput flashinfer_nvfp4(const ProgramInput& in) {
  const float g = *in.tensor.encode;
  const std::uint32_t scale = saturated_scale(amax_of(in) / 6.0F * g, 0x7F);
  const float divisor = scale_value(scale) > 0 ? scale_value(scale) : 1.0F;
  return block_of(scale, in, [&](float x) { return first_nearest(in, x * g / divisor, false); });
}

// --- MLX on a CPU

ProgramOutput mlx_mx(const ProgramInput& in) {
  const float amax = amax_of(in);
  const float q = stored(amax / top_of(in), in.type);
  std::uint32_t byte = kByteOfOne;
  float divisor = 1.0F;
  if (!std::isfinite(amax)) {
    byte = 0;
    divisor = 0.0F;
  } else if (q > 0) {
    int exponent = 0;
    if (std::frexp(q, &exponent) == 0.5F) --exponent;
    byte = static_cast<std::uint32_t>(exponent + 127) % 256;
    divisor = stored(power(exponent), in.type);
  }
  return block_of(byte, in, [&](float x) {
    const float quotient = stored(x / divisor, in.type);
    if (element_of(in) == "e2m1") return first_nearest(in, quotient, true);
    if (!std::isnan(quotient)) return saturated(*in.grid, quotient);
    return in.type == SourceType::bf16 ? 0x7EU : by_nan_sign(x, false, 0x7E, 0xFE);
  });
}

ProgramOutput mlx_nvfp4(const ProgramInput& in) {
  const float enc = in.tensor.encode.value_or(1.0F);
  const std::uint32_t scale = saturated_scale(stored(amax_of(in) / 6.0F, in.type) * enc, 0x7E);
  return block_of(scale, in, [&](float x) { return first_nearest(in, stored(x / scale_value(scale), in.type) * enc, true); });
}

// --- gguf: the search of best_index_mxfp4 among twice the values, times half the scale.

ProgramOutput gguf(const ProgramInput& in) {
  constexpr std::array<int, 16> kTwice{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  const float amax = amax_of(in);
  if (!std::isfinite(amax)) return block_of(0, in, [](float) { return 0U; });
  const std::uint32_t byte = amax == 0 ? 0 : static_cast<std::uint32_t>(static_cast<int>(std::floor(log2_of(amax))) - 2 + 127) % 256;
  const float half_scale = power(static_cast<int>(byte) - 128);
  return block_of(byte, in, [&](float x) {
    std::uint32_t best = 0;
    for (std::uint32_t i = 1; i < kTwice.size(); ++i) {
      const auto distance = [&](std::uint32_t at) { return std::fabs(static_cast<float>(kTwice[at]) * half_scale - x); };
      if (distance(i) < distance(best)) best = i;
    }
    return best;
  });
}

// --- auto-round

ProgramOutput auto_round_mx(const ProgramInput& in) {
  const ElementFacts& facts = facts_of(*in.grid->format);
  const float amax = amax_of(in);
  const bool special = !std::isfinite(amax);
  const float exponent = std::floor(log2_of(amax == 0 ? 2.0F : amax)) - static_cast<float>(facts.emax);
  const std::uint32_t byte = special ? 255 : static_cast<std::uint32_t>(std::max(exponent, -127.0F) + 127.0F);
  const bool has_nan = element_of(in) == "e4m3fn" || element_of(in) == "e5m2";
  const std::uint32_t nan = has_nan ? 0x7FU : static_cast<std::uint32_t>(in.grid->values.size()) - 1U;
  return block_of(byte, in, [&](float x) {
    if (special) return nan;
    return restated_quotient_code(bits_of(x / power(static_cast<int>(byte) - 127)), *in.grid, element_rule_of("microxcaling-even"));
  });
}

ProgramOutput auto_round_nvfp4(const ProgramInput& in) {
  const float g = *in.tensor.encode;
  const std::uint32_t scale = saturated_scale(g * (amax_of(in) * (1.0F / 6.0F)), 0x7F);
  const float product = scale_value(scale) * (in.tensor.decode ? *in.tensor.decode : 1.0F / g);
  const float factor = product == 0 ? 0.0F : 1.0F / product;
  return block_of(scale, in, [&](float x) { return without_zero_sign(in, x * factor, 0x7); });
}

// --- AMD Quark

/// The byte of even_round: 254 past the largest number.
std::uint32_t quark_even_byte(const ProgramInput& in) {
  const ElementFacts& facts = facts_of(*in.grid->format);
  const float amax = amax_of(in);
  if (std::isnan(amax)) return 255;
  if (std::isinf(amax)) return 254;
  const int exponent = even_exponent(amax == 0 ? power(-126) : amax, facts.mantissa_bits, SourceType::f32);
  return exponent == 1000 ? 254 : static_cast<std::uint32_t>(std::max(exponent - facts.emax + 127, 0));
}

ProgramOutput quark_block(const ProgramInput& in, float scale) {
  const std::uint32_t top = element_of(in) == "e4m3fn" ? 0x7FU : static_cast<std::uint32_t>(in.grid->values.size()) - 1U;
  return block_of(std::isnan(scale) ? kNanBits : bits_of(scale), in, [&](float x) {
    const float quotient = x / scale;
    if (std::isnan(quotient)) return by_nan_sign(x, std::isnan(scale), top, top | sign_bit(in));
    const std::uint32_t code = saturated(*in.grid, quotient);
    return code == sign_bit(in) && element_of(in) != "e4m3fn" ? 0U : code;
  });
}

ProgramOutput quark_even(const ProgramInput& in) {
  const std::uint32_t byte = quark_even_byte(in);
  return quark_block(in, byte == 255 ? NAN : power(static_cast<int>(byte) - 127));
}

ProgramOutput quark_log2(const ProgramInput& in, bool up) {
  const float amax = amax_of(in);
  if (!std::isfinite(amax)) return quark_block(in, NAN);
  const float log2 = stored(log2_of(amax), in.type);
  const float exponent = (up ? std::ceil(log2) : std::floor(log2)) - static_cast<float>(facts_of(*in.grid->format).emax);
  const float scale = amax == 0 ? 0.0F : stored(power(static_cast<int>(exponent)), in.type);
  return quark_block(in, scale == 0 ? power(-23) : scale);
}

constexpr std::string_view kFloats = "mxfp8_e4m3 mxfp8_e5m2 mxfp6_e2m3 mxfp6_e3m2 mxfp4";
constexpr std::string_view kFp4AndFp8 = "mxfp4 mxfp8_e4m3";
constexpr std::string_view kQuark = "fp4_e2m1_g32 fp6_e2m3_g32 fp8_e4m3_g32";
constexpr std::string_view kAnyType = "f32 bf16 fp16";
constexpr std::string_view kWide = "f32 bf16";

constexpr std::array kPrograms{
    Program{"torchao", "torchao-floor@0.18", kFloats, kWide, [](const ProgramInput& in) { return torchao(in, Mode::floor); }},
    Program{"torchao", "torchao-ceil@0.18", kFloats, kWide, [](const ProgramInput& in) { return torchao(in, Mode::ceil); }},
    Program{"torchao", "torchao-even@0.18", kFloats, kWide, [](const ProgramInput& in) { return torchao(in, Mode::even); }},
    Program{"torchao", "torchao-rceil@0.18", kFloats, kWide, torchao_rceil},
    Program{"torchao", "torchao-float8", "fp8_e4m3", kAnyType, [](const ProgramInput& in) { return torchao_float8(in, false); }},
    Program{"torchao", "torchao-float8-pow2", "fp8_e4m3", kAnyType, [](const ProgramInput& in) { return torchao_float8(in, true); }},
    Program{"compressed_tensors", "compressed-tensors-mx", "mxfp4 mxfp6_e2m3 mxfp8_e4m3", kAnyType, compressed_mx},
    Program{"compressed_tensors", "compressed-tensors-nvfp4", "nvfp4", kAnyType, compressed_nvfp4, Take::must},
    Program{"compressed_tensors", "compressed-tensors-fp8", "fp8_e4m3", kAnyType, [](const ProgramInput& in) { return row_fp8(in, true); }},
    Program{"modelopt", "modelopt-mx", kFp4AndFp8, kAnyType, modelopt_mx},
    Program{"modelopt", "modelopt-nvfp4", "nvfp4", kAnyType, modelopt_nvfp4, Take::no, Take::must},
    Program{"modelopt", "modelopt-fp8", "fp8_e4m3", kAnyType, [](const ProgramInput& in) { return row_fp8(in, false); }},
    Program{"flashinfer", "flashinfer-reference-mx", kFp4AndFp8, kAnyType, flashinfer_mx},
    Program{"flashinfer", "flashinfer-reference-nvfp4", "nvfp4", kAnyType, flashinfer_nvfp4, Take::must},
    Program{"mlx", "mlx-cpu-mx", kFp4AndFp8, kAnyType, mlx_mx},
    Program{"mlx", "mlx-cpu-nvfp4", "nvfp4", kAnyType, mlx_nvfp4, Take::may},
    Program{"gguf", "gguf-mxfp4", "mxfp4", "f32", gguf},
    Program{"auto_round", "auto-round-mx", kFloats, kAnyType, auto_round_mx},
    Program{"auto_round", "auto-round-nvfp4", "nvfp4", kAnyType, auto_round_nvfp4, Take::must, Take::may},
    Program{"quark", "quark-mx-even", kQuark, kWide, quark_even},
    Program{"quark", "quark-mx-floor", kQuark, kWide, [](const ProgramInput& in) { return quark_log2(in, false); }},
    Program{"quark", "quark-mx-ceil", kQuark, kWide, [](const ProgramInput& in) { return quark_log2(in, true); }},
    Program{"quark", "quark-even-round", kFloats, kAnyType,
            [](const ProgramInput& in) {
              return ProgramOutput{quark_even_byte(in), {}};
            }},
};

}  // namespace

std::span<const Program> library_programs() { return kPrograms; }

}  // namespace mx::props::numerics
