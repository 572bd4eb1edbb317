#pragma once
// A stretch of K of a panel, decoded once for all rows by one of avx512_chain_decoders.hpp. As avx512_lanes.hpp: nothing here has a linkage that
// another tier could pick up.

#include "kernels/moe/avx512_chain_decoders.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kStretch = 256;  // K decoded at once: 16 KiB

/// Some of K from `first` on, and where the scales of the block lie that holds it.
struct Range {
  size_t first;
  size_t count;
  const uint8_t* scales;
};

/// Decodes a range of a panel, whose codes begin at `codes`, to `out` [pair of K][32 columns], and calls with [half of a panel][pair] as it goes.
template <class Decoder, class Visit>
MXACT_INLINE void each_decoded(const Job& job, const Range& range, const uint8_t* codes, uint32_t* out, Visit visit) {
  const size_t block = job.args.scale_block;
  const uint8_t* scales = range.scales;
  for (size_t k = 0; k < range.count; scales += kPanelColumns * Decoder::kBytes) {
    const Decoder decoder = Decoder::of(job, scales);
    const size_t left = block - (range.first + k) % block;
    const size_t end = range.count - k < left ? range.count : k + left;
#pragma GCC unroll 1
    for (; k < end; k += 2 * Decoder::kPairs) {
      constexpr size_t kAhead = 4096;
      __m512i pairs[2][Decoder::kPairs];
      MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
        _mm_prefetch(codes + v * 64 + kAhead, _MM_HINT_T0);
        decoder.pairs(v, codes + v * 64, pairs[v]);
        MXACT_UNROLL for (size_t i = 0; i < Decoder::kPairs; ++i) _mm512_store_si512(out + i * kPanelColumns + v * 16, pairs[v][i]);
      }
      visit(pairs);
      codes += kPanelColumns * 4;
      out += Decoder::kPairs * kPanelColumns;
    }
  }
}

using Decode = void(const Job& job, const Range& range, const uint8_t* codes, uint32_t* out);
template <class Decoder>
void decode(const Job& job, const Range& range, const uint8_t* codes, uint32_t* out) {
  each_decoded<Decoder>(job, range, codes, out, [](const auto&) {});
}

/// Whether a way takes all scales at hand; one without `takes` does.
template <class Way>
bool takes_all(const TileArgs& args, const Way& way) {
  if (way.takes == nullptr) return true;
  const size_t blocks = (args.blocks * kScaleBlock + args.scale_block - 1) / args.scale_block;
  for (size_t panel = 0; panel < args.panels; ++panel) {
    if (!way.takes(args, args.scales + panel * args.scale_stride, blocks)) return false;
  }
  return true;
}

}  // namespace
}  // namespace mx::kernels::moe
