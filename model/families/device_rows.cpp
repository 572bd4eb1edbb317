#include "model/families/device_rows.hpp"

#include <algorithm>
#include <array>

#include "model/numerics/rows.hpp"

namespace mx::families {
namespace {

using moe::Activation;
using moe::ActivationConstants;
using moe::Clamp;
using moe::ClampedNan;
using moe::Curve;
using moe::Functions;
using moe::Join;
using moe::Pairing;
using moe::TypeRounding;

constexpr std::uint32_t kOne = 0x3F800000U;
constexpr ActivationConstants kOai{0x3FD9DB23U, kOne, 0x40E00000U, 0};  // 1.702, 1, 7

constexpr Activation silu(std::string_view name, std::string_view formula, Curve curve, TypeRounding rounding, Functions functions,
                          std::string_view source) {
  const bool by_sigmoid = curve == Curve::swish_by_sigmoid;
  return {name,
          formula,
          Pairing::halves,
          Clamp::none,
          Clamp::none,
          Clamp::none,
          ClampedNan::stays,
          false,
          curve,
          Join::times_up,
          rounding,
          by_sigmoid ? ActivationConstants{kOne, 0, 0, 0} : ActivationConstants{0, 0, 0, 0},
          {by_sigmoid, false, false},
          source,
          functions};
}

constexpr Activation oai(std::string_view name, std::string_view formula, Pairing pairing, ClampedNan nan, Join join, bool beta_wired,
                         Functions functions, std::string_view source) {
  return {name,
          formula,
          pairing,
          Clamp::above,
          Clamp::both,
          Clamp::none,
          nan,
          false,
          Curve::swish,
          join,
          TypeRounding::result_only,
          kOai,
          {false, beta_wired, false},
          source,
          functions};
}

/// The engine hands on a limit above 0 alone. Source: vllm 7ca49fbe4 fused_moe/utils.py swiglu_limit_func (read).
constexpr Activation optional_limit(Activation row) {
  row.limit_is_optional = true;
  return row;
}

/// Gate and up are bounded first. Triton's minimum and maximum of a NaN are the other operand.
constexpr Activation bounded(Activation row) {
  row.gate_clamp = Clamp::above;
  row.up_clamp = Clamp::both;
  row.clamped_nan = ClampedNan::bounded_below;
  row.constants.limit = kOai.limit;
  return optional_limit(row);
}

constexpr std::string_view kHumming = "humming-kernels 0.1.19 process_input: outputs of an H100";
constexpr std::string_view kColmajor = "vllm silu_mul_per_token_group_quant_fp8_colmajor: outputs of an H100 and of an H200";
constexpr std::string_view kPadAware = "vllm 0.33.0 _swiglu_limit_pad_aware_kernel: outputs of an H200";
constexpr std::string_view kFused = "fma(s, u, s), s = g / (1 + exp(-alpha g))";

constexpr std::array kActivations{
    oai("swiglu_oai_cuda_sm90", "((u + beta) g) / (1 + expf(-alpha g)), beta 1", Pairing::interleaved, ClampedNan::bounded, Join::before_division,
        true, Functions::cuda, "vllm 7e1b45a09 swigluoai_and_mul: outputs of an H100"),
    oai("swiglu_oai_triton_sm90", kFused, Pairing::interleaved, ClampedNan::bounded, Join::fused, true, Functions::triton,
        "triton_kernels abce3c88f swiglu_fn: outputs of an H100"),
    oai("swiglu_oai_triton_sm90_3.6", kFused, Pairing::interleaved, ClampedNan::bounded_below, Join::fused, true, Functions::triton,
        "triton_kernels 6294db5a1 swiglu_fn: outputs of an H100"),
    optional_limit(oai("swiglu_oai_humming", "g / (1 + expf(-alpha g)) * (u + beta)", Pairing::halves, ClampedNan::bounded, Join::times_up_and_beta,
                       false, Functions::cuda, kHumming)),
    silu("silu_and_mul_block_quant", "g * (1 / (1 + expf(-g))) * u", Curve::swish_by_sigmoid, TypeRounding::result_only, Functions::cuda,
         "vllm 7e1b45a09 silu_and_mul_per_block_quant: outputs of an H100"),
    silu("silu_and_mul_humming", "g / (1 + expf(-g)) * u", Curve::silu, TypeRounding::result_only, Functions::cuda, kHumming),
    silu("silu_and_mul_triton_sm90", "T(g / (1 + exp(-g))) * u", Curve::silu, TypeRounding::clamps_and_curve, Functions::triton, kColmajor),
    bounded(silu("silu_and_mul_limit_triton_sm90", "T(g / (1 + exp(-g))) * u of min(gate, limit), clamp(up, limit)", Curve::silu,
                 TypeRounding::clamps_and_curve, Functions::triton, kColmajor)),
    silu("silu_and_mul_triton_sm90_once", "g / (1 + exp(-g)) * u", Curve::silu, TypeRounding::result_only, Functions::triton, kPadAware),
    bounded(silu("silu_and_mul_limit_triton_sm90_once", "g / (1 + exp(-g)) * u of min(gate, limit), clamp(up, limit)", Curve::silu,
                 TypeRounding::result_only, Functions::triton, kPadAware)),
};

/// What kernels of the engine and of triton_kernels run on sm_90.
struct OnHopper {
  std::string_view name;
  std::string_view row;
  std::string_view row_of_3_6;  ///< with triton_kernels from 3.6 on
};
constexpr std::array kOnHopper{OnHopper{"swiglu_oai_cuda", "swiglu_oai_cuda_sm90", "swiglu_oai_cuda_sm90"},
                               OnHopper{"swiglu_oai_triton", "swiglu_oai_triton_sm90", "swiglu_oai_triton_sm90_3.6"}};

constexpr std::uint32_t kTenToMinus10 = 0x2EDBE6FFU;
constexpr std::uint32_t kTenToMinus30 = 0x0DA24260U;
constexpr std::uint32_t kOneIn448Times512 = 0x36924925U;  // 1 / (448 * 512)
constexpr std::uint32_t kInfinity = 0x7F800000U;

constexpr Conversion saturating(std::uint32_t nan) { return {Rounding::nearest_even, Overflow::saturate, NanRule::fixed, nan, nan, 0, false}; }

/// Of groups. `by_reciprocal`: Triton multiplies amax by RN(1 / 448) and divides elements by div.full; CUDA divides both.
constexpr GroupRecipe group(GroupRule rule, bool by_reciprocal, std::uint32_t nan, std::uint32_t least_scale) {
  const ElementStep step{.operation = by_reciprocal ? ElementOperation::divide_full : ElementOperation::divide,
                         .nan_sign = NanSign::positive,
                         .zero_sign = ZeroSign::kept,
                         .flush_subnormals = false,
                         .half_is_added = false,
                         .unit_by_log2 = false,
                         .in_source_type = false,
                         .encode = saturating(nan)};
  return {rule, !by_reciprocal, AmaxNan::ignored, kTenToMinus10, step, kAnySource, least_scale, false};
}

constexpr Fp8Recipe of_amax(Fp8Scaling scaling, std::uint32_t nan, std::uint32_t least_scale, std::uint32_t least_amax = 0) {
  return {.rule = Fp8Scale::amax_over_max,
          .scaling = scaling,
          .element = saturating(nan),
          .amax_ignores_nan = true,
          .takes_amax_bound = false,
          .least_amax = least_amax,
          .least_scale = least_scale,
          .at_source_width = false,
          .invalid_nan_is_negative = false,
          .zero_scale_is_epsilon = false,
          .drops_zero_sign = false,
          .largest_factor = kInfinity,
          .factor_is_power = false,
          .returns_factor = false,
          .sources = kAnySource};
}

constexpr std::string_view kCuda = "vllm 7e1b45a09 per_token_group_quant_fp8 (CUDA): outputs of an H100";
constexpr std::string_view kCudaNovember = "vllm 0.33.0 per_token_group_quant_fp8 (CUDA): outputs of an H200";
constexpr Fp8Recipe kTimesReciprocal = of_amax(Fp8Scaling::reciprocal, 0xFE, 0, kTenToMinus10);
constexpr std::string_view kPacked = "vllm _silu_mul_quant_fp8_packed_kernel: outputs of an H200";
/// Triton's, with amax divided.
constexpr GroupRecipe packed() {
  GroupRecipe how = group(GroupRule::group_pow2_log2, true, 0x7E, kTenToMinus10);
  how.divides = true;
  how.amax_floor = 0;
  return how;
}
constexpr std::string_view kTriton = "vllm 7e1b45a09 _per_token_group_quant_fp8 (Triton): outputs of an H100";
constexpr std::string_view kFusedQuant = "vllm 7e1b45a09 silu_and_mul_per_block_quant: outputs of an H100";
constexpr std::string_view kHummingInputs = "humming-kernels 0.1.19: outputs of an H100";

constexpr std::array kRecipes{
    DeviceRecipe{"vllm-group-cuda", {&kFp8Group128, group(GroupRule::group_amax, false, 0xFE, 0), kCuda}},
    DeviceRecipe{"vllm-group-cuda-g64", {&kFp8Group64, group(GroupRule::group_amax, false, 0xFE, 0), kCuda}},
    DeviceRecipe{"vllm-group-cuda-g32", {&kFp8Group32, group(GroupRule::group_amax, false, 0xFE, 0), kCuda}},
    DeviceRecipe{"vllm-group-cuda-ue8m0", {&kFp8Group128, group(GroupRule::group_pow2_log2, false, 0xFE, kTenToMinus10), kCuda}},
    DeviceRecipe{"vllm-group-cuda-times-reciprocal", {&kFp8Group128, kTimesReciprocal, kCudaNovember}},
    DeviceRecipe{"vllm-group-cuda-times-reciprocal-g64", {&kFp8Group64, kTimesReciprocal, kCudaNovember}},
    DeviceRecipe{"vllm-group-cuda-times-reciprocal-g32", {&kFp8Group32, kTimesReciprocal, kCudaNovember}},
    DeviceRecipe{"vllm-group-triton", {&kFp8Group128, group(GroupRule::group_amax, true, 0x7E, 0), kTriton}},
    DeviceRecipe{"vllm-group-cuda-g64-ue8m0", {&kFp8Group64, group(GroupRule::group_pow2_log2, false, 0xFE, kTenToMinus10), kCuda}},
    DeviceRecipe{"vllm-group-cuda-g32-ue8m0", {&kFp8Group32, group(GroupRule::group_pow2_log2, false, 0xFE, kTenToMinus10), kCuda}},
    DeviceRecipe{"vllm-group-triton-g64", {&kFp8Group64, group(GroupRule::group_amax, true, 0x7E, 0), kTriton}},
    DeviceRecipe{"vllm-group-triton-g32", {&kFp8Group32, group(GroupRule::group_amax, true, 0x7E, 0), kTriton}},
    DeviceRecipe{"vllm-group-triton-ue8m0", {&kFp8Group128, group(GroupRule::group_pow2_log2, true, 0x7E, 0), kTriton}},
    DeviceRecipe{"vllm-silu-packed", {&kFp8Group128, packed(), kPacked}},
    DeviceRecipe{"vllm-silu-block", {&kFp8Group128, of_amax(Fp8Scaling::divide, 0x7E, kOneIn448Times512), kFusedQuant}},
    DeviceRecipe{"humming-group", {&kFp8Group128, of_amax(Fp8Scaling::reciprocal, 0x7F, kTenToMinus30), kHummingInputs}},
    DeviceRecipe{"humming-token", {&kFp8E4m3, of_amax(Fp8Scaling::reciprocal, 0x7F, kTenToMinus30), kHummingInputs}},
};

}  // namespace

std::span<const moe::Activation> device_activations() { return kActivations; }

const moe::Activation& activation_row(std::string_view name) {
  const auto* const own = std::ranges::find(kActivations, name, &moe::Activation::name);
  return own == kActivations.end() ? moe::activation_named(name) : *own;
}

const moe::Activation& activation_on(std::string_view name, const Operation& operation) {
  const auto* const own = std::ranges::find(kOnHopper, name, &OnHopper::name);
  if (operation.arch != Arch::sm90 || own == kOnHopper.end()) return activation_row(name);
  return activation_row(operation.triton_kernels_3_6 ? own->row_of_3_6 : own->row);
}

std::span<const DeviceRecipe> device_recipes() { return kRecipes; }

const Recipe& device_recipe(std::string_view name) { return rows::named(kRecipes, "quantizer of sm_90", name).recipe; }

}  // namespace mx::families
