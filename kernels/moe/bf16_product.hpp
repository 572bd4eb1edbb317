#pragma once
// A weight times its scale as bf16-chain takes it: for every tier's files, where their vectors leave a product to plain code.

#include <stdint.h>
#include <string.h>

#include "kernels/moe/tile.hpp"

namespace mx::kernels::moe {
namespace {

/// The exact product rounded to bf16, nearest even, as fp32: overflow gives Inf, subnormals are those of bf16. The factors have 29 significant bits
/// together at most, so that their product is exact in double.
inline float bf16_product(float weight, float scale) {
  constexpr uint64_t kField = 0x7FF;
  constexpr uint64_t kSmallest = 1023 - 126;  // field of the smallest normal number of bf16
  const double product = static_cast<double>(weight) * static_cast<double>(scale);
  uint64_t bits;
  memcpy(&bits, &product, sizeof bits);
  uint64_t field = bits >> 52 & kField;
  if (field == kField) return static_cast<float>(product);
  if (field < kSmallest) field = kSmallest;
  // The sum of the product and 1.5 * 2^45 times its power of two ends where the eighth bit of the product does.
  const uint64_t coarse = (field + 45) << 52 | uint64_t{1} << 51;
  double rounder;
  memcpy(&rounder, &coarse, sizeof rounder);
  const float value = static_cast<float>((product + rounder) - rounder);
  return value == 0 && bits >> 63 != 0 ? -0.0F : value;
}

/// True when the products of a scale with weights (zeros, NaNs, magnitudes from 2^-10 to 2688) are zeros, NaNs or normal numbers below 2^111.5: what
/// the vectors round.
constexpr float kLeastModerate = 0x1p-116F;
constexpr float kBeyondModerate = 0x1p100F;
inline bool is_moderate(float scale) {
  const float magnitude = scale < 0 ? -scale : scale;
  return magnitude == 0 || (magnitude >= kLeastModerate && magnitude < kBeyondModerate);
}

/// Whether a way to round products takes so many blocks of a panel's scales, one behind the other.
using Takes = bool(const TileArgs& args, const uint8_t* scales, size_t blocks);
/// One that looks at blocks one by one, of scales of so many bytes.
template <bool (*kTakesOne)(const TileArgs& args, const uint8_t* scales), size_t kBytes>
bool one_by_one(const TileArgs& args, const uint8_t* scales, size_t blocks) {
  for (size_t block = 0; block < blocks; ++block) {
    if (!kTakesOne(args, scales + block * kPanelColumns * kBytes)) return false;
  }
  return true;
}

/// Expert's scales that are moderate, and fp32 scales of as many columns.
inline bool is_expert_moderate(const TileArgs& args, const uint8_t*, size_t) { return is_moderate(args.expert_scale); }
template <size_t Columns>
inline bool are_moderate(const TileArgs&, const uint8_t* scales) {
  for (size_t i = 0; i < Columns; ++i) {
    float scale;
    memcpy(&scale, scales + i * sizeof scale, sizeof scale);
    if (!is_moderate(scale)) return false;
  }
  return true;
}

/// How vectors round the exact product p of a weight and a moderate scale to eight bits, nearest even (Veltkamp's splitting: T. J. Dekker, A
/// floating-point technique for extending the available precision, 1971, with a fused multiply-add): c is the weight times the scale times this,
/// rounded, and d is c - p, rounded. Both end at the eighth bit of p, since 2^16 p does, and so does c - d, which is as far from p as rounding moved
/// d: half a unit of that bit at most. Where p is a tie, the factors have nine bits together at most, c ends at an even bit, and so does d: the even
/// one of the two neighbours is left. c is below 2^128, as p is below 2^111.5.
constexpr float kSplitter = 65537;

}  // namespace
}  // namespace mx::kernels::moe
