// int8-block by AVX2: the unsigned factor is twice the weight plus 12, from 0 to 24; sums start from -12 times the sum of the activations. Products
// are summed by sixteen in words, where they stay below 2^15: two of them at most 24 * 128 * 2 by VPMADDUBSW, four times.
// Up to two rows decode weights in registers; for more they are decoded once, a stretch of K at a time, into the L1 cache.

#include "kernels/moe/avx2_vectors.hpp"
#include "kernels/moe/fma_lanes.hpp"

namespace mx::kernels::moe {
namespace {

/// 2 * e2m1 + 12.
alignas(32) constexpr uint8_t kShifted[32] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0,
                                              12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

/// Weights' scales of 8 columns.
using ScaleValues = Floats(const TileArgs& args, const uint8_t* scales);
MXACT_INLINE Floats e8m0(const TileArgs&, const uint8_t* scales) { return scale_values(scales); }
MXACT_INLINE Floats moderate_e8m0(const TileArgs&, const uint8_t* scales) { return _mm256_castsi256_ps(scale_fields(scales)); }
MXACT_INLINE Floats e4m3(const TileArgs& args, const uint8_t* scales) { return product(e4m3_scales(scales), all(args.expert_scale)); }

MXACT_INLINE Dwords all_of_ints(const int32_t* from) { return _mm256_castps_si256(all_of(reinterpret_cast<const float*>(from))); }

/// How a block's sum enters the total. Sums were added to the bits of a base (tile.hpp): read as a number, less the base, they are already in the
/// units of the rows' scale, and where nothing leaves its range it is all the same which factor of a product is scaled.
struct Quick {
  static MXACT_INLINE Floats total(Floats total, Dwords sum, Floats scales, const int32_t* base) {
    const Floats value = _mm256_sub_ps(_mm256_castsi256_ps(sum), _mm256_castsi256_ps(all_of_ints(base)));
    return fused(value, scales, total);
  }
};

/// The same as the contract says it: the block's sum, the rounded product of the scales, one fused multiply-add.
struct Careful {
  static MXACT_INLINE Floats total(Floats total, Dwords sum, Floats scales, const int32_t* base) {
    const int32_t byte = scale_byte_of(*base);
    const Floats a_scale = _mm256_castsi256_ps(_mm256_set1_epi32(byte == 0 ? 0x00400000 : byte == 255 ? 0x7FC00000 : byte << 23));
    const Floats value = product(_mm256_cvtepi32_ps(_mm256_sub_epi32(sum, all_of_ints(base))), all(0x1p-7F));
    return fused(value, product(a_scale, scales), total);
  }
};

/// What a tile reads of its rows.
struct Rows8 {
  const uint32_t* a;
  const int32_t* starts;
  const int32_t* bases;
};

/// Weights that are decoded in registers, chain by chain. Memory is prefetched a page ahead, and nearer by into L1.
template <ScaleValues* Scales>
struct Encoded {
  const TileArgs& args;
  const uint8_t* codes;
  const uint8_t* of_chain;

  template <size_t Quad>
  MXACT_INLINE Dwords quad(size_t vector) const {
    const uint8_t* const dwords = codes + Quad / 2 * kPanelColumns * 4 + vector * 32;
    if (Quad % 2 == 0 && vector % 2 == 0) {
      ask_for<2>(dwords + 4096);
      ask_for<1>(dwords + 1024);
    }
    const Dwords table = _mm256_load_si256(reinterpret_cast<const __m256i*>(kShifted));
    const Dwords nibbles = Quad % 2 == 0 ? load_dwords(dwords) : _mm256_srli_epi16(load_dwords(dwords), 4);
    return _mm256_shuffle_epi8(table, _mm256_and_si256(nibbles, _mm256_set1_epi8(15)));
  }
  MXACT_INLINE Floats scales(size_t vector) const { return Scales(args, of_chain + vector * kWidth); }
  template <size_t Octets>
  MXACT_INLINE void next() {
    codes += Octets * kPanelColumns * 4;
    of_chain += kPanelColumns;
  }
};

constexpr size_t kStretch = 512;  // K decoded at once: 16 KiB for a panel
constexpr size_t kShortest = 16;  // K of the smallest chain

/// Weights of one panel that lie ready.
struct Decoded {
  alignas(64) uint32_t quads[kStretch / 4][kPanelColumns];
  alignas(64) float scales[kStretch / kShortest][kPanelColumns];
};

struct Ready {
  const uint32_t* quads;
  const float* of_chain;

