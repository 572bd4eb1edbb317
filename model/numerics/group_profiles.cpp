// Scales of groups from amax / max_normal. Grounds: the numerics specification, section 4; the sources named in the rows; the recorded outputs of
// golden/witness/numerics/block32.

#include <array>

#include "model/numerics/profile_tables.hpp"

namespace mx {
namespace {

constexpr std::uint32_t kTenToMinus10 = 0x2EDBE6FFU;
constexpr std::uint32_t kTenToMinus4 = 0x38D1B717U;

// --- DeepGEMM: division for the scale, multiplication by 1/s for the elements. fp8 is a plain cast, so that an Inf becomes NaN; a product of two
// NaNs is the reciprocal's. fp4 is a search among the midpoints: ties go toward zero, NaN compares with nothing and is 0, and so is every -0.

constexpr std::string_view kDeepGemmFp8Source = "DeepGEMM 54e2261 deep_gemm/utils/math.py per_token_cast_to_fp8";
constexpr std::string_view kDeepGemmSquareSource = "DeepGEMM 54e2261 deep_gemm/utils/math.py per_block_cast_to_fp8 (read, not run)";
constexpr std::string_view kDeepGemmFp4Source = "DeepGEMM 54e2261 deep_gemm/utils/math.py per_token_cast_to_fp4, _quantize_to_fp4_e2m1";

constexpr Conversion kDeepGemmFp8{Rounding::nearest_even, Overflow::nan, NanRule::fixed, 0x7F, 0xFF, 0, false};
constexpr Conversion kDeepGemmFp4{Rounding::nearest_toward_zero, Overflow::saturate, NanRule::fixed, 0x0, 0x0, 0, false};

constexpr Recipe deepgemm(const BlockFormat& format, GroupRule rule, const Conversion& element, ZeroSign zeros, std::string_view source) {
  const ElementStep step{.operation = ElementOperation::multiply,
                         .nan_sign = NanSign::factor_first,
                         .zero_sign = zeros,
                         .flush_subnormals = false,
                         .half_is_added = false,
                         .unit_by_log2 = false,
                         .in_source_type = false,
                         .encode = element};
  return {&format, GroupRecipe{rule, true, AmaxNan::propagates, kTenToMinus4, step, kAnySource, 0, false}, source};
}

constexpr std::array<Recipe, 5> deepgemm_rows(GroupRule rule) {
  return {{
      deepgemm(kFp8Group128, rule, kDeepGemmFp8, ZeroSign::kept, kDeepGemmFp8Source),
      deepgemm(kFp8Group32, rule, kDeepGemmFp8, ZeroSign::kept, kDeepGemmFp8Source),
      deepgemm(kFp4Group128, rule, kDeepGemmFp4, ZeroSign::lost, kDeepGemmFp4Source),
      deepgemm(kFp4Group32, rule, kDeepGemmFp4, ZeroSign::lost, kDeepGemmFp4Source),
      deepgemm(kFp8E4m3Square, rule, kDeepGemmFp8, ZeroSign::kept, kDeepGemmSquareSource),
  }};
}
constexpr auto kDeepGemm = deepgemm_rows(GroupRule::group_amax);
constexpr auto kDeepGemmUe8m0 = deepgemm_rows(GroupRule::group_pow2_bits);

// --- vLLM's Triton kernel: amax * RN(1/448), elements divided by s and clamped, which makes 448 of a NaN. The kernel divides approximately; here
// the division is IEEE's, from which codes of quotients next to a tie can differ by one step where s is no power of two.

constexpr std::string_view kVllmSource = "vllm 28be48f quantization/utils/fp8_utils.py _per_token_group_quant_fp8";

constexpr Recipe vllm(const BlockFormat& format, GroupRule rule) {
  const ElementStep step{.operation = ElementOperation::divide,
                         .nan_sign = NanSign::positive,
                         .zero_sign = ZeroSign::kept,
                         .flush_subnormals = false,
                         .half_is_added = false,
                         .unit_by_log2 = false,
                         .in_source_type = false,
                         .encode = {Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0x7E, 0x7E, 0, false}};
  return {&format, GroupRecipe{rule, false, AmaxNan::ignored, kTenToMinus10, step, kAnySource, 0, false}, kVllmSource};
}

constexpr std::array<Recipe, 2> vllm_rows(GroupRule rule) { return {{vllm(kFp8Group128, rule), vllm(kFp8Group32, rule)}}; }
constexpr auto kVllm = vllm_rows(GroupRule::group_amax);
constexpr auto kVllmUe8m0 = vllm_rows(GroupRule::group_pow2_log2);

// --- NNCF without OpenVINO's own path: s = max(amax / max, 2^-23), by which elements are divided in fp32 and go by OpenVINO's casts, FP8 through
// fp16. What is stored of s is fp16, Inf above 65504.

constexpr std::string_view kNncfSource =
    "nncf 3.4.0 quantization/algorithms/weight_compression/openvino_backend.py _create_compression_subgraph, "
    "NNCF_DISABLE_OPTIMIZED_COMPRESSION; recorded";
constexpr std::uint32_t kTwoToMinus23 = 0x34000000U;

constexpr Conversion nncf_fp8() {
  Conversion how{Rounding::nearest_even, Overflow::nan, NanRule::fixed, 0x7F, 0xFF, 0, false};
  how.before.through = &kFp16;
  return how;
}
constexpr Conversion kNncfFp4{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0x7, 0xF, 0, false};

constexpr Recipe nncf(const BlockFormat& format, const Conversion& element) {
  const ElementStep step{.operation = ElementOperation::divide,
                         .nan_sign = NanSign::element_first,
                         .zero_sign = ZeroSign::kept,
                         .flush_subnormals = false,
                         .half_is_added = false,
                         .unit_by_log2 = false,
                         .in_source_type = false,
                         .encode = element};
  return {&format, GroupRecipe{GroupRule::group_amax, true, AmaxNan::propagates, 0, step, kAnySource, kTwoToMinus23, true}, kNncfSource};
}

constexpr std::array<Recipe, 5> kNncf{{
    nncf(kFp8E4m3, nncf_fp8()),
    nncf(kFp8Group128, nncf_fp8()),
    nncf(kFp8Group32, nncf_fp8()),
    nncf(kFp4Group128, kNncfFp4),
    nncf(kFp4Group32, kNncfFp4),
}};

constexpr std::array<Profile, 5> kProfiles{{
    {"deepgemm", "deepgemm", "cast with fp32 scales", "cpu", "torch-reference", kDeepGemmFp8Source, {}, kDeepGemm, {}},
    {"deepgemm-ue8m0", "deepgemm", "cast with power-of-two scales", "cpu", "torch-reference", kDeepGemmFp8Source, {}, kDeepGemmUe8m0, {}},
    {"vllm-group", "vllm", "per_token_group_quant_fp8", "h200", "triton-kernel", kVllmSource, {}, kVllm, {}},
    {"vllm-group-ue8m0", "vllm", "per_token_group_quant_fp8 use_ue8m0", "h200", "triton-kernel", kVllmSource, {}, kVllmUe8m0, {}},
    {"nncf-group", "nncf", "cast with fp16 scales", "cpu", "numpy", kNncfSource, {}, kNncf, {}, {"3.4", "3.4", {}}},
}};

}  // namespace

std::span<const Profile> group_profiles() { return kProfiles; }

}  // namespace mx
