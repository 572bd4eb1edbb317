#pragma once
// bf16-block by fused multiply-adds, of every kind of weights: sums of chains under flushing, their scales without.

#include "kernels/moe/fma_few.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kShortest = 16;  // K of the smallest chain

/// Scales of a vector's columns.
using ScaleValues = Floats(const TileArgs& args, const uint8_t* scales);

inline Floats e8m0_scales(const TileArgs&, const uint8_t* scales) { return scale_values(scales); }
inline Floats fp32_scales(const TileArgs&, const uint8_t* scales) { return f32_scales(scales); }
inline Floats expert_scales(const TileArgs& args, const uint8_t* scales) { return product(e4m3_scales(scales), all(args.expert_scale)); }

using Decode = void(const uint8_t* codes, size_t k, float* out);
template <class Codes>
void decode(const uint8_t* codes, size_t k, float* out) {
  decode_columns<Codes>(codes, k, AsIs(), out);
}

/// Scales of the chains from `first` of K on; `at`: those of the part's first column.
using DecodeScales = void(const TileArgs& args, const uint8_t* at, size_t first, size_t count, float* out);
template <ScaleValues* Scales, size_t Bytes>
void decode_scales(const TileArgs& args, const uint8_t* at, size_t first, size_t count, float* out) {
  at += first / args.scale_block * kPanelColumns * Bytes;
  size_t left = args.scale_block - first % args.scale_block;  // of K that these scale
  for (size_t k = 0; k < count; k += args.chain, out += kColumns) {
    ask_for_later(args, at);
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) store(out + v * kWidth, Scales(args, at + v * kWidth * Bytes));
    left -= args.chain < left ? args.chain : left;
    if (left != 0) continue;
    at += kPanelColumns * Bytes;
    left = args.scale_block;
  }
}

/// Chains of `k` of K of some groups, [chain][row][kColumns] to each one's `sums`. To be run under flushing.
using SumCodes = void(CodePlace& place, const float* x, size_t k, size_t chain, float* const* sums);
template <class Codes, size_t Rows, size_t Groups>
void sum_codes(CodePlace& place, const float* x, size_t k, size_t chain, float* const* sums) {
  for (size_t first = 0; first < k; first += chain) {
    Floats parts[1][Rows][2 * Groups];
    auto& part = parts[0];
    clear<Rows, Groups>(part);
    multiply_codes<Codes, Rows, Groups>(parts, place, x + first * Rows, k - first < chain ? k - first : chain, AsIs());
    store_groups<Rows, Groups>(part, sums, first / chain * Rows * kColumns);
  }
}
template <class Codes>
constexpr ByShape<SumCodes> kSumCodes{
    {{sum_codes<Codes, 1, 1>, sum_codes<Codes, 2, 1>, sum_codes<Codes, 3, 1>, sum_codes<Codes, 4, 1>, sum_codes<Codes, 5, 1>, sum_codes<Codes, 6, 1>},
     {sum_codes<Codes, 1, 2>, kWidth == 16 ? sum_codes<Codes, 2, 2> : nullptr, kWidth == 16 ? sum_codes<Codes, 3, 2> : nullptr}}};

/// The sums of one chain, of vector `v` of a group's columns, to the totals [row][kColumns]; `a_scales` [row], or null.
template <size_t Rows, size_t Vectors>
MXACT_INLINE void add_sums(const Floats (&sums)[Rows][Vectors], size_t vector, Floats scale, const float* a_scales, float* totals) {
  if (a_scales == nullptr) {
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) store(totals + m * kColumns, fused(sums[m][vector], scale, load(totals + m * kColumns)));
  } else {
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
      store(totals + m * kColumns, fused(sums[m][vector], product(all_of(a_scales + m), scale), load(totals + m * kColumns)));
    }
  }
}

