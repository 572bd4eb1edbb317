// Devices of which the cause is known, after public reports: `ver` names it first, and what it cannot know it does not say.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"

namespace {

using mx::golden::CheckReport;
using mx::golden::CheckVerdict;
using mx::golden::FaultClass;
using mx::golden::Fit;
using mx::golden::Lanes;
using mx::golden::MutableLanes;

// fp32 and small formats as doubles: every number and every product below is exact in them.

double number(std::uint32_t f32) { return static_cast<double>(std::bit_cast<float>(f32)); }
std::uint32_t bits(double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); }
bool is_finite(std::uint32_t f32) { return (f32 >> 23U & 255U) != 255U; }

/// A small format with its mantissa bits, the exponent of its smallest normal number and its largest code.
struct Small {
  int mantissa, low;
  std::uint32_t most;
};
constexpr Small kE4m3{3, -6, 0x7E};
constexpr Small kE5m2{2, -14, 0x7B};
constexpr Small kE2m1{1, 0, 7};
constexpr Small kFp16{10, -14, 0x7BFF};

double magnitude(std::uint32_t code, const Small& format) {
  const auto field = static_cast<int>(code >> format.mantissa);
  const auto fraction = static_cast<int>(code & ((1U << format.mantissa) - 1U));
  if (field == 0) return std::ldexp(fraction, format.low - format.mantissa);
  return std::ldexp(fraction + (1 << format.mantissa), format.low + field - 1 - format.mantissa);
}

/// The code nearest to over / under, ties to even, above the largest the largest. Midpoints of a few bits are compared, not quotients.
std::uint32_t nearest(double over, double under, const Small& format) {
  std::uint32_t code = 0;
  while (code < format.most) {
    const double middle = (magnitude(code, format) + magnitude(code + 1, format)) / 2;
    if (over < middle * under || (over == middle * under && (code & 1U) == 0)) break;
    ++code;
  }
  return code;
}

std::uint32_t with_sign(std::uint32_t code, std::uint32_t f32, int width) { return code | (f32 >> 31U) << (width - 1); }

/// Rounded to so many bits of mantissa, nearest even, and to no place below 2^(low - bits).
double rounded(double value, int mantissa, int low) {
  const int unit = std::max(std::ilogb(value), low) - mantissa;
  return std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
}

/// What a device makes of right answers.
using Break = std::function<void(Lanes operands, MutableLanes answer)>;

/// Small numbers are rounded to the target's precision as if there were no subnormals, then cut, or rounded again.
Break twice(const Small& format, int width, bool again) {
  return [=](Lanes operands, MutableLanes answer) {
    const double value = std::fabs(number(operands[0]));
    if (!is_finite(operands[0]) || value == 0 || std::ilogb(value) >= format.low) return;
    const double first = rounded(value, format.mantissa, -200);
    const double units = std::ldexp(first, format.mantissa - format.low);
    answer[0] = with_sign(static_cast<std::uint32_t>(again ? std::nearbyint(units) : std::floor(units)), operands[0], width);
  };
}

/// A 64-bit shift takes its count modulo 64.
Break wrapped_shift(const Small& format) {
  return [=](Lanes operands, MutableLanes answer) {
    const double value = std::fabs(number(operands[0]));
    if (!is_finite(operands[0]) || value == 0 || format.low - std::ilogb(value) < 64) return;
    answer[0] = with_sign(nearest(std::ldexp(value, 64), 1, format), operands[0], 8);
  };
}

/// The largest magnitude of a block of fp32 numbers; negative where one is not finite.
double largest(Lanes block) {
  double most = 0;
  for (const std::uint32_t x : block) {
    if (!is_finite(x)) return -1;
    most = std::max(most, std::fabs(number(x)));
  }
  return most;
}

/// Codes follow the scale before it was rounded to a power of two.
Break unrounded(std::size_t size, double least) {
  return [=](Lanes operands, MutableLanes answer) {
    const double amax = std::max(largest(operands.first(size)), least);
    if (largest(operands.first(size)) < 0 || amax == 0) return;
    for (std::size_t i = 0; i < size; ++i) answer[1 + i] = with_sign(nearest(std::fabs(number(operands[i])) * 448, amax, kE4m3), operands[i], 8);
  };
}

