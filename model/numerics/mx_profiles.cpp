// E8M0 block scales as implementations do them. Grounds: the numerics specification, section 3; the sources named in the rows; the recorded outputs
// of golden/witness/numerics/block32.

#include <array>

#include "model/numerics/profile_tables.hpp"

namespace mx {
namespace {

constexpr std::uint32_t kSmallestNormal = 0x00800000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kNan = 0x7FC00000U;
constexpr std::uint32_t kOne = 0x3F800000U;
constexpr std::uint32_t kZero = 0;

constexpr Conversion nearest(Overflow overflow, std::uint32_t nan_positive, std::uint32_t nan_negative) {
  return {Rounding::nearest_even, overflow, NanRule::fixed, nan_positive, nan_negative, 0, false};
}

constexpr Recipe row(const BlockFormat& format, const MxRecipe& how, std::string_view source) { return {&format, how, source}; }

// --- torchao: the byte from exponent fields, rceil from the product with RN(1/max); elements times the power of two in fp32. A NaN block's
// products are NaN: the casts to fp8 give 0x7F, the fp6 and fp4 casts end in a float -> uint8 conversion that C++ leaves open, as x86-64 does it.

constexpr std::string_view kTorchaoSource = "torchao 36027d8 prototype/mx_formats/mx_tensor.py to_mx, _to_mx_rceil";
constexpr Sources kTorchaoSources{true, true, false};

constexpr MxRecipe torchao(ScaleRule rule, std::uint32_t nan, std::uint32_t nan_block) {
  MxScale scale = plain_scale(rule);
  if (rule == ScaleRule::rceil) scale.quotient = AmaxQuotient::reciprocal;
  ElementStep step = plain_step(nearest(Overflow::saturate, nan, nan));
  step.operation = ElementOperation::multiply;
  return {scale, MxElements{step, kPlainFactor, nan_block}, kTorchaoSources};
}

constexpr std::array<Recipe, 5> torchao_rows(ScaleRule rule) {
  return {{
      row(kMxfp8E4m3, torchao(rule, 0x7F, 0x7F), kTorchaoSource),
      row(kMxfp8E5m2, torchao(rule, 0x7F, 0x7F), kTorchaoSource),
      row(kMxfp6E2m3, torchao(rule, 0x1F, 0x0C), kTorchaoSource),
      row(kMxfp6E3m2, torchao(rule, 0x1F, 0x0E), kTorchaoSource),
      row(kMxfp4, torchao(rule, 0x07, 0x03), kTorchaoSource),
  }};
}
constexpr auto kTorchaoFloor = torchao_rows(ScaleRule::floor);
constexpr auto kTorchaoCeil = torchao_rows(ScaleRule::ceil);
constexpr auto kTorchaoRceil = torchao_rows(ScaleRule::rceil);
constexpr auto kTorchaoEven = torchao_rows(ScaleRule::even);

// --- triton_kernels: amax / divisor, then (bits + 0x7FFFFF) & 0x7F800000 for ROUND_UP, in which a NaN runs into the sign bit and leaves byte 0.
// Elements times 1 / scale, where a scale of 0 has the factor 0 and one of Inf (byte 255) too. The reference's max keeps NaN, the kernel's ignores
// it. On x86 a NaN keeps its sign and Inf * 0 is negative; the GPU has one NaN.

constexpr std::string_view kTritonSource = "triton_kernels db4666f numerics_details/mxfp.py downcast_to_mxfp_torch";
constexpr std::string_view kTritonH200Source =
    "triton_kernels db4666f numerics_details/mxfp.py downcast_to_mxfp_torch: same torch code, recorded on the cpu; one NaN, as PTX mul.f32 has it";
constexpr std::string_view kTritonGpuSource =
    "triton_kernels db4666f numerics_details/mxfp_details/_downcast_to_mxfp.py _compute_quant_and_scale (its division taken as IEEE)";

enum class TritonRun { reference_on_cpu, reference_on_gpu, kernel };

constexpr MxRecipe triton(ScaleRule rule, TritonRun run, const Conversion& element) {
  MxScale scale = plain_scale(rule);
  scale.quotient = AmaxQuotient::division;
  scale.bump = SubnormalBump::any;
  scale.amax_nan = run == TritonRun::kernel ? AmaxNan::ignored : AmaxNan::propagates;
  if (rule == ScaleRule::rceil) scale.nan_code = 0x00;
  ElementStep step = plain_step(element);
  step.operation = ElementOperation::multiply;
  step.nan_sign = run == TritonRun::reference_on_cpu ? NanSign::element_first : NanSign::positive;
  ScaleFactor factor = kPlainFactor;
  factor.at_0 = kZero;
  factor.at_255 = kZero;
  return {scale, MxElements{step, factor, std::nullopt}, kAnySource};
}

constexpr std::array<Recipe, 3> triton_rows(ScaleRule rule, TritonRun run, std::string_view source) {
  return {{
      row(kMxfp8E4m3, triton(rule, run, nearest(Overflow::saturate, 0x7F, 0xFF)), source),
      row(kMxfp8E5m2, triton(rule, run, nearest(Overflow::saturate, 0x7F, 0xFF)), source),
      row(kMxfp4, triton(rule, run, nearest(Overflow::saturate, 0x7, 0xF)), source),
  }};
}
constexpr auto kTritonFloor = triton_rows(ScaleRule::floor, TritonRun::reference_on_cpu, kTritonSource);
constexpr auto kTritonRceil = triton_rows(ScaleRule::rceil, TritonRun::reference_on_cpu, kTritonSource);
constexpr auto kTritonFloorH200 = triton_rows(ScaleRule::floor, TritonRun::reference_on_gpu, kTritonH200Source);
constexpr auto kTritonRceilH200 = triton_rows(ScaleRule::rceil, TritonRun::reference_on_gpu, kTritonH200Source);
constexpr auto kTritonGpuFloor = triton_rows(ScaleRule::floor, TritonRun::kernel, kTritonGpuSource);
constexpr auto kTritonGpuRceil = triton_rows(ScaleRule::rceil, TritonRun::kernel, kTritonGpuSource);

// --- microxcaling: floor(log2) in fp32, division by 2^e, then sign(q) * floor(|q| + 0.5) with sign(-0) = 0, "even" taking exact ties back down.
// "floor" truncates to the unit of the binade that the logarithm gives, which is one too high just below a power of two; adding 0.5 hides that.

constexpr std::string_view kMicroxcalingSource = "microxcaling 7bc4195 mx/mx_ops.py _quantize_mx, mx/elemwise_ops.py _quantize_elemwise_core";
constexpr std::string_view kMicroxcalingFloorSource =
    "microxcaling 4adf988 mx/elemwise_ops.py _quantize_elemwise_core, _round_mantissa floor (read, not run)";

constexpr MxRecipe microxcaling(Rounding rounding, std::uint32_t nan) {
  MxScale scale = plain_scale(ScaleRule::floor_log2);
  scale.zero_amax = kSmallestNormal;
  scale.overflow_code = 0xFF;
  ElementStep step = plain_step({rounding, Overflow::saturate, NanRule::fixed, nan, nan, 0, false});
  step.operation = ElementOperation::divide;
  step.zero_sign = ZeroSign::lost_before_rounding;
  step.half_is_added = rounding != Rounding::toward_zero;
  step.unit_by_log2 = rounding == Rounding::toward_zero;
  return {scale, MxElements{step, kPlainFactor, std::nullopt}, kAnySource};
}

constexpr std::array<Recipe, 6> microxcaling_rows(Rounding rounding, std::string_view source) {
  return {{
      row(kMxfp8E4m3, microxcaling(rounding, 0x7F), source),
      row(kMxfp8E5m2, microxcaling(rounding, 0x7F), source),
      row(kMxfp6E2m3, microxcaling(rounding, 0x1F), source),
      row(kMxfp6E3m2, microxcaling(rounding, 0x1F), source),
      row(kMxfp4, microxcaling(rounding, 0x07), source),
      row(kMxint8Block, microxcaling(rounding, 0x7F), source),
  }};
}
constexpr auto kMicroxcalingEven = microxcaling_rows(Rounding::nearest_even, kMicroxcalingSource);
constexpr auto kMicroxcalingNearest = microxcaling_rows(Rounding::nearest_away, kMicroxcalingSource);
constexpr auto kMicroxcalingFloor = microxcaling_rows(Rounding::toward_zero, kMicroxcalingFloorSource);

// --- flashinfer, TensorRT-LLM: amax * rcp(max), cvt.rp.satfinite.ue8m0. fp8 elements are multiplied by rcp.approx.ftz(scale): 0 for 2^127, Inf for
// 2^-127, unless fast math flushes that scale to 0 first and its test for 0 holds. fp4 elements are multiplied by exp2(127 - byte), 1 for byte 0.
// A NaN element runs through the saturating conversion (fp4: the CUDA header's).

constexpr std::string_view kFlashinferFp8Source = "flashinfer fb28d72 tensorrt_llm/kernels/quantization_utils.cuh cvt_warp_fp16_to_mxfp8";
constexpr std::string_view kFlashinferFp4Source =
    "flashinfer fb28d72 tensorrt_llm/kernels/quantization_utils.cuh cvt_warp_fp16_to_fp4, exp2f_rcp; cuda_fp4.h";

constexpr MxRecipe flashinfer(bool fast_math, const Conversion& element, const ScaleFactor& factor) {
  MxScale scale = plain_scale(ScaleRule::rceil_rcp);
  scale.quotient = AmaxQuotient::reciprocal;
  scale.amax_nan = AmaxNan::ignored;
  scale.flush_subnormals = fast_math;
  scale.infinite_code = 0xFE;
  ElementStep step = plain_step(element);
  step.operation = ElementOperation::multiply;
  step.flush_subnormals = fast_math;
  return {scale, MxElements{step, factor, std::nullopt}, kHalfSources};
}

constexpr std::array<Recipe, 2> flashinfer_rows(bool fast_math) {
  ScaleFactor fp8 = kPlainFactor;
  fp8.at_0 = fast_math ? kZero : kInfinity;
  fp8.at_254 = kZero;
  ScaleFactor fp4 = kPlainFactor;
  fp4.at_0 = kOne;
  if (fast_math) fp4.at_254 = kZero;
  return {{
      row(kMxfp8E4m3, flashinfer(fast_math, nearest(Overflow::saturate, 0x7E, 0x7E), fp8), kFlashinferFp8Source),
      row(kMxfp4, flashinfer(fast_math, nearest(Overflow::saturate, 0x7, 0x7), fp4), kFlashinferFp4Source),
  }};
}
constexpr auto kFlashinfer = flashinfer_rows(false);
constexpr auto kFlashinferFast = flashinfer_rows(true);

// --- aiter's reference gives scales alone: the divisor is an fp32 division also for floor, and any subnormal quotient is rounded up.

constexpr std::string_view kAiterSource = "aiter e404860 aiter/utility/fp4_utils.py f32_to_mx_e8m0_scale";

constexpr MxRecipe aiter(ScaleRule rule) {
  MxScale scale = plain_scale(rule);
  scale.quotient = AmaxQuotient::division;
  scale.bump = SubnormalBump::any;
  return {scale, std::nullopt, kAnySource};
}

constexpr std::array<Recipe, 3> aiter_rows(ScaleRule rule) {
  return {{row(kMxfp4, aiter(rule), kAiterSource), row(kMxfp8E4m3, aiter(rule), kAiterSource), row(kMxfp8E4m3fnuz, aiter(rule), kAiterSource)}};
}
constexpr auto kAiterFloor = aiter_rows(ScaleRule::floor);
constexpr auto kAiterCeil = aiter_rows(ScaleRule::ceil);
constexpr auto kAiterRceil = aiter_rows(ScaleRule::rceil);
constexpr auto kAiterEven = aiter_rows(ScaleRule::even);

// --- vLLM's torch MXFP8: floor(log2(amax)) + 127 without emax, so that elements lie within 2 and -2. Of a NaN the byte is 0 (a cast of NaN to
// uint8) and the divisor NaN; an Inf meets a plain cast.

constexpr std::string_view kVllmMxfp8Source = "vllm 28be48f quantization/utils/mxfp8_utils.py _mxfp8_e4m3_quantize_torch";

constexpr MxRecipe vllm_mxfp8() {
  MxScale scale = plain_scale(ScaleRule::floor_log2_no_emax);
  scale.least_amax = kSmallestNormal;
  scale.nan_code = 0x00;
  scale.infinite_code = 0xFE;
  ElementStep step = plain_step(nearest(Overflow::nan, 0x7F, 0xFF));
  step.operation = ElementOperation::divide;
  step.nan_sign = NanSign::element_first;
  ScaleFactor factor = kPlainFactor;
  factor.at_nan_amax = kNan;
  return {scale, MxElements{step, factor, std::nullopt}, kAnySource};
}
constexpr std::array<Recipe, 1> kVllmMxfp8{{row(kMxfp8E4m3, vllm_mxfp8(), kVllmMxfp8Source)}};

// --- vLLM's emulation of AMD Quark: everything in the source's type. A logarithm of 0, of Inf (amax above 1.75 * 2^emax of the type) or of NaN
// becomes the smallest int32, clamped to byte 0, whose scale is 0 in fp16; 0 / 0 is x86's negative NaN, rounded like any largest number.

constexpr std::string_view kQuarkSource = "vllm 28be48f tests/quantization/reference_mxfp4.py qdq_mxfp4_torch, fp16_to_fp4_simulate";

constexpr MxRecipe quark() {
  MxScale scale = plain_scale(ScaleRule::even_source_width);
  scale.nan_code = 0x00;
  scale.infinite_code = 0x00;
  ElementStep step = plain_step(nearest(Overflow::saturate, 0x7, 0xF));
  step.operation = ElementOperation::divide;
  step.nan_sign = NanSign::element_first;
  ScaleFactor factor = kPlainFactor;
  factor.in_source_type = true;
  return {scale, MxElements{step, factor, std::nullopt}, kHalfSources};
}
constexpr std::array<Recipe, 1> kQuark{{row(kMxfp4, quark(), kQuarkSource)}};

// Scale and product in the type of the tensor, which dq_mxfp4_torch knows for bf16 and fp16 only.
constexpr Dequantizer quark_back(const Format& target) {
  return {.format = &kMxfp4,
          .target = &target,
          .reading = ScaleReading::power,
          .arithmetic = &target,
          .range = ProductRange::infinite,
          .nan_scale_wins = false,
          .tensor = TensorUse::none,
          .source = kQuarkSource};
}
constexpr std::array<Dequantizer, 2> kQuarkBack{{quark_back(kBf16), quark_back(kFp16)}};

constexpr Profile profile(std::string_view name, std::string_view implementation, std::string_view operation, std::string_view device,
                          std::string_view build, std::span<const Recipe> recipes, const Releases& releases) {
  return {name, implementation, operation, device, build, recipes.front().source, {}, recipes, {}, releases};
}

constexpr Releases of_commit(std::string_view commit) { return {{}, {}, commit}; }

/// A commit of the main branch between two releases.
constexpr Releases kCommit{
    {}, {}, "36027d8", "0.18", "newer code than release 0.18: exponent fields and a product with 1 / max in RCEIL, Inf gives byte 255"};

constexpr Profile torchao_commit(std::string_view name, std::string_view operation, std::span<const Recipe> recipes) {
  return {name, "torchao", operation, "cpu", "eager", kTorchaoSource, {}, recipes, {}, kCommit};
}

constexpr std::array<Profile, 21> kProfiles{{
    torchao_commit("torchao-floor@36027d8", "to_mx FLOOR", kTorchaoFloor),
    torchao_commit("torchao-ceil@36027d8", "to_mx CEIL", kTorchaoCeil),
    torchao_commit("torchao-rceil@36027d8", "to_mx RCEIL", kTorchaoRceil),
    torchao_commit("torchao-even@36027d8", "to_mx EVEN", kTorchaoEven),
    profile("triton-kernels-floor", "triton_kernels", "downcast ROUND_DOWN", "cpu", "torch-reference", kTritonFloor, of_commit("db4666f")),
    profile("triton-kernels-rceil", "triton_kernels", "downcast ROUND_UP", "cpu", "torch-reference", kTritonRceil, of_commit("db4666f")),
    profile("triton-kernels-floor-h200", "triton_kernels", "downcast ROUND_DOWN", "h200", "torch-reference", kTritonFloorH200, of_commit("db4666f")),
    profile("triton-kernels-rceil-h200", "triton_kernels", "downcast ROUND_UP", "h200", "torch-reference", kTritonRceilH200, of_commit("db4666f")),
    profile("triton-kernels-gpu-floor", "triton_kernels", "downcast ROUND_DOWN", "h200", "triton-kernel", kTritonGpuFloor, of_commit("db4666f")),
    profile("triton-kernels-gpu-rceil", "triton_kernels", "downcast ROUND_UP", "h200", "triton-kernel", kTritonGpuRceil, of_commit("db4666f")),
    profile("microxcaling-even", "microxcaling", "round even", "cpu", "torch-reference", kMicroxcalingEven, of_commit("7bc4195")),
    profile("microxcaling-nearest", "microxcaling", "round nearest", "cpu", "torch-reference", kMicroxcalingNearest, of_commit("7bc4195")),
    profile("microxcaling-floor", "microxcaling", "round floor", "cpu", "torch-reference", kMicroxcalingFloor, of_commit("4adf988")),
    profile("flashinfer-mx", "flashinfer", "quantize", "h200", "device-functions", kFlashinfer, of_commit("fb28d72")),
    profile("flashinfer-mx-fast-math", "flashinfer", "quantize", "h200", "device-functions-fast-math", kFlashinferFast, of_commit("fb28d72")),
    profile("aiter-floor", "aiter", "scale RoundDown", "cpu", "torch-reference", kAiterFloor, of_commit("e404860")),
    profile("aiter-ceil", "aiter", "scale Ceil", "cpu", "torch-reference", kAiterCeil, of_commit("e404860")),
    profile("aiter-rceil", "aiter", "scale RoundUp", "cpu", "torch-reference", kAiterRceil, of_commit("e404860")),
    profile("aiter-even", "aiter", "scale Even", "cpu", "torch-reference", kAiterEven, of_commit("e404860")),
    profile("vllm-mxfp8-torch", "vllm", "mxfp8_e4m3_quantize torch", "cpu", "torch-reference", kVllmMxfp8, of_commit("28be48f")),
    {"vllm-quark-even", "vllm", "even_source_width", "cpu", "torch-reference", kQuarkSource, {}, kQuark, kQuarkBack, of_commit("28be48f")},
}};

}  // namespace

std::span<const Profile> mx_profiles() { return kProfiles; }

}  // namespace mx
