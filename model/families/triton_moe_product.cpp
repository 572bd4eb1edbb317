#include "model/families/triton_moe_product.hpp"

#include <algorithm>

namespace mx::families::triton_moe {
namespace {

constexpr std::int64_t kWgmmaRows = 64;
constexpr std::int64_t kBlock = 128;

bool since_2026_08(deployment::Engine engine) { return deployment::since(deployment::kVllm2026_08).has(engine); }

}  // namespace

Launch default_launch(Scales scales, std::int64_t tokens, deployment::Engine engine, bool batch_invariant) {
  constexpr std::int64_t kFew = 8, kSome = 32, kMore = 64, kMany = 96, kMost = 512;
  if (batch_invariant) return {64, 64, 32};
  if (scales == Scales::blocks) {
    if (tokens > kMore) return {64, 128, 128};
    return {16, since_2026_08(engine) && tokens <= kFew ? 64 : 128, 128};
  }
  const std::int64_t block_m = tokens <= kSome ? 16 : tokens <= kMany ? 32 : tokens <= kMost ? 64 : 128;
  return {block_m, tokens <= kMore ? 64 : 128, 128};
}

bool exchanges_operands(const Launch& launch, deployment::Engine engine) {
  return since_2026_08(engine) && launch.block_m < kWgmmaRows && launch.block_n >= kWgmmaRows;
}

ContractRow contract_of(const Launch& launch, Scales scales, deployment::Engine engine) {
  const bool exchanged = exchanges_operands(launch, engine);
  const bool by_pairs = launch.block_m < kWgmmaRows && !exchanged;
  if (scales == Scales::rows) {
    ContractRow row = row_of(by_pairs ? contract_named("hopper-fp8-as-fp16") : Contract::hopper_fp8);
    row.scales = ScaleEntry::total_one_by_one;
    return row;
  }
  ContractRow row = row_of(by_pairs    ? contract_named("hopper-fp8-as-fp16-block")
                           : exchanged ? contract_named("hopper-fp8-block-exchanged")
                                       : Contract::hopper_fp8_block_1x128);
  row.restart = static_cast<int>(std::min(launch.block_k, kBlock));
  return row;
}

}  // namespace mx::families::triton_moe
