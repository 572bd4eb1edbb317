#pragma once
// int8-block by AArch64's vectors: twice the weights as signed bytes, whose products with the activations' are summed by a tier's own Quads.

#include "kernels/moe/neon_vectors.hpp"
// The vectors come first.
#include "kernels/moe/fma_lanes.hpp"

namespace mx::kernels::moe {
namespace {

alignas(16) constexpr int8_t kDoubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// fp32 of the scale that a base was made of.
MXACT_INLINE Floats a_scale(int32_t base) {
  const uint8_t byte = scale_byte_of(base);
  const uint32_t bits = byte == 0 ? 0x00400000U : byte == 255 ? 0x7FC00000U : static_cast<uint32_t>(byte) << 23;
  const float32x4_t value = vreinterpretq_f32_u32(vdupq_n_u32(bits));
  return {value, value};
}

/// Weights' scales of a vector's columns.
using ScaleValues = Floats(const TileArgs& args, const uint8_t* scales);
MXACT_INLINE Floats e8m0(const TileArgs&, const uint8_t* scales) { return scale_values(scales); }
MXACT_INLINE Floats e4m3(const TileArgs& args, const uint8_t* scales) { return product(e4m3_scales(scales), all(args.expert_scale)); }

/// Sums of four columns by a row's quads, in units of 2^-7, as floats.
template <class Quads, size_t Octets>
MXACT_INLINE float32x4_t summed(const int8x16_t (&weights)[2 * Octets], const int8x16_t (&a)[2 * Octets]) {
  Quads sums;
  MXACT_UNROLL for (size_t quad = 0; quad < 2 * Octets; ++quad) sums.add(weights[quad], a[quad]);
  return vmulq_n_f32(vcvtq_f32_s32(sums.columns()), 0x1p-7F);
}

/// One scale block, `Octets` of K, of a vector's columns by a tile of rows.
template <class Quads, size_t Octets>
MXACT_INLINE void int8_block(const uint8_t* codes, Floats w_scale, const uint32_t* a, const int32_t* bases, size_t height, float* totals) {
  const int8x16_t table = vld1q_s8(kDoubled);
  int8x16_t low[2 * Octets], high[2 * Octets];
  const auto decode = [&](size_t octet, const uint8_t* lanes, int8x16_t* to) __attribute__((always_inline)) {
    const uint8x16_t pairs = vld1q_u8(lanes);
    to[2 * octet] = vqtbl1q_s8(table, vandq_u8(pairs, vdupq_n_u8(15)));
    to[2 * octet + 1] = vqtbl1q_s8(table, vshrq_n_u8(pairs, 4));
  };
  MXACT_UNROLL for (size_t octet = 0; octet < Octets; ++octet) {
    decode(octet, codes + octet * kPanelColumns * 4, low);
    decode(octet, codes + octet * kPanelColumns * 4 + 16, high);
  }
  for (size_t row = 0; row < height; ++row) {
    int8x16_t quads[2 * Octets];
    MXACT_UNROLL for (size_t quad = 0; quad < 2 * Octets; ++quad) quads[quad] = vreinterpretq_s8_u32(vdupq_n_u32(a[quad * height + row]));
    const Floats sums{summed<Quads, Octets>(low, quads), summed<Quads, Octets>(high, quads)};
    float* const total = totals + row * kColumns;
    store(total, fused(sums, product(a_scale(bases[row]), w_scale), load(total)));
  }
}

template <class Quads, size_t Octets, ScaleValues* Scales>
void run(const TileArgs& args) {
  constexpr size_t kPerScale = kScaleBlock / 8 / Octets;  // blocks that share a scale of the activations
  alignas(64) float totals[kMostRows * kColumns];
  const size_t blocks = args.blocks * kPerScale;
  for (size_t column = 0; column < args.panels * kParts; ++column) {
    const size_t panel = column / kParts;
    const size_t part = column % kParts;
    for (size_t i = 0; i < args.rows * kColumns; ++i) totals[i] = 0;
    each_tile<kInt8Rows>(args.rows, [&](size_t first, size_t height) {
      for (size_t b = 0; b < blocks; ++b) {
        const uint32_t* const a = args.a + (first * blocks + b * height) * 2 * Octets;
        const int32_t* const bases = args.a_bases + first * args.blocks + b / kPerScale * height;
        for (size_t v = 0; v < 2; ++v) {
          const size_t lane = part * kColumns + v * kWidth;
          const Floats scale = Scales(args, args.scales + panel * args.scale_stride + b * kPanelColumns + lane);
          int8_block<Quads, Octets>(args.codes + panel * args.code_stride + (b * Octets * kPanelColumns + lane) * 4, scale, a, bases, height,
                                    totals + first * kColumns + v * kWidth);
        }
      }
    });
    put(args, panel, part, totals);
  }
}

}  // namespace
}  // namespace mx::kernels::moe