/// Whole chains of some groups, each added to its group's `totals` [row][kColumns] as soon as it is summed. To be run under flushing, which is
/// nothing to what is added where nothing is subnormal (TileArgs::careful).
using AddCodes = void(const TileArgs& args, size_t group, float* const* totals);
template <class Codes, ScaleValues* Scales, size_t ScaleBytes, size_t Rows, size_t Groups>
void add_codes(const TileArgs& args, size_t group, float* const* totals) {
  const size_t k = args.blocks * kScaleBlock;
  const float* const x = one_tile(args, 0);
  const float* a_scales = args.a_scales;
  CodePlace place = place_of(args, group, Groups);
  const uint8_t* scales[Groups];
  MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) scales[g] = group_scales(args, group + g, ScaleBytes);
  size_t with_these = args.scale_block;  // of K
  for (size_t first = 0; first < k; first += args.chain) {
    Floats parts[1][Rows][2 * Groups];
    auto& part = parts[0];
    clear<Rows, Groups>(part);
    multiply_codes<Codes, Rows, Groups>(parts, place, x + first * Rows, k - first < args.chain ? k - first : args.chain, AsIs());
    with_these -= args.chain < with_these ? args.chain : with_these;
    MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) {
      ask_for_later(args, scales[g]);
      MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
        add_sums(part, 2 * g + v, Scales(args, scales[g] + v * kWidth * ScaleBytes), a_scales, totals[g] + v * kWidth);
      }
      if (with_these == 0) scales[g] += kPanelColumns * ScaleBytes;
    }
    if (with_these == 0) with_these = args.scale_block;
    forget_registers();
    if (a_scales != nullptr) a_scales += Rows;
  }
}
template <class Codes, ScaleValues* Scales, size_t Bytes>
constexpr ByShape<AddCodes> kAddCodes{
    {{add_codes<Codes, Scales, Bytes, 1, 1>, add_codes<Codes, Scales, Bytes, 2, 1>, add_codes<Codes, Scales, Bytes, 3, 1>,
      add_codes<Codes, Scales, Bytes, 4, 1>, add_codes<Codes, Scales, Bytes, 5, 1>, add_codes<Codes, Scales, Bytes, 6, 1>},
     {add_codes<Codes, Scales, Bytes, 1, 2>, kWidth == 16 ? add_codes<Codes, Scales, Bytes, 2, 2> : nullptr,
      kWidth == 16 ? add_codes<Codes, Scales, Bytes, 3, 2> : nullptr}}};

/// One kind of weights.
struct Kind {
  Decode* decode;
  size_t code_bits;
  DecodeScales* decode_scales;
  size_t scale_bytes;
  const ByShape<SumCodes>& sum_codes;
  const ByShape<AddCodes>& add_codes;
};
template <class Codes, ScaleValues* Scales, size_t Bytes>
constexpr Kind kKind{decode<Codes>, Codes::kBits, decode_scales<Scales, Bytes>, Bytes, kSumCodes<Codes>, kAddCodes<Codes, Scales, Bytes>};
template <class Codes>
constexpr Kind kE8m0Kind = kKind<Codes, e8m0_scales, 1>;
template <class Codes, ScaleValues* Scales = expert_scales>
constexpr Kind kE4m3Kind = kKind<Codes, Scales, 1>;
template <class Codes>
constexpr Kind kF32Kind = kKind<Codes, fp32_scales, 4>;

/// Chains of one stretch of K, of kColumns columns.
struct Stretch {
  size_t k;
  size_t chain;         ///< at most k
  const float* scales;  ///< [chain][kColumns]
  size_t chains() const { return (k + chain - 1) / chain; }
};

/// Sums of a tile's chains, [chain][row][kColumns].
struct Sums {
  alignas(64) float at[kStretchOfSingles / kShortest * kSingleRows * kColumns];
};

/// To be run under flushing.
using SumChains = void(const Stretch& stretch, const float* weights, const float* x, Sums& sums);
template <size_t Rows>
void sum_chains(const Stretch& stretch, const float* weights, const float* x, Sums& sums) {
  for (size_t c = 0; c < stretch.chains(); ++c) {
    const size_t first = c * stretch.chain;
    Floats part[Rows][2];
    clear<Rows, 1>(part);
    const size_t count = stretch.k - first < stretch.chain ? stretch.k - first : stretch.chain;
    multiply(part, weights + first * kColumns, x + first * Rows, count, stretch.k);
    store(part, sums.at + c * Rows * kColumns);
  }
}

MXACT_INLINE Floats with_row(Floats scale, const float* a_scales, size_t m) {
  return a_scales == nullptr ? scale : product(all_of(a_scales + m), scale);
}