/// The same of NVFP4, where the scale of the block is one of e4m3.
void unrounded_nvfp4(Lanes operands, MutableLanes answer) {
  const double amax = largest(operands.first(16));
  if (amax <= 0 || answer[0] == 0 || amax * number(operands[16]) > 448.0 * 6) return;
  for (std::size_t i = 0; i < 16; ++i) answer[1 + i] = with_sign(nearest(std::fabs(number(operands[i])) * 6, amax, kE2m1), operands[i], 4);
}

/// 448 / amax is infinite in fp32: the scale becomes zero.
void small_amax(Lanes operands, MutableLanes answer) {
  const double amax = largest(operands);
  if (amax <= 0 || 448 / amax < 0x1p128) return;
  answer[0] = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) answer[1 + i] = with_sign(number(operands[i]) == 0 ? 0 : 0x7E, operands[i], 8);
}

/// The scale bytes by so many too low, down to zero; NaN stays.
Break scale_minus(int amount) {
  return [=](Lanes, MutableLanes answer) {
    if (answer[0] != 0xFF) answer[0] = static_cast<std::uint32_t>(std::max(static_cast<int>(answer[0]) - amount, 0));
  };
}

/// A code of E8M0 as a signed exponent without bias, or as the number that it spells.
void signed_exponent(Lanes operands, MutableLanes answer) {
  answer[0] = bits(std::ldexp(1.0, static_cast<int>(operands[0]) - (operands[0] > 127 ? 256 : 0)));
}
void signed_exponent_but_nan(Lanes operands, MutableLanes answer) {
  if (operands[0] != 0xFF) signed_exponent(operands, answer);
}
void integer(Lanes operands, MutableLanes answer) { answer[0] = bits(operands[0]); }
void no_bias(Lanes operands, MutableLanes answer) {
  if (operands[0] != 0xFF) answer[0] = bits(std::ldexp(1.0, static_cast<int>(operands[0])));
}

/// A block of E2M1 whose scale is a signed exponent without bias; NaN stays.
void signed_scale(Lanes operands, MutableLanes answer) {
  if (operands[0] == 0xFF) return;
  const double scale = std::ldexp(1.0, static_cast<int>(operands[0]) - (operands[0] > 127 ? 256 : 0));
  for (std::size_t i = 0; i < answer.size(); ++i) answer[i] = bits(magnitude(operands[1 + i] & 7U, kE2m1) * scale) | operands[1 + i] >> 3U << 31U;
}

/// E4M3 as if its top exponent were IEEE 754's, but for mantissa 0; and with that as infinity.
void top_is_nan(Lanes operands, MutableLanes answer) {
  if ((operands[0] & 0x78U) == 0x78U && (operands[0] & 7U) != 0) answer[0] = 0x7FC00000U;
}
void top_is_special(Lanes operands, MutableLanes answer) {
  top_is_nan(operands, answer);
  if ((operands[0] & 0x7FU) == 0x78U) answer[0] = 0x7F800000U | operands[0] >> 7U << 31U;
}
/// E4M3's subnormals with the exponent that their field would have.
void fixed_exponent(Lanes operands, MutableLanes answer) {
  const std::uint32_t code = operands[0] & 0x7FU;
  if (code != 0 && code < 8) answer[0] = bits(std::ldexp(8 + static_cast<int>(code), -10)) | operands[0] >> 7U << 31U;
}

void inexact_infinity(Lanes operands, MutableLanes answer) {
  if ((operands[0] & 0x7FFFU) == 0x7C00U) answer[1] |= 1U;
}

/// amax is rounded to bf16 before the exponent is taken.
void amax_by_bf16(Lanes operands, MutableLanes answer) {
  if (!is_finite(operands[0])) return;
  const std::uint32_t code = (operands[0] + 0x7FFFU + (operands[0] >> 16U & 1U)) & 0x7FFF0000U;
  answer[0] = is_finite(code) ? static_cast<std::uint32_t>(std::max(static_cast<int>(code >> 23U) - 8, 0)) : answer[0];
}

