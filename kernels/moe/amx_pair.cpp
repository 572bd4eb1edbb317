// bf16-pair by the processor's tiles: TDPBF16PS; and by plain ones, for tests of all but the instructions.

#include "kernels/moe/amx_tiles.hpp"
#include "kernels/moe/avx512_pair_weights.hpp"
#include "kernels/moe/avx512_totals.hpp"
#include "kernels/moe/pair_tiles.hpp"
#include "kernels/moe/plain_tiles.hpp"

namespace mx::kernels::moe {
namespace {

/// `few`: the kernel of few rows.
template <class Tiles>
void run(const TileArgs& args, const Kind& kind, TileFunction* few) {
  if (args.rows <= kPairTiles.few) return few(args);
  Bytes products[kPairedTables];
  if (kind.prepare != nullptr) kind.prepare(args, products);
  const Job job{args, products};
  run_pairs_by_tiles<Tiles>(
      args, [&](size_t panel, size_t first, size_t end, uint32_t* out) { decode_stretch(job, kind, panel, first, end, out); },
      [&](size_t panel, const float* totals) { put(args, panel, 0, args.rows, totals); });
}

/// Sums of every kind that bf16-pair tells apart: of numbers of moderate, of all and of the smallest exponents, over the first C that they are given.
template <class Tiles>
void checked_sums(uint32_t seed, float* totals) {
  alignas(64) uint32_t rows[kTileOfRows * kBlockPairs], weights[kBlockPairs * kPanelColumns];
  const auto draw = [&] { return seed = seed * 1664525U + 1013904223U; };
  struct Exponents {
    unsigned first, count;
  };
  constexpr Exponents kExponents[] = {{61, 4}, {1, 80}, {117, 20}, {180, 16}, {1, 253}};
  constexpr TwoTiles kOne{0, kTileOfRows, 0};
  Tiles tiles;
  tiles.shape(kOne.shapes());
  for (size_t i = 0; i < kTileOfRows * kPanelColumns; ++i) totals[i] = 0;
  for (const Exponents& exponents : kExponents) {
    const auto bf16 = [&] {
      const uint32_t bits = draw() >> 8;
      return (bits & 0x807FU) | (exponents.first + (bits >> 8) % exponents.count) << 7;
    };
    for (uint32_t& pair : rows) pair = bf16() | bf16() << 16;
    for (uint32_t& pair : weights) pair = bf16() | bf16() << 16;
    multiply_stretch<false>(tiles, kOne, 1, weights, rows, nullptr, totals, [](size_t) {});
  }
}

}  // namespace

bool tiles_sum_pairs() {
  alignas(64) float found[kTileOfRows * kPanelColumns], expected[kTileOfRows * kPanelColumns];
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    checked_sums<AmxTiles>(seed, found);
    checked_sums<PlainTiles>(seed, expected);
    for (size_t i = 0; i < kTileOfRows * kPanelColumns; ++i) {
      const bool both_nan = found[i] != found[i] && expected[i] != expected[i];
      if (!both_nan && memcmp(found + i, expected + i, sizeof(float)) != 0) return false;
    }
  }
  return true;
}

void bf16_pair_amx(const TileArgs& args) { run<AmxTiles>(args, kMxfp4<InOrder>, bf16_pair_avx512); }
void bf16_pair_mxfp8_amx(const TileArgs& args) { run<AmxTiles>(args, kMxfp8<InOrder>, bf16_pair_mxfp8_avx512); }
void bf16_pair_nvfp4_amx(const TileArgs& args) { run<AmxTiles>(args, kNvfp4<InOrder>, bf16_pair_nvfp4_avx512); }
void bf16_pair_fp8_amx(const TileArgs& args) { run<AmxTiles>(args, kFp8<InOrder>, bf16_pair_fp8_avx512); }
void bf16_pair_plain_tiles_avx512(const TileArgs& args) { run<PlainTiles>(args, kMxfp4<InOrder>, bf16_pair_avx512); }
void bf16_pair_mxfp8_plain_tiles_avx512(const TileArgs& args) { run<PlainTiles>(args, kMxfp8<InOrder>, bf16_pair_mxfp8_avx512); }
void bf16_pair_nvfp4_plain_tiles_avx512(const TileArgs& args) { run<PlainTiles>(args, kNvfp4<InOrder>, bf16_pair_nvfp4_avx512); }
void bf16_pair_fp8_plain_tiles_avx512(const TileArgs& args) { run<PlainTiles>(args, kFp8<InOrder>, bf16_pair_fp8_avx512); }

}  // namespace mx::kernels::moe
