// bf16-block of MXFP8, NVFP4 and FP8 weights by VDPBF16PS, decoded in registers for each tile of rows: lookups run beside the products, and a panel
// that was decoded once for all rows, into the first-level cache, took longer (0.70 to 0.72 of the limit at 256 rows instead of 0.80 to 0.83).

#include "kernels/moe/avx512_lanes.hpp"
#include "kernels/moe/e4m3.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kSixteen = 16;  ///< K that is decoded at a time, the smallest chain

struct Bytes {
  alignas(64) uint8_t at[128];
};
constexpr Bytes bytes_of_e4m3(unsigned shift) {
  Bytes bytes{};
  for (unsigned i = 0; i < 128; ++i) bytes.at[i] = static_cast<uint8_t>(bf16_of_e4m3(i) >> shift);
  return bytes;
}
/// e4m3 magnitudes as bf16, byte by byte: VPERMI2B's index has seven bits.
constexpr Bytes kLower = bytes_of_e4m3(0);
constexpr Bytes kUpper = bytes_of_e4m3(8);

/// Sixteen of K of 16 columns as eight vectors of pairs.
struct E2m1 {
  static constexpr size_t kDwords = 2;
  __m512i table = _mm512_load_si512(kE2m1Codes);

  /// Four pairs from a vector of dwords.
  static constexpr size_t kPairs = 4;
  MXACT_INLINE void decode(__m512i codes, __m512i (&pairs)[kPairs]) const {
    pairs[0] = _mm512_permutexvar_epi16(codes, table);
    pairs[1] = _mm512_permutexvar_epi16(nibble<1>(codes), table);
    pairs[2] = _mm512_permutexvar_epi16(nibble<2>(codes), table);
    pairs[3] = _mm512_permutexvar_epi16(nibble<3>(codes), table);
  }
};

struct E4m3 {
  static constexpr size_t kDwords = 4;
  __m512i lower[2] = {_mm512_load_si512(kLower.at), _mm512_load_si512(kLower.at + 64)};
  __m512i upper[2] = {_mm512_load_si512(kUpper.at), _mm512_load_si512(kUpper.at + 64)};

  /// Two pairs: bytes 0 and 2 of a dword, then 1 and 3.
  static constexpr size_t kPairs = 2;
  MXACT_INLINE void decode(__m512i codes, __m512i (&pairs)[kPairs]) const {
    constexpr int kFirstOrSecondAndThird = 0xF8;
    constexpr int kThirdChooses = 0xE4;  // bits of the first where the third has them, else of the second
    const __m512i low = _mm512_permutex2var_epi8(lower[0], codes, lower[1]);
    const __m512i magnitude = _mm512_permutex2var_epi8(upper[0], codes, upper[1]);
    const __m512i high = _mm512_ternarylogic_epi32(magnitude, codes, _mm512_set1_epi8(static_cast<char>(0x80)), kFirstOrSecondAndThird);
    const __m512i lower_bytes = _mm512_set1_epi16(0x00FF);
    pairs[0] = _mm512_ternarylogic_epi32(low, _mm512_slli_epi16(high, 8), lower_bytes, kThirdChooses);
    pairs[1] = _mm512_ternarylogic_epi32(_mm512_srli_epi16(low, 8), high, lower_bytes, kThirdChooses);
  }
};

/// Where the scales of a panel's chains come from: `at` gives those of 16 columns for the scale block `index`.
struct E8m0Scales {
  static constexpr size_t kBytes = 1;
  MXACT_INLINE explicit E8m0Scales(const TileArgs&) {}
  MXACT_INLINE __m512 at(const uint8_t* scales) const { return scale_values(scales); }
};

struct E4m3Scales {
  static constexpr size_t kBytes = 1;
  __m512 of_expert;

  MXACT_INLINE explicit E4m3Scales(const TileArgs& args) : of_expert(_mm512_set1_ps(args.expert_scale)) {}
  /// fp16 has e4m3's fields with another bias: 2^-8 of the number, but for NaN.
  MXACT_INLINE __m512 at(const uint8_t* scales) const {
    const __m256i codes = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(scales)));
    const __m256i magnitude = _mm256_and_si256(codes, _mm256_set1_epi16(0x7F));
    const __m256i sign = _mm256_slli_epi16(_mm256_and_si256(codes, _mm256_set1_epi16(0x80)), 8);
    const __mmask16 nan = _mm256_cmpeq_epi16_mask(magnitude, _mm256_set1_epi16(0x7F));
    const __m256i fp16 = _mm256_mask_mov_epi16(_mm256_or_si256(sign, _mm256_slli_epi16(magnitude, 7)), nan, _mm256_set1_epi16(0x7E00));
    return _mm512_mul_ps(_mm512_mul_ps(_mm512_cvtph_ps(fp16), _mm512_set1_ps(256)), of_expert);
  }
};

