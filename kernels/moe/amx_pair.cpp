// bf16-pair by the processor's tiles: TDPBF16PS; and by plain ones, for tests of all but the instructions.

#include "kernels/moe/avx512_pair_weights.hpp"
#include "kernels/moe/avx512_totals.hpp"
#include "kernels/moe/plain_tiles.hpp"
#include "kernels/moe/tiles.hpp"

namespace mx::kernels::moe {
namespace {

/// The processor's. They are given back at the end of the scope, shapes and all. g++'s intrinsics take a tile's number as it is written, and do not
/// say that they read memory.
class AmxTiles {
 public:
  AmxTiles() = default;
  ~AmxTiles() { __asm__ volatile("tilerelease"); }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;

  void shape(size_t first, size_t second) {
    if (first == first_ && second == second_) return;
    first_ = first;
    second_ = second;
    const TileShapes shapes = TileShapes::of(first, second);
    __asm__ volatile("ldtilecfg %0" ::"m"(shapes));
  }
  template <int Tile>
  void load(const void* from, size_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "n"(Tile) : "memory");
  }
  template <int Tile>
  void store(void* to, size_t stride) const {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "n"(Tile) : "memory");
  }
  template <int Sums, int Rows, int Weights>
  void add_pairs() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"n"(Sums), "n"(Rows), "n"(Weights));
  }

 private:
  size_t first_ = 0, second_ = 0;
};

template <class Tiles>
void run(const TileArgs& args, const Kind& kind) {
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
  // Fields of exponents from this one on, so many of them.
  constexpr unsigned kFields[][2] = {{61, 4}, {1, 80}, {117, 20}, {180, 16}, {1, 253}};
  Tiles tiles;
  tiles.shape(kTileOfRows, 0);
  for (size_t i = 0; i < kTileOfRows * kPanelColumns; ++i) totals[i] = 0;
  for (const auto& [first, count] : kFields) {
    const auto bf16 = [&] {
      const uint32_t bits = draw() >> 8;
      return (bits & 0x807FU) | (first + (bits >> 8) % count) << 7;
    };
    for (uint32_t& pair : rows) pair = bf16() | bf16() << 16;
    for (uint32_t& pair : weights) pair = bf16() | bf16() << 16;
    multiply_stretch<false>(tiles, {0, kTileOfRows, 0}, 1, weights, rows, nullptr, totals);
  }
}

}  // namespace

bool tiles_give_the_bits() {
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

void bf16_pair_amx(const TileArgs& args) { run<AmxTiles>(args, kMxfp4); }
void bf16_pair_mxfp8_amx(const TileArgs& args) { run<AmxTiles>(args, kMxfp8); }
void bf16_pair_nvfp4_amx(const TileArgs& args) { run<AmxTiles>(args, kNvfp4); }
void bf16_pair_fp8_amx(const TileArgs& args) { run<AmxTiles>(args, kFp8); }
void bf16_pair_plain_tiles_avx512(const TileArgs& args) { run<PlainTiles>(args, kMxfp4); }
void bf16_pair_mxfp8_plain_tiles_avx512(const TileArgs& args) { run<PlainTiles>(args, kMxfp8); }
void bf16_pair_nvfp4_plain_tiles_avx512(const TileArgs& args) { run<PlainTiles>(args, kNvfp4); }
void bf16_pair_fp8_plain_tiles_avx512(const TileArgs& args) { run<PlainTiles>(args, kFp8); }

}  // namespace mx::kernels::moe
