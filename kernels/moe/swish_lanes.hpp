#pragma once
// The one body of the swish functions, compiled for each tier: vectors of lanes, which compilers cut to what a tier has. Nothing here has a
// linkage that another tier could pick up.

#include <stdint.h>
#include <string.h>

#include "kernels/moe/swish.hpp"

#define MXACT_LANES inline __attribute__((always_inline))

namespace mx::kernels::moe {
namespace {

// Doubles fill whole registers: two of AVX-512 or of AVX2.
#ifdef __AVX512F__
constexpr int kSwishLanes = 16;
#else
constexpr int kSwishLanes = 8;
#endif

typedef float Floats __attribute__((vector_size(4 * kSwishLanes)));
typedef int32_t Ints __attribute__((vector_size(4 * kSwishLanes)));  // results of comparisons: -1 or 0
typedef double Doubles __attribute__((vector_size(8 * kSwishLanes)));
typedef int64_t Longs __attribute__((vector_size(8 * kSwishLanes)));

/// e = e^y with a relative error below 2^-44, for |y| < 87.
MXACT_LANES void exponential(const Doubles& y, Doubles& e) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  constexpr double kRounder = 0x1.8p+52;  // adding it rounds to an integer, which then stands in the low bits
  const Doubles scaled = y * kLog2E;
  const Doubles shifted = scaled + kRounder;
  const Doubles t = (scaled - (shifted - kRounder)) * kLn2;
  // |t| <= ln(2) / 2: the terms of the series up to t^11 / 11! leave less than 2^-46.
  Doubles sum = t * (1.0 / 39916800) + 1.0 / 3628800;
  sum = sum * t + 1.0 / 362880;
  sum = sum * t + 1.0 / 40320;
  sum = sum * t + 1.0 / 5040;
  sum = sum * t + 1.0 / 720;
  sum = sum * t + 1.0 / 120;
  sum = sum * t + 1.0 / 24;
  sum = sum * t + 1.0 / 6;
  sum = sum * t + 0.5;
  sum = sum * t + 1.0;
  sum = sum * t + 1.0;
  Longs power;
  Longs bits;
  memcpy(&power, &shifted, sizeof power);
  memcpy(&bits, &sum, sizeof bits);
  bits += power << 52;
  memcpy(&e, &bits, sizeof e);
}

/// out = 1 + e^-x in fp32, e^-x correctly rounded where `unsure` stays 0.
MXACT_LANES void one_plus_exp_of_minus(const Floats& x, Floats& out, Ints& unsure) {
  // Twice the error that the exponential may have, and the product's own.
  constexpr double kBelow = 1 - 0x1p-43;
  constexpr double kAbove = 1 + 0x1p-43;
  constexpr float kReach = 86;
  const Floats zero = {};
  const Ints inside = (x < zero + kReach) & (x > zero - kReach);
  const Floats y = inside ? -x : zero;
  Doubles e;
  exponential(__builtin_convertvector(y, Doubles), e);
  const Floats low = __builtin_convertvector(e * kBelow, Floats);
  const Floats high = __builtin_convertvector(e * kAbove, Floats);
  unsure |= ~inside | (low != high);
  out = 1.0F + low;
}

MXACT_LANES void clamp(const Swish& swish, Floats& g, Floats& u) {
  const Floats limit = Floats{} + swish.limit;
  if (swish.gate_clamped) g = g > limit ? limit : g;
  if (swish.up_clamped) {
    u = u > limit ? limit : u;
    u = u < -limit ? -limit : u;
  }
}

/// s, where the division does not come last.
MXACT_LANES void curve(const Swish& swish, const Floats& g, const Floats& divisor, Floats& s) {
  if (swish.by_sigmoid) {
    s = g * (1.0F / divisor);
  } else {
    s = g / divisor;
  }
}

MXACT_LANES void join(const Swish& swish, const Floats& g, const Floats& u, const Floats& divisor, Floats& out) {
  if (swish.join == SwishJoin::before_division) {
    out = (u + swish.beta) * g / divisor;
    return;
  }
  Floats s;
  curve(swish, g, divisor, s);
  switch (swish.join) {
    case SwishJoin::before_division:
    case SwishJoin::times_up: out = s * u; return;
    case SwishJoin::times_up_and_beta: out = s * (u + swish.beta); return;
    case SwishJoin::fused: break;
  }
  for (int i = 0; i < kSwishLanes; ++i) out[i] = __builtin_fmaf(s[i], u[i], s[i]);
}

/// The lanes that are set, as bits.
MXACT_LANES uint32_t mask_of(const Ints& lanes) {
  int32_t any = 0;
  for (int i = 0; i < kSwishLanes; ++i) any |= lanes[i];
  uint32_t mask = 0;
  for (int i = 0; any != 0 && i < kSwishLanes; ++i) mask |= (static_cast<uint32_t>(lanes[i]) & 1U) << i;
  return mask;
}

MXACT_LANES uint32_t some_columns(const Swish& swish, const float* gate, const float* up, float* out) {
  Floats g;
  Floats u;
  memcpy(&g, gate, sizeof g);
  memcpy(&u, up, sizeof u);
  Ints unsure = u != u;
  clamp(swish, g, u);
  Floats divisor;
  if (swish.by_alpha) {
    one_plus_exp_of_minus(swish.alpha * g, divisor, unsure);
  } else {
    one_plus_exp_of_minus(g, divisor, unsure);
  }
  Floats result;
  join(swish, g, u, divisor, result);
  memcpy(out, &result, sizeof result);
  unsure |= result != result;
  return mask_of(unsure);
}

inline uint32_t swish_lanes(const Swish& swish, const float* gate, const float* up, float* out) {
  uint32_t mask = 0;
  for (int first = 0; first < kSwishColumns; first += kSwishLanes) mask |= some_columns(swish, gate + first, up + first, out + first) << first;
  return mask;
}

}  // namespace
}  // namespace mx::kernels::moe
