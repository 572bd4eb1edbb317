#pragma once
// Activations between the two GEMMs of an expert, and the functions of routers, on fp32 bits, each in a declared order of operations: one fp32
// rounding per operation, elementary functions correctly rounded. Implementations differ in order, clamps, and where they round to the type of the
// activations; a row of the table says all of it, `activate` does what the row says.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/numerics/format.hpp"

namespace mx::moe {

/// Where gate and up lie in an output row of the first GEMM.
enum class Pairing {
  single,           ///< [I]: no up
  halves,           ///< [2I]: gate first
  halves_up_first,  ///< [2I]: up first
  interleaved,      ///< [2I]: even columns gate, odd columns up
};

/// Which sides of a value the limit bounds.
enum class Clamp {
  none,
  above,  ///< min(x, limit)
  both,   ///< max(min(x, limit), -limit)
};

/// What a clamp or a ReLU makes of a NaN.
enum class ClampedNan {
  stays,          ///< torch.clamp, torch.relu
  bounded,        ///< fminf, fmaxf: the bound
  bounded_below,  ///< fminf(fmaxf(x, -limit), limit): the lower bound where there is one
};

/// The curve over g, the clamped gate; sg(x) = 1 / (1 + exp(-x)).
enum class Curve {
  silu,              ///< g / (1 + exp(-g))
  swish,             ///< g / (1 + exp(-(alpha * g)))
  swish_by_sigmoid,  ///< g * sg(alpha * g)
  gelu_erf,          ///< (g * 0.5) * (1 + erf(g * sqrt(1/2)))
  gelu_tanh,         ///< (0.5 * g) * (1 + tanh(0.79788456 * (g + 0.044715 * ((g * g) * g))))
  relu_squared,      ///< r * r with r = max(g, 0)
  situ,              ///< (beta * tanh(g * (1 / beta))) / (1 + exp(-g)); up becomes linear_beta * tanh(up * (1 / linear_beta)) if linear_beta > 0
};

/// How s, the curve's value, meets u, the clamped up.
enum class Join {
  none,               ///< s
  times_up,           ///< s * u
  times_up_and_beta,  ///< s * (u + beta)
  before_division,    ///< ((u + beta) * g) / (1 + exp(...)): the curve's division comes last
  fused,              ///< fma(s, u, s)
};

/// Where results are rounded to the type of the activations. The result always is.
enum class TypeRounding {
  result_only,
  clamps_and_curve,  ///< also clamped values and s
  every_operation,   ///< also alpha * g, sg(...) and u + beta: torch, an operator at a time
};

/// Whose exp and division a row's curve uses; every other operation is one fp32 rounding.
enum class Functions {
  rounded,  ///< correctly rounded
  cuda,     ///< device::expf, division correctly rounded
  triton,   ///< device::triton_exp and device::div_full
};

/// fp32 bits. What a row does not use is not read.
struct ActivationConstants {
  std::uint32_t alpha;
  std::uint32_t beta;
  std::uint32_t limit;
  std::uint32_t linear_beta;

  friend bool operator==(const ActivationConstants&, const ActivationConstants&) = default;
};

/// Which constants are compiled into an implementation: another one than the row's is refused.
struct WiredConstants {
  bool alpha;
  bool beta;
  bool limit;
};

/// One implementation's activation.
struct Activation {
  std::string_view name;
  std::string_view formula;
  Pairing pairing;
  Clamp gate_clamp;
  Clamp up_clamp;
  Clamp curve_clamp;  ///< of s
  ClampedNan clamped_nan;
  bool limit_is_optional;  ///< a limit of 0 or less bounds nothing; elsewhere it is refused
  Curve curve;
  Join join;
  TypeRounding rounding;
  ActivationConstants constants;  ///< those that the model it comes from configures; callers pass what their configuration has
  WiredConstants wired;
  std::string_view source;
  Functions functions = Functions::rounded;
};

std::span<const Activation> all_activations();
/// Throws Error(usage) with the nearest known name.
const Activation& activation_named(std::string_view name);

/// The activation of gate and up (not read when the pairing is single) as fp32 bits; a NaN is 0x7FC00000. `type` is that of the activations: f32,
/// bf16 or fp16. Throws Error(usage) for another type, for a limit that is not above 0, for SiTU's beta that is not a positive finite number and
/// for a wired constant of another value.
std::uint32_t activate(const Activation& row, const Format& type, std::uint32_t gate, std::uint32_t up, const ActivationConstants& constants);

/// 1 / (1 + exp(-x)).
std::uint32_t sigmoid(std::uint32_t x);
/// x / (1 + exp(-x)).
std::uint32_t silu(std::uint32_t x);
/// log1p(exp(x)), and x itself above 20. Source: torch.nn.functional.softplus with its default threshold. In fp32 the threshold decides nothing
/// below 88.73, where exp(x) overflows.
std::uint32_t softplus(std::uint32_t x);
/// sqrt(softplus(x)), the score of DeepSeek-V4's router.
std::uint32_t sqrt_softplus(std::uint32_t x);
/// exp(x[i] - max) / sum, the sum in ascending order of i from +0. A NaN makes every result NaN; so does +Inf, or a row of -Inf only.
std::vector<std::uint32_t> softmax(std::span<const std::uint32_t> row);

/// Constants of SwiGLU-OAI as fp32 bits.
struct SwigluOai {
  std::uint32_t alpha = 0x3FD9DB23U;  ///< 1.702
  std::uint32_t beta = 0x3F800000U;   ///< 1
  std::uint32_t limit = 0x40E00000U;  ///< 7
};

/// The row "swiglu_oai" in fp32: g = min(gate, limit); u = clamp(up, -limit, limit); s = g / (1 + exp(-(alpha * g))); s * (u + beta).
std::uint32_t swiglu_oai(std::uint32_t gate, std::uint32_t up, const SwigluOai& constants);

}  // namespace mx::moe
