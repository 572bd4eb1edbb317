#pragma once
// Few rows by the kernels of bf16 by fused multiply-adds: all in one tile, which weights that are decoded in registers meet once.

#include "kernels/moe/fma_decode.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kMostGroups = 2;  // of kColumns columns beside each other

/// The function of a tile, for each number of groups and of rows; null where registers do not hold two groups, or one is as fast.
template <class Function>
struct ByShape {
  Function* at[kMostGroups][kSingleRows];

  Function* of(size_t groups, size_t rows) const { return at[groups - 1][rows - 1]; }
  /// Groups that a tile takes at once, of those that are left: sums of few rows would wait for each other.
  size_t groups(size_t rows, size_t left) const { return left > 1 && of(2, rows) != nullptr ? 2 : 1; }
};

inline size_t group_count(const TileArgs& args) { return args.panels * kParts; }
inline const uint8_t* group_codes(const TileArgs& args, size_t group) {
  return args.codes + group / kParts * args.code_stride + group % kParts * kColumns * 4;
}
inline const uint8_t* group_scales(const TileArgs& args, size_t group, size_t scale_bytes) {
  return args.scales + group / kParts * args.scale_stride + group % kParts * kColumns * scale_bytes;
}

/// Codes of some groups, read from K to K.
struct CodePlace {
  const uint8_t* codes[kMostGroups];
  size_t left;  ///< bytes to the end of their panels
  size_t skip;  ///< from there to the codes that are read next
};

inline CodePlace place_of(const TileArgs& args, size_t group, size_t groups) {
  CodePlace place{{}, args.code_stride, (group + groups - 1) / kParts > group / kParts ? args.code_stride : 0};
  for (size_t g = 0; g < groups; ++g) place.codes[g] = group_codes(args, group + g);
  return place;
}

/// `k` of K of `Groups` groups by a tile of rows, in the order of the chain, or of `Chains` that take turns. Memory is prefetched a page ahead:
/// decoding leaves the processor's own prefetcher behind. For one or two rows it comes to the L1 cache nearer by; more do not wait for it, but for
/// each instruction.
template <class Codes, size_t Rows, size_t Groups, size_t Chains, class Fold>
MXACT_INLINE void multiply_codes(Floats (&sums)[Chains][Rows][2 * Groups], CodePlace& place, const float* x, size_t k, const Fold& fold) {
  constexpr size_t kAhead = 4096;
  constexpr size_t kNear = 1024;
  constexpr size_t kBytes = kPanelColumns * 4;
  const size_t ahead = place.left > kAhead ? kAhead : kAhead + place.skip;
  const uint8_t* codes[Groups];
  MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) codes[g] = place.codes[g];
  for (size_t d = 0; d < k / Codes::kInDword; ++d) {
    MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) {
      for (size_t byte = 0; byte < kColumns * 4; byte += 64) {
        ask_for<Rows <= 2 ? 2 : 1>(codes[g] + ahead + byte);
        if constexpr (Rows <= 2) ask_for<1>(codes[g] + kNear + byte);
      }
    }
    multiply_dword<Codes, Rows, Groups>(sums, codes, fold, x + d * Codes::kInDword * Rows);
    MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) codes[g] += kBytes;
  }
  MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) place.codes[g] = codes[g];
  place.left -= k / Codes::kInDword * kBytes;
}

/// Asks for the scales that lie as these do in the panel that comes after the next: each panel's are too few for the processor to foresee them.
MXACT_INLINE void ask_for_later(const TileArgs& args, const uint8_t* scales) { ask_for<1>(scales + 2 * args.scale_stride); }

template <size_t Rows, size_t Groups>
MXACT_INLINE void clear(Floats (&sums)[Rows][2 * Groups]) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < 2 * Groups; ++v) sums[m][v] = zeros(); }
}

/// Compilers would carry totals from chain to chain in registers that they do not have.
MXACT_INLINE void forget_registers() { __asm__ volatile("" ::: "memory"); }

/// Of each group [row][kColumns].
template <size_t Rows, size_t Groups>
MXACT_INLINE void store_groups(const Floats (&sums)[Rows][2 * Groups], float* const* to, size_t offset) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2 * Groups; ++v) store(to[v / 2] + offset + m * kColumns + v % 2 * kWidth, sums[m][v]);
  }
}

}  // namespace
}  // namespace mx::kernels::moe
