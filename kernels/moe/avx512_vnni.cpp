// int8-block by VPDPBUSD: the unsigned factor is twice the weight plus 12, from 0 to 24; sums start from -12 times the sum of the activations.
// Few rows decode weights in registers; for more a stretch of a panel is decoded once, into the first-level cache.

#include "kernels/moe/avx512_totals.hpp"

namespace mx::kernels::moe {
namespace {

/// 2 * e2m1 + 12, four times: VPERMB's index has six bits.
alignas(64) constexpr uint8_t kShifted[64] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9,  8,  6,  4,  0,  12, 13, 14, 15, 16, 18,
                                              20, 24, 12, 11, 10, 9,  8,  6,  4,  0,  12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9,
                                              8,  6,  4,  0,  12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9,  8,  6,  4,  0};

/// The weights' scales of 16 columns.
using ScaleValues = __m512(const TileArgs& args, const uint8_t* scales);
MXACT_INLINE __m512 e8m0(const TileArgs&, const uint8_t* scales) { return scale_values(scales); }
MXACT_INLINE __m512 moderate_e8m0(const TileArgs&, const uint8_t* scales) { return _mm512_castsi512_ps(exponent_field(scales)); }

/// How a block's sum enters the total. Sums were added to the bits of a base (tile.hpp): read as a number, less the base, they are already in the
/// units of the rows' scale, and where nothing leaves its range it is all the same which factor of a product is scaled.
struct Quick {
  static MXACT_INLINE __m512 total(__m512 total, __m512i sum, __m512 scales, const int32_t* base) {
    const __m512 value = _mm512_sub_ps(_mm512_castsi512_ps(sum), _mm512_castsi512_ps(_mm512_set1_epi32(*base)));
    return _mm512_fmadd_ps(value, scales, total);
  }
};

/// The same as the contract says it: the block's sum, the rounded product of the scales, one fused multiply-add.
struct Careful {
  static MXACT_INLINE __m512 total(__m512 total, __m512i sum, __m512 scales, const int32_t* base) {
    const int32_t byte = scale_byte_of(*base);
    const int32_t bits = byte == 0 ? 0x00400000 : byte == 255 ? 0x7FC00000 : byte << 23;
    const __m512 a_scale = _mm512_castsi512_ps(_mm512_set1_epi32(bits));
    const __m512 value = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(sum, _mm512_set1_epi32(*base))), _mm512_set1_ps(0x1p-7F));
    return _mm512_fmadd_ps(value, _mm512_mul_ps(a_scale, scales), total);
  }
};

/// What a tile reads of its rows.
struct Rows8 {
  const uint32_t* a;
  const int32_t* starts;
  const int32_t* bases;

  /// `chains`: of a row.
  MXACT_INLINE Rows8(const TileArgs& args, size_t chains, size_t row)
      : a(args.a + row * args.blocks * (kScaleBlock / 4)), starts(args.a_starts + row * chains), bases(args.a_bases + row * args.blocks) {}
};

template <size_t Rows>
MXACT_INLINE void add_quads(__m512i (&sums)[Rows][2], const __m512i (&weights)[2], const uint32_t* a) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    const __m512i quad = _mm512_set1_epi32(static_cast<int>(a[m]));
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) sums[m][v] = _mm512_dpbusd_epi32(sums[m][v], weights[v], quad);
  }
}

template <size_t Rows>
MXACT_INLINE void start(__m512i (&sums)[Rows][2], Rows8& rows) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < 2; ++v) sums[m][v] = _mm512_set1_epi32(rows.starts[m]); }
  rows.starts += Rows;
}

/// Weights that are decoded in registers.
template <ScaleValues* Scales>
struct Encoded {
  const TileArgs& args;
  Columns<2> columns;
  __m512i table = _mm512_load_si512(kShifted);

  MXACT_INLINE Encoded(const TileArgs& tile, size_t panel)
      : args(tile), columns{tile.codes + panel * tile.code_stride, tile.scales + panel * tile.scale_stride, 0, 0} {}