/// `sums` [chain][row][kColumns], `a_scales` [chain][row]; null: none.
using AddChains = void(const Stretch& stretch, const float* sums, const float* a_scales, float* totals);
template <size_t Rows>
void add_chains(const Stretch& stretch, const float* sums, const float* a_scales, float* totals) {
  Floats registers[Rows][2];
  load(registers, totals);
  for (size_t c = 0; c < stretch.chains(); ++c) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
      const Floats scale = load(stretch.scales + c * kColumns + v * kWidth);
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
        const Floats part = load(sums + (c * Rows + m) * kColumns + v * kWidth);
        registers[m][v] = fused(part, with_row(scale, a_scales == nullptr ? nullptr : a_scales + c * Rows, m), registers[m][v]);
      }
    }
  }
  store(registers, totals);
}

/// Steps of a chain of `count` between its first and its last one: an even number of them.
template <size_t Rows>
MXACT_INLINE void multiply_between(Floats (&sums)[Rows][2], const float* weights, const float* x, size_t count, size_t length) {
  for (size_t k = 1; k + 1 < count; k += 2) multiply_steps<2>(sums, weights + k * kColumns, x + k * Rows, length);
}

/// Both at once, under flushing, where nothing is subnormal. A chain's last step, its way to the totals and the next chain's first step are one row's
/// after another's: stores of all rows at once would hold up the products behind them. Of rows with scales the columns' come from memory again: there
/// are no registers left.
using MultiplyChains = void(const Stretch& stretch, const float* weights, const float* x, const float* a_scales, float* totals);
template <size_t Rows, bool Scaled>
void multiply_chains(const Stretch& stretch, const float* weights, const float* x, const float* a_scales, float* totals) {
  const float* scales = stretch.scales;
  const size_t chain = stretch.chain;
  Floats part[Rows][2];
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) begin_chain(part[m], all_of(x + m), weights);
  for (size_t left = stretch.k; left != 0;) {
    const size_t count = left < chain ? left : chain;
    multiply_between(part, weights, x, count, stretch.k);
    left -= count;
    weights += (count - 1) * kColumns;
    x += (count - 1) * Rows;
    const float* const next_weights = left != 0 ? weights + kColumns : weights;  // behind the last chain, what is begun comes to nothing
    const float* const next_x = left != 0 ? x + Rows : x;
    const Floats of_columns[2] = {load(scales), load(scales + kWidth)};
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
      const Floats value = all_of(x + m);
      MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
        float* const total = totals + m * kColumns + v * kWidth;
        const Floats whole = fused(value, load(weights + v * kWidth), part[m][v]);
        const Floats scale = Scaled ? product(all_of(a_scales + m), load(scales + v * kWidth)) : of_columns[v];
        store(total, fused(whole, scale, load(total)));
      }
      begin_chain(part[m], all_of(next_x + m), next_weights);
      forget_registers();
    }
    weights = next_weights;
    x = next_x;
    scales += kColumns;
    if (Scaled) a_scales += Rows;
  }
}

constexpr SumChains* kSumChains[kSingleRows] = {sum_chains<1>, sum_chains<2>, sum_chains<3>, sum_chains<4>, sum_chains<5>, sum_chains<6>};
constexpr AddChains* kAddChains[kSingleRows] = {add_chains<1>, add_chains<2>, add_chains<3>, add_chains<4>, add_chains<5>, add_chains<6>};
template <bool Scaled>
constexpr MultiplyChains* kMultiplyChains[kSingleRows] = {multiply_chains<1, Scaled>, multiply_chains<2, Scaled>, multiply_chains<3, Scaled>,
                                                          multiply_chains<4, Scaled>, multiply_chains<5, Scaled>, multiply_chains<6, Scaled>};

/// One part of a panel, its decoded weights and what becomes of all rows.
struct Part {
  alignas(64) float weights[kStretchOfSingles * kColumns];
  alignas(64) float scales[kStretchOfSingles / kShortest * kColumns];
  alignas(64) float totals[kMostRows * kColumns];  ///< or the sums of chains as long as the row
};

