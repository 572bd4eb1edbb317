#include "kernels/codec/amax_steps.hpp"

#include <algorithm>

#include "model/fault.hpp"

namespace mx::kernels {
namespace {

constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kBinade = 0x00800000U;
constexpr unsigned kBinadeShift = 23;
/// Buckets of a sixteenth of a binade: an E4M3 scale has at most one step in each.
constexpr unsigned kFineShift = 19;
/// More steps than any rule has.
constexpr std::size_t kMostSteps = 4096;

/// Binades that are looked at as one where the rule has the same answer at both ends: fewer than after which an answer may return.
constexpr std::uint32_t kRun = 16 * kBinade;

/// An amax, and the rule's answer.
struct Answer {
  std::uint32_t amax;
  BlockScaling scaling;
};

/// The first one behind `first` whose answer is another; that of `last` is. `hint` is tried before halving.
Answer first_change(const AmaxSteps::Rule& rule, const Answer& first, const Answer& last, std::uint32_t hint) {
  std::uint32_t same = first.amax;
  Answer other = last;
  const auto look_at = [&](std::uint32_t amax) {
    const BlockScaling scaling = rule(amax);
    if (scaling == first.scaling) {
      same = amax;
    } else {
      other = {amax, scaling};
    }
  };
  if (hint > same && hint < other.amax) {
    look_at(hint);
    if (other.amax == hint && hint - 1 > same) look_at(hint - 1);
  }
  while (other.amax - same > 1) look_at(same + (other.amax - same) / 2);
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
  Answer from{1, rule(1)};
  for (std::uint32_t binade = 0; binade < kInfinity && steps.size() < kMostSteps; binade += kBinade) {
    if (const std::uint32_t run = std::min(binade + kRun, kInfinity); binade % kRun == 0 && rule(run - 1U) == from.scaling) {
      append(from.amax, run - 1U, from.scaling);
      from = {run, rule(run)};
      binade = run - kBinade;
      continue;
    }
    const Answer last{binade + kBinade - 1U, rule(binade + kBinade - 1U)};
    std::vector<std::uint32_t> found;
    if (binade == 0 && from.scaling != last.scaling) {  // subnormal numbers, whose binades are short
      append(from.amax, last.amax, {0, 0});
      from = last;
    }
    while (from.scaling != last.scaling && found.size() < kMostSteps) {
      const auto hint = std::ranges::upper_bound(changes, from.amax - binade);
      const Answer change = first_change(rule, from, last, hint == changes.end() ? 0 : binade + *hint);
      append(from.amax, change.amax - 1U, from.scaling);
      found.push_back(change.amax - binade);
      from = change;
    }
    if (binade != 0 || from.amax != last.amax) append(from.amax, last.amax, from.scaling);
    from = {last.amax + 1U, rule(last.amax + 1U)};
    changes = std::move(found);
  }
  steps.push_back({kInfinity, {0, 0}});
  return steps;
}

/// False where a bucket would have two steps in it.
bool AmaxSteps::fill(std::span<const Step> steps, unsigned shift) {
  constexpr std::uint32_t kPatterns = 1U << 31;
  shift_ = shift;
  buckets_.assign(kPatterns >> shift, {});
  std::size_t at = 0;  // the step that holds where the bucket begins
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const std::uint64_t end = std::uint64_t{i + 1} << shift;
    Bucket& bucket = buckets_[i];
    bucket = {{steps[at].scaling, steps[at].scaling}, 0};
    if (at + 1 == steps.size() || steps[at + 1].from >= end) continue;
    const std::uint32_t late = fault::planted(fault::Fault::kernel_steps_late) ? 1U : 0U;
    bucket = {{steps[at].scaling, steps[at + 1].scaling}, steps[at + 1].from + late};
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
