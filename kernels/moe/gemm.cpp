#include "kernels/moe/gemm.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "kernels/moe/buffers.hpp"
#include "kernels/moe/race.hpp"
#include "kernels/threads.hpp"
#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/ordinary_mode.hpp"

namespace mx::kernels::moe {
namespace {

constexpr std::array kGemmKernels {
  GemmKernel{Contract::bf16_chain, PanelKind::mxfp4, "bf16-chain portable", 0, kChainTiling, bf16_chain_portable},
      GemmKernel{Contract::bf16_chain, PanelKind::mxfp8, "bf16-chain mxfp8 portable", 0, kChainTiling, bf16_chain_mxfp8_portable},
      GemmKernel{Contract::bf16_chain, PanelKind::nvfp4, "bf16-chain nvfp4 portable", 0, kChainTiling, bf16_chain_nvfp4_portable},
      GemmKernel{Contract::bf16_chain, PanelKind::fp8, "bf16-chain fp8 portable", 0, kChainTiling, bf16_chain_fp8_portable},
      GemmKernel{Contract::bf16_block, PanelKind::mxfp4, "bf16-block portable", 0, kBlockTiling, bf16_block_portable},
      GemmKernel{Contract::bf16_block, PanelKind::mxfp8, "bf16-block mxfp8 portable", 0, kBlockTiling, bf16_block_mxfp8_portable},
      GemmKernel{Contract::bf16_block, PanelKind::nvfp4, "bf16-block nvfp4 portable", 0, kBlockTiling, bf16_block_nvfp4_portable},
      GemmKernel{Contract::bf16_block, PanelKind::fp8, "bf16-block fp8 portable", 0, kBlockTiling, bf16_block_fp8_portable},
      GemmKernel{Contract::bf16_pair, PanelKind::mxfp4, "bf16-pair portable", 0, kChainTiling, bf16_pair_portable},
      GemmKernel{Contract::bf16_pair, PanelKind::mxfp8, "bf16-pair mxfp8 portable", 0, kChainTiling, bf16_pair_mxfp8_portable},
      GemmKernel{Contract::bf16_pair, PanelKind::nvfp4, "bf16-pair nvfp4 portable", 0, kChainTiling, bf16_pair_nvfp4_portable},
      GemmKernel{Contract::bf16_pair, PanelKind::fp8, "bf16-pair fp8 portable", 0, kChainTiling, bf16_pair_fp8_portable},
      GemmKernel{Contract::int8_block, PanelKind::mxfp4, "int8-block portable", 0, kInt8Tiling, int8_block_portable},
      GemmKernel{Contract::int8_block, PanelKind::nvfp4, "int8-block nvfp4 portable", 0, kInt8Tiling, int8_block_nvfp4_portable},
#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
      GemmKernel{Contract::bf16_chain, PanelKind::mxfp4, "bf16-chain avx2", kAvx2, kSingleTiling, bf16_chain_avx2},
      GemmKernel{Contract::bf16_chain, PanelKind::mxfp8, "bf16-chain mxfp8 avx2", kAvx2 | kF16c, kSingleTiling, bf16_chain_mxfp8_avx2},
      GemmKernel{Contract::bf16_chain, PanelKind::nvfp4, "bf16-chain nvfp4 avx2", kAvx2 | kF16c, kSingleTiling, bf16_chain_nvfp4_avx2},
      GemmKernel{Contract::bf16_chain, PanelKind::fp8, "bf16-chain fp8 avx2", kAvx2 | kF16c, kSingleTiling, bf16_chain_fp8_avx2},
      GemmKernel{Contract::bf16_block, PanelKind::mxfp4, "bf16-block avx2", kAvx2, kSingleTiling, bf16_block_avx2},
      GemmKernel{Contract::bf16_block, PanelKind::mxfp8, "bf16-block mxfp8 avx2", kAvx2 | kF16c, kSingleTiling, bf16_block_mxfp8_avx2},
      GemmKernel{Contract::bf16_block, PanelKind::nvfp4, "bf16-block nvfp4 avx2", kAvx2 | kF16c, kSingleTiling, bf16_block_nvfp4_avx2},
      GemmKernel{Contract::bf16_block, PanelKind::fp8, "bf16-block fp8 avx2", kAvx2 | kF16c, kSingleTiling, bf16_block_fp8_avx2},
      GemmKernel{Contract::bf16_pair, PanelKind::mxfp4, "bf16-pair avx2", kAvx2, kSingleTiling, bf16_pair_avx2},
      GemmKernel{Contract::bf16_pair, PanelKind::mxfp8, "bf16-pair mxfp8 avx2", kAvx2 | kF16c, kSingleTiling, bf16_pair_mxfp8_avx2},
      GemmKernel{Contract::bf16_pair, PanelKind::nvfp4, "bf16-pair nvfp4 avx2", kAvx2 | kF16c, kSingleTiling, bf16_pair_nvfp4_avx2},
      GemmKernel{Contract::bf16_pair, PanelKind::fp8, "bf16-pair fp8 avx2", kAvx2 | kF16c, kSingleTiling, bf16_pair_fp8_avx2},
      GemmKernel{Contract::int8_block, PanelKind::mxfp4, "int8-block avx2", kAvx2, kWordTiling, int8_block_avx2},
      GemmKernel{Contract::int8_block, PanelKind::nvfp4, "int8-block nvfp4 avx2", kAvx2 | kF16c, kWordTiling, int8_block_nvfp4_avx2},
      GemmKernel{Contract::bf16_chain, PanelKind::mxfp4, "bf16-chain avx512", kAvx2 | kAvx512, kWideSingleTiling, bf16_chain_avx512},
      GemmKernel{Contract::bf16_chain,          PanelKind::mxfp8,  "bf16-chain mxfp8 avx512",
                 kAvx2 | kAvx512 | kAvx512Vbmi, kWideSingleTiling, bf16_chain_mxfp8_avx512},
      GemmKernel{Contract::bf16_chain, PanelKind::nvfp4, "bf16-chain nvfp4 avx512", kAvx2 | kAvx512, kWideSingleTiling, bf16_chain_nvfp4_avx512},
      GemmKernel{Contract::bf16_chain,          PanelKind::fp8,    "bf16-chain fp8 avx512",
                 kAvx2 | kAvx512 | kAvx512Vbmi, kWideSingleTiling, bf16_chain_fp8_avx512},
      GemmKernel{Contract::bf16_block, PanelKind::mxfp4, "bf16-block avx512", kAvx2 | kAvx512, kSingleTiling, bf16_block_avx512},
      GemmKernel{Contract::bf16_block,          PanelKind::mxfp8, "bf16-block mxfp8 avx512",
                 kAvx2 | kAvx512 | kAvx512Vbmi, kSingleTiling,    bf16_block_mxfp8_avx512},
      GemmKernel{Contract::bf16_block, PanelKind::nvfp4, "bf16-block nvfp4 avx512", kAvx2 | kAvx512, kSingleTiling, bf16_block_nvfp4_avx512},
      GemmKernel{Contract::bf16_block, PanelKind::fp8, "bf16-block fp8 avx512", kAvx2 | kAvx512 | kAvx512Vbmi, kSingleTiling, bf16_block_fp8_avx512},
      GemmKernel{Contract::bf16_pair, PanelKind::mxfp4, "bf16-pair avx512", kAvx2 | kAvx512, kSingleTiling, bf16_pair_avx512},
      GemmKernel{Contract::bf16_pair,           PanelKind::mxfp8, "bf16-pair mxfp8 avx512",
                 kAvx2 | kAvx512 | kAvx512Vbmi, kSingleTiling,    bf16_pair_mxfp8_avx512},
      GemmKernel{Contract::bf16_pair, PanelKind::nvfp4, "bf16-pair nvfp4 avx512", kAvx2 | kAvx512, kSingleTiling, bf16_pair_nvfp4_avx512},
      GemmKernel{Contract::bf16_pair, PanelKind::fp8, "bf16-pair fp8 avx512", kAvx2 | kAvx512 | kAvx512Vbmi, kSingleTiling, bf16_pair_fp8_avx512},
      GemmKernel{Contract::int8_block, PanelKind::mxfp4,      "int8-block avx512-vnni", kAvx512 | kAvx512Vnni | kAvx512Vbmi,
                 kVnniTiling,          int8_block_avx512_vnni},
      GemmKernel{Contract::int8_block,        PanelKind::nvfp4, "int8-block nvfp4 avx512-vnni", kAvx512 | kAvx512Vnni | kAvx512Vbmi, kVnniTiling,
                 int8_block_nvfp4_avx512_vnni},
      GemmKernel{Contract::bf16_chain, PanelKind::mxfp4,      "bf16-chain avx512-bf16", kAvx512 | kAvx512Vbmi | kAvx512Bf16,
                 kDecodedChainTiling,  bf16_chain_avx512_bf16},
      GemmKernel{
          Contract::bf16_chain,        PanelKind::mxfp8, "bf16-chain mxfp8 avx512-bf16", kAvx512 | kAvx512Vbmi | kAvx512Bf16, kDecodedChainTiling,
          bf16_chain_mxfp8_avx512_bf16},
      GemmKernel{
          Contract::bf16_chain,        PanelKind::nvfp4, "bf16-chain nvfp4 avx512-bf16", kAvx512 | kAvx512Vbmi | kAvx512Bf16, kDecodedChainTiling,
          bf16_chain_nvfp4_avx512_bf16},
      GemmKernel{Contract::bf16_chain,         PanelKind::fp8,
                 "bf16-chain fp8 avx512-bf16", kAvx512 | kAvx512Vbmi | kAvx512Vbmi2 | kAvx512Bf16,
                 kDecodedChainTiling,          bf16_chain_fp8_avx512_bf16},
      GemmKernel{Contract::bf16_block, PanelKind::mxfp4, "bf16-block avx512-bf16", kAvx512 | kAvx512Bf16, kBlockTiling, bf16_block_avx512_bf16},
      GemmKernel{Contract::bf16_block,        PanelKind::mxfp8, "bf16-block mxfp8 avx512-bf16", kAvx512 | kAvx512Vbmi | kAvx512Bf16, kBlockTiling,
                 bf16_block_mxfp8_avx512_bf16},
      GemmKernel{Contract::bf16_block,        PanelKind::nvfp4, "bf16-block nvfp4 avx512-bf16", kAvx512 | kAvx512Vbmi | kAvx512Bf16, kBlockTiling,
                 bf16_block_nvfp4_avx512_bf16},
      GemmKernel{Contract::bf16_block,      PanelKind::fp8, "bf16-block fp8 avx512-bf16", kAvx512 | kAvx512Vbmi | kAvx512Bf16, kBlockTiling,
                 bf16_block_fp8_avx512_bf16},
      GemmKernel{Contract::bf16_pair, PanelKind::mxfp4,     "bf16-pair avx512-bf16", kAvx512 | kAvx512Vbmi | kAvx512Bf16,
                 kCrossedTiling,      bf16_pair_avx512_bf16},
      GemmKernel{Contract::bf16_pair, PanelKind::mxfp8,           "bf16-pair mxfp8 avx512-bf16", kAvx512 | kAvx512Vbmi | kAvx512Bf16,
                 kCrossedTiling,      bf16_pair_mxfp8_avx512_bf16},
      GemmKernel{Contract::bf16_pair, PanelKind::nvfp4,           "bf16-pair nvfp4 avx512-bf16", kAvx512 | kAvx512Vbmi | kAvx512Bf16,
                 kCrossedTiling,      bf16_pair_nvfp4_avx512_bf16},
      GemmKernel{Contract::bf16_pair, PanelKind::fp8,           "bf16-pair fp8 avx512-bf16", kAvx512 | kAvx512Vbmi | kAvx512Vbmi2 | kAvx512Bf16,
                 kCrossedTiling,      bf16_pair_fp8_avx512_bf16},
      GemmKernel{Contract::bf16_pair, PanelKind::mxfp4, "bf16-pair amx", kAvx2 | kAvx512 | kAvx512Vbmi | kAvx512Vbmi2 | kAvx512Bf16 | kAmx,
                 kPairTiles,          bf16_pair_amx},
      GemmKernel{Contract::bf16_pair, PanelKind::mxfp8,   "bf16-pair mxfp8 amx", kAvx2 | kAvx512 | kAvx512Vbmi | kAvx512Vbmi2 | kAvx512Bf16 | kAmx,
                 kPairTiles,          bf16_pair_mxfp8_amx},
      GemmKernel{Contract::bf16_pair, PanelKind::nvfp4,   "bf16-pair nvfp4 amx", kAvx2 | kAvx512 | kAvx512Vbmi | kAvx512Vbmi2 | kAvx512Bf16 | kAmx,
                 kPairTiles,          bf16_pair_nvfp4_amx},
      GemmKernel{Contract::bf16_pair, PanelKind::fp8,   "bf16-pair fp8 amx", kAvx2 | kAvx512 | kAvx512Vbmi | kAvx512Vbmi2 | kAvx512Bf16 | kAmx,
                 kPairTiles,          bf16_pair_fp8_amx},
      GemmKernel{Contract::int8_block, PanelKind::mxfp4, "int8-block amx", kAvx512 | kAvx512Vnni | kAvx512Vbmi | kAmx, kInt8Tiles, int8_block_amx},
#elif defined(__AARCH64EL__) && !defined(MXACT_PORTABLE)
      GemmKernel{Contract::bf16_chain, PanelKind::mxfp4, "bf16-chain neon", kNeon, kSingleTiling, bf16_chain_neon},
      GemmKernel{Contract::bf16_chain, PanelKind::mxfp8, "bf16-chain mxfp8 neon", kNeon, kSingleTiling, bf16_chain_mxfp8_neon},
      GemmKernel{Contract::bf16_chain, PanelKind::nvfp4, "bf16-chain nvfp4 neon", kNeon, kSingleTiling, bf16_chain_nvfp4_neon},
      GemmKernel{Contract::bf16_chain, PanelKind::fp8, "bf16-chain fp8 neon", kNeon, kSingleTiling, bf16_chain_fp8_neon},
      GemmKernel{Contract::bf16_block, PanelKind::mxfp4, "bf16-block neon", kNeon, kSingleTiling, bf16_block_neon},
      GemmKernel{Contract::bf16_block, PanelKind::mxfp8, "bf16-block mxfp8 neon", kNeon, kSingleTiling, bf16_block_mxfp8_neon},
      GemmKernel{Contract::bf16_block, PanelKind::nvfp4, "bf16-block nvfp4 neon", kNeon, kSingleTiling, bf16_block_nvfp4_neon},
      GemmKernel{Contract::bf16_block, PanelKind::fp8, "bf16-block fp8 neon", kNeon, kSingleTiling, bf16_block_fp8_neon},
      GemmKernel{Contract::bf16_pair, PanelKind::mxfp4, "bf16-pair neon", kNeon, kSingleTiling, bf16_pair_neon},
      GemmKernel{Contract::bf16_pair, PanelKind::mxfp8, "bf16-pair mxfp8 neon", kNeon, kSingleTiling, bf16_pair_mxfp8_neon},
      GemmKernel{Contract::bf16_pair, PanelKind::nvfp4, "bf16-pair nvfp4 neon", kNeon, kSingleTiling, bf16_pair_nvfp4_neon},
      GemmKernel{Contract::bf16_pair, PanelKind::fp8, "bf16-pair fp8 neon", kNeon, kSingleTiling, bf16_pair_fp8_neon},
      GemmKernel{Contract::int8_block, PanelKind::mxfp4, "int8-block neon", kNeon, kInt8Tiling, int8_block_neon},
      GemmKernel{Contract::int8_block, PanelKind::nvfp4, "int8-block nvfp4 neon", kNeon, kInt8Tiling, int8_block_nvfp4_neon},
      GemmKernel{Contract::int8_block, PanelKind::mxfp4, "int8-block neon-dotprod", kNeon | kNeonDotprod, kInt8Tiling, int8_block_neon_dotprod},
      GemmKernel{Contract::int8_block, PanelKind::nvfp4, "int8-block nvfp4 neon-dotprod",
                 kNeon | kNeonDotprod, kInt8Tiling,      int8_block_nvfp4_neon_dotprod},
#endif
};

[[noreturn]] void refuse(const GemmKernel& kernel, const std::string& text) { throw Error(ErrorCode::usage, text, std::string(kernel.name)); }

/// Rows of x; checks everything about a call that does not depend on the kind of activations.
std::size_t checked_rows(const GemmKernel& kernel, const PanelMatrix& weights, std::size_t expert, std::size_t x, std::span<const float> out,
                         int threads) {
  const PanelShape& shape = weights.shape;
  require_runs_here({kernel.name, kernel.needs}, kernel.name);
  if (weights.format->kind != kernel.kind) refuse(kernel, "does not read weights in " + std::string(layout::name_of(weights.format->format)));
  if (expert >= shape.experts) {
    refuse(kernel, "expert " + std::to_string(expert) + " is not in 0.." + std::to_string(shape.experts - 1));
  }
  require_threads(threads, kernel.name);
  if (x % shape.k != 0) refuse(kernel, "x has " + std::to_string(x) + " values, not rows of " + std::to_string(shape.k));
  const auto rows = static_cast<std::size_t>(x) / shape.k;
  if (out.size() != rows * shape.halves * shape.columns) {
    refuse(kernel, "out has " + std::to_string(out.size()) + " values, not " + std::to_string(rows) + " rows of " +
                       std::to_string(shape.halves * shape.columns));
  }
  require_apart(kernel.name, out, weights);
  return rows;
}

/// The panel that some columns are missing from: through a scratch.
void run_last_panel(const GemmKernel& kernel, const PanelMatrix& weights, std::size_t expert, const Operand& operand, std::size_t index,
                    std::span<float> out, Bias bias) {
  const PanelShape& shape = weights.shape;
  const RowBlock& block = operand.row_blocks[index];
  const std::size_t lanes = shape.lanes();
  const std::size_t first = (shape.panels() - 1) * lanes;
  Lines<float> sums(block.rows * kPanelColumns);
  run_tiles(kernel, weights, expert, shape.panels() - 1, 1, operand, index, sums.data(), {0, kPanelColumns, kPanelColumns / 2}, bias);
  for (std::size_t row = 0; row < block.rows; ++row) {
    for (std::size_t half = 0; half < shape.halves; ++half) {
      const float* from = sums.data() + row * kPanelColumns + half * lanes;
      std::copy_n(from, shape.columns - first, out.data() + ((block.first + row) * shape.halves + half) * shape.columns + first);
    }
  }
}

void run_gemm(const GemmKernel& kernel, const PanelMatrix& weights, std::size_t expert, const Operand& operand, std::span<float> out, int threads) {
  const std::size_t panels = weights.shape.panels();
#pragma omp parallel num_threads(threads)
  {
    const OrdinaryMode mode;
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    const auto team = static_cast<std::size_t>(omp_get_num_threads());
    for (std::size_t index = 0; index < operand.row_blocks.size(); ++index) {
      run_columns(kernel, weights, expert, operand, index, panels * thread / team, panels * (thread + 1) / team, out, Bias::added);
    }
  }
}

/// Fills every block of rows; `fill` takes its index and its rows.
template <class Fill>
void fill_all(const Operand& operand, Fill fill) {
  for (std::size_t index = 0; index < operand.row_blocks.size(); ++index) fill(index, operand.row_blocks[index]);
}

/// Where the rows of a block begin in a row-major array.
template <class T>
std::vector<const T*> row_starts(const T* base, std::size_t length, const RowBlock& block) {
  std::vector<const T*> rows;
  for (std::size_t row = block.first; row < block.first + block.rows; ++row) rows.push_back(base + row * length);
  return rows;
}

}  // namespace

std::span<const GemmKernel> gemm_kernels() { return kGemmKernels; }

const GemmKernel& gemm_kernel_for(Contract contract, const PanelFormat& format, const IsaTier& tier) {
  require_runs_here(tier, "MXACT_ISA");
  const GemmKernel* best = nullptr;
  for (const GemmKernel& kernel : kGemmKernels) {
    if (kernel.contract == contract && kernel.kind == format.kind && (kernel.needs & ~tier.needs) == 0) best = &kernel;
  }
  if (best == nullptr) {
    throw Error(ErrorCode::unsupported,
                "no kernel computes the contract " + std::string(name_of(contract)) + " of weights in " + std::string(layout::name_of(format.format)),
                "moe");
  }
  return *best;
}

const GemmKernel& gemm_kernel_in_use(Contract contract, const PanelFormat& format) {
  const IsaTier& tier = isa_tier();
  const GemmKernel& last = gemm_kernel_for(contract, format, tier);
#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
  if ((last.needs & kAvx512Bf16) == 0 || (last.needs & kAmx) != 0 || isa_tier_is_forced()) return last;
  static const bool multiply_adds = multiply_adds_win_avx512_bf16();
  if (multiply_adds) return gemm_kernel_for(contract, format, {"multiply-adds", tier.needs & ~kAvx512Bf16});
#endif
  return last;
}

std::size_t chain_of(const PanelMatrix& weights, std::size_t block) {
  const std::size_t k = weights.shape.k;
  const std::size_t of_weights = std::min(weights.format->block_of(k), k);
  if (block == 0 || block >= k) return of_weights;
  if (block != 32 && block != 64 && block != 128) {
    throw Error(ErrorCode::unsupported, "no kernel takes activations with a scale for " + std::to_string(block) + " of K: 32, 64, 128 or all", "moe");
  }
  return std::min(of_weights, block);
}

void run_tiles(const GemmKernel& kernel, const PanelMatrix& weights, std::size_t expert, std::size_t first, std::size_t count, const Operand& operand,
               std::size_t row_block, float* out, const Strides& strides, Bias bias) {
  const RowBlock& block = operand.row_blocks[row_block];
  const std::size_t blocks = weights.shape.blocks();
  const std::size_t panel = expert * weights.shape.panels() + first;
  const float expert_scale = weights.expert_scales.empty() ? 1.0F : weights.expert_scales[expert];
  const bool int8 = operand.form.int8();
  const std::size_t k = weights.shape.k;
  bool careful = weights.ranges.empty() && needs_care(kernel.contract, block, *weights.format, expert_scale);
  for (std::size_t p = 0; p < count && !weights.ranges.empty(); ++p) {
    careful = careful || needs_care(kernel.contract, block, *weights.format, weights.ranges[panel + p]);
  }
  const bool folded = kernel.contract == Contract::bf16_chain || kernel.contract == Contract::bf16_pair;
  bool in_units = folded && weights.format->scale == PanelScale::e8m0;
  for (std::size_t p = 0; p < count && in_units; ++p) in_units = fits_units(block, *weights.format, k, weights.ranges[panel + p]);
  const std::size_t code_stride = weights.panel_code_bytes();
  const std::size_t scale_stride = weights.panel_scale_bytes();
  const std::size_t chains = operand.form.chains();
  kernel.run({.codes = weights.codes.data() + panel * code_stride,
              .scales = weights.scales.data() + panel * scale_stride,
              .code_stride = code_stride,
              .scale_stride = scale_stride,
              .panels = count,
              .blocks = blocks,
              .rows = block.rows,
              .careful = careful,
              .in_units = in_units,
              .a = operand.data.data() + block.first * operand.form.dwords(),
              .a_bases = int8 ? operand.bases.data() + block.first * blocks : nullptr,
              .a_starts = int8 ? operand.starts.data() + block.first * chains : nullptr,
              .scale_block = weights.format->block_of(k),
              .chain = operand.form.chain == 0 ? chain_of(weights, 0) : operand.form.chain,
              .expert_scale = expert_scale,
              .a_scales = int8 || chains == 0 ? nullptr : operand.scales.data() + block.first * chains,
              .bias = weights.bias.empty() || bias == Bias::left_out || fault::planted(fault::Fault::moe_kernel_drops_bias)
                          ? nullptr
                          : weights.bias.data() + panel * kPanelColumns,
              .out = out,
              .panel_stride = strides.panel,
              .row_stride = strides.row,
              .half_stride = strides.half});
}

void run_columns(const GemmKernel& kernel, const PanelMatrix& weights, std::size_t expert, const Operand& operand, std::size_t row_block,
                 std::size_t begin, std::size_t end, std::span<float> out, Bias bias) {
  const PanelShape& shape = weights.shape;
  const RowBlock& block = operand.row_blocks[row_block];
  const std::size_t whole = std::min(end, shape.columns / shape.lanes());
  const Strides strides{shape.lanes(), shape.halves * shape.columns, shape.halves == 1 ? kPanelColumns / 2 : shape.columns};
  float* const rows = out.data() + block.first * strides.row;
  const std::size_t step = kPanelsAtOnce;
  for (std::size_t panel = begin; panel < whole; panel += step) {
    run_tiles(kernel, weights, expert, panel, std::min(step, whole - panel), operand, row_block, rows + panel * strides.panel, strides, bias);
  }
  if (end > whole) run_last_panel(kernel, weights, expert, operand, row_block, out, bias);
}

void gemm(const GemmKernel& kernel, const PanelMatrix& weights, std::size_t expert, const Bf16Rows& x, std::span<float> out, int threads) {
  if (kernel.contract == Contract::int8_block) refuse(kernel, "takes MXINT8 activations, not bf16");
  const std::size_t rows = checked_rows(kernel, weights, expert, x.codes.size(), out, threads);
  check_buffers(kernel.name, out, {input("x", x.codes)});
  Operand operand;
  make_room(operand, {.k = weights.shape.k, .tiling = kernel.tiling}, std::array{rows});
  fill_all(operand,
           [&](std::size_t index, const RowBlock& block) { fill_bf16(operand, index, row_starts(x.codes.data(), operand.form.k, block), threads); });
  run_gemm(kernel, weights, expert, operand, out, threads);
}

void gemm(const GemmKernel& kernel, const PanelMatrix& weights, std::size_t expert, const Int8Rows& x, std::span<float> out, int threads) {
  if (kernel.contract != Contract::int8_block) refuse(kernel, "takes bf16 activations, not MXINT8");
  const std::size_t rows = checked_rows(kernel, weights, expert, x.codes.size(), out, threads);
  if (x.scales.size() != rows * weights.shape.blocks()) {
    refuse(kernel, "x has " + std::to_string(x.scales.size()) + " scales, not " + std::to_string(rows) + " rows of " +
                       std::to_string(weights.shape.blocks()));
  }
  check_buffers(kernel.name, out, {input("x", x.codes), input("scales", x.scales)});
  Operand operand;
  make_room(operand, {.k = weights.shape.k, .tiling = kernel.tiling, .chain = chain_of(weights, kScaleBlock)}, std::array{rows});
  fill_all(operand, [&](std::size_t index, const RowBlock& block) {
    fill_int8(operand, index, row_starts(x.codes.data(), operand.form.k, block), row_starts(x.scales.data(), weights.shape.blocks(), block), threads);
  });
  run_gemm(kernel, weights, expert, operand, out, threads);
}

void gemm(const GemmKernel& kernel, const PanelMatrix& weights, std::size_t expert, const ScaledRows& x, std::span<float> out, int threads) {
  if (kernel.contract != Contract::bf16_block) refuse(kernel, "takes activations without scales beside them");
  const std::size_t k = weights.shape.k;
  const std::size_t rows = checked_rows(kernel, weights, expert, x.codes.size(), out, threads);
  if (x.block == 0) refuse(kernel, "a scale for 0 of K");
  const std::size_t chain = chain_of(weights, x.block);
  const std::size_t scales = x.block >= k ? 1 : (k + x.block - 1) / x.block;
  if (x.scales.size() != rows * scales) {
    refuse(kernel, "x has " + std::to_string(x.scales.size()) + " scales, not " + std::to_string(rows) + " rows of " + std::to_string(scales));
  }
  check_buffers(kernel.name, out, {input("x", x.codes), input("scales", x.scales)});
  Operand operand;
  make_room(operand, {.k = k, .tiling = kernel.tiling, .chain = chain}, std::array{rows});
  fill_all(operand, [&](std::size_t index, const RowBlock& block) {
    fill_scaled(operand, index, row_starts(x.codes.data(), k, block), row_starts(x.scales.data(), scales, block), x.block, threads);
  });
  run_gemm(kernel, weights, expert, operand, out, threads);
}

}  // namespace mx::kernels::moe
