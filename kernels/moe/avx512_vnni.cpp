// int8-block by VPDPBUSD: the unsigned factor is twice the weight plus 12, from 0 to 24; sums start from -12 times the sum of the activations.
// Few rows decode weights in registers; of more the first tile does, and leaves what it decoded in the L1 cache for the others.

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

/// How a row's quad comes to the two vectors of a panel: broadcast by each instruction, or once into a register, which compilers would make of both.
/// The register costs a slot of the decoder beside each two products, which is what binds AMD's processors; on Intel's it saves a load, which pays
/// while weights are decoded. A tile of most rows leaves none.
enum class Quads { of_each, of_both };
template <size_t Rows>
constexpr Quads possible(Quads wanted) {
  return Rows == kVnniRows ? Quads::of_each : wanted;
}

/// Four products of each column with a quad of the row.
MXACT_INLINE void add_quad(__m512i& sum, __m512i weights, const uint32_t* quad) {
  asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(weights), "m"(*quad));
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

  /// Of the next eight of K those of the low nibbles, or of the high ones.
  template <size_t J>
  MXACT_INLINE __m512i quad(size_t v) {
    return _mm512_permutexvar_epi8(nibble<J>(J == 0 ? columns.dwords(v) : columns.again(v)), table);
  }
  MXACT_INLINE void next_octet() { columns.next_dwords(); }
  MXACT_INLINE __m512 scales(size_t v) { return Scales(args, columns.scales_of(v)); }
  MXACT_INLINE void next_scales() { columns.next_block(); }
};

constexpr size_t kStretch = 512;  ///< K decoded at once
constexpr size_t kSmallestChain = 16;

/// Weights of one panel that lie ready.
struct Decoded {
  alignas(64) uint32_t quads[kStretch / 4][kPanelColumns];
  alignas(64) float scales[kStretch / kSmallestChain][kPanelColumns];
};

/// Decoded in registers for the first tile of rows, and kept for the others: what that costs runs beside the products.
template <ScaleValues* Scales>
struct Kept {
  Encoded<Scales> encoded;
  uint32_t* quads;
  float* of_chain;

  /// From block `first` of the panel on.
  template <size_t Octets>
  static MXACT_INLINE Kept from(const TileArgs& args, size_t panel, size_t first, Decoded& out) {
    Kept kept{Encoded<Scales>(args, panel), out.quads[0], out.scales[0]};
    kept.encoded.columns.codes += first * kPanelBlockDwords * 4;
    kept.encoded.columns.scales += first * (4 / Octets) * kPanelColumns;
    return kept;
  }

  template <size_t J>
  MXACT_INLINE __m512i quad(size_t v) {
    const __m512i weights = encoded.template quad<J>(v);
    _mm512_store_si512(quads + J * kPanelColumns + v * 16, weights);
    return weights;
  }
  MXACT_INLINE void next_octet() {
    encoded.next_octet();
    quads += 2 * kPanelColumns;
  }
  MXACT_INLINE __m512 scales(size_t v) {
    const __m512 values = encoded.scales(v);
    _mm512_store_ps(of_chain + v * 16, values);
    return values;
  }
  MXACT_INLINE void next_scales() {
    encoded.next_scales();
    of_chain += kPanelColumns;
  }
};

/// The same read from there.
struct Ready {
  const uint32_t* quads;
  const float* of_chain;

  template <size_t J>
  MXACT_INLINE __m512i quad(size_t v) {
    return _mm512_load_si512(quads + J * kPanelColumns + v * 16);
  }
  MXACT_INLINE void next_octet() { quads += 2 * kPanelColumns; }
  MXACT_INLINE __m512 scales(size_t v) { return _mm512_load_ps(of_chain + v * 16); }
  MXACT_INLINE void next_scales() { of_chain += kPanelColumns; }
};

template <size_t J, Quads How, size_t Rows, class Weights>
MXACT_INLINE void add_quads(__m512i (&sums)[Rows][2], Weights& weights, const uint32_t* a) {
  if constexpr (How == Quads::of_each) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
      const __m512i of_columns = weights.template quad<J>(v);
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) add_quad(sums[m][v], of_columns, a + J * Rows + m);
    }
  } else {
    const __m512i first = weights.template quad<J>(0);
    const __m512i last = weights.template quad<J>(1);
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
      const __m512i quad = _mm512_set1_epi32(static_cast<int>(a[J * Rows + m]));
      sums[m][0] = _mm512_dpbusd_epi32(sums[m][0], first, quad);
      sums[m][1] = _mm512_dpbusd_epi32(sums[m][1], last, quad);
    }
  }
}

