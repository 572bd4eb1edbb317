// The kernels in plain scalar code, for processors without a tier of their own.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/little_endian.hpp"
#include "kernels/moe/bf16_product.hpp"
#include "kernels/moe/e4m3.hpp"
#include "kernels/moe/pair_tiles.hpp"
#include "kernels/moe/plain_tiles.hpp"
#include "kernels/moe/tile.hpp"

namespace mx::kernels::moe {
namespace {

constexpr std::array<float, 16> kValues{0, 0.5F, 1, 1.5F, 2, 3, 4, 6, -0.0F, -0.5F, -1, -1.5F, -2, -3, -4, -6};

float scale_value(uint8_t byte) {
  if (byte == 255) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(byte == 0 ? 0x00400000U : static_cast<uint32_t>(byte) << 23);
}

/// A code of one column of a panel: K's octet, place in it.
uint32_t code_at(const uint8_t* codes, std::size_t octet, std::size_t column, std::size_t k) {
  const uint8_t* lane = codes + (octet * kPanelColumns + column) * 4;
  return static_cast<uint32_t>(lane[(k % 2) * 2 + k / 4]) >> (k / 2 % 2 * 4) & 15U;
}

/// Activations of one row of a tile, in the two forms of bf16, as the kernels of bf16-chain take them.
struct Pairs {
  const uint32_t* a;
  std::size_t height;

  static constexpr std::size_t kTallest = kChainRows;
  static Pairs of(const TileArgs& args, std::size_t first, std::size_t row, std::size_t height) {
    return {args.a + first * args.blocks * (kScaleBlock / 2) + (row - first), height};
  }
  float at(std::size_t k) const {
    const uint32_t pair = a[k / 2 * height];
    return flushed(std::bit_cast<float>(k % 2 == 0 ? pair << 16 : pair & 0xFFFF0000U));
  }
};
struct Singles {
  const TileArgs& args;
  std::size_t first;  ///< row of the tile
  std::size_t row;
  std::size_t height;

