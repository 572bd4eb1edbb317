#include "model/moe/activation.hpp"

#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/device.hpp"
#include "model/numerics/f32.hpp"

namespace mx::moe {
namespace {

using fault::Fault;
using fault::planted;

constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kHalf = 0x3F000000U;

std::uint32_t negated(std::uint32_t x) { return x ^ f32::kSign; }
std::uint32_t one_plus(std::uint32_t x) { return f32::add(f32::kOne, x); }
std::uint32_t reciprocal(std::uint32_t x) { return f32::div(f32::kOne, x); }
bool is_positive(std::uint32_t x) { return f32::less(0, x); }

[[noreturn]] void refuse(const Activation& row, const std::string& text) { throw Error(ErrorCode::usage, text, std::string(row.name)); }

/// One activation being computed: the row, the type of the activations, the constants.
class Evaluation {
 public:
  Evaluation(const Activation& row, const Format& type, const ActivationConstants& constants) : row_(row), type_(type), constants_(constants) {
    if (type != kF32 && type != kBf16 && type != kFp16) refuse(row, "activations are f32, bf16 or fp16, not " + std::string(type.name));
    if (has_limit() && !row.limit_is_optional && !is_positive(constants.limit)) refuse(row, "a limit is above 0, not " + f32::text(constants.limit));
    if (row.curve == Curve::situ && !(is_positive(constants.beta) && constants.beta < kInfinity)) {
      refuse(row, "beta is above 0 and finite, not " + f32::text(constants.beta));
    }
    check_wired(row.wired.alpha, "alpha", row.constants.alpha, constants.alpha);
    check_wired(row.wired.beta, "beta", row.constants.beta, constants.beta);
    check_wired(row.wired.limit, "the limit", row.constants.limit, constants.limit);
  }

  std::uint32_t result(std::uint32_t gate, std::uint32_t up) const {
    const std::uint32_t g = clamped_input(row_.gate_clamp, gate);
    if (row_.join == Join::none) return typed(curve(g));
    const std::uint32_t u = bent(clamped_input(row_.up_clamp, up));
    if (row_.join == Join::before_division) return typed(divided(f32::mul(plus_beta(u), numerator(g)), denominator(g)));
    const std::uint32_t s = clamped(row_.curve_clamp, in_type(TypeRounding::clamps_and_curve, curve(g)));
    return typed(joined(s, u));
  }

 private:
  bool has_limit() const { return row_.gate_clamp != Clamp::none || row_.up_clamp != Clamp::none || row_.curve_clamp != Clamp::none; }

  void check_wired(bool wired, const std::string& name, std::uint32_t own, std::uint32_t given) const {
    if (!wired || given == own || planted(Fault::activation_takes_wired)) return;
    refuse(row_, name + " is compiled in as " + f32::text(own) + ": it cannot be " + f32::text(given));
  }

  /// Rounded to the type of the activations.
  std::uint32_t typed(std::uint32_t x) const {
    if (type_ == kF32 || f32::is_nan(x)) return x;
    const Conversion how{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0, 0, 0, false};
    return to_f32(convert(x, kF32, type_, how), type_);
  }

  /// Rounded to the type where the row rounds at least as often as `from` says.
  std::uint32_t in_type(TypeRounding from, std::uint32_t x) const { return row_.rounding >= from ? typed(x) : x; }
  std::uint32_t operation(std::uint32_t x) const { return in_type(TypeRounding::every_operation, x); }

  std::uint32_t clamped_nan(Clamp clamp) const {
    if (row_.clamped_nan == ClampedNan::stays) return f32::kNan;
    const bool lower = row_.clamped_nan == ClampedNan::bounded_below && clamp == Clamp::both;
    return lower ? negated(constants_.limit) : constants_.limit;
  }

  std::uint32_t clamped(Clamp clamp, std::uint32_t x) const {
    if (clamp == Clamp::none || (row_.limit_is_optional && !is_positive(constants_.limit))) return x;
    if (f32::is_nan(x)) return clamped_nan(clamp);
    const std::uint32_t below = f32::min(x, constants_.limit);
    const bool both = clamp == Clamp::both || planted(Fault::activation_clamps_gate_below);
    return both ? f32::max(below, negated(constants_.limit)) : below;
  }

  std::uint32_t clamped_input(Clamp clamp, std::uint32_t x) const {
    return clamp == Clamp::none ? x : in_type(TypeRounding::clamps_and_curve, clamped(clamp, x));
  }

  std::uint32_t plus_beta(std::uint32_t u) const {
    return operation(f32::add(u, planted(Fault::activation_beta_is_one) ? f32::kOne : constants_.beta));
  }

  std::uint32_t scaled_by_alpha(std::uint32_t g) const { return operation(f32::mul(constants_.alpha, g)); }

  /// limit * tanh(x * (1 / limit)), SiTU's smooth clamp.
  static std::uint32_t bent_at(std::uint32_t limit, std::uint32_t x) { return f32::mul(limit, f32::tanh(f32::mul(x, reciprocal(limit)))); }

