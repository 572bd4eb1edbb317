#pragma once
// Instruction sets as rows. Kernels are rows that name one; the best one that the processor has runs, or the one that MXACT_ISA names.

#include <cstdint>
#include <span>
#include <string_view>

namespace mx::kernels {

/// Instruction-set extensions, as bits of a mask.
enum IsaBit : std::uint32_t {
  kAvx2 = 1U << 0,  ///< with FMA
  kF16c = 1U << 1,
  kAvx512 = 1U << 2,  ///< F, BW, DQ, VL
  kAvx512Vbmi = 1U << 3,
  kAvx512Vnni = 1U << 4,
  kAvx512Bf16 = 1U << 5,
  kGfni = 1U << 6,
  kNeon = 1U << 7,
  kNeonDotprod = 1U << 8,
  kAvx512Vbmi2 = 1U << 9,
  kAmx = 1U << 10,  ///< tiles of bf16 and of bytes that the operating system grants, whose sums are the contracts'
};

/// A tier: the extensions that its kernels may use. Tiers with more bits come later in isa_tiers().
struct IsaTier {
  std::string_view name;
  std::uint32_t needs;  ///< IsaBit mask
};

/// Every tier that this build knows, the portable one first. Builds without ISA-specific code have that one alone.
std::span<const IsaTier> isa_tiers();

/// Extensions of this processor that the operating system lets programs use.
std::uint32_t isa_of_processor();

/// True when this processor runs the tier's kernels.
bool runs_here(const IsaTier& tier);
/// Throws Error(unsupported), with `where` as its place, when this processor does not run them.
void require_runs_here(const IsaTier& tier, std::string_view where = {});

/// Throws Error(usage) with the nearest name when the build knows no such tier, Error(unsupported) when the processor cannot run it.
const IsaTier& isa_tier_named(std::string_view name);

/// The tier in use: MXACT_ISA's if that variable is set, else the last one that runs here. Reads the variable at each call; errors as
/// isa_tier_named().
const IsaTier& isa_tier();

/// Whether MXACT_ISA is set, so that nothing but its tier's last kernels may run.
bool isa_tier_is_forced();

/// One implementation of a kernel. Tests and benchmarks iterate over the rows of a table, so none can be added untested.
template <class Function>
struct KernelRow {
  std::string_view name;
  std::uint32_t needs;  ///< IsaBit mask
  Function* run;
};

/// The last row that a tier can run, of KernelRows or others with `needs`: rows stand from the plainest to the fastest, and the first one needs
/// nothing.
template <class Rows>
const auto& kernel_for(const Rows& rows, const IsaTier& tier) {
  const auto* best = &rows.front();
  for (const auto& row : rows) {
    if ((row.needs & ~tier.needs) == 0) best = &row;
  }
  return *best;
}

}  // namespace mx::kernels
