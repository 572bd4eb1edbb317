#pragma once
// bf16-chain and bf16-pair by fused multiply-adds, of every kind of weights: scales folded in while a stretch is decoded, products under flushing.

#include "kernels/moe/fma_few_chains.hpp"
#include "kernels/moe/fma_few_pairs.hpp"

namespace mx::kernels::moe {
namespace {

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

/// A way to decode the weights of a kind.
struct Way {
  Takes* takes;  ///< these scales of kColumns columns; null: all
  Decode* decode;
  const ByShape<FewCodes>* few_chains;  ///< null: none
  const ByShape<FewCodes>* few_pairs;
};

/// One kind of weights; of its ways the first one that takes the scales at hand.
struct Kind {
  size_t code_bits;
  size_t scale_bytes;
  Way ways[4];
  void (*prepare)(const TileArgs& args, uint16_t* products);  ///< null: nothing
  /// Few rows, where they may be in units; null: none.
  const ByShape<FewCodes>* chains_in_units;
  const ByShape<FewCodes>* pairs_in_units;
};
template <class Codes, class Fold>
constexpr Way way(Takes* takes) {
  return {takes, decode<Codes, Fold>, &kChainCodes<Codes, Fold>, &kPairCodes<Codes, Fold>};
}
/// Chains of few rows run under flushing as a whole, where these ways' folds would not.
template <class Codes, class Fold>
constexpr Way kAnyWay{nullptr, decode<Codes, Fold>, nullptr, nullptr};

template <class Codes>
constexpr Kind kE8m0Kind{Codes::kBits, 1, {way<Codes, E8m0Fold>(nullptr)}, nullptr, &kUnitCodes<Codes>, &kPairUnitCodes<Codes>};
inline constexpr Kind kNvfp4Kind{E2m1::kBits, 1,       {way<SplitE2m1, E4m3Fold>(is_expert_moderate), kAnyWay<E2m1, AnyE4m3Fold>},
                                 nullptr,     nullptr, nullptr};
template <class Codes>
constexpr Kind kF32Kind{
    Codes::kBits,
    4,
    {way<Codes, F32Fold<moderate_product>>(one_by_one<are_moderate<kColumns>, sizeof(float)>), kAnyWay<Codes, F32Fold<any_product>>},
    nullptr,
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

void run_few(const Job& job, const ByShape<FewCodes>& few) {
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

/// How few rows are multiplied; null where registers do not hold so many, or all scales are not of one such way. Under flushing the scale 2^-127
/// would count as zero.
const ByShape<FewCodes>* few_of(const TileArgs& args, const Kind& kind, const ByShape<FewCodes>* Kind::*in_units,
                                const ByShape<FewCodes>* Way::*few) {
  if (args.rows > kSingleRows || args.careful) return nullptr;
  const auto hold = [&](const ByShape<FewCodes>* functions) { return functions != nullptr && functions->of(1, args.rows) != nullptr; };
  if (args.in_units && hold(kind.*in_units)) return kind.*in_units;
  for (const Way& way : kind.ways) {
    if (hold(way.*few) && takes_all(args, kind, way)) return way.*few;
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

template <size_t Tallest>
void run(const TileArgs& args, const Kind& kind, const ByShape<FewCodes>* Kind::*in_units, const ByShape<FewCodes>* Way::*few_rows,
         const GoOnRows<Tallest>& rows) {
  alignas(64) uint16_t products[kProducts];
  if (kind.prepare != nullptr) kind.prepare(args, products);
  const Job job{args, products};
  if (const ByShape<FewCodes>* const few = few_of(args, kind, in_units, few_rows)) return run_few(job, *few);
  run_many(job, kind, rows);
}

void run_chains(const TileArgs& args, const Kind& kind) { run(args, kind, &Kind::chains_in_units, &Way::few_chains, kGoOn); }
void run_pairs(const TileArgs& args, const Kind& kind) { run(args, kind, &Kind::pairs_in_units, &Way::few_pairs, kGoOnByBlocks); }

}  // namespace
}  // namespace mx::kernels::moe