/// Normal results go through a format of so many bits first.
Break through(int mantissa, int low) {
  return [=](Lanes operands, MutableLanes answer) {
    const double value = std::fabs(number(operands[0]));
    if (!is_finite(operands[0]) || value < 0x1p-6) return;
    answer[0] = with_sign(nearest(rounded(value, mantissa, low), 1, kE4m3), operands[0], 8);
  };
}

void ties_away(Lanes operands, MutableLanes answer) {
  const double value = std::fabs(number(operands[0]));
  if (!is_finite(operands[0])) return;
  std::uint32_t code = 0;
  while (code < kE4m3.most && value >= (magnitude(code, kE4m3) + magnitude(code + 1, kE4m3)) / 2) ++code;
  answer[0] = with_sign(code, operands[0], 8);
}
/// Ties go away from zero, and zeros have no sign.
void ties_away_and_plain_zeros(Lanes operands, MutableLanes answer) {
  ties_away(operands, answer);
  if (answer[0] == 0x80U) answer[0] = 0;
}

bool is_infinite(Lanes operands) { return (operands[0] & 0x7FFFFFFFU) == 0x7F800000U; }
/// Infinities alone: they become NaN, zero, or lose their sign.
void infinity_is_nan(Lanes operands, MutableLanes answer) {
  if (is_infinite(operands)) answer[0] = with_sign(0x7F, operands[0], 8);
}
void infinity_is_zero(Lanes operands, MutableLanes answer) {
  if (is_infinite(operands)) answer[0] = with_sign(0, operands[0], 8);
}
void infinity_is_plain_zero(Lanes operands, MutableLanes answer) {
  if (is_infinite(operands)) answer[0] = 0;
}
void infinity_is_positive(Lanes operands, MutableLanes answer) {
  if (is_infinite(operands)) answer[0] &= 0x7FU;
}
void ties_away_and_infinity_is_nan(Lanes operands, MutableLanes answer) {
  ties_away(operands, answer);
  infinity_is_nan(operands, answer);
}
void ties_away_and_infinity_is_zero(Lanes operands, MutableLanes answer) {
  ties_away(operands, answer);
  infinity_is_zero(operands, answer);
}
/// E5M2 whose infinities are NaNs, as a decoder of E4M3's habit has them.
void e5m2_infinity_is_nan(Lanes operands, MutableLanes answer) {
  if ((operands[0] & 0x7FU) == 0x7CU) answer[0] = 0x7FC00000U;
}

/// Everything is cut off, and the few NaNs become zero.
void cut_and_nan_is_zero(Lanes operands, MutableLanes answer) {
  const double value = std::fabs(number(operands[0]));
  std::uint32_t code = 0;
  while (is_finite(operands[0]) && code < kE4m3.most && value >= magnitude(code + 1, kE4m3)) ++code;
  if (is_finite(operands[0])) answer[0] = with_sign(code, operands[0], 8);
  if (std::isnan(value)) answer[0] = 0;
}

/// Finite numbers from 512 to the largest of E5M2 become NaN; larger ones saturate.
void nan_in_a_band(Lanes operands, MutableLanes answer) {
  const double value = std::fabs(number(operands[0]));
  if (value >= 512 && value <= 57344) answer[0] = with_sign(0x7F, operands[0], 8);
}
void nan_in_a_band_of_bf16(Lanes operands, MutableLanes answer) {
  const std::array wide{operands[0] << 16U};
  nan_in_a_band(wide, answer);
}

/// Everything above the largest number is a NaN without a sign.
void unsigned_nan_above(Lanes operands, MutableLanes answer) {
  if (is_finite(operands[0]) && std::fabs(number(operands[0])) > 448) answer[0] = 0x7F;
}

/// Overflow by IEEE 754's rule for this direction, and no underflow where the rounded number is not tiny.
void overflow_and_tininess(Lanes operands, MutableLanes answer) {
  const double value = std::fabs(number(operands[0]));
  if (!is_finite(operands[0])) return;
  if (value >= 65536) answer[0] = with_sign(0x7B, operands[0], 8);
  if (value >= 65536) answer[1] |= 32U;
  if (value != 0 && std::ilogb(value) < -14 && rounded(value, 2, -200) >= 0x1p-14) answer[1] &= ~2U;
}