  template <size_t Quad>
  MXACT_INLINE Dwords quad(size_t vector) const {
    return load_dwords(reinterpret_cast<const uint8_t*>(quads + Quad * kPanelColumns + vector * kWidth));
  }
  MXACT_INLINE Floats scales(size_t vector) const { return load(of_chain + vector * kWidth); }
  template <size_t Octets>
  MXACT_INLINE void next() {
    quads += 2 * Octets * kPanelColumns;
    of_chain += kPanelColumns;
  }
};

/// To a sum that stays in its register: compilers would add up in another order, which takes more registers than there are.
MXACT_INLINE void add_words(Dwords& sum, Dwords words) { __asm__("vpaddw %1, %0, %0" : "+x"(sum) : "x"(words)); }

/// Products of one quad of K, to sums of words that begin with it or go on.
template <size_t Quad, bool Begins, size_t Rows, size_t Vectors, class Weights>
MXACT_INLINE void add_quad(Dwords (&words)[Rows][Vectors], const Weights& weights, size_t first, const uint32_t* a) {
  Dwords columns[Vectors];
  MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) columns[v] = weights.template quad<Quad>(first + v);
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    const Dwords quad = all_of_ints(reinterpret_cast<const int32_t*>(a + Quad * Rows + m));
    MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) {
      const Dwords products = _mm256_maddubs_epi16(columns[v], quad);
      if constexpr (Begins) {
        words[m][v] = products;
      } else {
        add_words(words[m][v], products);
      }
    }
  }
}

/// Four quads.
template <size_t First, size_t Rows, size_t Vectors, class Weights>
MXACT_INLINE void add_sixteen(Dwords (&words)[Rows][Vectors], const Weights& weights, size_t first, const uint32_t* a) {
  add_quad<First, true>(words, weights, first, a);
  add_quad<First + 1, false>(words, weights, first, a);
  add_quad<First + 2, false>(words, weights, first, a);
  add_quad<First + 3, false>(words, weights, first, a);
}

/// One chain, a scale block of the weights, `Octets` of K, by some vectors of columns from `first` on; `totals` [row][kColumns] for each part of
/// the panel.
template <size_t Octets, class Rule, size_t Rows, size_t Vectors, class Weights>
MXACT_INLINE void add_chain(const Weights& weights, size_t first, const Rows8& rows, float* const* totals) {
  const Dwords ones = _mm256_set1_epi16(1);
  const uint32_t* a = rows.a;
  __asm__("" : "+r"(a));  // else compilers keep each quad's address, most of them in memory
  Dwords words[Rows][Vectors], sums[Rows][Vectors];
  add_sixteen<0>(words, weights, first, a);
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) sums[m][v] = _mm256_madd_epi16(words[m][v], ones);
  }
  if constexpr (Octets == 4) {
    add_sixteen<4>(words, weights, first, a);
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
      MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) sums[m][v] = _mm256_add_epi32(sums[m][v], _mm256_madd_epi16(words[m][v], ones));
    }
  }
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    const Dwords start = all_of_ints(rows.starts + m);
    MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) {
      float* const total = totals[(first + v) / 2] + m * kColumns + (first + v) % 2 * kWidth;
      store(total, Rule::total(load(total), _mm256_add_epi32(sums[m][v], start), weights.scales(first + v), rows.bases + m));
    }
  }
}

/// `blocks` of 32 along K of a panel by a tile of rows: as many vectors at once as sixteen registers hold.
template <size_t Octets, class Rule, size_t Rows, class Weights>
MXACT_INLINE void add_blocks(Weights weights, Rows8 rows, size_t blocks, float* const* totals) {
  constexpr size_t kVectors = Rows == 1 ? 4 : 2;
  for (size_t b = 0; b < blocks; ++b) {
    MXACT_UNROLL for (size_t chain = 0; chain < 4; chain += Octets) {
      for (size_t first = 0; first < kPanelColumns / kWidth; first += kVectors) {
        add_chain<Octets, Rule, Rows, kVectors>(weights, first, rows, totals);
      }
      weights.template next<Octets>();
      rows.a += 2 * Octets * Rows;
      rows.starts += Rows;
    }
    rows.bases += Rows;
  }
}

/// Rows of the tile at `row`, from block `first` on.
template <size_t Octets>
MXACT_INLINE Rows8 rows_of(const TileArgs& args, size_t row, size_t height, size_t first) {
  constexpr size_t kPerBlock = 4 / Octets;  // chains
  return {args.a + (row * args.blocks + first * height) * (kScaleBlock / 4), args.a_starts + (row * args.blocks + first * height) * kPerBlock,
          args.a_bases + row * args.blocks + first * height};
}

