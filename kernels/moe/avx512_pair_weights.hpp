#pragma once
// How bf16-pair decodes each kind of weights for all rows, stretch by stretch. As avx512_lanes.hpp: nothing here has a linkage that another tier
// could pick up.

#include "kernels/moe/avx512_stretch.hpp"

namespace mx::kernels::moe {
namespace {

/// A way to decode the weights of a kind.
struct Way {
  Takes* takes;  ///< these scales of a panel; null: all
  Decode* decode;
};

/// One kind of weights; of its ways the first one that takes the scales at hand.
struct Kind {
  size_t code_bits;
  size_t scale_bytes;
  Way ways[4];
  void (*prepare)(const TileArgs& args, Bytes* products);  ///< null: nothing
};
/// Two neighbouring pairs of K as lanes of their even and of their odd elements, as RowForm::crossed has the rows.
MXACT_INLINE void cross(__m512i& earlier, __m512i& later) {
  constexpr __mmask32 kOddWords = 0xAAAAAAAAU;
  const __m512i even = _mm512_mask_mov_epi16(later, kOddWords, _mm512_slli_epi32(earlier, 16));
  later = _mm512_mask_mov_epi16(_mm512_srli_epi32(later, 16), kOddWords, earlier);
  earlier = even;
}

/// What a decoder gives, as it is, and crossed.
template <class Decoder>
using InOrder = Decoder;
template <class Decoder>
struct Crossed : Decoder {
  MXACT_INLINE static Crossed of(const Job& job, const uint8_t* at) { return {Decoder::of(job, at)}; }
  MXACT_INLINE void pairs(size_t v, const uint8_t* dwords, __m512i (&out)[Decoder::kPairs]) const {
    Decoder::pairs(v, dwords, out);
    MXACT_UNROLL for (size_t i = 0; i < Decoder::kPairs; i += 2) cross(out[i], out[i + 1]);
  }
};

/// Scales that TakenOff takes.
inline bool are_quick(const TileArgs& args, const uint8_t*, size_t) { return !args.careful; }

template <template <class> class Order>
constexpr Kind kMxfp4{4, 1, {{are_quick, decode<Order<TakenOff>>}, {nullptr, decode<Order<Folded<E2m1, E8m0Fold>>>}}, nullptr};
template <template <class> class Order>
constexpr Kind kMxfp8{8, 1, {{nullptr, decode<Order<Folded<E4m3, E8m0Fold>>>}}, nullptr};
template <template <class> class Order>
constexpr Kind kNvfp4{4,
                      1,
                      {{takes_paired, decode<Order<Paired>>},
                       {is_expert_moderate, decode<Order<Folded<E2m1, E4m3Fold<moderate_product>>>>},
                       {nullptr, decode<Order<Folded<E2m1, E4m3Fold<any_product>>>>}},
                      prepare_paired_bytes};
template <template <class> class Order>
constexpr Kind kFp8{8,
                    4,
                    {{one_by_one<have_one_scale_each, sizeof(float)>, decode<Order<ByProducts>>},
                     {one_by_one<are_of_columns, sizeof(float)>, decode<Order<ByColumns>>},
                     {one_by_one<are_moderate<kPanelColumns>, sizeof(float)>, decode<Order<Folded<E4m3, F32Fold<moderate_product>>>>},
                     {nullptr, decode<Order<Folded<E4m3, F32Fold<any_product>>>>}},
                    nullptr};

const Way& way_of(const TileArgs& args, const Kind& kind, const uint8_t* scales) {
  const Way* way = kind.ways;
  while (way->takes != nullptr && !way->takes(args, scales, 1)) ++way;
  return *way;
}

/// A panel's K from `first` to `end` to `out`.
void decode_stretch(const Job& job, const Kind& kind, size_t panel, size_t first, size_t end, uint32_t* out) {
  const TileArgs& args = job.args;
  const uint8_t* const codes = args.codes + panel * args.code_stride;
  const uint8_t* const scales = args.scales + panel * args.scale_stride;
  const auto scales_of = [&](size_t block) { return scales + block * kPanelColumns * kind.scale_bytes; };
  each_run(
      first, end, args.scale_block, [&](size_t block) { return &way_of(args, kind, scales_of(block)); },
      [&](size_t from, size_t to, const Way& way) {
        way.decode(job, {from, to - from, scales_of(from / args.scale_block)}, codes + from * kind.code_bits / 8 * kPanelColumns,
                   out + (from - first) / 2 * kPanelColumns);
      });
}

}  // namespace
}  // namespace mx::kernels::moe