/// Of a stretch's rows from `row` on the scale of its first chain; null where there are none.
const float* row_scales(const TileArgs& args, size_t row, size_t height, size_t first) {
  if (args.a_scales == nullptr) return nullptr;
  const size_t chains = (args.blocks * kScaleBlock + args.chain - 1) / args.chain;
  return args.a_scales + row * chains + first / args.chain * height;
}

using MultiplyStretch = void(const TileArgs& args, size_t panel, size_t first, size_t count, Part (&parts)[kParts]);

/// The chains of a stretch of a panel where nothing is subnormal.
void multiply_stretch(const TileArgs& args, size_t panel, size_t first, size_t count, Part (&parts)[kParts]) {
  const Flushing flushing;
  MultiplyChains* const* const multiply = args.a_scales != nullptr ? kMultiplyChains<true> : kMultiplyChains<false>;
  each_tile<kSingleRows>(args.rows, [&](size_t row, size_t height) {
    if (first + count == args.blocks * kScaleBlock) ask_for_outputs(args, panel, row, height);
    for (Part& part : parts) {
      multiply[height - 1]({count, args.chain, part.scales}, part.weights, singles(args, row, first, count), row_scales(args, row, height, first),
                           part.totals + row * kColumns);
    }
  });
}

/// The chains of a stretch from `first` on, a few tiles at a time: switching flushing on and off takes long.
void add_stretch(const TileArgs& args, size_t panel, size_t first, size_t count, Part (&parts)[kParts]) {
  constexpr size_t kTilesAtOnce = 2;
  const size_t tiles = tile_count(args.rows, kSingleRows);
  Sums sums[kParts][kTilesAtOnce];
  Stretch stretches[kParts];
  for (size_t p = 0; p < kParts; ++p) stretches[p] = {count, args.chain, parts[p].scales};
  size_t row = 0;
  for (size_t tile = 0; tile < tiles; tile += kTilesAtOnce) {
    const size_t end = tile + kTilesAtOnce < tiles ? tile + kTilesAtOnce : tiles;
    const size_t begin_row = row;
    {
      const Flushing flushing;
      for (size_t t = tile; t < end; ++t) {
        const size_t height = tile_height(args.rows, kSingleRows, t);
        if (first + count == args.blocks * kScaleBlock) ask_for_outputs(args, panel, row, height);
        for (size_t p = 0; p < kParts; ++p)
          kSumChains[height - 1](stretches[p], parts[p].weights, singles(args, row, first, count), sums[p][t - tile]);
        row += height;
      }
    }
    row = begin_row;
    for (size_t t = tile; t < end; ++t) {
      const size_t height = tile_height(args.rows, kSingleRows, t);
      const float* const a_scales = row_scales(args, row, height, first);
      for (size_t p = 0; p < kParts; ++p) kAddChains[height - 1](stretches[p], sums[p][t - tile].at, a_scales, parts[p].totals + row * kColumns);
      row += height;
    }
  }
}

/// Chains as long as the row go on through all stretches.
void continue_chains(const TileArgs& args, size_t panel, size_t first, size_t count, Part (&parts)[kParts]) {
  const Flushing flushing;
  each_tile<kSingleRows>(args.rows, [&](size_t row, size_t height) {
    const float* const x = singles(args, row, first, count);
    if (first + count == args.blocks * kScaleBlock) ask_for_outputs(args, panel, row, height);
    for (Part& part : parts) kGoOn.of[height - 1](part.weights, x, count, part.totals + row * kColumns);
  });
}

/// The one chain's sums times their scales.
void scale_sums(const TileArgs& args, const Kind& kind, const uint8_t* scales, float* sums) {
  alignas(64) float of_columns[kColumns];
  kind.decode_scales(args, scales, 0, 1, of_columns);
  for (size_t v = 0; v < 2; ++v) {
    const Floats scale = load(of_columns + v * kWidth);
    for (size_t row = 0; row < args.rows; ++row) {
      float* const at = sums + row * kColumns + v * kWidth;
      store(at, fused(load(at), with_row(scale, args.a_scales, row), zeros()));
    }
  }
}

/// One tile of rows by some groups of columns beside each other, weights decoded in registers.
struct FewRows {
  static constexpr size_t kLong = 256;  // of K between flushing and not flushing
  alignas(64) float sums[kMostGroups][kLong / kShortest * kSingleRows * kColumns];
  alignas(64) float scales[kLong / kShortest * kColumns];
  alignas(64) float totals[kMostGroups][kSingleRows * kColumns];

