#pragma once
// Products of activations and expert weights in panels under a named contract, equal to mx::dot bit for bit on every tier, for any number of
// threads and for any rows beside a row.

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/isa.hpp"
#include "kernels/moe/operand.hpp"
#include "kernels/moe/panel.hpp"
#include "kernels/moe/tile.hpp"

namespace mx::kernels::moe {

/// One kernel: what it computes, what it needs, and how it takes its rows. Tests and benchmarks iterate over all of them.
struct GemmKernel {
  Contract contract;
  PanelKind kind;  ///< the weights that it reads
  std::string_view name;
  std::uint32_t needs;  ///< IsaBit mask
  Tiling tiling;
  TileFunction* run;
};

/// Every kernel of this build; of a contract the plainest first.
std::span<const GemmKernel> gemm_kernels();

/// The last kernel of the contract for weights of that format that the tier can run. Throws Error(unsupported) when there is none, or when this
/// processor cannot run the tier.
const GemmKernel& gemm_kernel_for(Contract contract, const PanelFormat& format, const IsaTier& tier);

/// The kernel that runs where nobody names a tier: gemm_kernel_for() of isa_tier(), but multiply-adds of 512 bits instead of VDPBF16PS where this
/// processor is faster at them (race.hpp, measured once) and MXACT_ISA leaves the choice. Errors as gemm_kernel_for() and isa_tier().
const GemmKernel& gemm_kernel_in_use(Contract contract, const PanelFormat& format);

/// Elements along K in a chain of bf16-block where activations have a scale for each `block` of them (0: none): the smaller of the two blocks, or K.
/// Throws Error(unsupported) for another `block` than 32, 64, 128 or at least K.
std::size_t chain_of(const PanelMatrix& weights, std::size_t block);

/// out[row][half * columns + i] = row of `x` times column i of that half of one expert, plus its bias if `weights` has any: fp32, of NaNs 0x7FC00000.
/// `threads` of 1 to kMostThreads. Throws, before anything is written, Error(usage) when a size disagrees, the expert does not exist, the contract
/// takes other activations, or `out` overlaps an input or the weights, Error(unsupported) when this processor cannot run the kernel. Weights are what
/// pack() made: their memory is not measured again. The contracts: mx::Contract, model/numerics/contract.hpp.
void gemm(const GemmKernel& kernel, const PanelMatrix& weights, std::size_t expert, const Bf16Rows& x, std::span<float> out, int threads);
void gemm(const GemmKernel& kernel, const PanelMatrix& weights, std::size_t expert, const Int8Rows& x, std::span<float> out, int threads);
void gemm(const GemmKernel& kernel, const PanelMatrix& weights, std::size_t expert, const ScaledRows& x, std::span<float> out, int threads);

/// Where the outputs of a panel go: column c of a row is at row * row_stride + panel * panel_stride + c / 16 * half_stride + c % 16.
struct Strides {
  std::size_t panel;
  std::size_t row;
  std::size_t half;
};

/// Whether outputs get the bias that the weights hold.
enum class Bias { added, left_out };

/// Panels [first, first + count) of an expert by one block of rows. Nothing is checked here, nor in run_columns().
void run_tiles(const GemmKernel& kernel, const PanelMatrix& weights, std::size_t expert, std::size_t first, std::size_t count, const Operand& operand,
               std::size_t row_block, float* out, const Strides& strides, Bias bias);

/// Panels [begin, end) by one block of rows into out[row][half * columns + i], rows of the whole operand.
void run_columns(const GemmKernel& kernel, const PanelMatrix& weights, std::size_t expert, const Operand& operand, std::size_t row_block,
                 std::size_t begin, std::size_t end, std::span<float> out, Bias bias);

/// Panels that a kernel is given at once: a tile of few rows takes several beside each other.
inline constexpr std::size_t kPanelsAtOnce = 4;

}  // namespace mx::kernels::moe
