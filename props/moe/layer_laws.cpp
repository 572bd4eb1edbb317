// Laws of the layer: what the order of tokens, the names of experts, the batch and the split over ranks must not change.

#include <rapidcheck.h>

#include <algorithm>
#include <span>

#include "model/moe/layer.hpp"
#include "model/numerics/wide.hpp"
#include "props/layout/generators.hpp"
#include "props/moe/generators.hpp"
#include "props/moe/laws.hpp"

namespace mx::props {
namespace {

using layout::CanonicalLayer;
using layout::Role;
using moe::Slot;
using Tokens = std::vector<std::vector<Slot>>;

constexpr std::int64_t kHidden = 32;
constexpr std::int64_t kIntermediate = 32;

/// A layer with its routed tokens.
struct Batch {
  CanonicalLayer layer;
  std::vector<std::uint32_t> x;
  Tokens slots;
};

Batch random_batch() {
  const std::int64_t experts = 2 * pick(1, 3);
  const std::int64_t tokens = pick(2, 4);
  return {random_moe_layer({experts, kIntermediate, kHidden}), random_tokens(tokens * kHidden), random_slots(tokens, experts, pick(1, experts))};
}

std::vector<std::uint32_t> outputs(const CanonicalLayer& layer, std::span<const std::uint32_t> x, const Tokens& slots) {
  moe::RunConfig config{};
  config.contract = Contract::f32_sequential;
  return moe::run_experts(*moe::canonical_experts(layer), config, x, kHidden, slots);
}

std::span<const std::uint32_t> row(std::span<const std::uint32_t> rows, std::size_t token) {
  return rows.subspan(token * static_cast<std::size_t>(kHidden), static_cast<std::size_t>(kHidden));
}

bool same(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

/// Every part of expert e moved to expert new_name[e].
CanonicalLayer renamed(const CanonicalLayer& layer, std::span<const std::int64_t> new_name) {
  CanonicalLayer result = layer;
  for (const Role role : layout::kRoles) {
    const std::size_t part = layer[role].size() / new_name.size();
    for (std::size_t e = 0; e < new_name.size(); ++e) {
      const auto from = layer[role].begin() + static_cast<std::ptrdiff_t>(e * part);
      std::copy(from, from + static_cast<std::ptrdiff_t>(part),
                result[role].begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(new_name[e]) * part));
    }
  }
  return result;
}

/// The layer on one rank in 64-bit arithmetic, expert outputs rounded to bf16 so that every sum over slots is exact.
std::vector<Value> on_rank(const Batch& batch, const moe::ExpertParallel& parallel) {
  const auto number = [](std::uint32_t f32) { return decode(kF32, f32); };
  const moe::SwigluOai oai;
  moe::LayerChoices<Value> choices{moe::GatedKind::swiglu_oai, number(oai.alpha), number(oai.beta), number(oai.limit), moe::WideArithmetic::kOne, {}};
  choices.stages.round_expert_out = moe::StageRounding::bf16;
  choices.stages.expert_parallel = parallel;
  std::vector<Value> x;
  for (const std::uint32_t code : batch.x) x.push_back(decode(kBf16, code));
  std::vector<std::vector<moe::SlotOf<Value>>> slots;
  for (const std::vector<Slot>& token : batch.slots) {
    slots.emplace_back();
    for (const Slot& slot : token) slots.back().push_back({slot.expert, number(slot.weight)});
  }
  const std::span<const std::vector<moe::SlotOf<Value>>> all(slots);
  return moe::run_layer(moe::WideArithmetic{}, *moe::canonical_experts(batch.layer), choices, x, kHidden, all, false).out;
}

}  // namespace

Outcome law_sum_over_ranks(const Law& law) {
  return check_property(law, [] {
    const Batch batch = random_batch();
    const std::int64_t experts = batch.layer.sizes.experts;
    const std::int64_t size = pick(0, 1) == 0 ? 2 : experts;
    const std::vector<Value> whole = on_rank(batch, {});
    std::vector<Value> sum(whole.size());
    for (std::int64_t rank = 0; rank < size; ++rank) {
      const std::vector<Value> part = on_rank(batch, {size, rank});
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = wide::add(sum[i], part[i]);
    }
    RC_ASSERT(sum == whole);
  });
}

Outcome law_tokens_permuted(const Law& law) {
  return check_property(law, [] {
    const Batch batch = random_batch();
    const std::vector<std::int64_t> order = random_order_of(static_cast<std::int64_t>(batch.slots.size()));
    std::vector<std::uint32_t> x;
    Tokens slots;
    for (const std::int64_t token : order) {
      const auto values = row(batch.x, static_cast<std::size_t>(token));
      x.insert(x.end(), values.begin(), values.end());
      slots.push_back(batch.slots[static_cast<std::size_t>(token)]);
    }
    const std::vector<std::uint32_t> expected = outputs(batch.layer, batch.x, batch.slots);
    const std::vector<std::uint32_t> got = outputs(batch.layer, x, slots);
    for (std::size_t i = 0; i < order.size(); ++i) RC_ASSERT(same(row(got, i), row(expected, static_cast<std::size_t>(order[i]))));
  });
}

Outcome law_experts_permuted(const Law& law) {
  return check_property(law, [] {
    const Batch batch = random_batch();
    const std::vector<std::int64_t> new_name = random_order_of(batch.layer.sizes.experts);
    Tokens slots = batch.slots;
    for (std::vector<Slot>& token : slots) {
      for (Slot& slot : token) slot.expert = new_name[static_cast<std::size_t>(slot.expert)];
    }
    RC_ASSERT(outputs(renamed(batch.layer, new_name), batch.x, slots) == outputs(batch.layer, batch.x, batch.slots));
  });
}

Outcome law_batch_is_independent(const Law& law) {
  return check_property(law, [] {
    const Batch batch = random_batch();
    const std::vector<std::uint32_t> together = outputs(batch.layer, batch.x, batch.slots);
    for (std::size_t token = 0; token < batch.slots.size(); ++token) {
      RC_ASSERT(same(outputs(batch.layer, row(batch.x, token), {batch.slots[token]}), row(together, token)));
    }
  });
}

}  // namespace mx::props