  void add_chains(const TileArgs& args, const Kind& kind, size_t group, size_t groups) {
    const size_t k = args.blocks * kScaleBlock;
    CodePlace place = place_of(args, group, groups);
    float* const at[] = {sums[0], sums[1]};
    for (size_t first = 0; first < k; first += kLong) {
      const size_t count = k - first < kLong ? k - first : kLong;
      {
        const Flushing flushing;
        kind.sum_codes.of(groups, args.rows)(place, one_tile(args, first), count, args.chain, at);
      }
      const float* const a_scales = args.a_scales == nullptr ? nullptr : args.a_scales + first / args.chain * args.rows;
      for (size_t g = 0; g < groups; ++g) {
        kind.decode_scales(args, group_scales(args, group + g, kind.scale_bytes), first, count, scales);
        kAddChains[args.rows - 1]({count, args.chain, scales}, sums[g], a_scales, totals[g]);
      }
    }
  }

  /// Chains as long as the row.
  void add_one_chain(const TileArgs& args, const Kind& kind, size_t group, size_t groups) {
    const size_t k = args.blocks * kScaleBlock;
    CodePlace place = place_of(args, group, groups);
    float* const at[] = {totals[0], totals[1]};
    {
      const Flushing flushing;
      kind.sum_codes.of(groups, args.rows)(place, one_tile(args, 0), k, k, at);
    }
    for (size_t g = 0; g < groups; ++g) scale_sums(args, kind, group_scales(args, group + g, kind.scale_bytes), totals[g]);
  }
};

void run_few(const TileArgs& args, const Kind& kind) {
  FewRows rows;
  for (size_t group = 0, groups = 0; group < group_count(args); group += groups) {
    groups = kind.sum_codes.groups(args.rows, group_count(args) - group);
    for (float(&totals)[kSingleRows * kColumns] : rows.totals) {
      for (size_t i = 0; i < args.rows * kColumns; ++i) totals[i] = 0;
    }
    if (!args.careful) {
      float* const totals[] = {rows.totals[0], rows.totals[1]};
      const Flushing flushing;
      kind.add_codes.of(groups, args.rows)(args, group, totals);
    } else if (args.chain >= args.blocks * kScaleBlock) {
      rows.add_one_chain(args, kind, group, groups);
    } else {
      rows.add_chains(args, kind, group, groups);
    }
    for (size_t g = 0; g < groups; ++g) put(args, (group + g) / kParts, (group + g) % kParts, rows.totals[g]);
  }
}

void run(const TileArgs& args, const Kind& kind) {
  if (args.rows <= kSingleRows) return run_few(args, kind);
  Part parts[kParts];
  const size_t k = args.blocks * kScaleBlock;
  const bool one_chain = args.chain >= k;
  MultiplyStretch* const multiply = one_chain ? continue_chains : args.careful ? add_stretch : multiply_stretch;
  for (size_t panel = 0; panel < args.panels; ++panel) {
    const uint8_t* const codes = args.codes + panel * args.code_stride;
    const uint8_t* const scales = args.scales + panel * args.scale_stride;
    for (Part& part : parts) {
      for (size_t i = 0; i < args.rows * kColumns; ++i) part.totals[i] = 0;
    }
    for (size_t first = 0; first < k; first += kStretchOfSingles) {
      const size_t count = k - first < kStretchOfSingles ? k - first : kStretchOfSingles;
      for (size_t p = 0; p < kParts; ++p) {
        kind.decode(codes + p * kColumns * 4 + first * kind.code_bits / 8 * kPanelColumns, count, parts[p].weights);
        if (!one_chain) kind.decode_scales(args, scales + p * kColumns * kind.scale_bytes, first, count, parts[p].scales);
      }
      multiply(args, panel, first, count, parts);
    }
    for (size_t p = 0; p < kParts; ++p) {
      if (one_chain) scale_sums(args, kind, scales + p * kColumns * kind.scale_bytes, parts[p].totals);
      put(args, panel, p, parts[p].totals);
    }
  }
}

}  // namespace
}  // namespace mx::kernels::moe
