#include "model/families/humming_product.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string>

#include "model/error.hpp"
#include "model/families/humming/values.hpp"
#include "model/numerics/chain.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"

namespace mx::families::humming {
namespace {

constexpr std::size_t kMostWarps = 8;
constexpr std::int64_t kMostSlices = 9;
constexpr int kRange = 11;

/// A warp's part of a slice as runs of k that lie together.
struct WarpRun {
  std::int64_t first, last;
};

std::uint32_t chain_over(const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b, WarpRun run, std::uint32_t start) {
  const auto first = static_cast<std::size_t>(run.first), count = static_cast<std::size_t>(run.last - run.first);
  return chain(row, std::span(a.factors).subspan(first, count), std::span(b.factors).subspan(first, count), start, {});
}

/// A warp's part of a block of k; none where last is not behind first.
WarpRun run_of(const Launch& launch, std::int64_t block, std::int64_t warp) {
  const std::int64_t begin = block * launch.block_k + warp * launch.warp_k;
  return {begin, std::min(begin + launch.warp_k, launch.k)};
}

/// One warp over its part of every block of k.
std::uint32_t warp_sum(const Launch& launch, const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b, KSlice slice,
                       std::int64_t warp, const ChainScales* scales) {
  std::uint32_t total = 0;
  for (std::int64_t block = slice.first; block < slice.last; ++block) {
    const auto [begin, end] = run_of(launch, block, warp);
    if (scales == nullptr) {
      if (begin < end) total = chain_over(row, a, b, {begin, end}, total);
      continue;
    }
    for (std::int64_t k = begin; k < end; k += scales->group) {
      const std::uint32_t sum = chain_over(row, a, b, {k, std::min(k + scales->group, end)}, 0);
      total = f32::fma(scales->factor(k / scales->group), sum, total);
    }
  }
  return total;
}

}  // namespace

void check(const Launch& launch) {
  const auto refuse = [](const std::string& text) { throw Error(ErrorCode::usage, text, "launch of HUMMING"); };
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  for (const std::int64_t number : {launch.n, launch.k, launch.token_blocks, launch.block_m, launch.block_n, launch.block_k, launch.warp_k,
                                    launch.blocks, launch.stages, launch.group}) {
    if (number < 1) refuse(text(number) + " is not positive");
  }
  if (launch.n % launch.block_n != 0) refuse(text(launch.n) + " columns are not whole tiles of " + text(launch.block_n));
  const std::int64_t warps = launch.warps();
  if (launch.block_k % launch.warp_k != 0 || (warps != 1 && warps != 2 && warps != 4 && warps != 8))
    refuse("a block of " + text(launch.block_k) + " of k for warps of " + text(launch.warp_k) + ": 1, 2, 4 or 8 of them");
}

KCut cut_of(const Launch& launch) {
  check(launch);
  const std::int64_t grid = launch.blocks;
  const std::int64_t together = std::max<std::int64_t>(1, launch.group / launch.block_k);
  KCut cut{launch.token_blocks * (launch.n / launch.block_n), 0, rounded_up(ceil_div(launch.k, launch.block_k), together), 1};
  if (!launch.stream_k) return cut;
  cut.shared = cut.tiles;
  if (cut.tiles > grid) {
    cut.shared = cut.tiles % grid;
    if (cut.shared > 0 && 10 * cut.shared <= grid) cut.shared += grid;
  }
  const std::int64_t length = std::max(ceil_div(cut.shared * cut.steps, grid), ceil_div(cut.steps - 1, kMostSlices));
  cut.length = std::max<std::int64_t>(rounded_up(length, std::lcm(together, launch.stages)), 1);
  return cut;
}

std::uint32_t slice_sum(const Launch& launch, const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b, KSlice slice,
                        const ChainScales* scales) {
  std::array<std::uint32_t, kMostWarps> sums{};
  const auto warps = static_cast<std::size_t>(launch.warps());
  for (std::size_t warp = 0; warp < warps; ++warp) sums[warp] = warp_sum(launch, row, a, b, slice, static_cast<std::int64_t>(warp), scales);
  return slice_sum(std::span(sums).first(warps));
}

std::uint32_t slice_sum(std::span<const std::uint32_t> warps) {
  if (warps.size() == kMostWarps) {
    // Pairs of the halves, then of what is left.
    std::vector<std::uint32_t> sums(warps.begin(), warps.end());
    for (std::size_t half = kMostWarps / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) sums[i] = f32::add(sums[i], sums[i + half]);
    }
    return sums[0];
  }
  std::uint32_t total = warps[0];
  for (const std::uint32_t sum : warps.subspan(1)) total = f32::add(total, sum);
  return total;
}