struct Caused {
  const char* op;
  std::vector<mx::golden::OpSetting> options;
  Break broken;
  FaultClass cls;
  const char* cause;  ///< in the name that comes first
  Fit fit;
};

// clang-format off
const std::vector<Caused>& devices() {
  static const std::vector<Caused> kDevices{
    {"e4m3fn_to_f32", {}, top_is_nan, FaultClass::nan, "the top exponent is reserved for NaN", Fit::matches},                                          // rocm-systems#6870
    {"e4m3fn_to_f32", {{"nan", "free"}}, top_is_special, FaultClass::nan, "the top exponent is reserved for Inf and NaN", Fit::matches},
    {"e8m0_to_f32", {}, signed_exponent, FaultClass::scale, "read as a signed number without bias", Fit::possible},                                    // SuperNPUBench#74
    {"e8m0_to_f32", {}, signed_exponent_but_nan, FaultClass::scale, "read as a signed number without bias", Fit::matches},
    {"e8m0_to_f32", {}, no_bias, FaultClass::scale, "read without its bias", Fit::matches},
    {"dequantize_mxfp4_to_f32", {}, signed_scale, FaultClass::scale, "scale: the exponent is read as a signed number without bias", Fit::matches},
    {"e8m0_to_f32", {}, integer, FaultClass::value, "read as an integer", Fit::possible},                                                              // arch-com#908
    {"e4m3fn_to_f32", {}, fixed_exponent, FaultClass::subnormal, "subnormals are decoded with the exponent of normals", Fit::matches},                 // 1bit-MONSTER#300
    {"fp16_to_e5m2", {{"profile", "ocp-nosat"}, {"flags", "yes"}}, inexact_infinity, FaultClass::rounding, "the flag inexact is always raised for infinities", Fit::matches},  // cvfpu#138
    {"scale_mxfp4", {}, scale_minus(2), FaultClass::scale, "a constant difference: scale 2 too low", Fit::matches},                                    // compressed-tensors#538
    {"quantize_mxfp4", {}, scale_minus(2), FaultClass::scale, "a constant difference: scale 2 too low", Fit::matches},
    {"scale_mxfp8_e4m3", {{"from", "bf16"}}, scale_minus(5), FaultClass::scale, "a constant difference: scale 5 too low", Fit::matches},
    {"quantize_mxfp8_e4m3", {{"profile", "torchao-rceil"}}, small_amax, FaultClass::scale, "the reciprocal of the scale overflows", Fit::matches},     // TensorLib#99, flashinfer#2440
    {"f32_to_e5m2", {}, wrapped_shift(kE5m2), FaultClass::subnormal, "is taken modulo 64", Fit::matches},                                              // rocm-systems#10591
    {"f32_to_e4m3fn", {}, wrapped_shift(kE4m3), FaultClass::subnormal, "is taken modulo 64", Fit::matches},
    {"f32_to_fp16", {}, twice(kFp16, 16, false), FaultClass::rounding, "the target's own precision first, then cut", Fit::matches},                    // 68881-fpga#73
    {"f32_to_e5m2", {}, twice(kE5m2, 8, false), FaultClass::rounding, "the target's own precision first, then cut", Fit::matches},
    {"f32_to_e4m3fn", {}, twice(kE4m3, 8, true), FaultClass::rounding, "rounded to 3 bits first, the target's own precision", Fit::matches},
    {"f32_to_e4m3fn", {}, through(10, -14), FaultClass::rounding, "rounded twice, through fp16, for normal results", Fit::matches},                    // bitstring#342
    {"f32_to_e4m3fn", {}, through(7, -126), FaultClass::rounding, "rounded twice, through bf16, for normal results", Fit::matches},
    {"scale_mxfp8_e4m3", {{"profile", "torchao-floor"}}, amax_by_bf16, FaultClass::scale, "the largest value is rounded to bf16 first", Fit::matches}, // pytorch/ao#4725
    {"quantize_mxfp8_e4m3", {}, unrounded(32, 0), FaultClass::scale, "codes follow the scale before it was rounded", Fit::matches},                    // Model-Optimizer#2243
    {"quantize_fp8_e4m3_g128", {{"profile", "deepgemm-ue8m0"}}, unrounded(128, 1e-4F), FaultClass::scale, "codes follow the scale before it was rounded", Fit::matches},  // transformers#46763
    {"quantize_nvfp4", {{"profile", "vllm-nvfp4"}}, unrounded_nvfp4, FaultClass::scale, "codes follow the scale before it was rounded", Fit::matches},
    {"f32_to_e4m3fn", {}, nan_in_a_band, FaultClass::saturation, "overflow nan (unsaturated), from the next power of two to the end of e5m2 alone", Fit::matches},  // saturn-vectors#101
    {"bf16_to_e4m3fn", {}, nan_in_a_band_of_bf16, FaultClass::saturation, "overflow nan (unsaturated), from the next power of two to the end of e5m2 alone", Fit::matches},
    {"f32_to_e4m3fn", {{"profile", "ocp-nosat"}}, unsigned_nan_above, FaultClass::nan, "sign of NaNs dropped, and overflow nan_unrounded", Fit::matches},  // libxsmm#814
    {"f32_to_e4m3fn", {}, ties_away_and_plain_zeros, FaultClass::sign, "sign of zeros dropped, and rounding nearest_away", Fit::matches},
    {"f32_to_e4m3fn", {}, infinity_is_nan, FaultClass::nan, "infinity gives NaN", Fit::matches},
    {"f32_to_e4m3fn", {}, infinity_is_zero, FaultClass::saturation, "infinity gives 0", Fit::matches},
    {"f32_to_e4m3fn", {}, infinity_is_plain_zero, FaultClass::saturation, "infinity gives 0, without its sign", Fit::matches},
    {"f32_to_e4m3fn", {}, infinity_is_positive, FaultClass::sign, "infinity loses its sign", Fit::matches},
    {"e5m2_to_f32", {}, e5m2_infinity_is_nan, FaultClass::nan, "infinity gives NaN, without its sign", Fit::matches},
    {"f32_to_e4m3fn", {}, ties_away_and_infinity_is_nan, FaultClass::rounding, "rounding nearest_away, and infinity gives NaN", Fit::matches},
    {"f32_to_e4m3fn", {}, ties_away_and_infinity_is_zero, FaultClass::rounding, "rounding nearest_away, and infinity gives 0", Fit::matches},
    {"f32_to_e4m3fn", {}, cut_and_nan_is_zero, FaultClass::rounding, "rounding toward_zero, and a NaN becomes zero", Fit::matches},
    {"f32_to_e5m2", {{"profile", "ocp-rz-nosat"}, {"flags", "yes"}}, overflow_and_tininess, FaultClass::saturation, "overflow ieee, and the flag underflow is never raised for results that are tiny before rounding and not after", Fit::matches},
  };
  return kDevices;
}
// clang-format on

