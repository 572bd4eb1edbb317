// bf16-chain and bf16-pair by fused multiply-adds of AArch64's vectors.

#include "kernels/moe/neon_vectors.hpp"
// The vectors come first.
#include "kernels/moe/fma_chain.hpp"

namespace mx::kernels::moe {
namespace {

/// Plain code computes again what the vectors may have flushed too much of.
void run_or_again(const TileArgs& args, const Kind& kind, PanelKind panels) {
  const Underflow underflow;
  run_chains(args, kind);
  if (underflow.seen()) bf16_chain_of_singles(args, panels);
}
void run_pairs_or_again(const TileArgs& args, const Kind& kind, PanelKind panels) {
  const Underflow underflow;
  run_pairs(args, kind);
  if (underflow.seen()) bf16_pair_of_singles(args, panels);
}

}  // namespace

void bf16_chain_neon(const TileArgs& args) { run_or_again(args, kE8m0Kind<E2m1>, PanelKind::mxfp4); }
void bf16_chain_mxfp8_neon(const TileArgs& args) { run_or_again(args, kE8m0Kind<E4m3>, PanelKind::mxfp8); }
void bf16_chain_nvfp4_neon(const TileArgs& args) { run_or_again(args, kNvfp4Kind, PanelKind::nvfp4); }
void bf16_chain_fp8_neon(const TileArgs& args) { run_or_again(args, kF32Kind<E4m3>, PanelKind::fp8); }

void bf16_pair_neon(const TileArgs& args) { run_pairs_or_again(args, kE8m0Kind<E2m1>, PanelKind::mxfp4); }
void bf16_pair_mxfp8_neon(const TileArgs& args) { run_pairs_or_again(args, kE8m0Kind<E4m3>, PanelKind::mxfp8); }
void bf16_pair_nvfp4_neon(const TileArgs& args) { run_pairs_or_again(args, kNvfp4Kind, PanelKind::nvfp4); }
void bf16_pair_fp8_neon(const TileArgs& args) { run_pairs_or_again(args, kF32Kind<E4m3>, PanelKind::fp8); }

}  // namespace mx::kernels::moe
