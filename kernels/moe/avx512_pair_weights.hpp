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
/// Scales that TakenOff takes.
inline bool are_quick(const TileArgs& args, const uint8_t*, size_t) { return !args.careful; }

constexpr Kind kMxfp4{4, 1, {{are_quick, decode<TakenOff>}, {nullptr, decode<Folded<E2m1, E8m0Fold>>}}, nullptr};
constexpr Kind kMxfp8{8, 1, {{nullptr, decode<Folded<E4m3, E8m0Fold>>}}, nullptr};
constexpr Kind kNvfp4{4,
                      1,
                      {{takes_paired, decode<Paired>},
                       {is_expert_moderate, decode<Folded<E2m1, E4m3Fold<moderate_product>>>},
                       {nullptr, decode<Folded<E2m1, E4m3Fold<any_product>>>}},
                      prepare_paired_bytes};
constexpr Kind kFp8{8,
                    4,
                    {{one_by_one<have_one_scale_each, sizeof(float)>, decode<ByProducts>},
                     {one_by_one<are_of_columns, sizeof(float)>, decode<ByColumns>},
                     {one_by_one<are_moderate<kPanelColumns>, sizeof(float)>, decode<Folded<E4m3, F32Fold<moderate_product>>>},
                     {nullptr, decode<Folded<E4m3, F32Fold<any_product>>>}},
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