  static constexpr std::size_t kTallest = kSingleRows;
  static Singles of(const TileArgs& args, std::size_t first, std::size_t row, std::size_t height) { return {args, first, row, height}; }
  float at(std::size_t k) const {
    const std::size_t begin = k / kStretchOfSingles * kStretchOfSingles;
    const std::size_t count = std::min(kStretchOfSingles, args.blocks * kScaleBlock - begin);
    return flushed(std::bit_cast<float>(args.a[numbers_before(args.rows, first, begin, count) + ((k - begin) ^ 1U) * height + (row - first)]));
  }
};

/// An e4m3fn code.
float e4m3_value(uint32_t code) {
  const uint32_t bits = static_cast<uint32_t>(bf16_of_e4m3(code & 0x7FU)) << 16;
  return std::bit_cast<float>(bits | (code & 0x80U) << 24);
}

/// The weight of one column of a panel at k. A lane of 8-bit codes holds k 0, 2, 1, 3 of its quad.
float e2m1_at(const uint8_t* codes, std::size_t k, std::size_t column) { return kValues[code_at(codes, k / 8, column, k % 8)]; }
float e4m3_at(const uint8_t* codes, std::size_t k, std::size_t column) {
  const std::size_t place = k % 4;
  return e4m3_value(codes[(k / 4 * kPanelColumns + column) * 4 + (place % 2) * 2 + place / 2]);
}

/// A column's scale number `index` along K.
using ScaleAt = float(const TileArgs& args, const uint8_t* scales, std::size_t index);
float e8m0_at(const TileArgs&, const uint8_t* scales, std::size_t index) { return scale_value(scales[index * kPanelColumns]); }
float e4m3_scale_at(const TileArgs& args, const uint8_t* scales, std::size_t index) {
  return e4m3_value(scales[index * kPanelColumns]) * args.expert_scale;
}
float f32_at(const TileArgs&, const uint8_t* scales, std::size_t index) {
  return std::bit_cast<float>(load_little_endian<uint32_t>(scales + index * kPanelColumns * sizeof(uint32_t)));
}

/// The exact sum over some octets of K, in units of 2^-7. A quad holds k 0, 4, 1, 5 of its octet, or 2, 6, 3, 7: as the bytes of a lane do.
int32_t integer_sum(const uint8_t* codes, std::size_t first, std::size_t count, std::size_t column, const uint32_t* a, std::size_t height) {
  constexpr std::array<std::size_t, 4> kPlaces{0, 4, 1, 5};
  int32_t sum = 0;
  for (std::size_t octet = first; octet < first + count; ++octet) {
    for (std::size_t quad = 0; quad < 2; ++quad) {
      const uint32_t four = a[(octet * 2 + quad) * height];
      for (std::size_t i = 0; i < 4; ++i) {
        const int32_t weight = static_cast<int32_t>(2 * kValues[code_at(codes, octet, column, kPlaces[i] + 2 * quad)]);
        sum += weight * static_cast<int8_t>(four >> (8 * i) & 0xFFU);
      }
    }
  }
  return sum;
}

/// A sum to its place, with bias, every NaN the same.
void put(const TileArgs& args, std::size_t panel, std::size_t row, std::size_t column, float sum) {
  const float value = args.bias == nullptr ? sum : sum + args.bias[panel * kPanelColumns + column];
  float* const to = args.out + panel * args.panel_stride + row * args.row_stride + column / 16 * args.half_stride + column % 16;
  *to = value == value ? value : std::bit_cast<float>(0x7FC00000U);
}

/// Calls dot(codes, scales, column, row of the block of rows, first row of its tile, height) for every output.
template <class Dot>
void each_output(const TileArgs& args, std::size_t tallest, Dot dot) {
  for (std::size_t panel = 0; panel < args.panels; ++panel) {
    std::size_t first = 0;
    for (std::size_t tile = 0; tile < tile_count(args.rows, tallest); ++tile) {
      const std::size_t height = tile_height(args.rows, tallest, tile);
      for (std::size_t row = first; row < first + height; ++row) {
        for (std::size_t column = 0; column < kPanelColumns; ++column) {
          put(args, panel, row, column,
              dot(args.codes + panel * args.code_stride, args.scales + panel * args.scale_stride, column, row, first, height));
        }
      }
      first += height;
    }
  }
}

/// A weight times its scale, scale number `index` along K, as bf16-chain takes it.
using FoldedAt = float(const TileArgs& args, float weight, const uint8_t* scales, std::size_t index);
template <ScaleAt* Scale>
float folded_at(const TileArgs& args, float weight, const uint8_t* scales, std::size_t index) {
  return bf16_product(weight, Scale(args, scales, index));
}
/// The product with the block's scale is exact.
float folded_e4m3_at(const TileArgs& args, float weight, const uint8_t* scales, std::size_t index) {
  return bf16_product(weight * e4m3_value(scales[index * kPanelColumns]), args.expert_scale);
}

/// A kind of weights: how a weight and a scale are read, and the bytes of a scale.
struct Kind {
  float (*weight)(const uint8_t* codes, std::size_t k, std::size_t column);
  ScaleAt* scale;
  FoldedAt* folded;
  std::size_t scale_bytes;
};
constexpr Kind kMxfp4{e2m1_at, e8m0_at, folded_at<e8m0_at>, 1};
constexpr Kind kMxfp8{e4m3_at, e8m0_at, folded_at<e8m0_at>, 1};
constexpr Kind kNvfp4{e2m1_at, e4m3_scale_at, folded_e4m3_at, 1};
constexpr Kind kFp8{e4m3_at, f32_at, folded_at<f32_at>, 4};

template <class Rows>
void bf16_chain(const TileArgs& args, const Kind& kind) {
  const std::size_t length = args.blocks * kScaleBlock;
  each_output(args, Rows::kTallest,
              [&](const uint8_t* codes, const uint8_t* scales, std::size_t column, std::size_t row, std::size_t first, std::size_t height) {
                const Rows x = Rows::of(args, first, row, height);
                const uint8_t* const of_column = scales + column * kind.scale_bytes;
                const auto weight = [&](std::size_t k) {
                  return flushed(kind.folded(args, kind.weight(codes, k, column), of_column, k / args.scale_block));
                };
                float sum = 0;
                for (std::size_t k = 0; k < length; k += 2) {
                  sum = flushed_step(x.at(k + 1), weight(k + 1), sum);
                  sum = flushed_step(x.at(k), weight(k), sum);
                }
                return sum;
              });
}

template <class Rows>
void bf16_pair(const TileArgs& args, const Kind& kind) {
  each_output(args, Rows::kTallest,
              [&](const uint8_t* codes, const uint8_t* scales, std::size_t column, std::size_t row, std::size_t first, std::size_t height) {
                const Rows x = Rows::of(args, first, row, height);
                const uint8_t* const of_column = scales + column * kind.scale_bytes;
                float total = 0;
                for (std::size_t block = 0; block < args.blocks; ++block) {
                  std::array<float, 2> halves{};
                  for (std::size_t k = block * kScaleBlock; k < (block + 1) * kScaleBlock; ++k) {
                    const float weight = flushed(kind.folded(args, kind.weight(codes, k, column), of_column, k / args.scale_block));
                    halves[k % 2] = flushed_step(x.at(k), weight, halves[k % 2]);
                  }
                  total = flushed_sum(total, flushed_sum(halves[0], halves[1]));
                }
                return total;
              });
}

/// The sum of the weights and activations of k in [begin, end).
float block_sum(const Kind& kind, const uint8_t* codes, std::size_t column, std::size_t begin, std::size_t end, const Pairs& x) {
  float sum = 0;
  for (std::size_t k = begin; k < end; k += 2) {
    sum = flushed_step(x.at(k + 1), kind.weight(codes, k + 1, column), sum);
    sum = flushed_step(x.at(k), kind.weight(codes, k, column), sum);
  }
  return sum;
}

void bf16_block(const TileArgs& args, const Kind& kind) {
  const std::size_t k = args.blocks * kScaleBlock;
  const std::size_t chains = (k + args.chain - 1) / args.chain;
  each_output(args, kBlockRows,
              [&](const uint8_t* codes, const uint8_t* scales, std::size_t column, std::size_t row, std::size_t first, std::size_t height) {
                const Pairs x = Pairs::of(args, first, row, height);
                float total = 0;
                for (std::size_t c = 0; c < chains; ++c) {
                  const std::size_t begin = c * args.chain;
                  const float sum = block_sum(kind, codes, column, begin, std::min(begin + args.chain, k), x);
                  float scale = kind.scale(args, scales + column * kind.scale_bytes, begin / args.scale_block);
                  if (args.a_scales != nullptr) scale *= args.a_scales[first * chains + c * height + (row - first)];
                  total = std::fma(sum, scale, total);
                }
                return total;
              });
}

/// Of 4-bit codes; each scale block of the weights, 32 or 16 of K, is one sum.
void int8_block(const TileArgs& args, const Kind& kind) {
  const std::size_t octets = args.scale_block / 8;
  each_output(args, kInt8Rows,
              [&](const uint8_t* codes, const uint8_t* scales, std::size_t column, std::size_t row, std::size_t first, std::size_t height) {
                const uint32_t* a = args.a + first * args.blocks * (kScaleBlock / 4) + (row - first);
                const int32_t* bases = args.a_bases + first * args.blocks + (row - first);
                float total = 0;
                for (std::size_t octet = 0; octet < args.blocks * 4; octet += octets) {
                  const float sum = static_cast<float>(integer_sum(codes, octet, octets, column, a, height)) * 0x1p-7F;
                  const float a_scale = scale_value(scale_byte_of(bases[octet / 4 * height]));
                  total = std::fma(sum, a_scale * kind.scale(args, scales + column, octet / octets), total);
                }
                return total;
              });
}

/// K from `first` to `end` of a panel as pairs of bf16 [pair][32].
void decode_pairs(const TileArgs& args, const Kind& kind, std::size_t panel, std::size_t first, std::size_t end, uint32_t* out) {
  const uint8_t* const codes = args.codes + panel * args.code_stride;
  const uint8_t* const scales = args.scales + panel * args.scale_stride;
  for (std::size_t k = first; k < end; ++k) {
    for (std::size_t column = 0; column < kPanelColumns; ++column) {
      const uint8_t* const of_column = scales + column * kind.scale_bytes;
      const uint32_t bits = std::bit_cast<uint32_t>(kind.folded(args, kind.weight(codes, k, column), of_column, k / args.scale_block));
      uint32_t& pair = out[(k - first) / 2 * kPanelColumns + column];
      pair = k % 2 == 0 ? bits >> 16 : pair | (bits & 0xFFFF0000U);
    }
  }
}

/// bf16-pair by tiles in plain code.
void bf16_pair_by_tiles(const TileArgs& args, const Kind& kind) {
  run_pairs_by_tiles<PlainTiles>(
      args, [&](std::size_t panel, std::size_t first, std::size_t end, uint32_t* out) { decode_pairs(args, kind, panel, first, end, out); },
      [&](std::size_t panel, const float* totals) {
        for (std::size_t row = 0; row < args.rows; ++row) {
          for (std::size_t column = 0; column < kPanelColumns; ++column) put(args, panel, row, column, totals[row * kPanelColumns + column]);
        }
      });
}

constexpr const Kind& kind_of(PanelKind kind) {
  switch (kind) {
    case PanelKind::mxfp4: return kMxfp4;
    case PanelKind::mxfp8: return kMxfp8;
    case PanelKind::nvfp4: return kNvfp4;
    case PanelKind::fp8: break;
  }
  return kFp8;
}

}  // namespace

void bf16_chain_portable(const TileArgs& args) { bf16_chain<Pairs>(args, kMxfp4); }
void bf16_chain_mxfp8_portable(const TileArgs& args) { bf16_chain<Pairs>(args, kMxfp8); }
void bf16_chain_nvfp4_portable(const TileArgs& args) { bf16_chain<Pairs>(args, kNvfp4); }
void bf16_chain_fp8_portable(const TileArgs& args) { bf16_chain<Pairs>(args, kFp8); }
void bf16_pair_portable(const TileArgs& args) { bf16_pair<Pairs>(args, kMxfp4); }
void bf16_pair_mxfp8_portable(const TileArgs& args) { bf16_pair<Pairs>(args, kMxfp8); }
void bf16_pair_nvfp4_portable(const TileArgs& args) { bf16_pair<Pairs>(args, kNvfp4); }
void bf16_pair_fp8_portable(const TileArgs& args) { bf16_pair<Pairs>(args, kFp8); }
void bf16_block_portable(const TileArgs& args) { bf16_block(args, kMxfp4); }
void bf16_block_mxfp8_portable(const TileArgs& args) { bf16_block(args, kMxfp8); }
void bf16_block_nvfp4_portable(const TileArgs& args) { bf16_block(args, kNvfp4); }
void bf16_block_fp8_portable(const TileArgs& args) { bf16_block(args, kFp8); }
void int8_block_portable(const TileArgs& args) { int8_block(args, kMxfp4); }
void int8_block_nvfp4_portable(const TileArgs& args) { int8_block(args, kNvfp4); }

void bf16_pair_plain_tiles(const TileArgs& args) { bf16_pair_by_tiles(args, kMxfp4); }
void bf16_pair_mxfp8_plain_tiles(const TileArgs& args) { bf16_pair_by_tiles(args, kMxfp8); }
void bf16_pair_nvfp4_plain_tiles(const TileArgs& args) { bf16_pair_by_tiles(args, kNvfp4); }
void bf16_pair_fp8_plain_tiles(const TileArgs& args) { bf16_pair_by_tiles(args, kFp8); }

void bf16_chain_of_singles(const TileArgs& args, PanelKind kind) { bf16_chain<Singles>(args, kind_of(kind)); }
void bf16_pair_of_singles(const TileArgs& args, PanelKind kind) { bf16_pair<Singles>(args, kind_of(kind)); }

}  // namespace mx::kernels::moe
