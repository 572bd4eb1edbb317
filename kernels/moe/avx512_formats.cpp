// bf16-block of MXFP8, NVFP4 and FP8 weights by VDPBF16PS, decoded in registers for each tile of rows: lookups run beside the products, and a panel
// that was decoded once for all rows, into the L1 cache, took longer (0.70 to 0.72 of the limit at 256 rows instead of 0.80 to 0.83).

#include "kernels/moe/avx512_decode.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kSixteen = 16;  ///< K that is decoded at a time, the smallest chain

/// Where the scales of a panel's chains come from: `both` gives those of its halves of a block that begins at `scales`.
struct E8m0Scales {
  static constexpr size_t kBytes = 1;
  MXACT_INLINE explicit E8m0Scales(const TileArgs&) {}
  MXACT_INLINE void both(const uint8_t* scales, __m512 (&out)[2]) const {
    out[0] = scale_values(scales);
    out[1] = scale_values(scales + 16);
  }
};

struct E4m3Scales {
  static constexpr size_t kBytes = 1;
  static constexpr Bytes kHalves[2] = {widening(0, 1), widening(16, 1)};
  E4m3Table table;
  __m512 expert;

  MXACT_INLINE explicit E4m3Scales(const TileArgs& args) : expert(_mm512_set1_ps(args.expert_scale)) {}
  MXACT_INLINE void both(const uint8_t* scales, __m512 (&out)[2]) const {
    const __m512i codes = _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(scales)));
    const E4m3Table::Halves numbers = table.look_up(codes);
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) out[v] = _mm512_mul_ps(widened(numbers, kHalves[v].at), expert);
  }
};

struct F32Scales {
  static constexpr size_t kBytes = 4;
  MXACT_INLINE explicit F32Scales(const TileArgs&) {}
  MXACT_INLINE void both(const uint8_t* scales, __m512 (&out)[2]) const {
    out[0] = _mm512_loadu_ps(scales);
    out[1] = _mm512_loadu_ps(scales + 64);
  }
};

/// Walks the scale blocks of a panel, chain by chain.
template <class Scales>
struct ScaleWalk {
  size_t chains_per_block;
  size_t left;
  size_t offset = 0;

  MXACT_INLINE explicit ScaleWalk(const TileArgs& args)
      : chains_per_block((args.scale_block + args.chain - 1) / args.chain), left(chains_per_block) {}
  MXACT_INLINE void next_chain() {
    if (--left != 0) return;
    left = chains_per_block;
    offset += kPanelColumns * Scales::kBytes;
  }
};

template <size_t Rows>
MXACT_INLINE void clear(__m512 (&sums)[Rows][2]) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < 2; ++v) sums[m][v] = _mm512_setzero_ps(); }
}

template <size_t Rows, class Codes>
MXACT_INLINE void sixteen(__m512 (&sums)[Rows][2], Columns<2>& columns, const Codes& codes, const uint32_t*& a) {
  MXACT_UNROLL for (size_t dword = 0; dword < Codes::kDwords; ++dword) {
    __m512i pairs[2][Codes::kPairs];
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) codes.decode(columns.codes_of(v), pairs[v]);
    MXACT_UNROLL for (size_t p = 0; p < Codes::kPairs; ++p) {
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
        const __m512bh pair = pair_of(a + p * Rows + m);
        MXACT_UNROLL for (size_t v = 0; v < 2; ++v) sums[m][v] = dot_pair(sums[m][v], pairs[v][p], pair);
      }
    }
    columns.next_dwords();
    a += Codes::kPairs * Rows;
  }
}

/// What a chain's sum is multiplied with: the weights' scale, times that of the row where rows have some.
MXACT_INLINE __m512 with_row(__m512 scale, const float* a_scales, size_t m) {
  return a_scales == nullptr ? scale : _mm512_mul_ps(_mm512_set1_ps(a_scales[m]), scale);
}

/// One tile of rows by a panel, over the whole K.
template <size_t Rows, class Codes, class Scales>
void tile(const TileArgs& args, size_t panel, size_t row) {
  const Codes codes;
  const Scales scales(args);
  Columns<2> columns{args.codes + panel * args.code_stride, args.scales + panel * args.scale_stride, args.code_stride, args.scale_stride};
  const size_t k = args.blocks * kScaleBlock;
  const size_t chains = (k + args.chain - 1) / args.chain;
  const uint32_t* a = args.a + k / 2 * row;
  const float* a_scales = args.a_scales == nullptr ? nullptr : args.a_scales + chains * row;
  ScaleWalk<Scales> walk(args);
  __m512 totals[Rows][2];
  clear(totals);
#pragma GCC unroll 1
  for (size_t c = 0; c < chains; ++c) {
    __m512 sums[Rows][2];
    clear(sums);
    const size_t count = k - c * args.chain < args.chain ? k - c * args.chain : args.chain;
#pragma GCC unroll 1
    for (size_t s = 0; s < count; s += kSixteen) sixteen(sums, columns, codes, a);
    __m512 of_chain[2];
    scales.both(columns.scales + walk.offset, of_chain);
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) totals[m][v] = _mm512_fmadd_ps(sums[m][v], with_row(of_chain[v], a_scales, m), totals[m][v]);
    }
    walk.next_chain();
    if (a_scales != nullptr) a_scales += Rows;
  }
  Outputs(args, panel, row).store(totals);
}

using Tile = void(const TileArgs& args, size_t panel, size_t row);
template <class Codes, class Scales>
constexpr Tile* kTiles[kBlockRows] = {tile<1, Codes, Scales>, tile<2, Codes, Scales>, tile<3, Codes, Scales>,
                                      tile<4, Codes, Scales>, tile<5, Codes, Scales>, tile<6, Codes, Scales>};

template <class Codes, class Scales>
void run(const TileArgs& args) {
  for (size_t panel = 0; panel < args.panels; ++panel) {
    each_tile<kBlockRows>(args.rows, [&](size_t row, size_t height) { kTiles<Codes, Scales>[height - 1](args, panel, row); });
  }
}

}  // namespace

void bf16_block_mxfp8_avx512_bf16(const TileArgs& args) { run<E4m3, E8m0Scales>(args); }
void bf16_block_nvfp4_avx512_bf16(const TileArgs& args) { run<E2m1, E4m3Scales>(args); }
void bf16_block_fp8_avx512_bf16(const TileArgs& args) { run<E4m3, F32Scales>(args); }

}  // namespace mx::kernels::moe