  /// up under SiTU, where it has a bound of its own.
  std::uint32_t bent(std::uint32_t u) const {
    return row_.curve == Curve::situ && is_positive(constants_.linear_beta) ? bent_at(constants_.linear_beta, u) : u;
  }

  std::uint32_t divided(std::uint32_t a, std::uint32_t b) const {
    return row_.functions == Functions::triton ? device::div_full(a, b) : f32::div(a, b);
  }
  std::uint32_t exp(std::uint32_t x) const {
    switch (row_.functions) {
      case Functions::cuda: return device::expf(x);
      case Functions::triton: return device::triton_exp(x);
      case Functions::rounded: break;
    }
    return f32::exp(x);
  }

  // silu, swish and situ are quotients.
  std::uint32_t numerator(std::uint32_t g) const { return row_.curve == Curve::situ ? bent_at(constants_.beta, g) : g; }
  std::uint32_t denominator(std::uint32_t g) const { return one_plus(exp(negated(row_.curve == Curve::swish ? scaled_by_alpha(g) : g))); }

  std::uint32_t curve(std::uint32_t g) const {
    switch (row_.curve) {
      case Curve::silu:
      case Curve::swish:
      case Curve::situ: return divided(numerator(g), denominator(g));
      case Curve::swish_by_sigmoid: return f32::mul(g, operation(divided(f32::kOne, one_plus(exp(negated(scaled_by_alpha(g)))))));
      case Curve::gelu_erf: return gelu_erf(g);
      case Curve::gelu_tanh: return gelu_tanh(g);
      case Curve::relu_squared: break;
    }
    const std::uint32_t rectified = f32::is_nan(g) && row_.clamped_nan != ClampedNan::stays ? 0 : f32::max(g, 0);
    return f32::mul(rectified, rectified);
  }

  static std::uint32_t gelu_erf(std::uint32_t g) {
    constexpr std::uint32_t kSqrtHalf = 0x3F3504F3U;
    return f32::mul(f32::mul(g, kHalf), one_plus(f32::erf(f32::mul(g, kSqrtHalf))));
  }

  static std::uint32_t gelu_tanh(std::uint32_t g) {
    constexpr std::uint32_t kSqrtTwoByPi = 0x3F4C422AU;  // 0.79788456
    constexpr std::uint32_t kCubic = 0x3D372713U;        // 0.044715
    const std::uint32_t cube = f32::mul(f32::mul(g, g), g);
    const std::uint32_t inner = f32::mul(kSqrtTwoByPi, f32::add(g, f32::mul(kCubic, cube)));
    return f32::mul(f32::mul(kHalf, g), one_plus(f32::tanh(inner)));
  }

  /// By the joins that come after the curve: times_up, fused, times_up_and_beta.
  std::uint32_t joined(std::uint32_t s, std::uint32_t u) const {
    if (row_.join == Join::times_up) return f32::mul(s, u);
    if (row_.join == Join::fused) return f32::fma(s, u, s);
    if (planted(Fault::activation_adds_beta_last)) return f32::add(f32::mul(s, u), constants_.beta);
    return f32::mul(s, plus_beta(u));
  }

  const Activation& row_;
  const Format& type_;
  const ActivationConstants& constants_;
};

}  // namespace

std::uint32_t activate(const Activation& row, const Format& type, std::uint32_t gate, std::uint32_t up, const ActivationConstants& constants) {
  return Evaluation(row, type, constants).result(gate, up);
}

std::uint32_t swiglu_oai(std::uint32_t gate, std::uint32_t up, const SwigluOai& constants) {
  static const Activation& row = activation_named("swiglu_oai");
  return activate(row, kF32, gate, up, {constants.alpha, constants.beta, constants.limit, 0});
}

std::uint32_t sigmoid(std::uint32_t x) { return reciprocal(one_plus(f32::exp(negated(x)))); }

std::uint32_t silu(std::uint32_t x) { return f32::div(x, one_plus(f32::exp(negated(x)))); }

std::uint32_t softplus(std::uint32_t x) {
  constexpr std::uint32_t kThreshold = 0x41A00000U;  // 20
  if (f32::is_nan(x)) return f32::kNan;
  return f32::less(kThreshold, x) ? x : f32::log1p(f32::exp(x));
}

std::uint32_t sqrt_softplus(std::uint32_t x) { return f32::sqrt(softplus(x)); }

std::vector<std::uint32_t> softmax(std::span<const std::uint32_t> row) {
  std::uint32_t largest = negated(kInfinity);
  for (std::uint32_t x : row) largest = f32::max(largest, x);
  std::vector<std::uint32_t> out;
  std::uint32_t total = 0;
  for (std::uint32_t x : row) {
    out.push_back(f32::exp(f32::sub(x, largest)));
    total = f32::add(total, out.back());
  }
  for (std::uint32_t& x : out) x = f32::div(x, total);
  return out;
}

}  // namespace mx::moe
