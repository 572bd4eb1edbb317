#include "kernels/moe/curve.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/functions/functions.hpp"

namespace mx::kernels::moe {
namespace {

using mx::moe::Activation;
using mx::moe::ActivationConstants;
using mx::moe::Clamp;
using mx::moe::ClampedNan;
using mx::moe::Curve;
using mx::moe::Join;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float value(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// One activation of the table at work.
class Arrays {
 public:
  Arrays(const Activation& row, const ActivationConstants& constants, CurveScratch& scratch, const IsaTier& tier)
      : row_(row),
        alpha_(value(constants.alpha)),
        beta_(value(constants.beta)),
        limit_(value(constants.limit)),
        linear_beta_(value(constants.linear_beta)),
        scratch_(scratch),
        tier_(tier) {}

  void run(std::span<const float> gate, std::span<const float> up, std::span<float> out) {
    scratch_.gate.assign(gate.begin(), gate.end());
    clamp(row_.gate_clamp, scratch_.gate);
    if (row_.join != Join::none) {
      scratch_.up.assign(up.begin(), up.end());
      clamp(row_.up_clamp, scratch_.up);
      if (row_.curve == Curve::situ && linear_beta_ > 0) bend(linear_beta_, scratch_.up);
    }
    curve();
    join(out);
    for (float& x : out) x = x == x ? x : kNan;
  }

 private:
  void clamp(Clamp clamp, std::vector<float>& xs) const {
    if (clamp == Clamp::none || (row_.limit_is_optional && !(limit_ > 0))) return;
    const bool both = clamp == Clamp::both;
    const float of_nan = row_.clamped_nan == ClampedNan::stays ? kNan : row_.clamped_nan == ClampedNan::bounded_below && both ? -limit_ : limit_;
    for (float& x : xs) {
      const float below = x > limit_ ? limit_ : x;
      const float inside = both && below < -limit_ ? -limit_ : below;
      x = x == x ? inside : of_nan;
    }
  }

  /// xs = function(xs).
  void apply(const char* function, std::vector<float>& xs) {
    scratch_.bits.resize(xs.size());
    for (std::size_t i = 0; i < xs.size(); ++i) scratch_.bits[i] = std::bit_cast<std::uint32_t>(xs[i]);
    kernels::apply(elementary_function_named(function), scratch_.bits, scratch_.bits, tier_);
    for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = value(scratch_.bits[i]);
  }

  /// limit * tanh(x * (1 / limit)).
  void bend(float limit, std::vector<float>& xs) {
    const float inverse = 1 / limit;
    for (float& x : xs) x *= inverse;
    apply("tanh", xs);
    for (float& x : xs) x *= limit;
  }

  /// curve = 1 + exp(-g), or of alpha * g.
  void denominators(bool by_alpha) {
    std::vector<float>& s = scratch_.curve;
    s = scratch_.gate;
    for (float& x : s) x = -(by_alpha ? alpha_ * x : x);
    apply("exp", s);
    for (float& x : s) x = 1 + x;
  }

  /// What of `inner` goes through the function, plus one, times half of g; either way around the bits are the same.
  void gelu(const char* function, float (*inner)(float)) {
    std::vector<float>& s = scratch_.curve;
    s = scratch_.gate;
    for (float& x : s) x = inner(x);
    apply(function, s);
    for (std::size_t i = 0; i < s.size(); ++i) s[i] = 0.5F * scratch_.gate[i] * (1 + s[i]);
  }

  /// s of g; where the division comes last, its divisor.
  void curve() {
    const std::vector<float>& g = scratch_.gate;
    std::vector<float>& s = scratch_.curve;
    switch (row_.curve) {
      case Curve::silu:
      case Curve::swish:
        denominators(row_.curve == Curve::swish);
        if (row_.join == Join::before_division) return;
        for (std::size_t i = 0; i < s.size(); ++i) s[i] = g[i] / s[i];
        return;
      case Curve::swish_by_sigmoid:
        denominators(true);
        for (std::size_t i = 0; i < s.size(); ++i) s[i] = g[i] * (1 / s[i]);
        return;
      case Curve::situ:
        denominators(false);
        bend(beta_, scratch_.gate);
        for (std::size_t i = 0; i < s.size(); ++i) s[i] = g[i] / s[i];
        return;
      case Curve::gelu_erf: return gelu("erf", [](float x) { return x * value(0x3F3504F3U); });  // sqrt(1/2)
      case Curve::gelu_tanh:
        return gelu("tanh", [](float x) { return value(0x3F4C422AU) * (x + value(0x3D372713U) * (x * x * x)); });  // 0.79788456, 0.044715
      case Curve::relu_squared: break;
    }
    const float of_nan = row_.clamped_nan == ClampedNan::stays ? kNan : 0.0F;
    s = g;
    for (float& x : s) {
      const float rectified = x == x ? std::max(x, 0.0F) : of_nan;
      x = rectified * rectified;
    }
  }

  void join(std::span<float> out) {
    const std::vector<float>& u = scratch_.up;
    std::vector<float>& s = scratch_.curve;
    if (row_.join != Join::before_division && row_.join != Join::none) clamp(row_.curve_clamp, s);
    for (std::size_t i = 0; i < out.size(); ++i) {
      switch (row_.join) {
        case Join::none: out[i] = s[i]; break;
        case Join::times_up: out[i] = s[i] * u[i]; break;
        case Join::times_up_and_beta: out[i] = s[i] * (u[i] + beta_); break;
        case Join::fused: out[i] = std::fma(s[i], u[i], s[i]); break;
        case Join::before_division: out[i] = (u[i] + beta_) * scratch_.gate[i] / s[i]; break;
      }
    }
  }

  const Activation& row_;
  float alpha_, beta_, limit_, linear_beta_;
  CurveScratch& scratch_;
  const IsaTier& tier_;
};

}  // namespace

void activate_all(const Activation& row, const ActivationConstants& constants, std::span<const float> gate, std::span<const float> up,
                  std::span<float> out, CurveScratch& scratch, const IsaTier& tier) {
  Arrays(row, constants, scratch, tier).run(gate, up, out);
}

}  // namespace mx::kernels::moe
