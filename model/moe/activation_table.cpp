// The activations of the engines. T is the type of the activations; formulas are in fp32 where they do not say T.

#include <array>

#include "model/moe/activation.hpp"
#include "model/numerics/rows.hpp"
#include "model/stand_in.hpp"

namespace mx::moe {
namespace {

constexpr std::uint32_t kAlpha = 0x3FD9DB23U;       // 1.702
constexpr std::uint32_t kOne = 0x3F800000U;         // 1
constexpr std::uint32_t kLimit = 0x40E00000U;       // 7
constexpr std::uint32_t kInfinity = 0x7F800000U;    // no limit
constexpr std::uint32_t kSituBeta = 0x40800000U;    // 4, as Kimi K3 configures it
constexpr std::uint32_t kLinearBeta = 0x41C80000U;  // 25, likewise

constexpr ActivationConstants kNoConstants{0, 0, 0, 0};
constexpr ActivationConstants kOaiConstants{kAlpha, kOne, kLimit, 0};
constexpr ActivationConstants kLimitOnly{0, 0, kLimit, 0};
constexpr ActivationConstants kSwigluBiasConstants{kOne, 0, kInfinity, 0};

constexpr WiredConstants kNothingWired{false, false, false};
constexpr WiredConstants kBetaWired{false, true, false};
constexpr WiredConstants kAllWired{true, true, true};

/// SwiGLU-OAI: both clamps, up plus beta.
constexpr Activation oai(std::string_view name, std::string_view formula, Pairing pairing, ClampedNan nan, Curve curve, Join join,
                         TypeRounding rounding, const WiredConstants& wired, std::string_view source) {
  return {name, formula, pairing, Clamp::above, Clamp::both, Clamp::none, nan, false, curve, join, rounding, kOaiConstants, wired, source};
}

/// oai without a limit, FlashInfer's SwigluBias when its caller gives no tensors of constants.
constexpr Activation swiglu_bias(std::string_view name, std::string_view formula, std::string_view source) {
  Activation row = oai(name, formula, Pairing::halves_up_first, ClampedNan::bounded, Curve::swish_by_sigmoid, Join::times_up_and_beta,
                       TypeRounding::result_only, kNothingWired, source);
  row.constants = kSwigluBiasConstants;
  return row;
}

/// Halves, no constants: the curve in T, times up in T.
constexpr Activation gated(std::string_view name, std::string_view formula, Curve curve, std::string_view source) {
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
          TypeRounding::clamps_and_curve,
          kNoConstants,
          kNothingWired,
          source};
}

/// gated with g = min(gate, limit), u = clamp(up, limit), both in T.
constexpr Activation limited(std::string_view name, std::string_view formula, ClampedNan nan, bool limit_is_optional, std::string_view source) {
  Activation row = gated(name, formula, Curve::silu, source);
  row.gate_clamp = Clamp::above;
  row.up_clamp = Clamp::both;
  row.clamped_nan = nan;
  row.limit_is_optional = limit_is_optional;
  row.constants = kLimitOnly;
  return row;
}

constexpr Activation alone(std::string_view name, std::string_view formula, Curve curve, ClampedNan nan, std::string_view source) {
  return {name,  formula,    Pairing::single,           Clamp::none,  Clamp::none,   Clamp::none, nan, false,
          curve, Join::none, TypeRounding::result_only, kNoConstants, kNothingWired, source};
}

constexpr std::array kActivations{
    oai("swiglu_oai", "g / (1 + exp(-alpha g)) * (u + beta)", Pairing::interleaved, ClampedNan::stays, Curve::swish, Join::times_up_and_beta,
        TypeRounding::result_only, kNothingWired, "openai/gpt-oss gpt_oss/torch/model.py swiglu, in fp32"),
    oai("swiglu_oai_torch", "(g * sg(alpha g)) * (u + beta), every operation in T", Pairing::interleaved, ClampedNan::stays, Curve::swish_by_sigmoid,
        Join::times_up_and_beta, TypeRounding::every_operation, kNothingWired, "transformers modeling_gpt_oss.py GptOssExperts"),
    oai("swiglu_oai_cuda", "((u + beta) g) / (1 + exp(-alpha g)), beta 1", Pairing::interleaved, ClampedNan::bounded, Curve::swish,
        Join::before_division, TypeRounding::result_only, kBetaWired, "vllm csrc/libtorch_stable/activation_kernels.cu swigluoai_and_mul"),
    oai("swiglu_oai_triton", "fma(s, u, s), s = g / (1 + exp(-alpha g))", Pairing::interleaved, ClampedNan::bounded, Curve::swish, Join::fused,
        TypeRounding::result_only, kBetaWired, "triton_kernels swiglu.py swiglu_fn; witness FORMAT.md gemm1_swiglu"),
    swiglu_bias("swiglu_oai_flashinfer", "(g * sg(alpha g)) * (u + beta)",
                "flashinfer csrc/fused_moe/cutlass_backend SwigluBiasAdaptor; its defaults (read, not run)"),
    oai("swiglu_oai_aiter", "(g * sg(1.702 g)) * (u + 1), limit 7", Pairing::halves, ClampedNan::bounded_below, Curve::swish_by_sigmoid,
        Join::times_up_and_beta, TypeRounding::result_only, kAllWired,
        "aiter 02d69c3 csrc/kernels/activation_kernels.cu swiglu_act_and_mul_kernel (read, not run; the device's exp and reciprocal taken as "
        "rounded)"),
    oai("swiglu_oai_uninterleave", "T(g / (1 + exp(-alpha g))) * (u + beta)", Pairing::halves, ClampedNan::bounded, Curve::swish,
        Join::times_up_and_beta, TypeRounding::clamps_and_curve, kNothingWired, "vllm csrc/libtorch_stable/activation_kernels.cu silu_and_mul_clamp"),
    Activation{"swiglu_step", "min(g / (1 + exp(-g)), limit) * u", Pairing::halves, Clamp::none, Clamp::both, Clamp::above, ClampedNan::bounded,
               false, Curve::silu, Join::times_up, TypeRounding::result_only, kLimitOnly, kNothingWired,
               "vllm fused_moe SWIGLUSTEP, swiglustep_and_mul"},
    gated("silu_and_mul", "T(g / (1 + exp(-g))) * u", Curve::silu, "vllm csrc/libtorch_stable/activation_kernels.cu silu_and_mul"),
    limited("silu_and_mul_clamp_torch", "silu_and_mul of min(gate, limit), clamp(up, limit)", ClampedNan::stays, true,
            "vllm fused_moe/activation.py swiglu_limit_func"),
    limited("silu_and_mul_clamp_cuda", "silu_and_mul of min(gate, limit), clamp(up, limit)", ClampedNan::bounded, false,
            "vllm csrc/libtorch_stable/activation_kernels.cu silu_and_mul_clamp"),
    gated("gelu_and_mul", "T(g / 2 * (1 + erf(g sqrt(1/2)))) * u", Curve::gelu_erf, "vllm csrc/libtorch_stable/activation_kernels.cu gelu_and_mul"),
    gated("gelu_tanh_and_mul", "T(g / 2 * (1 + tanh(0.79788456 (g + 0.044715 g^3)))) * u", Curve::gelu_tanh,
          "vllm csrc/libtorch_stable/activation_kernels.cu gelu_tanh_and_mul"),
    Activation{"situ_and_mul",
               "beta tanh(g / beta) / (1 + exp(-g)) * (linear_beta tanh(u / linear_beta) or u)",
               Pairing::halves,
               Clamp::none,
               Clamp::none,
               Clamp::none,
               ClampedNan::stays,
               false,
               Curve::situ,
               Join::times_up,
               TypeRounding::result_only,
               {0, kSituBeta, 0, kLinearBeta},
               kNothingWired,
               "vllm csrc/libtorch_stable/activation_kernels.cu situ_and_mul_kernel"},
    alone("silu_no_mul", "x / (1 + exp(-x))", Curve::silu, ClampedNan::stays, "vllm fused_moe/activation.py SILU_NO_MUL: torch silu"),
    alone("gelu_no_mul", "x / 2 * (1 + erf(x sqrt(1/2)))", Curve::gelu_erf, ClampedNan::stays,
          "vllm fused_moe/activation.py GELU_NO_MUL: torch gelu"),
    alone("gelu_tanh_no_mul", "x / 2 * (1 + tanh(0.79788456 (x + 0.044715 x^3)))", Curve::gelu_tanh, ClampedNan::stays,
          "vllm fused_moe/activation.py GELU_TANH_NO_MUL: torch gelu, tanh"),
    alone("relu2_no_mul", "max(x, 0)^2", Curve::relu_squared, ClampedNan::stays, "vllm fused_moe/activation.py RELU2_NO_MUL: torch relu, square"),
    alone("relu2_no_mul_cuda", "max(x, 0)^2", Curve::relu_squared, ClampedNan::bounded,
          "vllm csrc/libtorch_stable/activation_kernels.cu relu2_no_mul_kernel"),
};

}  // namespace

std::span<const Activation> all_activations() { return fault::rows_of<Activation>(fault::Table::activations, kActivations); }

const Activation& activation_named(std::string_view name) { return rows::named(all_activations(), "activation", name); }

}  // namespace mx::moe
