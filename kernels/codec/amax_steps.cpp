#include "kernels/codec/amax_steps.hpp"

#include <algorithm>

namespace mx::kernels {
namespace {

constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kBinade = 0x00800000U;
constexpr unsigned kBinadeShift = 23;
/// Buckets of a sixteenth of a binade: an E4M3 scale has at most one step in each.
constexpr unsigned kFineShift = 19;
/// More steps than any rule has.
constexpr std::size_t kMostSteps = 4096;

/// The first of [first, last] whose answer is not that of `first`; that of `last` is not. `hint` is tried before halving.
std::uint32_t first_change(const AmaxSteps::Rule& rule, std::uint32_t first, std::uint32_t last, const BlockScaling& before, std::uint32_t hint) {
  std::uint32_t same = first;
  std::uint32_t other = last;
  if (hint > first && hint <= last) {
    (rule(hint) == before ? same : other) = hint;
    if (other == hint && rule(hint - 1) == before) same = hint - 1;
  }
  while (other - same > 1) {
    const std::uint32_t middle = same + (other - same) / 2;
    (rule(middle) == before ? same : other) = middle;
  }
  return other;
}

}  // namespace

std::vector<AmaxSteps::Step> AmaxSteps::steps_of(const Rule& rule, const Takes& takes) {
  std::vector<Step> steps;
  const auto append = [&](std::uint32_t from, std::uint32_t last, BlockScaling scaling) {
    if (!takes(last, scaling)) scaling = {0, 0};
    if (steps.empty() || steps.back().scaling != scaling) steps.push_back({from, scaling});
  };
  append(0, 0, rule(0));
  std::vector<std::uint32_t> changes;  // places in the binade before, then in this one
  for (std::uint32_t binade = 0; binade < kInfinity && steps.size() < kMostSteps; binade += kBinade) {
    const std::uint32_t last = binade + kBinade - 1U;
    const BlockScaling at_last = rule(last);
    std::uint32_t from = std::max(binade, 1U);
    BlockScaling scaling = rule(from);
    std::vector<std::uint32_t> found;
    if (binade == 0 && scaling != at_last) {  // subnormal numbers, whose binades are short
      append(from, last, {0, 0});
      continue;
    }
    while (scaling != at_last && found.size() < kMostSteps) {
      const auto hint = std::ranges::upper_bound(changes, from - binade);
      const std::uint32_t change = first_change(rule, from, last, scaling, hint == changes.end() ? 0 : binade + *hint);
      append(from, change - 1U, scaling);
      found.push_back(change - binade);
      from = change;
      scaling = rule(from);
    }
    append(from, last, scaling);
    changes = std::move(found);
  }
  steps.push_back({kInfinity, {0, 0}});
  return steps;
}

/// False where a bucket would have two steps in it.
bool AmaxSteps::fill(std::span<const Step> steps, unsigned shift) {
  shift_ = shift;
  // The first bucket has the step from zeros to the smallest numbers, if there is one; the last one that to infinity.
  const std::size_t begin = steps.size() > 1 && steps[1].from == 1 ? 2 : 1;
  const std::size_t lowest = steps[begin].from >> shift;
  first_ = lowest == 0 ? 0 : lowest - 1;
  const std::size_t last = std::max<std::size_t>(steps[steps.size() - 2].from >> shift, first_) + 1;
  buckets_.assign(last - first_ + 1, {});
  std::size_t at = 0;  // the step that holds where the bucket begins
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const bool is_last = i + 1 == buckets_.size();
    const std::uint64_t end = is_last ? std::uint64_t{1} << 32 : std::uint64_t{first_ + i + 1} << shift;
    Bucket& bucket = buckets_[i];
    bucket = {{{}, steps[at].scaling}, 0};
    if (at + 1 == steps.size() || steps[at + 1].from >= end) continue;
    bucket = {{steps[at].scaling, steps[at + 1].scaling}, steps[at + 1].from};
    ++at;
    if (at + 1 < steps.size() && steps[at + 1].from < end) return false;
  }
  return true;
}

std::optional<AmaxSteps> AmaxSteps::of(const Rule& rule, const Takes& takes) {
  std::vector<Step> steps = steps_of(rule, takes);
  if (steps.size() >= kMostSteps) return std::nullopt;
  AmaxSteps out;
  if (out.fill(steps, kBinadeShift) || out.fill(steps, kFineShift)) return out;
  return std::nullopt;
}

}  // namespace mx::kernels
