// E8M0 block scales of Python libraries, as their releases have them. Grounds: the sources named in the rows, run on a CPU; the recorded outputs of
// golden/witness/numerics-peers.

#include <array>

#include "model/numerics/profile_tables.hpp"

namespace mx {
namespace {

constexpr std::uint32_t kSmallestNormal = 0x00800000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kNan = 0x7FC00000U;
constexpr std::uint32_t kOne = 0x3F800000U;
constexpr std::uint32_t kTwo = 0x40000000U;
constexpr std::uint32_t kF32Epsilon = 0x34000000U;
constexpr std::uint32_t kByteOfOne = 0x7FU;

constexpr Conversion saturating(Rounding rounding, std::uint32_t nan_positive, std::uint32_t nan_negative) {
  return {rounding, Overflow::saturate, NanRule::fixed, nan_positive, nan_negative, 0, false};
}

constexpr Recipe row(const BlockFormat& format, const MxRecipe& how, std::string_view source) { return {&format, how, source}; }

/// fp32 division by 2^(byte - 127); a NaN keeps its own sign, and 0 / 0 and Inf / Inf are x86's negative one.
constexpr ElementStep divided(const Conversion& element) {
  ElementStep step = plain_step(element);
  step.operation = ElementOperation::divide;
  step.nan_sign = NanSign::element_first;
  return step;
}

// --- torchao 0.18. The exponent field of an Inf counts as 255, also where EVEN rounds past the largest number. FLOOR, CEIL and EVEN divide, byte 0
// standing for 2^-126; RCEIL multiplies, byte 0 standing for 1, and the factor's NaN, which is positive, wins. The fp6 and fp4 casts keep a NaN's
// sign and make a number of it.

constexpr std::string_view kTorchaoSource = "torchao 0.18.0 prototype/mx_formats/mx_tensor.py to_mx, _to_mx_rceil";
constexpr Sources kTorchaoSources{true, true, false};

/// An element format with what the casts make of a NaN.
struct TorchaoElement {
  const BlockFormat* format;
  std::uint32_t emax;
  std::uint32_t nan_positive;
  std::uint32_t nan_negative;
};
constexpr std::array<TorchaoElement, 5> kTorchaoElements{{
    {&kMxfp8E4m3, 8, 0x7F, 0xFF},
    {&kMxfp8E5m2, 15, 0x7F, 0xFF},
    {&kMxfp6E2m3, 2, 0x0C, 0x2C},
    {&kMxfp6E3m2, 4, 0x0E, 0x2E},
    {&kMxfp4, 2, 0x3, 0xB},
}};

constexpr MxRecipe torchao_by_exponent(ScaleRule rule, const TorchaoElement& element) {
  MxScale scale = plain_scale(rule);
  scale.infinite_code = 255 - element.emax;
  ScaleFactor factor = kPlainFactor;
  factor.at_0 = kSmallestNormal;
  factor.at_255 = kInfinity;
  const Conversion cast = saturating(Rounding::nearest_even, element.nan_positive, element.nan_negative);
  return {scale, MxElements{divided(cast), factor, std::nullopt}, kTorchaoSources};
}

constexpr MxRecipe torchao_by_logarithm(ScaleRule rule, const TorchaoElement& element) {
  MxScale scale = plain_scale(rule);
  scale.infinite_code = 0xFE;
  ElementStep step = divided(saturating(Rounding::nearest_even, element.nan_positive, element.nan_negative));
  step.operation = ElementOperation::multiply;
  step.nan_sign = NanSign::factor_first;
  ScaleFactor factor = kPlainFactor;
  factor.at_0 = kOne;
  return {scale, MxElements{step, factor, std::nullopt}, kTorchaoSources};
}

constexpr std::array<Recipe, 5> torchao_rows(ScaleRule rule, MxRecipe (*how)(ScaleRule, const TorchaoElement&)) {
  std::array<Recipe, 5> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = row(*kTorchaoElements[i].format, how(rule, kTorchaoElements[i]), kTorchaoSource);
  return rows;
}
constexpr auto kTorchaoFloor = torchao_rows(ScaleRule::floor, torchao_by_exponent);
constexpr auto kTorchaoCeil = torchao_rows(ScaleRule::ceil, torchao_by_exponent);
constexpr auto kTorchaoRceil = torchao_rows(ScaleRule::rceil_log2, torchao_by_logarithm);
constexpr auto kTorchaoEven = torchao_rows(ScaleRule::even, torchao_by_exponent);

// --- compressed-tensors: amax is rounded in its own type, to one mantissa bit for fp4 and for fp8 too. The scale is held in that type: one that is 0
// there becomes 1, and so does the byte of one that is Inf, whose divisor makes zeros of every element. Quotients are rounded to the type.

constexpr std::string_view kCompressedSource = "compressed-tensors 0.20.0 quantization/utils/mxfp_utils.py, lifecycle/forward.py quantize";

constexpr MxRecipe compressed_tensors(int mantissa_bits, std::uint32_t nan_positive, std::uint32_t nan_negative) {
  MxScale scale = plain_scale(ScaleRule::even_source_width);
  scale.mantissa_bits = mantissa_bits;
  scale.nan_code = kByteOfOne;
  scale.infinite_code = kByteOfOne;
  scale.lost_code = kByteOfOne;
  ElementStep step = divided(saturating(Rounding::nearest_even, nan_positive, nan_negative));
  step.in_source_type = true;
  step.zero_sign = ZeroSign::lost_before_rounding;
  ScaleFactor factor = kPlainFactor;
  factor.in_source_type = true;
  factor.at_nan_amax = kInfinity;
  factor.at_infinite_amax = kInfinity;
  return {scale, MxElements{step, factor, std::nullopt}, kAnySource};
}
constexpr std::array<Recipe, 3> kCompressed{{
    row(kMxfp4, compressed_tensors(1, 0x0, 0x0), kCompressedSource),
    row(kMxfp6E2m3, compressed_tensors(3, 0x1F, 0x1F), kCompressedSource),
    row(kMxfp8E4m3, compressed_tensors(1, 0x7F, 0xFF), kCompressedSource),
}};

// --- ModelOpt: ceil of log2(amax / max), both rounded to fp32. MXFP4 divides; every tie goes toward zero and a quotient of 0 is code 8, which is
// also what every element of a block with a NaN or an Inf becomes. MXFP8 multiplies.

constexpr std::string_view kModeloptFp4Source = "modelopt 0.47.0 torch/quantization/qtensor/mxfp4_tensor.py MXFP4QTensor.quantize";
constexpr std::string_view kModeloptFp8Source = "modelopt 0.47.0 torch/quantization/qtensor/mxfp8_tensor.py MXFP8QTensor.quantize";

constexpr MxRecipe modelopt_fp4() {
  MxScale scale = plain_scale(ScaleRule::rceil_log2);
  scale.nan_code = 0x00;
  scale.infinite_code = 0x00;
  ElementStep step = divided(saturating(Rounding::nearest_toward_zero, 0x8, 0x8));
  step.zero_sign = ZeroSign::negative_before_rounding;
  ScaleFactor factor = kPlainFactor;
  factor.at_nan_amax = kNan;
  factor.at_infinite_amax = kInfinity;
  return {scale, MxElements{step, factor, std::nullopt}, kAnySource};
}

constexpr MxRecipe modelopt_fp8() {
  MxScale scale = plain_scale(ScaleRule::rceil_log2);
  scale.nan_code = 0x00;
  scale.infinite_code = 0xFE;
  ElementStep step = divided(saturating(Rounding::nearest_even, 0x7F, 0xFF));
  step.operation = ElementOperation::multiply;
  return {scale, MxElements{step, kPlainFactor, std::nullopt}, kAnySource};
}
constexpr std::array<Recipe, 2> kModelopt{{row(kMxfp4, modelopt_fp4(), kModeloptFp4Source), row(kMxfp8E4m3, modelopt_fp8(), kModeloptFp8Source)}};

// --- NNCF without OpenVINO's own path: ceil of log2(max(amax / max, 2^-23)); elements go by OpenVINO's casts, FP8 through fp16.

constexpr std::string_view kNncfSource =
    "nncf 3.4.0 quantization/algorithms/weight_compression/weight_lowering.py do_float_quantization, NNCF_DISABLE_OPTIMIZED_COMPRESSION; recorded";

constexpr MxRecipe nncf(const Conversion& element, std::uint32_t least_amax) {
  MxScale scale = plain_scale(ScaleRule::rceil_log2);
  scale.least_amax = least_amax;
  scale.infinite_code = 0xFE;
  return {scale, MxElements{divided(element), kPlainFactor, std::nullopt}, kAnySource};
}
constexpr Conversion nncf_fp8() {
  Conversion how{Rounding::nearest_even, Overflow::nan, NanRule::fixed, 0x7F, 0xFF, 0, false};
  how.before.through = &kFp16;
  return how;
}
constexpr std::uint32_t kSixTimesEpsilon = 0x35400000U;
constexpr std::uint32_t k448TimesEpsilon = 0x38600000U;
constexpr std::array<Recipe, 2> kNncf{{
    row(kMxfp4, nncf(saturating(Rounding::nearest_even, 0x7, 0xF), kSixTimesEpsilon), kNncfSource),
    row(kMxfp8E4m3, nncf(nncf_fp8(), k448TimesEpsilon), kNncfSource),
}};

// --- flashinfer's reference for its kernels: floor of log2(amax / max), one below what they do.

constexpr std::string_view kFlashinferSource =
    "flashinfer-python 0.7.2.post1 trace/templates/quantize.py _mxfp4_quantize_reference, _mxfp8_quantize_reference";

constexpr MxRecipe flashinfer_reference(const Conversion& element) {
  MxScale scale = plain_scale(ScaleRule::floor_log2_quotient);
  scale.zero_code = kByteOfOne;
  scale.nan_code = kByteOfOne;
  scale.infinite_code = 0x00;
  return {scale, MxElements{divided(element), kPlainFactor, std::nullopt}, kAnySource};
}
constexpr std::array<Recipe, 2> kFlashinfer{{
    row(kMxfp4, flashinfer_reference(saturating(Rounding::first_least_distance, 0x0, 0x0)), kFlashinferSource),
    row(kMxfp8E4m3, flashinfer_reference(saturating(Rounding::nearest_even, 0x7F, 0xFF)), kFlashinferSource),
}};

// --- MLX on a CPU: quotients and powers of two in the source's type, the logarithm exact. The byte of a power below 2^-127 wraps. What an Inf or a
// NaN gives depends on the processor; this is what x86-64 gives for halves.

constexpr std::string_view kMlxSource = "mlx 0.32.4 mlx/backend/cpu/quantized.cpp fp_quantize";

constexpr MxRecipe mlx(const Conversion& element) {
  MxScale scale = plain_scale(ScaleRule::ceil_exact);
  scale.in_source_type = true;
  scale.below = BelowBytes::wraps;
  scale.zero_code = kByteOfOne;
  scale.nan_code = 0x00;
  scale.infinite_code = 0x00;
  ElementStep step = divided(element);
  step.in_source_type = true;
  ScaleFactor factor = kPlainFactor;
  factor.in_source_type = true;
  factor.at_nan_amax = 0;
  factor.at_infinite_amax = 0;
  return {scale, MxElements{step, factor, std::nullopt}, kAnySource};
}
constexpr std::array<Recipe, 2> kMlx{{
    row(kMxfp4, mlx(saturating(Rounding::first_least_distance_signed, 0x0, 0x0)), kMlxSource),
    row(kMxfp8E4m3, mlx(saturating(Rounding::nearest_even, 0x7E, 0xFE)), kMlxSource),
}};

// --- The Python port of ggml: floor(log2 amax) by an fp32 logarithm, its byte modulo 256. Every zero is code 0, and ties go toward zero; a NaN or an
// Inf makes zeros of its block. Distances are those of products with the scale, which fp32 must hold.

constexpr std::string_view kGgufSource = "gguf 0.19.0 gguf/quants.py MXFP4.quantize_blocks";

constexpr MxRecipe ggml() {
  MxScale scale = plain_scale(ScaleRule::floor_log2_ggml);
  scale.below = BelowBytes::wraps_alone;
  scale.nan_code = 0x00;
  scale.infinite_code = 0x00;
  ElementStep step = divided(saturating(Rounding::nearest_toward_zero, 0x0, 0x0));
  step.zero_sign = ZeroSign::lost;
  ScaleFactor factor = kPlainFactor;
  factor.at_255 = kInfinity;
  factor.at_nan_amax = kNan;
  factor.at_infinite_amax = kNan;
  return {scale, MxElements{step, factor, std::nullopt, true}, Sources{true, false, false}};
}
constexpr std::array<Recipe, 1> kGguf{{row(kMxfp4, ggml(), kGgufSource)}};

// --- auto-round: microxcaling's steps, but a block of zeros has the byte of an amax of 2.

constexpr std::string_view kAutoRoundSource = "auto-round 0.16.1 data_type/mxfp.py quant_mx";

constexpr MxRecipe auto_round(std::uint32_t nan) {
  MxScale scale = plain_scale(ScaleRule::floor_log2);
  scale.zero_amax = kTwo;
  scale.overflow_code = 0xFF;
  ElementStep step = plain_step(saturating(Rounding::nearest_even, nan, nan));
  step.operation = ElementOperation::divide;
  step.zero_sign = ZeroSign::lost_before_rounding;
  step.half_is_added = true;
  return {scale, MxElements{step, kPlainFactor, std::nullopt}, kAnySource};
}
constexpr std::array<Recipe, 5> kAutoRound{{
    row(kMxfp8E4m3, auto_round(0x7F), kAutoRoundSource),
    row(kMxfp8E5m2, auto_round(0x7F), kAutoRoundSource),
    row(kMxfp6E2m3, auto_round(0x1F), kAutoRoundSource),
    row(kMxfp6E3m2, auto_round(0x1F), kAutoRoundSource),
    row(kMxfp4, auto_round(0x07), kAutoRoundSource),
}};

// --- AMD Quark's emulation: the scale is an fp32 power of two, not a byte. `even` ends at 2^127, also where amax rounds past the largest number;
// floor and ceil hold logarithm and power in the source's type and end nowhere, a power of 0 becoming fp32's epsilon.

constexpr std::string_view kQuarkSource = "amd-quark 0.13 kernel/hw_emulation/hw_emulation_interface.py fake_quantize_mx";
constexpr std::string_view kQuarkEvenSource = "amd-quark 0.13 quantization/utils.py even_round";

constexpr MxScale quark_even_scale() {
  MxScale scale = plain_scale(ScaleRule::even_quark);
  scale.zero_amax = kSmallestNormal;
  scale.infinite_code = 0xFE;
  return scale;
}

constexpr MxScale quark_log2_scale(ScaleRule rule) {
  MxScale scale = plain_scale(rule);
  scale.in_source_type = true;
  scale.lost_power = kF32Epsilon;
  return scale;
}

constexpr Sources kQuarkSources{true, true, false};

constexpr std::array<Recipe, 3> quark_rows(const MxScale& scale) {
  const auto how = [&](const Conversion& element, ZeroSign zeros) {
    ElementStep step = divided(element);
    step.zero_sign = zeros;
    return MxRecipe{scale, MxElements{step, kPlainFactor, std::nullopt}, kQuarkSources};
  };
  return {{
      row(kFp4Group32, how(saturating(Rounding::nearest_even, 0x7, 0xF), ZeroSign::lost), kQuarkSource),
      row(kFp6Group32, how(saturating(Rounding::nearest_even, 0x1F, 0x3F), ZeroSign::lost), kQuarkSource),
      row(kFp8Group32, how(saturating(Rounding::nearest_even, 0x7F, 0xFF), ZeroSign::kept), kQuarkSource),
  }};
}
constexpr auto kQuarkEven = quark_rows(quark_even_scale());
constexpr auto kQuarkFloor = quark_rows(quark_log2_scale(ScaleRule::floor_log2_unclamped));
constexpr auto kQuarkCeil = quark_rows(quark_log2_scale(ScaleRule::ceil_log2_unclamped));

constexpr Recipe quark_scale(const BlockFormat& format) { return row(format, {quark_even_scale(), std::nullopt, kAnySource}, kQuarkEvenSource); }
constexpr std::array<Recipe, 5> kQuarkEvenRound{
    {quark_scale(kMxfp8E4m3), quark_scale(kMxfp8E5m2), quark_scale(kMxfp6E2m3), quark_scale(kMxfp6E3m2), quark_scale(kMxfp4)}};

// Code times scale in fp32, rounded to the tensor's type.
constexpr std::string_view kQuarkFp6F32Source = "amd-quark 0.13 kernel/hw_emulation fake_quantize_mx: same code, not recorded";
constexpr Dequantizer quark_back(const BlockFormat& format, const Format& target, std::string_view source) {
  return {&format, &target, ScaleReading::value, &kF32, ProductRange::infinite, false, TensorUse::none, source};
}
constexpr std::array<Dequantizer, 6> kQuarkBack{{
    quark_back(kFp4Group32, kF32, kQuarkSource),
    quark_back(kFp4Group32, kBf16, kQuarkSource),
    quark_back(kFp6Group32, kF32, kQuarkFp6F32Source),
    quark_back(kFp6Group32, kBf16, kQuarkSource),
    quark_back(kFp8Group32, kF32, kQuarkSource),
    quark_back(kFp8Group32, kBf16, kQuarkSource),
}};

// --- Back: byte 255 is 2^128, in fp32 an Inf, so that code 0 becomes a NaN and the others infinities; in types that hold scales themselves, too.

constexpr Dequantizer power(const BlockFormat& format, const Format& target, const Format* arithmetic, std::string_view source) {
  return {&format, &target, ScaleReading::power, arithmetic, ProductRange::infinite, false, TensorUse::none, source};
}

constexpr std::string_view kModeloptBackSource = "modelopt 0.47.0 torch/quantization/qtensor MXFP4QTensor.dequantize, MXFP8QTensor.dequantize";
constexpr std::string_view kModeloptBackFp16Source = "modelopt 0.47.0 torch/quantization/qtensor MXFP8QTensor.dequantize: same code, not recorded";
constexpr std::array<Dequantizer, 6> kModeloptBack{{
    power(kMxfp4, kF32, &kF32, kModeloptBackSource),
    power(kMxfp4, kBf16, &kF32, kModeloptBackSource),
    power(kMxfp4, kFp16, &kF32, kModeloptBackSource),
    power(kMxfp8E4m3, kF32, &kF32, kModeloptBackSource),
    power(kMxfp8E4m3, kBf16, &kF32, kModeloptBackSource),
    power(kMxfp8E4m3, kFp16, &kF32, kModeloptBackFp16Source),
}};

constexpr std::string_view kMlxBackSource = "mlx 0.32.4 mlx/backend/cpu/quantized.cpp fp_dequantize";
constexpr std::string_view kMlxOtherBackSource = "mlx 0.32.4 mlx/backend/cpu/quantized.cpp fp_dequantize: same code, not recorded";
constexpr std::array<Dequantizer, 6> kMlxBack{{
    power(kMxfp4, kF32, &kF32, kMlxOtherBackSource),
    power(kMxfp4, kBf16, &kBf16, kMlxBackSource),
    power(kMxfp4, kFp16, &kFp16, kMlxBackSource),
    power(kMxfp8E4m3, kF32, &kF32, kMlxOtherBackSource),
    power(kMxfp8E4m3, kBf16, &kBf16, kMlxBackSource),
    power(kMxfp8E4m3, kFp16, &kFp16, kMlxOtherBackSource),
}};

constexpr std::string_view kCompressedBackSource = "compressed-tensors 0.20.0 decompress_mx_scale, unpack_fp4_from_uint8, dequantize";
constexpr std::string_view kCompressedF32Source =
    "compressed-tensors 0.20.0 decompress_mx_scale, unpack_fp4_from_uint8, dequantize: same code, not recorded";
constexpr std::array<Dequantizer, 3> kCompressedBack{{power(kMxfp4, kF32, &kF32, kCompressedF32Source),
                                                      power(kMxfp4, kBf16, &kBf16, kCompressedBackSource),
                                                      power(kMxfp4, kFp16, &kFp16, kCompressedBackSource)}};

constexpr std::string_view kTransformersSource = "transformers 5.24.0 integrations/mxfp4.py convert_moe_packed_tensors";
constexpr std::array<Dequantizer, 2> kTransformersBack{
    {power(kMxfp4, kF32, nullptr, kTransformersSource), power(kMxfp4, kBf16, nullptr, kTransformersSource)}};

constexpr std::string_view kGgufBackSource = "gguf 0.19.0 gguf/quants.py MXFP4.dequantize_blocks: ggml's dequantize_row_mxfp4 (read, not run)";
constexpr Dequantizer ggml_back() {
  Dequantizer back = power(kMxfp4, kF32, nullptr, kGgufBackSource);
  back.drops_zero_sign = true;
  return back;
}
constexpr std::array<Dequantizer, 1> kGgufBack{{ggml_back()}};

constexpr Releases only(std::string_view release) { return {release, release, {}}; }
constexpr Releases kCompressed020{"0.20", "0.20.1", {}};
constexpr Releases kFlashinfer07{"0.7.2", "0.7.4", {}};

constexpr Releases kTorchao018{
    "0.18", "0.18", {}, {}, "older code than the commit's: logarithms in RCEIL, an Inf's exponent field is a number, byte 0 divides by 2^-126 or 1"};

constexpr Profile torchao(std::string_view name, std::string_view operation, std::span<const Recipe> recipes) {
  return {name, "torchao", operation, "cpu", "eager-0.18", kTorchaoSource, {}, recipes, {}, kTorchao018};
}

constexpr std::array<Profile, 16> kProfiles{{
    torchao("torchao-floor@0.18", "to_mx FLOOR", kTorchaoFloor),
    torchao("torchao-ceil@0.18", "to_mx CEIL", kTorchaoCeil),
    torchao("torchao-rceil@0.18", "to_mx RCEIL", kTorchaoRceil),
    torchao("torchao-even@0.18", "to_mx EVEN", kTorchaoEven),
    {"compressed-tensors-mx",
     "compressed_tensors",
     "mx",
     "cpu",
     "torch-reference",
     kCompressedSource,
     {},
     kCompressed,
     kCompressedBack,
     kCompressed020},
    {"modelopt-mx", "modelopt", "mx", "cpu", "torch-reference", kModeloptFp4Source, {}, kModelopt, kModeloptBack, only("0.47")},
    {"nncf-mx", "nncf", "mx", "cpu", "numpy", kNncfSource, {}, kNncf, {}, only("3.4")},
    {"flashinfer-reference-mx", "flashinfer", "mx reference", "cpu", "trace-reference", kFlashinferSource, {}, kFlashinfer, {}, kFlashinfer07},
    {"mlx-cpu-mx", "mlx", "mx", "cpu", "mlx-cpu", kMlxSource, {}, kMlx, kMlxBack, only("0.32.4")},
    {"gguf-mxfp4", "gguf", "MXFP4", "cpu", "numpy", kGgufSource, {}, kGguf, kGgufBack, only("0.19")},
    {"auto-round-mx", "auto_round", "quant_mx", "cpu", "torch-reference", kAutoRoundSource, {}, kAutoRound, {}, only("0.16.1")},
    {"quark-mx-even", "quark", "fake_quantize_mx even", "cpu", "torch-reference", kQuarkSource, {}, kQuarkEven, kQuarkBack, only("0.13")},
    {"quark-mx-floor", "quark", "fake_quantize_mx floor", "cpu", "torch-reference", kQuarkSource, {}, kQuarkFloor, kQuarkBack, only("0.13")},
    {"quark-mx-ceil", "quark", "fake_quantize_mx ceil", "cpu", "torch-reference", kQuarkSource, {}, kQuarkCeil, kQuarkBack, only("0.13")},
    {"quark-even-round", "quark", "even_round", "cpu", "torch-reference", kQuarkEvenSource, {}, kQuarkEvenRound, {}, only("0.13")},
    {"transformers-mxfp4",
     "transformers",
     "convert_moe_packed_tensors",
     "cpu",
     "torch-reference",
     kTransformersSource,
     {},
     {},
     kTransformersBack,
     only("5.24")},
}};

}  // namespace

std::span<const Profile> mx_library_profiles() { return kProfiles; }

}  // namespace mx