  /// The next eight of K.
  MXACT_INLINE void octet(__m512i (&low)[2], __m512i (&high)[2]) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
      const __m512i codes = columns.dwords(v);
      low[v] = _mm512_permutexvar_epi8(codes, table);
      high[v] = _mm512_permutexvar_epi8(nibble<1>(codes), table);
    }
    columns.next_dwords();
  }
  MXACT_INLINE __m512 scales(size_t v) const { return Scales(args, columns.scales_of(v)); }
  MXACT_INLINE void next_scales() { columns.next_block(); }
};

constexpr size_t kStretch = 512;  ///< K decoded at once
constexpr size_t kSmallestChain = 16;

/// Weights of one panel that lie ready.
struct Decoded {
  alignas(64) uint32_t quads[kStretch / 4][kPanelColumns];
  alignas(64) float scales[kStretch / kSmallestChain][kPanelColumns];
};

/// The same read from there.
struct Ready {
  const uint32_t* quads;
  const float* of_chain;

  MXACT_INLINE void octet(__m512i (&low)[2], __m512i (&high)[2]) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
      low[v] = _mm512_load_si512(quads + v * 16);
      high[v] = _mm512_load_si512(quads + kPanelColumns + v * 16);
    }
    quads += 2 * kPanelColumns;
  }
  MXACT_INLINE __m512 scales(size_t v) const { return _mm512_load_ps(of_chain + v * 16); }
  MXACT_INLINE void next_scales() { of_chain += kPanelColumns; }
};

/// One scale block of the activations, of the weights `Octets` of K.
template <size_t Octets, class Rule, size_t Rows, class Weights>
MXACT_INLINE void add_block(__m512 (&totals)[Rows][2], Weights& weights, Rows8& rows) {
  MXACT_UNROLL for (size_t chain = 0; chain < 4; chain += Octets) {
    __m512i sums[Rows][2];
    start(sums, rows);
    MXACT_UNROLL for (size_t octet = 0; octet < Octets; ++octet) {
      __m512i low[2];
      __m512i high[2];
      weights.octet(low, high);
      add_quads(sums, low, rows.a);
      add_quads(sums, high, rows.a + Rows);
      rows.a += 2 * Rows;
    }
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
      const __m512 scales = weights.scales(v);
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) totals[m][v] = Rule::total(totals[m][v], sums[m][v], scales, rows.bases + m);
    }
    weights.next_scales();
  }
  rows.bases += Rows;
}

template <size_t Octets, ScaleValues* Scales, class Rule, size_t Rows>
void encoded_tile(const TileArgs& args, size_t panel, size_t row) {
  Encoded<Scales> weights(args, panel);
  Rows8 rows(args, args.blocks * 4 / Octets, row);
  __m512 totals[Rows][2];
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < 2; ++v) totals[m][v] = _mm512_setzero_ps(); }
#pragma GCC unroll 1
  for (size_t b = 0; b < args.blocks; ++b) add_block<Octets, Rule>(totals, weights, rows);
  Outputs(args, panel, row).store(totals);
}

/// Lines that are asked for while something else is computed, so many beside each block.
struct Ahead {
  const uint8_t* from;
  size_t lines;

  MXACT_INLINE void next() {
    for (size_t i = 0; i < lines; ++i) _mm_prefetch(from + i * 64, _MM_HINT_T0);
    from += lines * 64;
  }
};

/// `totals` [row][32] goes on from stretch to stretch.
template <size_t Octets, class Rule, size_t Rows>
void decoded_tile(const Decoded& decoded, Rows8 rows, size_t blocks, float* totals, Ahead ahead) {
  Ready weights{decoded.quads[0], decoded.scales[0]};
  __m512 sums[Rows][2];
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) sums[m][v] = _mm512_load_ps(totals + m * kPanelColumns + v * 16);
  }
#pragma GCC unroll 1
  for (size_t b = 0; b < blocks; ++b) {
    ahead.next();
    add_block<Octets, Rule>(sums, weights, rows);
  }
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) _mm512_store_ps(totals + m * kPanelColumns + v * 16, sums[m][v]);
  }
}

