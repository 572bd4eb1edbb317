#pragma once
// bf16-chain and bf16-pair by fused multiply-adds, of every kind of weights: scales folded in while a stretch is decoded, products under flushing.

#include "kernels/moe/fma_few.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kProducts = 256;  // that a kind may prepare

/// What a kernel is given, and what its kind of weights has prepared for all panels of it.
struct Job {
  const TileArgs& args;
  const uint16_t* products;
};

/// Powers of two: exact but for overflow, and what is subnormal counts as zero where it is used.
struct E8m0Fold {
  static constexpr size_t kBytes = 1;
  Floats scales[2];

  MXACT_INLINE static E8m0Fold of(const Job&, const uint8_t* at) { return {{scale_values(at), scale_values(at + kWidth)}}; }
  MXACT_INLINE Floats operator()(size_t v, Floats weight) const { return product(weight, scales[v]); }
};

using Product = Floats(Floats weight, Floats scale);

/// Exact products with the block's scale, rounded ones with the expert's.
struct AnyE4m3Fold {
  static constexpr size_t kBytes = 1;
  Floats scales[2];
  Floats expert;

  MXACT_INLINE static AnyE4m3Fold of(const Job& job, const uint8_t* at) {
    return {{e4m3_scales(at), e4m3_scales(at + kWidth)}, all(job.args.expert_scale)};
  }
  MXACT_INLINE Floats operator()(size_t v, Floats weight) const { return any_product(product(weight, scales[v]), expert); }
};

/// Of an expert's scale that is moderate: the scales and one and a half of them are rounded once for their block, of which powers of two are exact.
struct E4m3Fold {
  static constexpr size_t kBytes = 1;
  Floats once[2];
  Floats one_and_a_half[2];

  MXACT_INLINE static E4m3Fold of(const Job& job, const uint8_t* at) {
    E4m3Fold fold;
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
      const Floats scales = e4m3_scales(at + v * kWidth);
      fold.once[v] = moderate_product(scales, all(job.args.expert_scale));
      fold.one_and_a_half[v] = moderate_product(product(scales, all(1.5F)), all(job.args.expert_scale));
    }
    return fold;
  }
  /// One of the two products is zero.
  MXACT_INLINE Floats operator()(size_t v, const SplitE2m1::Weight& weight) const {
    return fused(weight.power_of_one_and_a_half, one_and_a_half[v], product(weight.power, once[v]));
  }
};

template <Product* Rounded>
struct F32Fold {
  static constexpr size_t kBytes = 4;
  Floats scales[2];

  MXACT_INLINE static F32Fold of(const Job&, const uint8_t* at) { return {{f32_scales(at), f32_scales(at + kWidth * sizeof(float))}}; }
  MXACT_INLINE Floats operator()(size_t v, Floats weight) const { return Rounded(weight, scales[v]); }
};

/// Some of K from `first` on, and where the scales of the block lie that holds it.
struct Range {
  size_t first;
  size_t count;
  const uint8_t* scales;
};

/// Decodes a range, whose codes begin at `codes`.
using Decode = void(const Job& job, const Range& range, const uint8_t* codes, float* out);
template <class Codes, class Fold>
void decode(const Job& job, const Range& range, const uint8_t* codes, float* out) {
  constexpr size_t kBytes = kPanelColumns * 4 / Codes::kInDword;  // of one K
  const size_t block = job.args.scale_block;
  const uint8_t* scales = range.scales;
  for (size_t k = 0; k < range.count; scales += kPanelColumns * Fold::kBytes) {
    const size_t left = block - (range.first + k) % block;
    const size_t count = range.count - k < left ? range.count - k : left;
    decode_columns<Codes>(codes + k * kBytes, count, Fold::of(job, scales), out + k * kColumns);
    k += count;
  }
}

/// Whole chains of a tile of some groups, [row][kColumns] to each one's `sums`, weights decoded in registers. To be run under flushing.
using ChainCodes = void(const Job& job, size_t group, float* const* sums);
template <class Codes, class Fold, size_t Rows, size_t Groups>
void chain_codes(const Job& job, size_t group, float* const* sums) {
  const TileArgs& args = job.args;
  const size_t length = args.blocks * kScaleBlock;
  const float* const x = one_tile(args, 0);
  CodePlace place = place_of(args, group, Groups);
  const uint8_t* scales[Groups];
  MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) scales[g] = group_scales(args, group + g, Fold::kBytes);
  Floats chains[Rows][2 * Groups];
  clear<Rows, Groups>(chains);
  for (size_t k = 0; k < length; k += args.scale_block) {
    Fold folds[Groups];
    MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) {
      ask_for_later(args, scales[g]);
      folds[g] = Fold::of(job, scales[g]);
      scales[g] += kPanelColumns * Fold::kBytes;
    }
    multiply_codes<Codes, Rows, Groups>(
        chains, place, x + k * Rows,
        length - k < args.scale_block ? length - k : args.scale_block, [&](size_t v, const auto& weight) __attribute__((always_inline)) {
          return folds[v / 2](v % 2, weight);
        });
  }
  store_groups<Rows, Groups>(chains, sums, 0);
}
template <class Codes, class Fold>
constexpr ByShape<ChainCodes> kChainCodes{
    {{chain_codes<Codes, Fold, 1, 1>, chain_codes<Codes, Fold, 2, 1>, chain_codes<Codes, Fold, 3, 1>, chain_codes<Codes, Fold, 4, 1>,
      chain_codes<Codes, Fold, 5, 1>, chain_codes<Codes, Fold, 6, 1>},
     {chain_codes<Codes, Fold, 1, 2>, kWidth == 16 ? chain_codes<Codes, Fold, 2, 2> : nullptr,
      kWidth == 16 ? chain_codes<Codes, Fold, 3, 2> : nullptr, kWidth == 16 ? chain_codes<Codes, Fold, 4, 2> : nullptr}}};