PreparedOperand by_warps(const Launch& launch, const PreparedOperand& operand) {
  PreparedOperand parted{operand.elements, {}, operand.scales, operand.block};
  parted.factors.reserve(operand.factors.size());
  for (std::int64_t warp = 0; warp < launch.warps(); ++warp) {
    for (std::int64_t block = 0; block < ceil_div(launch.k, launch.block_k); ++block) {
      const WarpRun run = run_of(launch, block, warp);
      for (std::int64_t i = run.first; i < run.last; ++i) parted.factors.push_back(operand.factors[static_cast<std::size_t>(i)]);
    }
  }
  return parted;
}

std::vector<KSlice> runs_of(const Launch& launch, std::span<const KSlice> slices) {
  // Where a warp's part of a block begins among all of the warps before and its own blocks before.
  const auto begin = [&](std::int64_t warp, std::int64_t block) {
    std::int64_t at = 0;
    for (std::int64_t w = 0; w <= warp; ++w) {
      const std::int64_t end = w == warp ? block : ceil_div(launch.k, launch.block_k);
      for (std::int64_t b = 0; b < end; ++b) {
        const WarpRun run = run_of(launch, b, w);
        at += std::max<std::int64_t>(run.last - run.first, 0);
      }
    }
    return at;
  };
  std::vector<KSlice> runs;
  for (const KSlice& slice : slices) {
    for (std::int64_t warp = 0; warp < launch.warps(); ++warp) runs.push_back({begin(warp, slice.first), begin(warp, slice.last)});
  }
  return runs;
}

namespace {

std::uint32_t added(std::uint32_t slice, std::uint32_t total) {
  return to_f32(narrowed(row_of(Contract::hopper_bf16), f32::add(slice, total), kBf16), kBf16);
}

}  // namespace

std::uint32_t joined(std::span<const std::uint32_t> ascending) {
  std::uint32_t total = ascending.back();
  for (std::size_t i = ascending.size() - 1; i-- > 0;) total = added(ascending[i], total);
  return total;
}

std::vector<std::uint32_t> possible(std::span<const std::uint32_t> ascending) {
  if (ascending.size() <= kMostOrdered) return {joined(ascending)};
  const std::span<const std::uint32_t> lower = ascending.first(ascending.size() - 1);
  // By the set of slices that were added: what they can have come to.
  std::vector<std::set<std::uint32_t>> totals(std::size_t{1} << lower.size());
  totals.front() = {ascending.back()};
  for (std::size_t done = 0; done < totals.size(); ++done) {
    for (std::size_t i = 0; i < lower.size(); ++i) {
      const std::size_t with = done | std::size_t{1} << i;
      if (with == done) continue;
      for (const std::uint32_t total : totals[done]) totals[with].insert(added(lower[i], total));
    }
  }
  return {totals.back().begin(), totals.back().end()};
}

PowersOfExpert PowersOfExpert::of(int hi, int lo) { return {hi - std::min(hi - lo, kRange)}; }

Value PowersOfExpert::weight(std::uint32_t e2m1_code, int byte) const {
  const std::uint32_t code = byte < lowest ? requantized(static_cast<std::uint8_t>(e2m1_code), lowest - byte) : e2m1_code;
  Value value = decode(kE2m1, code);
  if (value.cls == ValueClass::finite) value.exponent += std::max(byte, lowest) - lowest - 5;
  return value;
}

std::uint32_t PowersOfExpert::global() const {
  return to_f32(Value{.significand = 1, .exponent = lowest - 122, .cls = ValueClass::finite, .negative = false});
}

}  // namespace mx::families::humming