struct F32Scales {
  static constexpr size_t kBytes = 4;
  MXACT_INLINE explicit F32Scales(const TileArgs&) {}
  MXACT_INLINE __m512 at(const uint8_t* scales) const { return _mm512_loadu_ps(scales); }
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

MXACT_INLINE __m512bh pair_of(const uint32_t* a) { return reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(*a))); }
MXACT_INLINE __m512 dot_pair(__m512 sum, __m512i weights, __m512bh a) { return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(weights), a); }

template <size_t Rows, size_t Vectors>
MXACT_INLINE void clear(__m512 (&sums)[Rows][Vectors]) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) sums[m][v] = _mm512_setzero_ps(); }
}

template <size_t Rows, size_t Vectors, class Codes>
MXACT_INLINE void sixteen(__m512 (&sums)[Rows][Vectors], Columns<Vectors>& columns, const Codes& codes, const uint32_t*& a) {
  MXACT_UNROLL for (size_t dword = 0; dword < Codes::kDwords; ++dword) {
    __m512i pairs[Vectors][Codes::kPairs];
    MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) codes.decode(columns.dwords(v), pairs[v]);
    MXACT_UNROLL for (size_t p = 0; p < Codes::kPairs; ++p) {
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
        const __m512bh pair = pair_of(a + p * Rows + m);
        MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) sums[m][v] = dot_pair(sums[m][v], pairs[v][p], pair);
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

/// One tile of rows by 16 * Vectors columns, over the whole K.
template <size_t Rows, size_t Vectors, class Codes, class Scales>
MXACT_INLINE void tile(const TileArgs& args, size_t panel, size_t row, const Outputs& outputs) {
  const Codes codes;
  const Scales scales(args);
  Columns<Vectors> columns{args.codes + panel * args.code_stride, args.scales + panel * args.scale_stride, args.code_stride, args.scale_stride};
  const size_t k = args.blocks * kScaleBlock;
  const size_t chains = (k + args.chain - 1) / args.chain;
  const uint32_t* a = args.a + k / 2 * row;
  const float* a_scales = args.a_scales == nullptr ? nullptr : args.a_scales + chains * row;
  ScaleWalk<Scales> walk(args);
  __m512 totals[Rows][Vectors];
  clear(totals);
#pragma GCC unroll 1
  for (size_t c = 0; c < chains; ++c) {
    __m512 sums[Rows][Vectors];
    clear(sums);
    const size_t count = k - c * args.chain < args.chain ? k - c * args.chain : args.chain;
#pragma GCC unroll 1
    for (size_t s = 0; s < count; s += kSixteen) sixteen(sums, columns, codes, a);
    MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) {
      const __m512 scale = scales.at(columns.scales + v / 2 * columns.scale_stride + walk.offset + v % 2 * 16 * Scales::kBytes);
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) totals[m][v] = _mm512_fmadd_ps(sums[m][v], with_row(scale, a_scales, m), totals[m][v]);
    }
    walk.next_chain();
    if (a_scales != nullptr) a_scales += Rows;
  }
  outputs.store(totals);
}

/// As for the chains of few rows of MXFP4: more columns where there is a single row. Returns the panels that it took.
template <size_t Rows, class Codes, class Scales>
size_t tile_of_panels(const TileArgs& args, size_t panel, size_t row, const Outputs& outputs) {
  constexpr size_t kPanels = Rows == 1 ? 2 : 1;
  if (kPanels > 1 && panel + kPanels <= args.panels) {
    tile<Rows, 2 * kPanels, Codes, Scales>(args, panel, row, outputs);
    return kPanels;
  }
  tile<Rows, 2, Codes, Scales>(args, panel, row, outputs);
  return 1;
}

using Tile = size_t(const TileArgs& args, size_t panel, size_t row, const Outputs& outputs);
template <class Codes, class Scales>
constexpr Tile* kTiles[kBlockRows] = {tile_of_panels<1, Codes, Scales>, tile_of_panels<2, Codes, Scales>, tile_of_panels<3, Codes, Scales>,
                                      tile_of_panels<4, Codes, Scales>, tile_of_panels<5, Codes, Scales>, tile_of_panels<6, Codes, Scales>};

template <class Codes, class Scales>
void run(const TileArgs& args) {
  for (size_t panel = 0; panel < args.panels;) {
    size_t taken = 0;
    size_t row = 0;
    for (size_t t = 0; t < tile_count(args.rows, kBlockRows); ++t) {
      const size_t height = tile_height(args.rows, kBlockRows, t);
      taken = kTiles<Codes, Scales>[height - 1](args, panel, row, Outputs(args, panel, row));
      row += height;
    }
    panel += taken;
  }
}

}  // namespace

void bf16_block_mxfp8_avx512_bf16(const TileArgs& args) { run<E4m3, E8m0Scales>(args); }
void bf16_block_nvfp4_avx512_bf16(const TileArgs& args) { run<E2m1, E4m3Scales>(args); }
void bf16_block_fp8_avx512_bf16(const TileArgs& args) { run<E4m3, F32Scales>(args); }

}  // namespace mx::kernels::moe