/// The same by weights without their scales, E8M0: sums are in units of their block's (TileArgs::in_units).
template <class Codes, size_t Rows, size_t Groups>
void unit_codes(const Job& job, size_t group, float* const* sums) {
  const TileArgs& args = job.args;
  const size_t length = args.blocks * kScaleBlock;
  const float* const x = one_tile(args, 0);
  CodePlace place = place_of(args, group, Groups);
  const uint8_t* scales[Groups];
  MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) scales[g] = group_scales(args, group + g, 1);
  Floats chains[Rows][2 * Groups];
  clear<Rows, Groups>(chains);
  Dwords units[2 * Groups];
  const auto turn_into = [&](size_t v, Dwords next) __attribute__((always_inline)) {
    const Floats ratio = power_between(units[v], next);
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) chains[m][v] = product(chains[m][v], ratio);
    units[v] = next;
  };
  for (size_t k = 0; k < length; k += args.scale_block) {
    MXACT_UNROLL for (size_t v = 0; v < 2 * Groups; ++v) {
      if (v % 2 == 0) ask_for_later(args, scales[v / 2]);
      const Dwords fields = scale_fields(scales[v / 2] + v % 2 * kWidth);
      if (k == 0) units[v] = fields;
      turn_into(v, fields);
    }
    MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) scales[g] += kPanelColumns;
    multiply_codes<Codes, Rows, Groups>(chains, place, x + k * Rows, length - k < args.scale_block ? length - k : args.scale_block, AsIs());
  }
  MXACT_UNROLL for (size_t v = 0; v < 2 * Groups; ++v) turn_into(v, unit_field());
  store_groups<Rows, Groups>(chains, sums, 0);
}
template <class Codes>
constexpr ByShape<ChainCodes> kUnitCodes{
    {{unit_codes<Codes, 1, 1>, unit_codes<Codes, 2, 1>, unit_codes<Codes, 3, 1>, unit_codes<Codes, 4, 1>, unit_codes<Codes, 5, 1>,
      unit_codes<Codes, 6, 1>},
     {unit_codes<Codes, 1, 2>, kWidth == 16 ? unit_codes<Codes, 2, 2> : nullptr, kWidth == 16 ? unit_codes<Codes, 3, 2> : nullptr}}};

/// A way to decode the weights of a kind.
struct Way {
  Takes* takes;  ///< these scales of kColumns columns; null: all
  Decode* decode;
  const ByShape<ChainCodes>* few;  ///< null: none
};

/// One kind of weights; of its ways the first one that takes the scales at hand.
struct Kind {
  size_t code_bits;
  size_t scale_bytes;
  Way ways[4];
  void (*prepare)(const TileArgs& args, uint16_t* products);  ///< null: nothing
  const ByShape<ChainCodes>* in_units;                        ///< few rows, where they may be; null: none
};
template <class Codes, class Fold>
constexpr Way way(Takes* takes) {
  return {takes, decode<Codes, Fold>, &kChainCodes<Codes, Fold>};
}
/// Chains of few rows run under flushing as a whole, where these ways' folds would not.
template <class Codes, class Fold>
constexpr Way kAnyWay{nullptr, decode<Codes, Fold>, nullptr};

template <class Codes>
constexpr Kind kE8m0Kind{Codes::kBits, 1, {way<Codes, E8m0Fold>(nullptr)}, nullptr, &kUnitCodes<Codes>};
inline constexpr Kind kNvfp4Kind{E2m1::kBits, 1, {way<SplitE2m1, E4m3Fold>(is_expert_moderate), kAnyWay<E2m1, AnyE4m3Fold>}, nullptr, nullptr};
template <class Codes>
constexpr Kind kF32Kind{
    Codes::kBits,
    4,
    {way<Codes, F32Fold<moderate_product>>(one_by_one<are_moderate<kColumns>, sizeof(float)>), kAnyWay<Codes, F32Fold<any_product>>},
    nullptr,
    nullptr};