CheckReport report_of(const Caused& device) {
  const auto op = mx::tests::op_with(device.op, device.options);
  const auto answers = [&](Lanes operands, MutableLanes results) {
    op->evaluate(operands, results);
    device.broken(operands, results);
  };
  return mx::tests::check(*op, mx::tests::kDirected, mx::tests::stream_of(*op, mx::tests::kDirected, answers));
}

}  // namespace

TEST_CASE("the cause of a device that a report describes is named first") {
  for (const Caused& device : devices()) {
    const CheckReport report = report_of(device);
    INFO(device.op << ", " << device.cause);
    CHECK(report.verdict == CheckVerdict::failed);
    REQUIRE_FALSE(report.explanations.empty());
    const mx::golden::Explanation& first = report.explanations.front();
    INFO(first.name << ": " << first.explained << " of " << first.mismatches << ", " << first.contradicted << " of " << first.matches);
    CHECK(first.name.find(device.cause) != std::string::npos);
    CHECK(first.cls == device.cls);
    CHECK(first.fit() == device.fit);
    CHECK(first.explained == first.mismatches);
    CHECK(first.contradicted * 1000 <= first.matches);  // devices differ in what an overflow on the way becomes
  }
}

TEST_CASE("what the best rule leaves over has its own cause, however few answers it has") {
  // Three causes: no pair of rules gives all.
  const Caused three{"f32_to_e4m3fn",
                     {},
                     [](Lanes operands, MutableLanes answer) {
                       ties_away(operands, answer);
                       infinity_is_nan(operands, answer);
                       if (std::isnan(number(operands[0]))) answer[0] = 0;
                     },
                     FaultClass::rounding,
                     "",
                     Fit::matches};
  const CheckReport report = report_of(three);
  std::string named;
  std::uint64_t explained = 0;
  std::string last;
  for (const mx::golden::Explanation& one : report.explanations) {
    if (!last.empty() && one.beside.empty()) break;
    CHECK(one.beside == last);
    CHECK(one.fit() == Fit::matches);
    CHECK(one.contradicted == 0);
    explained += one.explained;
    last = one.name;
    named += one.name + "; ";
  }
  INFO(named);
  for (const char* cause : {"rounding nearest_away", "infinity gives NaN", "a NaN becomes zero"}) CHECK(named.find(cause) != std::string::npos);
  CHECK(explained == report.explanations.front().mismatches);

  // What no rule gives stays without a name: nothing is said of it.
  const CheckReport odd = report_of({"f32_to_e4m3fn",
                                     {},
                                     [](Lanes operands, MutableLanes answer) {
                                       ties_away(operands, answer);
                                       if (operands[0] == 0x3F800000U) answer[0] = 0x15;
                                     },
                                     FaultClass::rounding,
                                     "",
                                     Fit::matches});
  CHECK(odd.explanations.front().name == "rounding nearest_away");
  CHECK(std::ranges::none_of(odd.explanations, [](const mx::golden::Explanation& one) { return !one.beside.empty(); }));
}

