// int8-block by VPDPBUSD: the unsigned factor is twice the weight plus 12, from 0 to 24; sums start from -12 times the sum of the activations.

#include "kernels/moe/avx512_lanes.hpp"

namespace mx::kernels::moe {
namespace {

/// 2 * e2m1 + 12, four times: VPERMB's index has six bits.
alignas(64) constexpr uint8_t kShifted[64] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9,  8,  6,  4,  0,  12, 13, 14, 15, 16, 18,
                                              20, 24, 12, 11, 10, 9,  8,  6,  4,  0,  12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9,
                                              8,  6,  4,  0,  12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9,  8,  6,  4,  0};

template <size_t J, size_t Rows>
MXACT_INLINE void add_quads(__m512i (&sums)[Rows][2], const __m512i (&codes)[2], __m512i table, const uint32_t* a) {
  __m512i weights[2];
  MXACT_UNROLL for (size_t v = 0; v < 2; ++v) weights[v] = _mm512_permutexvar_epi8(nibble<J>(codes[v]), table);
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    const __m512i quad = _mm512_set1_epi32(static_cast<int>(a[J * Rows + m]));
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) sums[m][v] = _mm512_dpbusd_epi32(sums[m][v], weights[v], quad);
  }
}

/// What a block's sums, in units of 2^-7, are multiplied with. The exponents of both scales and of the unit add up where none leaves its range.
struct AddedScales {
  __m512i field;

  MXACT_INLINE AddedScales(const TileArgs&, const uint8_t* scales) : field(exponent_field(scales)) {}
  MXACT_INLINE __m512 total(__m512 total, __m512i sum, int32_t a_exponent) const {
    const __m512 scale = _mm512_castsi512_ps(_mm512_add_epi32(field, _mm512_set1_epi32(a_exponent)));
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), scale, total);
  }
};

/// The same where the weights' scale is a number like any other, and its product with the row's one, in the unit, is normal.
struct MultipliedScales {
  __m512 values;

  MXACT_INLINE MultipliedScales(const TileArgs& args, const uint8_t* scales) : values(e4m3_scales(args, scales)) {}
  MXACT_INLINE __m512 total(__m512 total, __m512i sum, int32_t a_exponent) const {
    const __m512 a_scale = _mm512_castsi512_ps(_mm512_set1_epi32(a_exponent + (127 << 23)));
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), _mm512_mul_ps(a_scale, values), total);
  }
};

/// The same as the contract says it: the block's sum, the rounded product of the scales, one fused multiply-add.
using ScaleValues = __m512(const TileArgs& args, const uint8_t* scales);
MXACT_INLINE __m512 e8m0(const TileArgs&, const uint8_t* scales) { return scale_values(scales); }
template <ScaleValues* Values>
struct CarefulScales {
  __m512 values;

  MXACT_INLINE CarefulScales(const TileArgs& args, const uint8_t* scales) : values(Values(args, scales)) {}
  MXACT_INLINE __m512 total(__m512 total, __m512i sum, int32_t a_exponent) const {
    const int32_t byte = (a_exponent >> 23) + 134;
    const int32_t bits = byte == 0 ? 0x00400000 : byte == 255 ? 0x7FC00000 : byte << 23;
    const __m512 a_scale = _mm512_castsi512_ps(_mm512_set1_epi32(bits));
    const __m512 value = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(0x1p-7F));
    return _mm512_fmadd_ps(value, _mm512_mul_ps(a_scale, values), total);
  }
};

/// What a tile reads of its rows.
struct Rows8 {
  const uint32_t* a;
  const int32_t* starts;
  const int32_t* exponents;
};

/// One scale block of the weights, `Octets` of K.
template <size_t Octets, size_t Rows, class Scales>
MXACT_INLINE void add_block(__m512 (&totals)[Rows][2], const TileArgs& args, Columns<2>& columns, __m512i table, Rows8& rows) {
  __m512i sums[Rows][2];
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) sums[m][v] = _mm512_set1_epi32(rows.starts[m]);
  }
  MXACT_UNROLL for (size_t octet = 0; octet < Octets; ++octet) {
    const __m512i codes[2] = {columns.dwords(0), columns.dwords(1)};
    add_quads<0>(sums, codes, table, rows.a);
    add_quads<1>(sums, codes, table, rows.a);
    columns.next_dwords();
    rows.a += 2 * Rows;
  }
  MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
    const Scales scales(args, columns.scales_of(v));
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) totals[m][v] = scales.total(totals[m][v], sums[m][v], rows.exponents[m]);
  }
  columns.next_block();
  rows.starts += Rows;
}

template <size_t Octets, size_t Rows, class Scales>
void tile(const TileArgs& args, Columns<2> columns, Rows8 rows, const Outputs& outputs) {
  const __m512i table = _mm512_load_si512(kShifted);
  __m512 totals[Rows][2];
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < 2; ++v) totals[m][v] = _mm512_setzero_ps(); }
#pragma GCC unroll 1
  for (size_t b = 0; b < args.blocks; ++b) {
    MXACT_UNROLL for (size_t octet = 0; octet < 4; octet += Octets) add_block<Octets, Rows, Scales>(totals, args, columns, table, rows);
    rows.exponents += Rows;
  }
  outputs.store(totals);
}

using Tile = void(const TileArgs&, Columns<2>, Rows8, const Outputs&);
template <size_t Octets, class Scales>
constexpr Tile* kTiles[kInt8Rows] = {tile<Octets, 1, Scales>, tile<Octets, 2, Scales>, tile<Octets, 3, Scales>,
                                     tile<Octets, 4, Scales>, tile<Octets, 5, Scales>, tile<Octets, 6, Scales>};

template <size_t Octets>
void run(const TileArgs& args, Tile* const* tiles) {
  const size_t sums = args.blocks * 4 / Octets;  // of a row
  for (size_t panel = 0; panel < args.panels; ++panel) {
    const Columns<2> columns{args.codes + panel * args.code_stride, args.scales + panel * args.scale_stride, 0, 0};
    size_t row = 0;
    for (size_t t = 0; t < tile_count(args.rows, kInt8Rows); ++t) {
      const size_t height = tile_height(args.rows, kInt8Rows, t);
      tiles[height - 1](args, columns,
                        {args.a + row * args.blocks * (kScaleBlock / 4), args.a_starts + row * sums, args.a_exponents + row * args.blocks},
                        Outputs(args, panel, row));
      row += height;
    }
  }
}

}  // namespace

void int8_block_avx512_vnni(const TileArgs& args) { run<4>(args, args.careful ? kTiles<4, CarefulScales<e8m0>> : kTiles<4, AddedScales>); }
void int8_block_nvfp4_avx512_vnni(const TileArgs& args) {
  run<2>(args, args.careful ? kTiles<2, CarefulScales<e4m3_scales>> : kTiles<2, MultipliedScales>);
}

}  // namespace mx::kernels::moe