const Way& way_of(const TileArgs& args, const Kind& kind, const uint8_t* scales) {
  const Way* way = kind.ways;
  while (way->takes != nullptr && !way->takes(args, scales, 1)) ++way;
  return *way;
}

/// Columns [column, column + kColumns) of a panel, K from `first` to `end`.
void decode_stretch(const Job& job, const Kind& kind, size_t panel, size_t column, size_t first, size_t end, float* out) {
  const TileArgs& args = job.args;
  const uint8_t* const codes = args.codes + panel * args.code_stride + column * 4;
  const uint8_t* const scales = args.scales + panel * args.scale_stride + column * kind.scale_bytes;
  const auto scales_of = [&](size_t block) { return scales + block * kPanelColumns * kind.scale_bytes; };
  each_run(
      first, end, args.scale_block, [&](size_t block) { return &way_of(args, kind, scales_of(block)); },
      [&](size_t from, size_t to, const Way& way) {
        way.decode(job, {from, to - from, scales_of(from / args.scale_block)}, codes + from * kind.code_bits / 8 * kPanelColumns,
                   out + (from - first) * kColumns);
      });
}

void run_few(const Job& job, const ByShape<ChainCodes>& few) {
  const TileArgs& args = job.args;
  alignas(64) float sums[kMostGroups][kSingleRows * kColumns];
  float* const at[] = {sums[0], sums[1]};
  for (size_t group = 0, groups = 0; group < group_count(args); group += groups) {
    groups = few.groups(args.rows, group_count(args) - group);
    {
      const Flushing flushing;
      few.of(groups, args.rows)(job, group, at);
    }
    for (size_t g = 0; g < groups; ++g) put(args, (group + g) / kParts, (group + g) % kParts, sums[g]);
  }
}

/// Whether a way takes all scales at hand.
bool takes_all(const TileArgs& args, const Kind& kind, const Way& way) {
  if (way.takes == nullptr) return true;
  const size_t blocks = (args.blocks * kScaleBlock + args.scale_block - 1) / args.scale_block;
  for (size_t group = 0; group < group_count(args); ++group) {
    if (!way.takes(args, group_scales(args, group, kind.scale_bytes), blocks)) return false;
  }
  return true;
}

/// How few rows are multiplied; null where all scales are not of one such way. Under flushing the scale 2^-127 would count as zero.
const ByShape<ChainCodes>* few_of(const TileArgs& args, const Kind& kind) {
  if (args.rows > kSingleRows || args.careful) return nullptr;
  if (args.in_units && kind.in_units != nullptr) return kind.in_units;
  for (const Way& way : kind.ways) {
    if (way.few != nullptr && takes_all(args, kind, way)) return way.few;
  }
  return nullptr;
}

/// Stretch by stretch of K, decoded for all rows.
template <size_t Tallest>
void run_many(const Job& job, const Kind& kind, const GoOnRows<Tallest>& rows) {
  const TileArgs& args = job.args;
  alignas(64) float weights[kParts][kStretchOfSingles * kColumns];
  alignas(64) float totals[kParts][kMostRows * kColumns];
  const size_t k = args.blocks * kScaleBlock;
  for (size_t panel = 0; panel < args.panels; ++panel) {
    for (size_t part = 0; part < kParts; ++part) {
      for (size_t i = 0; i < args.rows * kColumns; ++i) totals[part][i] = 0;
    }
    for (size_t first = 0; first < k; first += kStretchOfSingles) {
      const size_t end = k - first < kStretchOfSingles ? k : first + kStretchOfSingles;
      for (size_t part = 0; part < kParts; ++part) decode_stretch(job, kind, panel, part * kColumns, first, end, weights[part]);
      const Flushing flushing;
      each_tile<Tallest>(args.rows, [&](size_t row, size_t height) {
        const float* const x = singles(args, row, first, end - first);
        if (end == k) ask_for_outputs(args, panel, row, height);
        for (size_t part = 0; part < kParts; ++part) rows.of[height - 1](weights[part], x, end - first, totals[part] + row * kColumns);
      });
    }
    for (size_t part = 0; part < kParts; ++part) put(args, panel, part, totals[part]);
  }
}

void run(const TileArgs& args, const Kind& kind) {
  alignas(64) uint16_t products[kProducts];
  if (kind.prepare != nullptr) kind.prepare(args, products);
  const Job job{args, products};
  if (const ByShape<ChainCodes>* const few = few_of(args, kind)) return run_few(job, *few);
  run_many(job, kind, kGoOn);
}

/// bf16-pair.
void run_pairs(const TileArgs& args, const Kind& kind) {
  alignas(64) uint16_t products[kProducts];
  if (kind.prepare != nullptr) kind.prepare(args, products);
  run_many({args, products}, kind, kGoOnByBlocks);
}

}  // namespace
}  // namespace mx::kernels::moe
