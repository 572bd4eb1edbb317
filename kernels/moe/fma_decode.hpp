#pragma once
// Codes of a panel's weights and their scales as fp32, for the kernels of bf16 by fused multiply-adds: [pair of K][odd, even][kColumns].

#include "kernels/moe/bf16_product.hpp"
#include "kernels/moe/fma_lanes.hpp"

namespace mx::kernels::moe {
namespace {

/// What becomes of a decoded weight of vector `v` before it is stored: nothing.
struct AsIs {
  MXACT_INLINE Floats operator()(size_t, Floats weight) const { return weight; }
};

alignas(64) constexpr float kNumbers[16] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6, -0.0F, -0.5F, -1, -1.5F, -2, -3, -4, -6};
/// Each number is a power of two, or one times 1.5; where it is not, zero stands.
alignas(64) constexpr float kPowers[16] = {0, 0.5F, 1, 0, 2, 0, 4, 0, -0.0F, -0.5F, -1, -0.0F, -2, -0.0F, -4, -0.0F};
alignas(64) constexpr float kPowersOfOneAndAHalf[16] = {0, 0, 0, 1, 0, 2, 0, 4, -0.0F, -0.0F, -0.0F, -1, -0.0F, -2, -0.0F, -4};

/// Codes in a panel's dwords: weight<I>() is the I-th of each dword's K in the order of a chain, the odd one of each pair first.
struct E2m1 {
  static constexpr size_t kBits = 4;
  static constexpr size_t kInDword = 8;
  template <size_t I>
  MXACT_INLINE static Floats weight(const uint8_t* dwords) {
    return nibble_at<kNibble<I>>(dwords, kNumbers);
  }
  template <size_t I>
  static constexpr size_t kNibble = I / 2 + (I % 2 == 0 ? 4 : 0);
};

/// The same codes for products whose rounding does not see powers of two.
struct SplitE2m1 : E2m1 {
  struct Weight {
    Floats power;
    Floats power_of_one_and_a_half;
  };
  template <size_t I>
  MXACT_INLINE static Weight weight(const uint8_t* dwords) {
    return {nibble_at<kNibble<I>>(dwords, kPowers), nibble_at<kNibble<I>>(dwords, kPowersOfOneAndAHalf)};
  }
};

/// The same codes, of which a fold makes products, in pairs of K.
struct PairedE2m1 : E2m1 {
  template <size_t I>
  struct Weight {
    const uint8_t* dwords;
  };
  template <size_t I>
  MXACT_INLINE static Weight<I> weight(const uint8_t* dwords) {
    return {dwords};
  }
};

/// A dword's bytes are k 0, 2, 1, 3 of its quad.
struct E4m3 {
  static constexpr size_t kBits = 8;
  static constexpr size_t kInDword = 4;
  template <size_t I>
  MXACT_INLINE static Floats weight(const uint8_t* dwords) {
    return decoded_byte<kByte<I>>(load_dwords(dwords));
  }
  template <size_t I>
  static constexpr size_t kByte = I / 2 + (I % 2 == 0 ? 2 : 0);
};

template <size_t I>
struct Index {
  static constexpr size_t value = I;
};

/// Calls with each index of a dword's K, as a type.
template <class Codes, size_t I = 0, class Visit>
MXACT_INLINE void each_of_dword(const Visit& visit) {
  if constexpr (I < Codes::kInDword) {
    visit(Index<I>());
    each_of_dword<Codes, I + 1>(visit);
  }
}

/// Decodes `k` of K of kColumns columns, whose dwords begin at `codes`.
template <class Codes, class Fold>
MXACT_INLINE void decode_columns(const uint8_t* codes, size_t k, const Fold& fold, float* out) {
  for (size_t d = 0; d < k / Codes::kInDword; ++d) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
      const uint8_t* const dwords = codes + (d * kPanelColumns + v * kWidth) * 4;
      ask_for<2>(dwords + 8192);
      Floats weights[Codes::kInDword];  // stores between would part lookups that bytes share
      each_of_dword<Codes>([&](auto i) __attribute__((always_inline)) { weights[i.value] = fold(v, Codes::template weight<i.value>(dwords)); });
      MXACT_UNROLL for (size_t i = 0; i < Codes::kInDword; ++i) store(out + (d * Codes::kInDword + i) * kColumns + v * kWidth, weights[i]);
    }
  }
}

/// One dword of K by a tile of rows at `x`, decoded in registers, each K to one of `Chains` sums in turn: columns are those of two vectors for each
/// of `codes`.
template <class Codes, size_t Rows, size_t Groups, size_t Chains, class Fold>
MXACT_INLINE void multiply_dword(Floats (&sums)[Chains][Rows][2 * Groups], const uint8_t* const (&codes)[Groups], const Fold& fold, const float* x) {
  each_of_dword<Codes>([&](auto i) __attribute__((always_inline)) {
    Floats weights[2 * Groups];
    MXACT_UNROLL for (size_t v = 0; v < 2 * Groups; ++v) weights[v] = fold(v, Codes::template weight<i.value>(codes[v / 2] + v % 2 * kWidth * 4));
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
      const Floats value = all_of(x + i.value * Rows + m);
      MXACT_UNROLL for (size_t v = 0; v < 2 * Groups; ++v) add_product(sums[i.value % Chains][m][v], value, weights[v]);
    }
  });
}

MXACT_INLINE Floats f32_scales(const uint8_t* scales) { return load(reinterpret_cast<const float*>(scales)); }

/// bf16_product of weights and any scales.
MXACT_INLINE Floats any_product(Floats weight, Floats scale) {
  float weights[kWidth], scales[kWidth];
  store(weights, weight);
  store(scales, scale);
  for (size_t i = 0; i < kWidth; ++i) weights[i] = bf16_product(weights[i], scales[i]);
  return load(weights);
}

}  // namespace
}  // namespace mx::kernels::moe
