#include "model/families/slot_sum.hpp"

#include <array>

#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rows.hpp"

namespace mx::families {
namespace {

constexpr rows::Word<SlotSum> kSlotSums[] = {
    {SlotSum::f32, "fp32"}, {SlotSum::bf16, "bf16"}, {SlotSum::moe_sum, "bf16 to 4 slots, else fp32 by fours"}};

std::uint32_t in_bf16(std::uint32_t f32) {
  constexpr Conversion kNearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0x7FC0, 0x7FC0, 0, false};
  return to_f32(convert(f32, kF32, kBf16, kNearest), kBf16);
}

std::uint32_t by_fours(std::span<const std::uint32_t> shares) {
  std::array<std::uint32_t, 4> sums{};
  for (std::size_t k = 0; k < shares.size(); ++k) sums[k % 4] = f32::add(sums[k % 4], shares[k]);
  return f32::add(f32::add(f32::add(sums[0], sums[1]), sums[2]), sums[3]);
}

}  // namespace

std::string_view name_of(SlotSum sum) { return rows::word_of<SlotSum>(kSlotSums, sum); }

SlotSum moe_sum_of(deployment::Engine engine) { return deployment::before(deployment::kVllm2026_08).has(engine) ? SlotSum::moe_sum : SlotSum::f32; }

std::uint32_t sum_of_slots(SlotSum sum, std::span<const std::uint32_t> shares) {
  const bool few = shares.size() >= 2 && shares.size() <= 4;
  if (sum == SlotSum::moe_sum && !few) return in_bf16(by_fours(shares));
  std::uint32_t total = 0;
  for (const std::uint32_t share : shares) {
    total = f32::add(total, share);
    if (sum != SlotSum::f32) total = in_bf16(total);
  }
  return in_bf16(total);
}

std::uint32_t fused_sum_of_slots(std::span<const std::uint32_t> shares, std::span<const std::uint32_t> weights) {
  std::uint32_t total = 0;
  for (std::size_t k = 0; k < shares.size(); ++k) total = f32::fma(shares[k], weights[k], total);
  return in_bf16(total);
}

}  // namespace mx::families