/// One scale block of the activations, of the weights `Octets` of K.
template <size_t Octets, class Rule, Quads How, size_t Rows, class Weights>
MXACT_INLINE void add_block(__m512 (&totals)[Rows][2], Weights& weights, Rows8& rows) {
  MXACT_UNROLL for (size_t chain = 0; chain < 4; chain += Octets) {
    __m512i sums[Rows][2];
    start(sums, rows);
    MXACT_UNROLL for (size_t octet = 0; octet < Octets; ++octet) {
      add_quads<0, How>(sums, weights, rows.a);
      add_quads<1, How>(sums, weights, rows.a);
      weights.next_octet();
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

template <size_t Octets, ScaleValues* Scales, class Rule, Quads Wanted, size_t Rows>
void encoded_tile(const TileArgs& args, size_t panel, size_t row) {
  Encoded<Scales> weights(args, panel);
  Rows8 rows(args, args.blocks * 4 / Octets, row);
  __m512 totals[Rows][2];
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < 2; ++v) totals[m][v] = _mm512_setzero_ps(); }
#pragma GCC unroll 1
  for (size_t b = 0; b < args.blocks; ++b) add_block<Octets, Rule, possible<Rows>(Wanted)>(totals, weights, rows);
  Outputs(args, panel, row).store(totals);
}

/// What is asked for beside each block: so many lines, and what the next tile reads of its rows.
struct Ahead {
  const uint8_t* from;
  size_t lines;
  size_t to_next_tile;  ///< of rows, in bytes

  template <size_t Rows>
  MXACT_INLINE void next(const Rows8& rows) {
    for (size_t i = 0; i < lines; ++i) _mm_prefetch(from + i * 64, _MM_HINT_T0);
    from += lines * 64;
    // A tile's rows of a stretch are too short a stream for the processor to be ahead of it.
    const uint8_t* const of_next = reinterpret_cast<const uint8_t*>(rows.a) + to_next_tile;
    MXACT_UNROLL for (size_t i = 0; i < Rows * kScaleBlock; i += 64) _mm_prefetch(of_next + i, _MM_HINT_T0);
  }
};

/// `totals` [row][32] goes on from stretch to stretch.
template <size_t Octets, class Rule, Quads Wanted, size_t Rows, class Weights>
MXACT_INLINE void stretch_tile(Weights weights, Rows8 rows, size_t blocks, float* totals, Ahead ahead) {
  __m512 sums[Rows][2];
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) sums[m][v] = _mm512_load_ps(totals + m * kPanelColumns + v * 16);
  }
#pragma GCC unroll 1
  for (size_t b = 0; b < blocks; ++b) {
    ahead.next<Rows>(rows);
    add_block<Octets, Rule, possible<Rows>(Wanted)>(sums, weights, rows);
  }
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) _mm512_store_ps(totals + m * kPanelColumns + v * 16, sums[m][v]);
  }
}

/// Where a stretch of a panel lies.
struct Stretch {
  size_t panel;
  size_t first;  ///< block
  size_t count;
};

template <size_t Octets, ScaleValues* Scales, class Rule, Quads Wanted, size_t Rows>
void kept_tile(const TileArgs& args, const Stretch& stretch, Decoded& decoded, const Rows8& rows, float* totals, Ahead ahead) {
  stretch_tile<Octets, Rule, Wanted, Rows>(Kept<Scales>::template from<Octets>(args, stretch.panel, stretch.first, decoded), rows, stretch.count,
                                           totals, ahead);
}

template <size_t Octets, class Rule, size_t Rows>
void ready_tile(const TileArgs&, const Stretch& stretch, Decoded& decoded, const Rows8& rows, float* totals, Ahead ahead) {
  stretch_tile<Octets, Rule, Quads::of_each, Rows>(Ready{decoded.quads[0], decoded.scales[0]}, rows, stretch.count, totals, ahead);
}