TEST_CASE("a rule that gives few of the wrong answers, or that right ones speak against, comes behind and matches nothing") {
  // One answer of three is drawn: no rule gives them.
  std::uint32_t state = 1;
  const Caused drawn{"f32_to_e4m3fn",
                     {},
                     [&state](Lanes, MutableLanes answer) {
                       state = state * 1664525U + 1013904223U;
                       if (state >> 24U < 85) answer[0] = state >> 8U & 0x7FU;
                     },
                     FaultClass::value,
                     "",
                     Fit::in_part};
  const CheckReport report = report_of(drawn);
  CHECK(report.mismatched > 1000);
  for (const auto& one : report.explanations) {
    INFO(one.name);
    CHECK(one.fit() == Fit::in_part);
  }
  // Cutting off gives all of its wrong answers, and half of the right ones are against it.
  const CheckReport twice_rounded = report_of({"f32_to_e5m2", {}, twice(kE5m2, 8, false), FaultClass::rounding, "", Fit::matches});
  const auto cutting = std::ranges::find(twice_rounded.explanations, "rounding toward_zero", &mx::golden::Explanation::name);
  REQUIRE(cutting != twice_rounded.explanations.end());
  CHECK(cutting->explained == cutting->mismatches);
  CHECK(cutting->fit() == Fit::in_part);
}

TEST_CASE("the first mismatch of each kind comes before more of one kind") {
  // Everything is wrong: as many kinds as there are come first, in the order of the stream.
  const Caused wrong{"f32_to_e4m3fn", {}, [](Lanes, MutableLanes answer) { answer[0] ^= 1U; }, FaultClass::value, "", Fit::possible};
  const CheckReport report = report_of(wrong);
  const auto op = mx::tests::op_with(wrong.op, wrong.options);
  REQUIRE(report.first.size() == 20);
  std::vector<std::string> kinds;
  for (const mx::golden::Mismatch& one : report.first) kinds.emplace_back(op->kind(one.operands, one.right));
  for (std::size_t i = 0; i < report.kinds.size(); ++i)
    CHECK(std::ranges::count(kinds.begin(), kinds.begin() + static_cast<std::ptrdiff_t>(report.kinds.size()), kinds[i]) == 1);
  CHECK(report.kinds.size() > 5);
}
