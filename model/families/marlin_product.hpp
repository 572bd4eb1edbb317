#pragma once
// The sums of Marlin's products: warps of a block share k, blocks share it again, and what they have is joined from the highest k down.
// Source: outputs of an H100, vllm at 7e1b45a09 csrc/moe/marlin_moe_wna16, launches forced and chosen (golden/witness/hardware).

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/families/k_slices.hpp"
#include "model/numerics/dot.hpp"

namespace mx::families::marlin {

/// What is known at launch.
struct Launch {
  std::int64_t moe_block;  ///< tokens in a block
  std::int64_t tile_k;
  std::int64_t tile_n;
  std::int64_t threads;
  std::int64_t blocks;  ///< the grid

  /// Warps that share k: (threads / 32) / (tile_n / 64).
  std::int64_t warps() const { return threads / 32 / (tile_n / 64); }
};

/// Throws Error(usage) for a launch that the kernel has not: warps that share k are 1, 2 or 4, each takes 32 of every tile; whole tiles.
void check(const Launch& launch, std::int64_t n, std::int64_t k);

/// How the tiles of `token_blocks` by n / tile_n are cut along the padded k. `group`: the longest run of k that shares a scale in the kernel, which
/// no slice parts. Tiles are numbered block of tokens * (n / tile_n) + tile of n.
KCut cut_of(const Launch& launch, std::int64_t token_blocks, std::int64_t n, std::int64_t k, std::int64_t group);

/// An operand of k elements, a multiple of tile_k: factors of each warp behind those of the one before.
PreparedOperand by_warps(const Launch& launch, const PreparedOperand& operand);

/// Elements of operands by_warps() that each warp of each slice adds in one chain, slices ascending; `k` elements in all.
std::vector<KSlice> runs_of(const Launch& launch, std::int64_t k, std::span<const KSlice> slices);
/// fp32 bits of the output that the sums of those chains make; `scale` as in sum_of.
std::uint32_t joined(const Launch& launch, std::span<const std::uint32_t> sums, std::optional<std::uint32_t> scale);

/// The engine's launch of a product with so many slots, n rows and k, of so many experts here. How many blocks a multiprocessor holds follows from
/// the kernel's registers, which no source says: as many as it holds of any kernel. Source: vllm fused_moe/fused_marlin_moe.py,
/// csrc/moe/marlin_moe_wna16/ops.cu determine_exec_config (read).
/// Throws Error(usage) where no tile of the kernel fits.
Launch default_launch(std::int64_t slots, std::int64_t experts, std::int64_t n, std::int64_t k);

/// Whether some tile of the kernel fits n rows and k.
bool fits(std::int64_t n, std::int64_t k);

/// fp32 bits of one output of a tile that is cut in these slices; both operands by_warps() under one contract of one chain. `scale`, fp32 bits,
/// multiplies each slice's sum before slices are joined (FP8 with scales of rows or of the tensor).
std::uint32_t sum_of(const Launch& launch, const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b, std::span<const KSlice> slices,
                     std::optional<std::uint32_t> scale);

/// An e4m3fn weight as Marlin's bf16 product has it: 2^-120 of its number; 0x7F and 0xFF are 480 and -480. Source:
/// golden/witness/hardware/marlin_fp8_h100.
Value fp8_weight(std::uint32_t code);
/// What the load makes of an fp32 scale of such weights: bf16 bits of it times 2^120, Inf from 2^8 on.
std::uint32_t bf16_scale(std::uint32_t f32);

/// bf16 of a product's sum in the place where its slot's routing weight enters, fp32 bits; `weight` fp32 bits, none where it is not multiplied.
/// `global` is the expert's scale of the tensor (NVFP4; 1 elsewhere): with a weight it multiplies that, not the sum. Source:
/// golden/witness/hardware/marlin_nvfp4_h100.
std::uint32_t slot_value(std::uint32_t sum, std::optional<std::uint32_t> weight, std::optional<std::uint32_t> global);

}  // namespace mx::families::marlin
