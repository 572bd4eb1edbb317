#pragma once
// The sums of Humming's products: warps of a block share k, slices of k are joined in bf16 from the highest k down, each after its own scales.
// Source: outputs of an H100, humming-kernels 0.1.19 as vllm 0.33.0 calls it (golden/witness/hardware).

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/families/k_slices.hpp"
#include "model/numerics/dot.hpp"

namespace mx::families::humming {

/// What is known at launch.
struct Launch {
  std::int64_t n;  ///< padded
  std::int64_t k;  ///< padded
  std::int64_t token_blocks;
  std::int64_t block_m;
  std::int64_t block_n;
  std::int64_t block_k;
  std::int64_t warp_k;
  std::int64_t blocks;  ///< the grid
  std::int64_t stages;
  std::int64_t group;  ///< the longest run of k that shares a scale
  bool stream_k;       ///< off: every tile is whole

  /// Warps that share k.
  std::int64_t warps() const { return block_k / warp_k; }
};

/// Throws Error(usage) for a launch that the kernel has not: whole tiles and warps, 1, 2, 4 or 8 warps along k.
void check(const Launch& launch);

/// Slices in which four and more join have no fixed order.
inline constexpr std::size_t kMostOrdered = 3;

/// Tiles are numbered token block * (n / block_n) + tile of n; steps are blocks of k.
KCut cut_of(const Launch& launch);

/// Where chains end inside a warp's part, and what then multiplies their sums: v = fma(factor(k), chain, v), v from +0. None: one chain.
struct ChainScales {
  std::int64_t group;                                 ///< of k
  std::function<std::uint32_t(std::int64_t)> factor;  ///< fp32 bits for the group of that number
};

/// fp32 bits of one slice of an output; both operands hold all k under one contract.
std::uint32_t slice_sum(const Launch& launch, const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b, KSlice slice,
                        const ChainScales* scales);

/// An operand of k elements with those of each warp behind those of the one before.
PreparedOperand by_warps(const Launch& launch, const PreparedOperand& operand);
/// Elements of operands by_warps() that each warp of each slice adds in one chain, slices ascending.
std::vector<KSlice> runs_of(const Launch& launch, std::span<const KSlice> slices);
/// fp32 bits of a slice's sum from those of its warps.
std::uint32_t slice_sum(std::span<const std::uint32_t> warps);

/// bf16 as fp32 bits: the slices' results, themselves such, joined in descending k. Of more than kMostOrdered that is one order of several.
std::uint32_t joined(std::span<const std::uint32_t> ascending);
/// All that can come, ascending: more than kMostOrdered slices are added to the one of the highest k in any order.
std::vector<std::uint32_t> possible(std::span<const std::uint32_t> ascending);

/// An MXFP4 weight for 8-bit activations: of its expert's scale bytes, those of padding included, hi is the largest and lo the least.
struct PowersOfExpert {
  int lowest;  ///< hi - min(hi - lo, 11)

  static PowersOfExpert of(int hi, int lo);
  /// The e4m3 number that stands for a code of a block with that scale byte.
  Value weight(std::uint32_t e2m1_code, int byte) const;
  /// 2^(lowest - 122) as fp32 bits: what sums are multiplied by.
  std::uint32_t global() const;
};

}  // namespace mx::families::humming
