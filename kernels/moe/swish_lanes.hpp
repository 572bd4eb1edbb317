#pragma once
// The one body of the swish functions, compiled for each tier: vectors of lanes, which compilers cut to what a tier has. Nothing here has a
// linkage that another tier could pick up.

#include <stdint.h>
#include <string.h>
#ifdef __FMA__
#include <immintrin.h>
#endif

#include "kernels/moe/swish.hpp"

#define MXACT_LANES inline __attribute__((always_inline))

namespace mx::kernels::moe {
namespace {

#if defined(__AVX512F__)
constexpr int kSwishLanes = 16;
#elif defined(__FMA__)
constexpr int kSwishLanes = 8;
#else
constexpr int kSwishLanes = 4;
#endif

// Floats fill a register, half as many doubles too.
typedef float Floats __attribute__((vector_size(4 * kSwishLanes)));
typedef int32_t Ints __attribute__((vector_size(4 * kSwishLanes)));  // results of comparisons: -1 or 0
typedef double Doubles __attribute__((vector_size(4 * kSwishLanes)));
typedef int64_t Longs __attribute__((vector_size(4 * kSwishLanes)));
typedef double AllDoubles __attribute__((vector_size(8 * kSwishLanes)));  // two registers of them

/// a * b + c, rounded once or twice: fit for what only has to be near.
MXACT_LANES Doubles multiply_add(const Doubles& a, const Doubles& b, const Doubles& c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#else
  return a * b + c;
#endif
}

/// e^y with a relative error below 2^-44, for |y| < 87.
MXACT_LANES Doubles exponential(const Doubles& y) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  constexpr double kRounder = 0x1.8p+52;  // adding it rounds to an integer, which then stands in the low bits
  const Doubles shifted = multiply_add(y, Doubles{} + kLog2E, Doubles{} + kRounder);
  const Doubles t = multiply_add(shifted - kRounder, Doubles{} - kLn2, y);
  // |t| <= ln(2) / 2: the terms of the series up to t^11 / 11! leave less than 2^-46. In pairs and fours, which do not wait for each other.
  const Doubles one = Doubles{} + 1.0;
  const Doubles t2 = t * t;
  const Doubles t4 = t2 * t2;
  const Doubles terms0 = t + one;
  const Doubles terms2 = multiply_add(t, Doubles{} + 1.0 / 6, Doubles{} + 0.5);
  const Doubles terms4 = multiply_add(t, Doubles{} + 1.0 / 120, Doubles{} + 1.0 / 24);
  const Doubles terms6 = multiply_add(t, Doubles{} + 1.0 / 5040, Doubles{} + 1.0 / 720);
  const Doubles terms8 = multiply_add(t, Doubles{} + 1.0 / 362880, Doubles{} + 1.0 / 40320);
  const Doubles terms10 = multiply_add(t, Doubles{} + 1.0 / 39916800, Doubles{} + 1.0 / 3628800);
  const Doubles first = multiply_add(terms2, t2, terms0);
  const Doubles second = multiply_add(terms6, t2, terms4);
  const Doubles third = multiply_add(terms10, t2, terms8);
  const Doubles sum = multiply_add(multiply_add(third, t4, second), t4, first);
  Longs power;
  Longs bits;
  memcpy(&power, &shifted, sizeof power);
  memcpy(&bits, &sum, sizeof bits);
  bits += power << 52;
  Doubles e;
  memcpy(&e, &bits, sizeof e);
  return e;
}

/// e^y rounded to fp32 from slightly below and from slightly above: twice the error that the exponential may have, and the product's own.
MXACT_LANES void bounds_of_exponential(const Floats& y, Floats& low, Floats& high) {
  constexpr double kBelow = 1 - 0x1p-43;
  constexpr double kAbove = 1 + 0x1p-43;
  const AllDoubles all = __builtin_convertvector(y, AllDoubles);
  Doubles parts[2];
  memcpy(parts, &all, sizeof all);
  parts[0] = exponential(parts[0]);
  parts[1] = exponential(parts[1]);
  AllDoubles e;
  memcpy(&e, parts, sizeof e);
  low = __builtin_convertvector(e * kBelow, Floats);
  high = __builtin_convertvector(e * kAbove, Floats);
}

/// out = 1 + e^-x in fp32, e^-x correctly rounded where `unsure` stays 0.
MXACT_LANES void one_plus_exp_of_minus(const Floats& x, Floats& out, Ints& unsure) {
  constexpr float kReach = 86;
  const Floats zero = {};
  const Ints inside = (x < zero + kReach) & (x > zero - kReach);
  Floats low;
  Floats high;
  bounds_of_exponential(inside ? -x : zero, low, high);
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
#if defined(__AVX512F__)
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(lanes));
#elif defined(__FMA__)
  return static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(lanes)));
#else
  uint32_t mask = 0;
  for (int i = 0; i < kSwishLanes; ++i) mask |= (static_cast<uint32_t>(lanes[i]) & 1U) << i;
  return mask;
#endif
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

inline void swish_lanes(const Swish& choices, const SwishTile& tile) {
  const Swish swish = choices;  // nothing that is written below can be part of it
  for (size_t row = 0; row < tile.rows; ++row) {
    const float* const gate = tile.gate + row * tile.stride;
    const float* const up = tile.up + row * tile.stride;
    float* const out = tile.out + row * tile.out_stride;
    uint32_t mask = 0;
    for (int first = 0; first < kSwishColumns; first += kSwishLanes) mask |= some_columns(swish, gate + first, up + first, out + first) << first;
    tile.unsure[row] = mask;
  }
}

}  // namespace
}  // namespace mx::kernels::moe
