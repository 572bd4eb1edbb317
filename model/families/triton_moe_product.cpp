#include "model/families/triton_moe_product.hpp"

#include <algorithm>

#include "model/fault.hpp"

namespace mx::families::triton_moe {
namespace {

constexpr std::int64_t kWgmmaRows = 64;
constexpr std::int64_t kBlock = 128;

bool since_2026_08(deployment::Engine engine) { return deployment::since(deployment::kVllm2026_08).has(engine); }

/// A contract of chains of 128 with chains of another length.
std::string in_steps(const std::string& name, std::int64_t step) { return step == kBlock ? name : name + ":restart=" + std::to_string(step); }

}  // namespace

Launch default_launch(Scales scales, std::int64_t tokens, deployment::Engine engine, bool batch_invariant, std::int64_t side) {
  constexpr std::int64_t kFew = 8, kSome = 32, kMore = 64, kMany = 96, kMost = 512;
  if (batch_invariant) return {64, 64, 32};
  if (scales == Scales::blocks) {
    if (tokens > (fault::planted(fault::Fault::tile_grows_early) ? kMore / 2 : kMore)) return {64, side, side};
    return {16, since_2026_08(engine) && tokens <= kFew && side % 64 == 0 ? 64 : side, side};
  }
  const std::int64_t block_m = tokens <= kSome ? 16 : tokens <= kMany ? 32 : tokens <= kMost ? 64 : 128;
  return {block_m, tokens <= kMore ? 64 : 128, 128};
}

bool exchanges_operands(const Launch& launch, deployment::Engine engine) {
  return since_2026_08(engine) && launch.block_m < kWgmmaRows && launch.block_n >= kWgmmaRows;
}

std::string contract_text(const Launch& launch, Scales scales, deployment::Engine engine, std::int64_t side) {
  const bool exchanged = exchanges_operands(launch, engine);
  const bool by_pairs = launch.block_m < kWgmmaRows && !exchanged;
  if (scales == Scales::rows) return by_pairs ? "hopper-fp8-as-fp16" : "hopper-fp8";
  const std::string name = by_pairs ? "hopper-fp8-as-fp16-block" : exchanged ? "hopper-fp8-block-exchanged" : "hopper-fp8-block-1x128";
  return in_steps(name, std::min(launch.block_k, side));
}

ContractRow contract_of(const Launch& launch, Scales scales, deployment::Engine engine) {
  ContractRow row = row_of(contract_named(contract_text(launch, scales, engine)));
  if (scales == Scales::rows) row.scales = ScaleEntry::total_one_by_one;
  return row;
}

std::string batched_contract(const Launch& launch, Scales scales) {
  const bool by_pairs = launch.block_m < kWgmmaRows;
  if (scales == Scales::rows) return by_pairs ? "hopper-fp8-as-fp16" : "hopper-fp8";
  return in_steps(by_pairs ? "hopper-fp8-as-fp16-block" : "hopper-fp8-block-1x128", launch.block_k);
}

std::int64_t blocks_of_one_scale(const Launch& launch) { return std::max<std::int64_t>(1, launch.block_k / kBlock); }

}  // namespace mx::families::triton_moe
