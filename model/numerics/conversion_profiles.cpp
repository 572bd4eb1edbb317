// Scalar casts as implementations do them. What each was held against is in its row's `source`; "recorded" means golden/witness/numerics.

#include <array>

#include "model/numerics/conversion_rows.hpp"
#include "model/numerics/further_formats.hpp"
#include "model/numerics/profile_tables.hpp"
#include "model/numerics/wide_source.hpp"

namespace mx {
namespace {

/// Nearest even with these codes for a NaN with clear and set sign.
constexpr Conversion nearest(Overflow overflow, std::uint32_t nan_positive, std::uint32_t nan_negative) {
  return {Rounding::nearest_even, overflow, NanRule::fixed, nan_positive, nan_negative, 0, false};
}

constexpr Conversion nearest(Overflow overflow, std::uint32_t nan) { return nearest(overflow, nan, nan); }

constexpr Conversion with_payload(NanRule rule) { return {Rounding::nearest_even, Overflow::ieee, rule, 0, 0, 0, false}; }

/// What E8M0 makes of zero and of negative values.
enum class PowerSigns {
  nan,  ///< both become NaN
  abs,  ///< zero is code 0, the sign is ignored
};

constexpr Conversion power(Rounding rounding, Overflow overflow, PowerSigns signs) {
  const bool nan = signs == PowerSigns::nan;
  return {rounding, overflow, NanRule::fixed, 0xFF, 0xFF, nan ? 0xFFU : 0x00U, nan};
}

constexpr const Format* kWide[] = {&kF32, &kBf16, &kFp16};
constexpr const Format* kFromF32[] = {&kF32};
constexpr const Format* kFromBf16[] = {&kBf16};
constexpr const Format* kFromFp16[] = {&kFp16};
constexpr const Format* kFromBf16AndFp16[] = {&kBf16, &kFp16};

// The FNUZ formats have one NaN, which is also their overflow, in every implementation but the HIP header.
constexpr Target kFnuzTargets[] = {{&kE4m3fnuz, nearest(Overflow::nan, 0x80)}, {&kE5m2fnuz, nearest(Overflow::nan, 0x80)}};
constexpr Target kPowerRefusingSigns[] = {{&kE8m0, power(Rounding::nearest_up, Overflow::nan, PowerSigns::nan)}};
constexpr Target kPowerIgnoringSigns[] = {{&kE8m0, power(Rounding::nearest_up, Overflow::nan, PowerSigns::abs)}};

// ml_dtypes. A NaN into a format without one keeps the inverted sign alone.
constexpr Target kMlDtypesTargets[] = {
    {&kE4m3fn, nearest(Overflow::nan, 0x7F, 0xFF)},    {&kE5m2, nearest(Overflow::inf, 0x7E, 0xFE)},
    {&kE2m3, nearest(Overflow::saturate, 0x20, 0x00)}, {&kE3m2, nearest(Overflow::saturate, 0x20, 0x00)},
    {&kE2m1, nearest(Overflow::saturate, 0x08, 0x00)},
};
constexpr Target kMlDtypesBf16[] = {{&kBf16, nearest(Overflow::ieee, 0x7FC0, 0xFFC0)}};
// fp64 and int64 go through fp32.
constexpr auto kMlDtypesSmall = joined(rows_of(kFromF32, kMlDtypesTargets), rows_of(kFromF32, kFnuzTargets), rows_of(kFromF32, kPowerRefusingSigns));
constexpr auto kMlDtypesWhole = joined(kMlDtypesSmall, rows_of(kFromF32, kMlDtypesBf16));
constexpr Target kMlDtypesFp16[] = {{&kFp16, nearest(Overflow::ieee, 0x7E00, 0xFE00)}};
constexpr auto kMlDtypesRows = joined(rows_of(kWide, kMlDtypesTargets), rows_of(kWide, kFnuzTargets), rows_of(kWide, kPowerRefusingSigns),
                                      rows_of(kFromF32, kMlDtypesBf16), rows_of(kFromFp16, kMlDtypesBf16), rows_of(kFromBf16, kMlDtypesFp16),
                                      through_f32(kF64, kMlDtypesSmall), through_f32(kI64, kMlDtypesWhole));

constexpr Target kNumpyTargets[] = {{&kFp16, with_payload(NanRule::keep_payload)}};
constexpr auto kNumpyRows = rows_of(kFromF32, kNumpyTargets);

// torch.
constexpr Target kTorchFp8[] = {{&kE4m3fn, nearest(Overflow::nan, 0x7F, 0xFF)}, {&kE5m2, nearest(Overflow::inf, 0x7F, 0xFF)}};
constexpr Target kTorchCpuHalves[] = {{&kBf16, nearest(Overflow::ieee, 0xFFFF)}, {&kFp16, with_payload(NanRule::quiet_payload)}};
constexpr auto kTorchCpuRows =
    joined(rows_of(kWide, kTorchFp8), rows_of(kWide, kFnuzTargets), rows_of(kWide, kPowerIgnoringSigns), rows_of(kFromF32, kTorchCpuHalves));

// Since 2.13 e4m3fn saturates; fp64 and integers go through fp32.
constexpr Target kTorchSaturatingFp8[] = {{&kE4m3fn, nearest(Overflow::saturate, 0x7F, 0xFF)}, {&kE5m2, nearest(Overflow::inf, 0x7F, 0xFF)}};
constexpr Target kTorchBf16[] = {{&kBf16, nearest(Overflow::ieee, 0xFFFF)}};
constexpr Target kTorchBf16FromFp16[] = {{&kBf16, nearest(Overflow::ieee, 0x7FC0)}};
constexpr Target kTorchFp16FromBf16[] = {{&kFp16, with_payload(NanRule::quiet_payload)}};
constexpr auto kTorch213Small =
    joined(rows_of(kFromF32, kTorchSaturatingFp8), rows_of(kFromF32, kFnuzTargets), rows_of(kFromF32, kPowerIgnoringSigns));
constexpr auto kTorch213Whole = joined(kTorch213Small, rows_of(kFromF32, kTorchBf16));
constexpr auto kTorchCpu213Rows =
    joined(rows_of(kWide, kTorchSaturatingFp8), rows_of(kWide, kFnuzTargets), rows_of(kWide, kPowerIgnoringSigns), rows_of(kFromF32, kTorchCpuHalves),
           rows_of(kFromFp16, kTorchBf16FromFp16), rows_of(kFromBf16, kTorchFp16FromBf16), through_f32(kF64, kTorch213Small),
           through_f32(kI64, kTorch213Whole));

// From fp16 the device code loses the sign of a NaN.
constexpr const Format* kF32AndBf16[] = {&kF32, &kBf16};
constexpr Target kUnsignedNanFp8[] = {{&kE4m3fn, nearest(Overflow::nan, 0x7F)}, {&kE5m2, nearest(Overflow::inf, 0x7F)}};
constexpr Target kCudaHalves[] = {{&kBf16, nearest(Overflow::ieee, 0x7FFF)}, {&kFp16, nearest(Overflow::ieee, 0x7FFF)}};
constexpr auto kTorchCudaRows = joined(rows_of(kF32AndBf16, kTorchFp8), rows_of(kFromFp16, kUnsignedNanFp8), rows_of(kWide, kFnuzTargets),
                                       rows_of(kWide, kPowerIgnoringSigns), rows_of(kFromF32, kCudaHalves));

// JAX (XLA). On the CPU the NaN of e5m2 depends on the source.
constexpr Target kJaxE2m1[] = {{&kE2m1, nearest(Overflow::saturate, 0x08)}};
constexpr Target kJaxCpuE4m3[] = {{&kE4m3fn, nearest(Overflow::nan, 0x7F, 0xFF)}};
constexpr Target kJaxCpuE5m2FromF32[] = {{&kE5m2, nearest(Overflow::inf, 0x7E, 0xFE)}};
constexpr Target kJaxCpuE5m2[] = {{&kE5m2, nearest(Overflow::inf, 0x7F)}};
constexpr auto kJaxRows = joined(rows_of(kWide, kJaxE2m1), rows_of(kWide, kFnuzTargets), rows_of(kWide, kPowerRefusingSigns));
constexpr Target kJaxCpuHalves[] = {{&kBf16, nearest(Overflow::ieee, 0x7FC0, 0xFFC0)}, {&kFp16, with_payload(NanRule::quiet_payload)}};
constexpr auto kJaxCpuRows = joined(kJaxRows, rows_of(kWide, kJaxCpuE4m3), rows_of(kFromF32, kJaxCpuE5m2FromF32),
                                    rows_of(kFromBf16AndFp16, kJaxCpuE5m2), rows_of(kFromF32, kJaxCpuHalves));
// From fp64 every small format is rounded once, and a positive number below 2^-127 is a NaN; fp16 goes through fp32.
constexpr Conversion jax_power_of_f64() {
  Conversion how = power(Rounding::nearest_up, Overflow::nan, PowerSigns::nan);
  how.before.tiny_is_nan = true;
  return how;
}
constexpr const Format* kFromF64[] = {&kF64};
constexpr Target kJaxPowerOfF64[] = {{&kE8m0, jax_power_of_f64()}};
constexpr Target kJaxFp16OfF64[] = {{&kFp16, nearest(Overflow::ieee, 0x7E00, 0xFE00)}};
constexpr auto kJaxCpuAllRows =
    joined(kJaxCpuRows, rows_of(kFromF64, kJaxE2m1), rows_of(kFromF64, kFnuzTargets), rows_of(kFromF64, kJaxCpuE4m3),
           rows_of(kFromF64, kJaxCpuE5m2FromF32), rows_of(kFromF64, kJaxPowerOfF64), through_f32(kF64, rows_of(kFromF64, kJaxFp16OfF64)));
constexpr auto kJaxCudaRows = joined(kJaxRows, rows_of(kWide, kUnsignedNanFp8));

// CUDA: header functions, the instructions, and Triton's casts, which compile to them.
constexpr Target kSatfiniteFp8[] = {{&kE4m3fn, nearest(Overflow::saturate, 0x7F)}, {&kE5m2, nearest(Overflow::saturate, 0x7F)}};
constexpr Target kSatfiniteSmall[] = {
    {&kE2m3, nearest(Overflow::saturate, 0x1F)}, {&kE3m2, nearest(Overflow::saturate, 0x1F)}, {&kE2m1, nearest(Overflow::saturate, 0x07)}};
constexpr auto kSatfiniteFp8Rows = rows_of(kWide, kSatfiniteFp8);
constexpr auto kCudaSatfiniteRows = joined(kSatfiniteFp8Rows, rows_of(kWide, kSatfiniteSmall));
constexpr auto kCudaNosatRows = rows_of(kWide, kUnsignedNanFp8);

constexpr std::array<ConversionRow, 2> halves_from_f32(Rounding rounding) {
  Conversion how = nearest(Overflow::ieee, 0x7FFF);
  how.rounding = rounding;
  return {{{&kF32, &kBf16, how}, {&kF32, &kFp16, how}}};
}
constexpr auto kHalvesRn = halves_from_f32(Rounding::nearest_even);
constexpr auto kHalvesRz = halves_from_f32(Rounding::toward_zero);
constexpr auto kHalvesRu = halves_from_f32(Rounding::toward_positive);
constexpr auto kHalvesRd = halves_from_f32(Rounding::toward_negative);

constexpr std::array<ConversionRow, 2> cuda_power(Rounding rounding, Overflow overflow) {
  const Conversion how = power(rounding, overflow, PowerSigns::abs);
  return {{{&kF32, &kE8m0, how}, {&kBf16, &kE8m0, how}}};
}
constexpr auto kCudaPowerRz = cuda_power(Rounding::toward_zero, Overflow::nan);
constexpr auto kCudaPowerRzSat = cuda_power(Rounding::toward_zero, Overflow::saturate);
constexpr auto kCudaPowerRp = cuda_power(Rounding::magnitude_up, Overflow::nan);
constexpr auto kCudaPowerRpSat = cuda_power(Rounding::magnitude_up, Overflow::saturate);

// gfloat, saturating. It raises for a NaN into a format without one.
constexpr std::array<ConversionRow, 5> gfloat_rows(Rounding rounding, int random_bits = 0) {
  const Conversion fp8{rounding, Overflow::saturate, NanRule::fixed, 0xFF, 0xFF, 0, false, random_bits};
  const Conversion small{rounding, Overflow::saturate, NanRule::refused, 0, 0, 0, false, random_bits};
  return {{{&kF32, &kE4m3fn, fp8}, {&kF32, &kE5m2, fp8}, {&kF32, &kE2m3, small}, {&kF32, &kE3m2, small}, {&kF32, &kE2m1, small}}};
}
/// gfloat takes any number of random bits; these rows have the 8 of the recorded runs.
constexpr int kGfloatRandomBits = 8;
constexpr auto kGfloatEven = gfloat_rows(Rounding::nearest_even);
constexpr auto kGfloatAway = gfloat_rows(Rounding::nearest_away);
constexpr auto kGfloatZero = gfloat_rows(Rounding::toward_zero);
constexpr auto kGfloatUp = gfloat_rows(Rounding::toward_positive);
constexpr auto kGfloatDown = gfloat_rows(Rounding::toward_negative);
constexpr auto kGfloatStochastic = gfloat_rows(Rounding::stochastic_nearest, kGfloatRandomBits);
constexpr auto kGfloatFast = gfloat_rows(Rounding::stochastic_odd, kGfloatRandomBits);
constexpr auto kGfloatFastest = gfloat_rows(Rounding::stochastic_floor, kGfloatRandomBits);

// The HIP header. Saturation clamps a NaN of the FNUZ formats as well; without it, everything above the largest value overflows unrounded.
constexpr const Format* kF32AndFp16[] = {&kF32, &kFp16};
constexpr Target kHipSat[] = {
    {&kE4m3fn, nearest(Overflow::saturate, 0x7F, 0xFF)},
    {&kE5m2, nearest(Overflow::saturate, 0x7F, 0xFF)},
    {&kE4m3fnuz, nearest(Overflow::saturate, 0x7F, 0xFF)},
    {&kE5m2fnuz, nearest(Overflow::saturate, 0x7F, 0xFF)},
};
constexpr Target kHipNosat[] = {
    {&kE4m3fn, nearest(Overflow::nan_unrounded, 0x7F, 0xFF)},
    {&kE5m2, nearest(Overflow::inf_unrounded, 0x7F, 0xFF)},
    {&kE4m3fnuz, nearest(Overflow::nan_unrounded, 0x80)},
    {&kE5m2fnuz, nearest(Overflow::nan_unrounded, 0x80)},
};
constexpr auto kHipSatRows = rows_of(kF32AndFp16, kHipSat);
constexpr auto kHipNosatRows = rows_of(kF32AndFp16, kHipNosat);

/// kHipSat with the random bits that fill what the target drops of a 24-bit significand.
constexpr std::array<ConversionRow, 4> hip_stochastic() {
  std::array<ConversionRow, 4> rows = rows_of(kFromF32, kHipSat);
  for (ConversionRow& row : rows) {
    row.how.rounding = Rounding::stochastic_add;
    row.how.random_bits = 23 - row.to->mantissa_bits;
  }
  return rows;
}
constexpr auto kHipStochasticRows = hip_stochastic();

// ONNX Runtime. E8M0 is rounded up; saturating, the larger of 0 and the value is converted, otherwise whatever E8M0 does not hold is a NaN. Without
// saturation one range above each format's largest number goes wrong: e4m3fn gives the largest, e5m2 a NaN.
constexpr std::uint32_t k480 = 0x43F00000U;
constexpr std::uint32_t k496 = 0x43F80000U;
constexpr std::uint32_t k61440 = 0x47700000U;
constexpr std::uint32_t k65536 = 0x47800000U;

constexpr Conversion with_range(Conversion how, const RangeCode& range) {
  how.before.range = range;
  return how;
}

constexpr Conversion at_least(Conversion how, std::uint32_t least) {
  how.before.least_input = least;
  return how;
}

constexpr Conversion onnx_power_nosat() {
  Conversion how = power(Rounding::magnitude_up, Overflow::nan, PowerSigns::nan);
  how.before.tiny_is_nan = true;
  return how;
}

constexpr Target kOrtSat[] = {
    {&kE4m3fn, nearest(Overflow::saturate, 0x7F, 0xFF)},
    {&kE5m2, nearest(Overflow::saturate, 0x7F, 0xFF)},
    {&kE4m3fnuz, nearest(Overflow::saturate, 0x80)},
    {&kE5m2fnuz, nearest(Overflow::saturate, 0x80)},
};
constexpr Target kOrtPowerSat[] = {{&kE8m0, at_least(power(Rounding::magnitude_up, Overflow::saturate, PowerSigns::abs), 0)}};
constexpr Target kOrtNosat[] = {{&kE4m3fn, with_range(nearest(Overflow::nan, 0x7F, 0xFF), {k480, k496, 0x7E})},
                                {&kE5m2, with_range(nearest(Overflow::inf, 0x7F, 0xFF), {k61440, k65536, 0x7F})}};
constexpr Target kOrtNosatFromBf16[] = {{&kE4m3fn, with_range(nearest(Overflow::nan, 0x7F), {k480, k496, 0x7E})},
                                        {&kE5m2, with_range(nearest(Overflow::inf, 0x7F), {k61440, k65536, 0x7F})}};
constexpr Target kOrtPowerNosat[] = {{&kE8m0, onnx_power_nosat()}};
constexpr auto kOrtSatRows = joined(rows_of(kF32AndFp16, kOrtSat), rows_of(kFromF32, kOrtPowerSat));
constexpr auto kOrtNosatRows = joined(rows_of(kF32AndFp16, kOrtNosat), rows_of(kFromBf16, kOrtNosatFromBf16), rows_of(kFromF32, kOrtPowerNosat));

// OpenVINO: fp32 becomes fp16 first. E8M0's ties go to the even byte, and what is negative is code 0. FakeConvert saturates, and a NaN is the largest
// negative number.
constexpr Conversion through_fp16(Conversion how) {
  how.before.through = &kFp16;
  return how;
}
constexpr Conversion openvino_power() {
  Conversion how = at_least(power(Rounding::nearest_even_code, Overflow::saturate, PowerSigns::abs), 0);
  how.nan_negative = 0x00;
  return how;
}
constexpr Target kOpenvinoSmall[] = {{&kE2m1, nearest(Overflow::saturate, 0x7, 0xF)}, {&kE8m0, openvino_power()}};
constexpr Target kOpenvinoE4m3[] = {{&kE4m3fn, nearest(Overflow::nan, 0x7F, 0xFF)}};
constexpr Target kOpenvinoE4m3OfF32[] = {{&kE4m3fn, through_fp16(nearest(Overflow::nan, 0x7F, 0xFF))}};
constexpr Target kOpenvinoE5m2OfF32[] = {{&kE5m2, through_fp16(nearest(Overflow::inf, 0x7E, 0xFE))}};
constexpr auto kOpenvinoRows = joined(rows_of(kF32AndFp16, kOpenvinoSmall), rows_of(kFromF32, kOpenvinoE4m3OfF32),
                                      rows_of(kFromF32, kOpenvinoE5m2OfF32), rows_of(kFromFp16, kOpenvinoE4m3));
constexpr Target kFakeConvert[] = {{&kE4m3fn, through_fp16(nearest(Overflow::saturate, 0xFE))},
                                   {&kE5m2, through_fp16(nearest(Overflow::saturate, 0xFB))}};
constexpr auto kFakeConvertRows = rows_of(kFromF32, kFakeConvert);

// IREE: what rounds up from below the least normal number to it is a zero; E8M0 is the exponent field.
constexpr Conversion without_least(Conversion how, std::uint32_t from, std::uint32_t to) { return with_range(how, {from, to, 0x00}); }
constexpr Target kIreeTargets[] = {
    {&kE2m1, without_least(nearest(Overflow::saturate, 0x0), 0x3F400000U, 0x3F800000U)},  // from 0.75 to 1
    {&kE4m3fn, without_least(nearest(Overflow::nan, 0x7F), 0x3C700000U, 0x3C800000U)},    // to 2^-6
    {&kE5m2, without_least(nearest(Overflow::inf, 0x7F), 0x38600000U, 0x38800000U)},      // to 2^-14
    {&kE4m3fnuz, without_least(nearest(Overflow::nan, 0x80), 0x3BF00000U, 0x3C000000U)},  // to 2^-7
    {&kE5m2fnuz, without_least(nearest(Overflow::nan, 0x80), 0x37E00000U, 0x38000000U)},  // to 2^-15
    {&kE8m0, power(Rounding::toward_zero, Overflow::nan, PowerSigns::abs)},
};
// On the way back e4m3fn's negative NaN is -480, and e8m0's least number 0.
constexpr const Format* kFromE2m1[] = {&kE2m1};
constexpr const Format* kFromE4m3fn[] = {&kE4m3fn};
constexpr const Format* kFromE5m2AndFnuz[] = {&kE5m2, &kE4m3fnuz, &kE5m2fnuz};
constexpr const Format* kFromE8m0[] = {&kE8m0};
constexpr Target kIreeBack[] = {{&kF32, nearest(Overflow::inf, 0x7FC00000U)}};
constexpr Target kIreeBackOfE4m3fn[] = {{&kF32, nearest(Overflow::inf, 0x7FC00000U, 0xC3F00000U)}};
constexpr Target kIreeBackOfE8m0[] = {{&kF32, without_least(nearest(Overflow::inf, 0xFFFFFFFFU), 0x00400000U, 0x00800000U)}};
constexpr auto kIreeRows = joined(rows_of(kFromF32, kIreeTargets), rows_of(kFromE2m1, kIreeBack), rows_of(kFromE5m2AndFnuz, kIreeBack),
                                  rows_of(kFromE4m3fn, kIreeBackOfE4m3fn), rows_of(kFromE8m0, kIreeBackOfE8m0));

// Triton's interpreter moves bits; fp32 to fp16 and back is numpy's cast.
constexpr Conversion moves_bits(Rounding rounding) { return {rounding, Overflow::saturate, NanRule::fixed, 0, 0, 0, false}; }
constexpr Target kInterpreterFp8[] = {{&kE4m3fn, moves_bits(Rounding::interpreter_nearest)}, {&kE5m2, moves_bits(Rounding::interpreter_nearest)}};
constexpr Target kInterpreterBf16[] = {{&kBf16, moves_bits(Rounding::interpreter_cut)}};
constexpr const Format* kFromFp8[] = {&kE4m3fn, &kE5m2};
constexpr const Format* kFromFp8AndBf16[] = {&kE4m3fn, &kE5m2, &kBf16};
constexpr Target kInterpreterF32[] = {{&kF32, moves_bits(Rounding::interpreter_nearest)}};
constexpr Target kInterpreterF32OfFp16[] = {{&kF32, with_payload(NanRule::keep_payload)}};
constexpr Target kInterpreterFp16[] = {{&kFp16, moves_bits(Rounding::interpreter_nearest)}};
constexpr auto kInterpreterRows =
    joined(rows_of(kWide, kInterpreterFp8), rows_of(kFromF32, kInterpreterBf16), rows_of(kFromF32, kNumpyTargets),
           rows_of(kFromFp8, kInterpreterFp16), rows_of(kFromFp8AndBf16, kInterpreterF32), rows_of(kFromFp16, kInterpreterF32OfFp16));

// VHDL's float_pkg: RESIZE.
constexpr const Format* kFp16AndBf16[] = {&kFp16, &kBf16};
constexpr Target kFloatPkgSmall[] = {{&kE4m3Ieee, moves_bits(Rounding::float_pkg_nearest)},
                                     {&kE3m4, moves_bits(Rounding::float_pkg_nearest)},
                                     {&kE5m2, moves_bits(Rounding::float_pkg_nearest)}};
constexpr Target kFloatPkgHalves[] = {{&kFp16, moves_bits(Rounding::float_pkg_nearest)}, {&kBf16, moves_bits(Rounding::float_pkg_nearest)}};
constexpr Target kFloatPkgBf16[] = {{&kBf16, moves_bits(Rounding::float_pkg_nearest)}};
constexpr auto kFloatPkgRows = joined(rows_of(kFromF32, kFloatPkgHalves), rows_of(kFromF32, kFloatPkgSmall), rows_of(kFp16AndBf16, kFloatPkgSmall),
                                      rows_of(kFromFp16, kFloatPkgBf16));

// Paddle on a CPU saturates from the number on that would follow the largest one; what lies below it and rounds up is the code behind the largest.
constexpr std::uint32_t kAbove464 = 0x43E80001U;
constexpr Target kPaddleTargets[] = {{&kE4m3fn, with_range(nearest(Overflow::saturate, 0x7E, 0xFE), {kAbove464, k480, 0x7F})},
                                     {&kE5m2, with_range(nearest(Overflow::saturate, 0x7F, 0xFF), {k61440, k65536, 0x7C})}};
constexpr auto kPaddleRows = rows_of(kFromF32, kPaddleTargets);

// MLX: a NaN becomes the largest number.
constexpr Target kMlxTargets[] = {{&kE4m3fn, nearest(Overflow::saturate, 0x7E, 0xFE)}};
constexpr auto kMlxRows = rows_of(kFromF32, kMlxTargets);

// UE5M3 of two libraries: negatives are clamped to 0. A NaN of Quark's is one of eight codes, by its payload, which nothing records: it is refused.
constexpr std::uint32_t kSmallestNormalF32 = 0x00800000U;
constexpr Conversion quark_ue5m3() {
  Conversion how = at_least(nearest(Overflow::saturate, 0xFF), 0);
  how.nan_rule = NanRule::refused;
  return how;
}
constexpr Target kAutoRoundTargets[] = {{&kUe5m3, at_least(nearest(Overflow::saturate, 0xFF), 0)}};
constexpr Target kQuarkTargets[] = {{&kUe5m3, quark_ue5m3()}};
constexpr Target kQuarkPower[] = {{&kE8m0, at_least(power(Rounding::nearest_log2_even, Overflow::saturate, PowerSigns::abs), kSmallestNormalF32)}};
constexpr auto kAutoRoundRows = rows_of(kFromF32, kAutoRoundTargets);
constexpr auto kQuarkRows = rows_of(kFromF32, kQuarkTargets);
constexpr auto kQuarkPowerRows = rows_of(kFromF32, kQuarkPower);

constexpr std::string_view kMlDtypes = "ml_dtypes 0.6.0; recorded over all bf16 and fp16, all 2^32 fp32 by digest";
constexpr std::string_view kTorch = "torch 2.11.0 Tensor.to; recorded over all bf16 and fp16, e4m3fn and e4m3fnuz over all 2^32 fp32 by digest";
constexpr std::string_view kTorch213 =
    "torch 2.13.0 Tensor.to, torch/headeronly/util/Float8_e4m3fn.h; recorded over all bf16 and fp16, e4m3fn over all 2^32 fp32 by digest";
constexpr std::string_view kOrt = "onnxruntime 1.32.0 Cast, CPUExecutionProvider; recorded from fp32";
constexpr std::string_view kJax = "jax 0.10.2 and 0.11.2 convert_element_type under jit; recorded over all bf16 and fp16";
constexpr std::string_view kCudaFp8 = "CUDA 13.0 cuda_fp8.h, cuda_fp6.h, cuda_fp4.h; recorded over all bf16 and fp16, fp32 by digest";
constexpr std::string_view kCudaHalvesSource = "CUDA 13.0 cuda_bf16.h __float2bfloat16_*, cuda_fp16.h __float2half_*; recorded";
constexpr std::string_view kCudaHalvesDirected =
    "CUDA 13.0 cuda_bf16.h __float2bfloat16_*, cuda_fp16.h __float2half_*; IEEE 754 directed rounding by their documentation, not recorded";
constexpr std::string_view kCudaPower = "CUDA 13.0 cuda_fp8.h __nv_cvt_*_to_e8m0, integer software on sm_90; recorded over all bf16, fp32 by digest";
constexpr std::string_view kOpenvino =
    "openvino 2026.4.1 CPU plugin, Convert and FakeConvert; recorded. Not followed: payloads of NaNs, and two numbers each just below 2^-15, 2^-16 "
    "and "
    "2^-17, which without AVX512-FP16 become the next e5m2 code";
constexpr std::string_view kIree =
    "IREE 3.13.0 llvm-cpu, expansion of arith.truncf and arith.extf; recorded. The sign of e4m3fn's NaN of an overflow is not followed";
constexpr std::string_view kInterpreter = "triton 3.9.0 runtime/interpreter.py _convert_float, cast_impl; recorded";
constexpr std::string_view kFloatPkg =
    "IEEE 1076-2008 float_generic_pkg, revision 1220, RESIZE under GHDL 2.0.0; recorded. Where it ends the simulation there is no code";
constexpr std::string_view kGfloat = "gfloat 0.5.2 encode_float(round_float(..., sat=True)); recorded for some formats";
constexpr std::string_view kGfloatUnrecorded = "gfloat 0.5.2 round.py, sat=True; its documentation, not recorded";
constexpr std::string_view kHip =
    "ROCm clr f9f995c amd_hip_fp8.h, software path; recorded. Below 2^-48 its shifts are undefined in C++ and are not followed";
constexpr std::string_view kHipStochasticSource =
    "ROCm clr f9f995c amd_hip_fp8.h, software path; recorded for e4m3fnuz, by its source for the other formats";

constexpr Profile cast(std::string_view name, std::string_view implementation, std::string_view operation, std::string_view device,
                       std::string_view build, std::string_view source, std::span<const ConversionRow> rows, const Releases& releases = {}) {
  return {name, implementation, operation, device, build, source, rows, {}, {}, releases};
}

constexpr Releases from_to(std::string_view since, std::string_view until) { return {since, until, {}}; }
constexpr Releases only(std::string_view release) { return from_to(release, release); }
constexpr Releases kHipCommit{{}, {}, "f9f995c"};
constexpr Releases kSince213{
    "2.13", "2.13", {}, {}, "e4m3fn saturates: finite values above 464 and Inf give 448, where 2.11 gave a NaN; 2.12 was not run"};

constexpr std::array kProfiles{
    cast("ml_dtypes", "ml_dtypes", "astype", "cpu", "default", kMlDtypes, kMlDtypesRows, only("0.6")),
    cast("numpy", "numpy", "astype", "cpu", "default", "numpy 2.5.2; recorded", kNumpyRows, only("2.5.2")),
    cast("torch-cpu@2.11", "torch", "to", "cpu", "default", kTorch, kTorchCpuRows, only("2.11")),
    cast("torch-cpu@2.13", "torch", "to", "cpu", "default-2.13", kTorch213, kTorchCpu213Rows, kSince213),
    cast("torch-cuda", "torch", "to", "h200", "default", kTorch, kTorchCudaRows, only("2.11")),
    cast("jax-cpu", "jax", "convert_element_type", "cpu", "xla-jit", kJax, kJaxCpuAllRows, from_to("0.10.2", "0.12.0.1")),
    cast("jax-cuda", "jax", "convert_element_type", "h200", "xla-jit", kJax, kJaxCudaRows, only("0.11.2")),
    cast("triton", "triton", "to", "h200", "triton-kernel", "triton 3.6.0; recorded over all bf16 and fp16", kSatfiniteFp8Rows, only("3.6")),
    cast("cuda-satfinite", "cuda_header", "__NV_SATFINITE", "h200", "header-intrinsics", kCudaFp8, kCudaSatfiniteRows, only("13.0")),
    cast("cuda-nosat", "cuda_header", "__NV_NOSAT", "h200", "header-intrinsics", kCudaFp8, kCudaNosatRows, only("13.0")),
    cast("cuda-rn", "cuda_header", "rn", "h200", "header-intrinsics", kCudaHalvesSource, kHalvesRn, only("13.0")),
    cast("cuda-rz", "cuda_header", "rz", "h200", "header-intrinsics", kCudaHalvesSource, kHalvesRz, only("13.0")),
    cast("cuda-ru", "cuda_header", "ru", "h200", "header-intrinsics", kCudaHalvesDirected, kHalvesRu, only("13.0")),
    cast("cuda-rd", "cuda_header", "rd", "h200", "header-intrinsics", kCudaHalvesDirected, kHalvesRd, only("13.0")),
    cast("cuda-e8m0-rz", "cuda_header", "cudaRoundZero, __NV_NOSAT", "h200", "header-intrinsics", kCudaPower, kCudaPowerRz, only("13.0")),
    cast("cuda-e8m0-rz-satfinite", "cuda_header", "cudaRoundZero, __NV_SATFINITE", "h200", "header-intrinsics", kCudaPower, kCudaPowerRzSat,
         only("13.0")),
    cast("cuda-e8m0-rp", "cuda_header", "cudaRoundPosInf, __NV_NOSAT", "h200", "header-intrinsics", kCudaPower, kCudaPowerRp, only("13.0")),
    cast("cuda-e8m0-rp-satfinite", "cuda_header", "cudaRoundPosInf, __NV_SATFINITE", "h200", "header-intrinsics", kCudaPower, kCudaPowerRpSat,
         only("13.0")),
    cast("ptx-satfinite", "nvidia_ptx", "cvt.rn.satfinite", "h200", "inline-ptx",
         "PTX ISA cvt, run on sm_90; recorded over all bf16 and fp16, e4m3fn over all 2^32 fp32 by digest", kSatfiniteFp8Rows),
    cast("ptx-rn", "nvidia_ptx", "cvt.rn", "h200", "inline-ptx", "PTX ISA cvt: a NaN becomes the canonical 0x7FFF; not recorded", kHalvesRn),
    cast("gfloat-ties-to-even", "gfloat", "TiesToEven", "cpu", "default", kGfloatUnrecorded, kGfloatEven, only("0.5.2")),
    cast("gfloat-ties-to-away", "gfloat", "TiesToAway", "cpu", "default", kGfloat, kGfloatAway, only("0.5.2")),
    cast("gfloat-toward-zero", "gfloat", "TowardZero", "cpu", "default", kGfloat, kGfloatZero, only("0.5.2")),
    cast("gfloat-toward-positive", "gfloat", "TowardPositive", "cpu", "default", kGfloat, kGfloatUp, only("0.5.2")),
    cast("gfloat-toward-negative", "gfloat", "TowardNegative", "cpu", "default", kGfloat, kGfloatDown, only("0.5.2")),
    cast("gfloat-stochastic", "gfloat", "Stochastic, 8 bits", "cpu", "default", kGfloatUnrecorded, kGfloatStochastic, only("0.5.2")),
    cast("gfloat-stochastic-fast", "gfloat", "StochasticFast, 8 bits", "cpu", "default", kGfloatUnrecorded, kGfloatFast, only("0.5.2")),
    cast("gfloat-stochastic-fastest", "gfloat", "StochasticFastest, 8 bits", "cpu", "default", kGfloat, kGfloatFastest, only("0.5.2")),
    cast("hip-sat", "hip_header", "__HIP_SATFINITE", "cpu", "software-path", kHip, kHipSatRows, kHipCommit),
    cast("hip-nosat", "hip_header", "__HIP_NOSAT", "cpu", "software-path", kHip, kHipNosatRows, kHipCommit),
    cast("hip-stochastic", "hip_header", "__HIP_SATFINITE, stochastic", "cpu", "software-path", kHipStochasticSource, kHipStochasticRows, kHipCommit),
    cast("onnxruntime", "onnxruntime", "Cast, saturate 1", "cpu", "cpu-provider", kOrt, kOrtSatRows, only("1.32")),
    cast("onnxruntime-nosat", "onnxruntime", "Cast, saturate 0", "cpu", "cpu-provider", kOrt, kOrtNosatRows, only("1.32")),
    cast("openvino", "openvino", "Convert", "cpu", "avx512", kOpenvino, kOpenvinoRows, only("2026.4.1")),
    cast("openvino-fakeconvert", "openvino", "FakeConvert", "cpu", "fakeconvert", kOpenvino, kFakeConvertRows, only("2026.4.1")),
    cast("iree-llvm-cpu", "iree", "arith.truncf", "cpu", "llvm-cpu", kIree, kIreeRows, only("3.13")),
    cast("triton-interpreter", "triton", "interpreter", "cpu", "interpreter", kInterpreter, kInterpreterRows, from_to("3.6", "3.9")),
    cast("vhdl-float-pkg", "vhdl", "RESIZE", "cpu", "ghdl", kFloatPkg, kFloatPkgRows),
    cast("paddle-cpu", "paddle", "astype", "cpu", "paddle-cpu", "paddlepaddle 3.3.1 phi/common/float8_e4m3fn.h, float8_e5m2.h; recorded", kPaddleRows,
         only("3.3.1")),
    cast("mlx-cpu", "mlx", "to_fp8", "cpu", "mlx-cpu", "mlx 0.32.4 to_fp8; recorded", kMlxRows, only("0.32.4")),
    cast("auto-round-ue5m3", "auto_round", "float_to_e5m3_frexp", "cpu", "torch-reference",
         "auto-round 0.16.1 data_type/nvfp.py float_to_e5m3_frexp; recorded", kAutoRoundRows, only("0.16.1")),
    cast("quark-ue5m3", "quark", "reference_convert_fp32_to_e5m3_bits", "cpu", "torch-reference",
         "amd-quark 0.13 kernel/float8_e5m3/reference.py; recorded", kQuarkRows, only("0.13")),
    cast("quark-e8m0", "quark", "to_e8m0_uint8", "cpu", "torch-reference", "amd-quark 0.13 utils/numerics.py to_e8m0_uint8; recorded",
         kQuarkPowerRows, only("0.13")),
};

}  // namespace

std::span<const Profile> conversion_profiles() { return kProfiles; }

}  // namespace mx
