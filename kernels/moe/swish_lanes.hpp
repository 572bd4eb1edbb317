#pragma once
// The one body of the swish functions, compiled for each tier: loops over sixteen lanes that compilers make vectors of. Nothing here has a linkage
// that another tier could pick up.

#include <stdint.h>
#include <string.h>

#include "kernels/moe/swish.hpp"

namespace mx::kernels::moe {
namespace {

constexpr int kLanes = kSwishColumns;

/// e^y as a double with a relative error below 2^-44, for |y| < 87.
inline double exponential(double y) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  constexpr double kRounder = 0x1.8p+52;  // adding it rounds to an integer, which then stands in the low bits
  const double scaled = y * kLog2E;
  const double shifted = scaled + kRounder;
  const double t = (scaled - (shifted - kRounder)) * kLn2;
  // |t| <= ln(2) / 2: the terms of the series up to t^12 / 12! leave less than 2^-50.
  double sum = 1.0 / 479001600;
  sum = sum * t + 1.0 / 39916800;
  sum = sum * t + 1.0 / 3628800;
  sum = sum * t + 1.0 / 362880;
  sum = sum * t + 1.0 / 40320;
  sum = sum * t + 1.0 / 5040;
  sum = sum * t + 1.0 / 720;
  sum = sum * t + 1.0 / 120;
  sum = sum * t + 1.0 / 24;
  sum = sum * t + 1.0 / 6;
  sum = sum * t + 0.5;
  sum = sum * t + 1;
  sum = sum * t + 1;
  int64_t power;
  int64_t bits;
  memcpy(&power, &shifted, sizeof power);
  memcpy(&bits, &sum, sizeof bits);
  bits += power << 52;
  memcpy(&sum, &bits, sizeof sum);
  return sum;
}

/// 1 + e^-x in fp32, e^-x correctly rounded where unsure[i] stays 0.
inline void one_plus_exp_of_minus(const float* x, float* out, uint32_t* unsure) {
  // Twice the error that the exponential may have, and the product's own.
  constexpr double kBelow = 1 - 0x1p-43;
  constexpr double kAbove = 1 + 0x1p-43;
  constexpr float kReach = 86;
  for (int i = 0; i < kLanes; ++i) {
    const float y = -x[i];
    const float inside = y < -kReach ? -kReach : y > kReach ? kReach : y;
    const double e = exponential(static_cast<double>(inside));
    const float low = static_cast<float>(e * kBelow);
    const float high = static_cast<float>(e * kAbove);
    unsure[i] |= static_cast<uint32_t>(!(inside == y)) | static_cast<uint32_t>(!(low == high));
    out[i] = 1.0F + low;
  }
}

inline void clamp(const Swish& swish, const float* gate, const float* up, float* g, float* u) {
  for (int i = 0; i < kLanes; ++i) {
    g[i] = swish.gate_clamped && gate[i] > swish.limit ? swish.limit : gate[i];
    const float below = swish.up_clamped && up[i] > swish.limit ? swish.limit : up[i];
    u[i] = swish.up_clamped && below < -swish.limit ? -swish.limit : below;
  }
}

/// s where the join does not want the division last.
inline void curve(const Swish& swish, const float* g, const float* divisor, float* s) {
  if (swish.by_sigmoid) {
    for (int i = 0; i < kLanes; ++i) s[i] = g[i] * (1.0F / divisor[i]);
  } else {
    for (int i = 0; i < kLanes; ++i) s[i] = g[i] / divisor[i];
  }
}

inline void join(const Swish& swish, const float* g, const float* u, const float* divisor, float* out) {
  float s[kLanes];
  switch (swish.join) {
    case SwishJoin::before_division:
      for (int i = 0; i < kLanes; ++i) out[i] = (u[i] + swish.beta) * g[i] / divisor[i];
      return;
    case SwishJoin::times_up:
      curve(swish, g, divisor, s);
      for (int i = 0; i < kLanes; ++i) out[i] = s[i] * u[i];
      return;
    case SwishJoin::times_up_and_beta:
      curve(swish, g, divisor, s);
      for (int i = 0; i < kLanes; ++i) out[i] = s[i] * (u[i] + swish.beta);
      return;
    case SwishJoin::fused:
      curve(swish, g, divisor, s);
      for (int i = 0; i < kLanes; ++i) out[i] = __builtin_fmaf(s[i], u[i], s[i]);
      return;
  }
}

inline uint32_t swish_lanes(const Swish& swish, const float* gate, const float* up, float* out) {
  float g[kLanes];
  float u[kLanes];
  float inner[kLanes];
  float divisor[kLanes];
  uint32_t unsure[kLanes];
  clamp(swish, gate, up, g, u);
  for (int i = 0; i < kLanes; ++i) {
    inner[i] = swish.by_alpha ? swish.alpha * g[i] : g[i];
    unsure[i] = static_cast<uint32_t>(!(up[i] == up[i]));
  }
  one_plus_exp_of_minus(inner, divisor, unsure);
  join(swish, g, u, divisor, out);
  uint32_t mask = 0;
  for (int i = 0; i < kLanes; ++i) mask |= (unsure[i] | static_cast<uint32_t>(!(out[i] == out[i]))) << i;
  return mask;
}

}  // namespace
}  // namespace mx::kernels::moe