template <size_t Octets, ScaleValues* Scales>
void decode(const TileArgs& args, size_t panel, size_t first, size_t count, Decoded& out) {
  Encoded<Scales> weights{args, args.codes + panel * args.code_stride + first * kPanelBlockDwords * 4,
                          args.scales + panel * args.scale_stride + first * (4 / Octets) * kPanelColumns};
  uint32_t* quads = out.quads[0];
  float* scales = out.scales[0];
  for (size_t chain = 0; chain < count * 4 / Octets; ++chain, scales += kPanelColumns) {
    for (size_t octet = 0; octet < Octets; ++octet, quads += 2 * kPanelColumns) {
      MXACT_UNROLL for (size_t v = 0; v < kPanelColumns / kWidth; ++v) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(quads + v * kWidth), weights.template quad<0>(v));
        _mm256_store_si256(reinterpret_cast<__m256i*>(quads + kPanelColumns + v * kWidth), weights.template quad<1>(v));
      }
      weights.codes += kPanelColumns * 4;
    }
    MXACT_UNROLL for (size_t v = 0; v < kPanelColumns / kWidth; ++v) store(scales + v * kWidth, weights.scales(v));
    weights.of_chain += kPanelColumns;
  }
}

template <size_t Octets, class Rule, size_t Rows>
void ready_tile(const TileArgs& args, const Decoded& decoded, size_t row, size_t first, size_t count, float* const* totals) {
  add_blocks<Octets, Rule, Rows>(Ready{decoded.quads[0], decoded.scales[0]}, rows_of<Octets>(args, row, Rows, first), count, totals);
}

template <size_t Octets, ScaleValues* Scales, class Rule, size_t Rows>
void encoded_tile(const TileArgs& args, size_t panel, float* const* totals) {
  const Encoded<Scales> weights{args, args.codes + panel * args.code_stride, args.scales + panel * args.scale_stride};
  add_blocks<Octets, Rule, Rows>(weights, rows_of<Octets>(args, 0, Rows, 0), args.blocks, totals);
}

template <size_t Octets, ScaleValues* Scales, class Rule>
void add_panel(const TileArgs& args, size_t panel, float* const* totals) {
  if (args.rows == 1) return encoded_tile<Octets, Scales, Rule, 1>(args, panel, totals);
  if (args.rows == 2) return encoded_tile<Octets, Scales, Rule, 2>(args, panel, totals);
  constexpr size_t kBlocks = kStretch / kScaleBlock;
  constexpr decltype(&ready_tile<Octets, Rule, 1>) kTiles[kWordRows] = {ready_tile<Octets, Rule, 1>, ready_tile<Octets, Rule, 2>,
                                                                        ready_tile<Octets, Rule, 3>};
  Decoded decoded;
  for (size_t first = 0; first < args.blocks; first += kBlocks) {
    const size_t count = args.blocks - first < kBlocks ? args.blocks - first : kBlocks;
    decode<Octets, Scales>(args, panel, first, count, decoded);
    each_tile<kWordRows>(args.rows, [&](size_t row, size_t height) {
      float* const of_tile[kParts] = {totals[0] + row * kColumns, totals[1] + row * kColumns};
      kTiles[height - 1](args, decoded, row, first, count, of_tile);
    });
  }
}

template <size_t Octets, ScaleValues* Scales, class Rule>
void run(const TileArgs& args) {
  alignas(64) float totals[kParts][kMostRows * kColumns];
  float* const of_parts[kParts] = {totals[0], totals[1]};
  for (size_t panel = 0; panel < args.panels; ++panel) {
    for (float(&part)[kMostRows * kColumns] : totals) {
      for (size_t i = 0; i < args.rows * kColumns; ++i) part[i] = 0;
    }
    add_panel<Octets, Scales, Rule>(args, panel, of_parts);
    for (size_t part = 0; part < kParts; ++part) put(args, panel, part, totals[part]);
  }
}

}  // namespace

void int8_block_avx2(const TileArgs& args) { args.careful ? run<4, e8m0, Careful>(args) : run<4, moderate_e8m0, Quick>(args); }
void int8_block_nvfp4_avx2(const TileArgs& args) { args.careful ? run<2, e4m3, Careful>(args) : run<2, e4m3, Quick>(args); }

}  // namespace mx::kernels::moe