/// The functions of one kind of weights, by the rows of a tile.
using StretchTile = void(const TileArgs& args, const Stretch& stretch, Decoded& decoded, const Rows8& rows, float* totals, Ahead ahead);
struct Kind {
  size_t octets;
  void (*encoded[kVnniRows])(const TileArgs& args, size_t panel, size_t row);
  StretchTile* kept[kVnniRows];
  StretchTile* ready[kVnniRows];
};
template <size_t Octets, ScaleValues* Scales, class Rule, Quads Wanted, size_t Rows = kVnniRows>
constexpr Kind kind_of() {
  Kind kind{Octets, {}, {}, {}};
  if constexpr (Rows > 1) kind = kind_of<Octets, Scales, Rule, Wanted, Rows - 1>();
  kind.encoded[Rows - 1] = encoded_tile<Octets, Scales, Rule, Wanted, Rows>;
  kind.kept[Rows - 1] = kept_tile<Octets, Scales, Rule, Wanted, Rows>;
  kind.ready[Rows - 1] = ready_tile<Octets, Rule, Rows>;
  return kind;
}
template <size_t Octets, ScaleValues* Scales, class Rule, Quads Wanted>
constexpr Kind kKind = kind_of<Octets, Scales, Rule, Wanted>();

/// A stretch of a panel by all rows.
void run_stretch(const TileArgs& args, const Kind& kind, const Stretch& stretch, float* totals) {
  const size_t per_block = 4 / kind.octets;  // chains
  Decoded weights;
  // Codes of the next stretch, of this panel or the one after it, follow in memory.
  constexpr size_t kLines = kStretch * kPanelColumns / 2 / 64;
  const size_t calls = tile_count(args.rows, kVnniRows) * stretch.count;
  Ahead ahead{args.codes + stretch.panel * args.code_stride + (stretch.first + stretch.count) * kPanelBlockDwords * 4, (kLines + calls - 1) / calls,
              0};
  each_tile<kVnniRows>(args.rows, [&](size_t row, size_t height) {
    Rows8 rows(args, args.blocks * per_block, row);
    rows.a += stretch.first * (kScaleBlock / 4) * height;
    rows.starts += stretch.first * per_block * height;
    rows.bases += stretch.first * height;
    float* const of_tile = totals + row * kPanelColumns;
    ahead.to_next_tile = args.blocks * kScaleBlock * height;
    if (stretch.first == 0) clear(of_tile, height);
    (row == 0 ? kind.kept : kind.ready)[height - 1](args, stretch, weights, rows, of_tile, ahead);
    if (stretch.first + stretch.count == args.blocks) put(args, stretch.panel, row, height, of_tile);
    ahead.from += ahead.lines * stretch.count * 64;
  });
}

void run_decoded(const TileArgs& args, const Kind& kind) {
  constexpr size_t kBlocks = kStretch / kScaleBlock;
  alignas(64) float totals[kMostRows * kPanelColumns];
  for (size_t panel = 0; panel < args.panels; ++panel) {
    for (size_t first = 0; first < args.blocks; first += kBlocks) {
      run_stretch(args, kind, {panel, first, args.blocks - first < kBlocks ? args.blocks - first : kBlocks}, totals);
    }
  }
}

void run(const TileArgs& args, const Kind& kind) {
  if (args.rows > kVnniRows) return run_decoded(args, kind);
  for (size_t panel = 0; panel < args.panels; ++panel) kind.encoded[args.rows - 1](args, panel, 0);
}

template <size_t Octets, ScaleValues* Scales, class Rule>
void run_here(const TileArgs& args) {
  run(args, is_amd() ? kKind<Octets, Scales, Rule, Quads::of_each> : kKind<Octets, Scales, Rule, Quads::of_both>);
}

}  // namespace

void int8_block_avx512_vnni(const TileArgs& args) { args.careful ? run_here<4, e8m0, Careful>(args) : run_here<4, moderate_e8m0, Quick>(args); }
void int8_block_nvfp4_avx512_vnni(const TileArgs& args) {
  args.careful ? run_here<2, e4m3_scales, Careful>(args) : run_here<2, e4m3_scales, Quick>(args);
}

}  // namespace mx::kernels::moe