/// Decodes `count` blocks of a panel from `first` on.
template <size_t Octets, ScaleValues* Scales>
void decode(const TileArgs& args, size_t panel, size_t first, size_t count, Decoded& out) {
  Encoded<Scales> weights(args, panel);
  weights.columns.codes += first * kPanelBlockDwords * 4;
  weights.columns.scales += first * (4 / Octets) * kPanelColumns;
  for (size_t octet = 0; octet < 4 * count; ++octet) {
    __m512i low[2];
    __m512i high[2];
    weights.octet(low, high);
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
      _mm512_store_si512(out.quads[2 * octet] + v * 16, low[v]);
      _mm512_store_si512(out.quads[2 * octet + 1] + v * 16, high[v]);
    }
  }
  for (size_t chain = 0; chain < count * 4 / Octets; ++chain) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) _mm512_store_ps(out.scales[chain] + v * 16, weights.scales(v));
    weights.next_scales();
  }
}

/// The functions of one kind of weights, by the rows of a tile.
struct Kind {
  size_t octets;
  void (*encoded[kInt8Rows])(const TileArgs& args, size_t panel, size_t row);
  void (*decoded[kInt8Rows])(const Decoded& decoded, Rows8 rows, size_t blocks, float* totals, Ahead ahead);
  void (*decode)(const TileArgs& args, size_t panel, size_t first, size_t count, Decoded& out);
};
template <size_t Octets, ScaleValues* Scales, class Rule>
constexpr Kind kKind{Octets,
                     {encoded_tile<Octets, Scales, Rule, 1>, encoded_tile<Octets, Scales, Rule, 2>, encoded_tile<Octets, Scales, Rule, 3>,
                      encoded_tile<Octets, Scales, Rule, 4>, encoded_tile<Octets, Scales, Rule, 5>, encoded_tile<Octets, Scales, Rule, 6>},
                     {decoded_tile<Octets, Rule, 1>, decoded_tile<Octets, Rule, 2>, decoded_tile<Octets, Rule, 3>, decoded_tile<Octets, Rule, 4>,
                      decoded_tile<Octets, Rule, 5>, decoded_tile<Octets, Rule, 6>},
                     decode<Octets, Scales>};

/// A stretch of a panel by all rows.
void run_stretch(const TileArgs& args, const Kind& kind, size_t panel, size_t first, size_t count, float* totals) {
  const size_t per_block = 4 / kind.octets;  // chains
  Decoded weights;
  kind.decode(args, panel, first, count, weights);
  // Codes of the next stretch, of this panel or the one after it, follow in memory.
  constexpr size_t kLines = kStretch * kPanelColumns / 2 / 64;
  const size_t calls = tile_count(args.rows, kInt8Rows) * count;
  Ahead ahead{args.codes + panel * args.code_stride + (first + count) * kPanelBlockDwords * 4, (kLines + calls - 1) / calls};
  each_tile<kInt8Rows>(args.rows, [&](size_t row, size_t height) {
    Rows8 rows(args, args.blocks * per_block, row);
    rows.a += first * (kScaleBlock / 4) * height;
    rows.starts += first * per_block * height;
    rows.bases += first * height;
    float* const of_tile = totals + row * kPanelColumns;
    if (first == 0) clear(of_tile, height);
    kind.decoded[height - 1](weights, rows, count, of_tile, ahead);
    if (first + count == args.blocks) put(args, panel, row, height, of_tile);
    ahead.from += ahead.lines * count * 64;
  });
}

void run_decoded(const TileArgs& args, const Kind& kind) {
  constexpr size_t kBlocks = kStretch / kScaleBlock;
  alignas(64) float totals[kMostRows * kPanelColumns];
  for (size_t panel = 0; panel < args.panels; ++panel) {
    for (size_t first = 0; first < args.blocks; first += kBlocks) {
      run_stretch(args, kind, panel, first, args.blocks - first < kBlocks ? args.blocks - first : kBlocks, totals);
    }
  }
}

void run(const TileArgs& args, const Kind& kind) {
  if (args.rows > kInt8Rows) return run_decoded(args, kind);
  for (size_t panel = 0; panel < args.panels; ++panel) kind.encoded[args.rows - 1](args, panel, 0);
}

}  // namespace

void int8_block_avx512_vnni(const TileArgs& args) { run(args, args.careful ? kKind<4, e8m0, Careful> : kKind<4, moderate_e8m0, Quick>); }
void int8_block_nvfp4_avx512_vnni(const TileArgs& args) { run(args, args.careful ? kKind<2, e4m3_scales, Careful> : kKind<2, e4m3_scales, Quick>); }

}  // namespace mx::kernels::moe
