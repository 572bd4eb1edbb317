#pragma once
// Codes of a panel's weights and their scales as fp32, for the engines of bf16 by fused multiply-adds: [pair of K][odd, even][kColumns].

#include "kernels/moe/bf16_product.hpp"
#include "kernels/moe/fma_lanes.hpp"

namespace mx::kernels::moe {
namespace {

/// What becomes of a decoded weight of vector `v` before it is stored: nothing.
struct AsIs {
  MXACT_INLINE Floats operator()(size_t, Floats weight) const { return weight; }
};

/// One vector of columns, whole dwords.
template <class Dword>
MXACT_INLINE void each_dword(const uint8_t* codes, size_t count, Dword dword) {
  for (size_t d = 0; d < count; ++d) {
    for (size_t v = 0; v < 2; ++v) dword(d, v, load_dwords(codes + (d * kPanelColumns + v * kWidth) * 4));
  }
}

MXACT_INLINE void put_pair(float* out, size_t pair, size_t v, Floats odd, Floats even) {
  store(out + pair * 2 * kColumns + v * kWidth, odd);
  store(out + (pair * 2 + 1) * kColumns + v * kWidth, even);
}

/// Decodes `k` of K of kColumns columns, whose dwords begin at `codes`.
struct E2m1 {
  static constexpr size_t kBits = 4;
  template <class Fold>
  static void decode(const uint8_t* codes, size_t k, const Fold& fold, float* out) {
    each_dword(
        codes, k / 8, [&](size_t d, size_t v, Dwords lanes) __attribute__((always_inline)) {
          put_pair(out, d * 4, v, fold(v, decoded<4>(lanes)), fold(v, decoded<0>(lanes)));
          put_pair(out, d * 4 + 1, v, fold(v, decoded<5>(lanes)), fold(v, decoded<1>(lanes)));
          put_pair(out, d * 4 + 2, v, fold(v, decoded<6>(lanes)), fold(v, decoded<2>(lanes)));
          put_pair(out, d * 4 + 3, v, fold(v, decoded<7>(lanes)), fold(v, decoded<3>(lanes)));
        });
  }
};

/// A dword's bytes are k 0, 2, 1, 3 of its quad.
struct E4m3 {
  static constexpr size_t kBits = 8;
  template <class Fold>
  static void decode(const uint8_t* codes, size_t k, const Fold& fold, float* out) {
    each_dword(
        codes, k / 4, [&](size_t d, size_t v, Dwords lanes) __attribute__((always_inline)) {
          put_pair(out, d * 2, v, fold(v, decoded_byte<2>(lanes)), fold(v, decoded_byte<0>(lanes)));
          put_pair(out, d * 2 + 1, v, fold(v, decoded_byte<3>(lanes)), fold(v, decoded_byte<1>(lanes)));
        });
  }
};

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
