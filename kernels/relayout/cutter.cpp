#include "kernels/relayout/cutter.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>

namespace mx::kernels::relayout {
namespace {

constexpr std::int64_t kLineBits = 512;
constexpr std::int64_t kNearLines = 8;

std::int64_t power_at_least(std::int64_t n) { return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n))); }

/// The largest block up to `most` values of a digit that wastes at most an eighth, else the one that wastes least.
std::int64_t block_of(std::int64_t radix, std::int64_t most, std::int64_t least) {
  std::int64_t best = std::min(power_at_least(most), power_at_least(radix));
  const auto covered = [&](std::int64_t block) { return (radix + block - 1) / block * block; };
  for (std::int64_t block = best; block >= least && 8 * (covered(best) - radix) > radix; block /= 2) {
    if (covered(block) < covered(best)) best = block;
  }
  return best;
}

/// The smallest target stride of digits that is not below `stride`; the largest number there is when there is none.
std::int64_t next_stride(const std::vector<SharedDigit>& digits, std::int64_t stride) {
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  for (const SharedDigit& digit : digits) {
    const std::int64_t here = stride_of(digit, false);
    if (digit.radix > 1 && here >= stride) next = std::min(next, here);
  }
  return next;
}

/// The digit of more than one value that has this stride.
template <class Digits>
auto find(Digits& digits, bool source, std::int64_t stride) {
  return std::ranges::find_if(digits, [&](const SharedDigit& digit) { return digit.radix > 1 && stride_of(digit, source) == stride; });
}

std::int64_t values(const std::vector<SharedDigit>& digits) {
  std::int64_t count = 1;
  for (const SharedDigit& digit : digits) count *= digit.radix;
  return count;
}

}  // namespace

std::int64_t stride_of(const SharedDigit& digit, bool source) { return std::abs(source ? digit.source_stride : digit.target_stride); }

void Cutter::take_run(bool source, std::int64_t units, std::int64_t least) {
  std::int64_t have = 1;
  while (have < units) {
    const auto inside = find(inside_, source, have);
    if (inside != inside_.end()) {
      have *= inside->radix;
      continue;
    }
    const auto next = find(outside_, source, have);
    if (next == outside_.end()) return;
    const std::int64_t block = block_of(next->radix, units / have, std::max<std::int64_t>(1, least / have));
    if (block == 1) return;
    const bool whole = next->radix % block == 0;
    take(next, block, inside_);
    have *= block;
    if (!whole) return;
  }
}

void Cutter::take_common_run(std::int64_t units) {
  std::int64_t have = 1;
  while (have < units) {
    const auto next = std::ranges::find_if(outside_, [&](const SharedDigit& d) { return d.source_stride == have && d.target_stride == have; });
    if (next == outside_.end()) return;
    const std::int64_t block = std::min(power_at_least(units / have), power_at_least(next->radix));
    const bool whole = next->radix % block == 0;
    take(next, block, inside_);
    have *= block;
    if (!whole) return;
  }
}

bool Cutter::writes_lines() const {
  const std::int64_t line = kLineBits / unit_bits_;
  std::int64_t run = 1;
  for (auto digit = find(inside_, false, run); digit != inside_.end(); digit = find(inside_, false, run)) run *= digit->radix;
  const auto whole = [&](const SharedDigit& digit) { return digit.radix == 1 || stride_of(digit, false) < run || digit.target_stride % line == 0; };
  return run % line == 0 && std::ranges::all_of(inside_, whole) && std::ranges::all_of(outside_, whole);
}

std::int64_t Cutter::take_stage(std::int64_t shortest, std::int64_t most, std::int64_t all) {
  const std::int64_t line = kLineBits / unit_bits_;
  const auto worthwhile = [&](std::int64_t run) { return run >= shortest ? run : 0; };
  // Every address of the target is some element's. Below the smallest stride that is not the run's these are the run's own elements: so far a run
  // goes without a gap, also where its digits could count farther.
  std::int64_t run = 1;
  for (std::int64_t stride = 1;; ++stride) {
    const std::int64_t inside = next_stride(inside_, stride);
    const std::int64_t outside = next_stride(outside_, stride);
    stride = std::min({inside, outside, all});
    run = std::min(run, stride);
    if (run < stride || stride == all) return worthwhile(run);
    if (inside < outside) {
      run *= find(inside_, false, stride)->radix;
      continue;
    }
    const std::int64_t room = most / (values(inside_) * values(staged_));
    const auto digit = find(outside_, false, stride);
    // What lies near in the source is read together, also where runs are long enough.
    const bool is_long = run >= shortest && run % line == 0 && stride_of(*digit, true) > kNearLines * line;
    std::int64_t block = std::min(room, digit->radix);
    while (block > 1 && digit->radix % block != 0) --block;
    if (is_long || block <= 1) return worthwhile(run);
    run *= block;
    const bool whole = block == digit->radix;
    take(digit, block, staged_);
    if (!whole) return worthwhile(run);
  }
}

std::int64_t Cutter::tile_units() const { return values(inside_); }

std::int64_t Cutter::all_units() const { return values(inside_) * values(staged_) * values(outside_); }

/// Moves the lowest `block` values of a digit into the tile or the stage; what is left of it, if anything, stays outside.
void Cutter::take(std::vector<SharedDigit>::iterator digit, std::int64_t block, std::vector<SharedDigit>& into) {
  const SharedDigit whole = *digit;
  SharedDigit low = whole;
  SharedDigit high = whole;
  low.radix = block;
  high.radix = (whole.radix + block - 1) / block;
  high.source_stride *= block;
  high.target_stride *= block;
  for (Share& share : high.shares) share.weight *= block;
  if (whole.radix % block != 0) {
    low.shares.push_back({limits_.size(), 1});
    high.shares.push_back({limits_.size(), block});
    limits_.push_back({whole.radix, true, 0});
  }
  outside_.erase(digit);
  into.push_back(std::move(low));
  if (high.radix > 1) outside_.push_back(std::move(high));
}

}  // namespace mx::kernels::relayout
