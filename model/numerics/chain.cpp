#include "model/numerics/chain.hpp"

#include <algorithm>
#include <vector>

#include "model/fault.hpp"
#include "model/numerics/exact_sum.hpp"
#include "model/numerics/f32.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

constexpr std::uint32_t kSmallestNormal = 0x00800000U;
constexpr int kSmallestExponent = -126;

std::uint32_t flushed(std::uint32_t f32) {
  if (planted(Fault::flush_lost)) return f32;
  return (f32 & ~f32::kSign) < kSmallestNormal ? f32 & f32::kSign : f32;
}

/// True when the exact a * b + c, whose magnitude rounds to 2^-126 on the grid of subnormals, is below it after rounding to 24 bits.
bool rounds_below_normal(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  ExactSum sum;
  sum.add_product(decode(kF32, a), decode(kF32, b));
  sum.add(decode(kF32, c));
  const Value value = sum.leading_bits();
  // 24 ones and a half: a tie, which goes up to the power of two.
  constexpr std::uint64_t kRoundsUp = ~std::uint64_t{0} << 39;
  return value.exponent + 63 < kSmallestExponent && value.significand < kRoundsUp;
}

/// An infinite sum rounds to Inf, a NaN has no sign.
constexpr Conversion kNearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0, 0, 0, false};

Conversion nearest_in(const Format& format) {
  Conversion how = kNearest;
  how.nan_positive = how.nan_negative = (max_finite_code(format) + 1U) | (1U << (format.mantissa_bits - 1));
  return how;
}

/// The sum rounded once to the row's result.
std::uint32_t rounded(const ContractRow& row, const ExactSum& sum) {
  const std::uint32_t bits = *row.result == kF32 ? sum.to_f32() : to_f32(sum.round(*row.result, nearest_in(*row.result)), *row.result);
  constexpr std::uint32_t kInfinity = 0x7F800000U;
  if (row.overflow_is_largest && (bits & ~f32::kSign) == kInfinity && sum.leading_bits().cls == ValueClass::finite)
    return to_f32(max_finite_code(*row.result), *row.result) | (bits & f32::kSign);
  if ((bits & ~f32::kSign) != 0) return bits;
  const bool is_exact = sum.leading_bits().cls == ValueClass::zero;
  const bool keeps = row.zero_sign == SumZero::ieee || (row.zero_sign == SumZero::rounded_only && !is_exact);
  return keeps ? bits : 0U;
}

std::uint32_t exact_chain(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b, std::optional<std::uint32_t> start,
                          std::optional<std::uint32_t> term) {
  const std::size_t group = row.group == 0 ? a.size() : static_cast<std::size_t>(row.group);
  std::optional<std::uint32_t> before = start;
  std::size_t first = 0;
  do {
    ExactSum sum;
    for (std::size_t i = first; i < std::min(first + group, a.size()); ++i) {
      if (row.product == nullptr) {
        sum.add_product(a[i].value, b[i].value);
      } else {
        sum.add(rounded_product(row, exact_product(a[i].value, b[i].value)));
      }
    }
    if (before) sum.add(decode(kF32, *before));
    if (term) sum.add(decode(kF32, *term));
    before = rounded(row, sum);
    first += group;
  } while (first < a.size());
  return *before;
}

/// A sum or operand as a device reads it that takes subnormals and -0 for +0.
std::uint32_t read_as_plus(const ContractRow& row, std::uint32_t f32) {
  return row.flush_to_plus && (f32 & ~f32::kSign) < kSmallestNormal ? 0U : f32;
}

/// The products from `first` on, each `stride` after the one before.
std::uint32_t fused_chain(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b, std::uint32_t start, std::size_t first = 0,
                          std::size_t stride = 1) {
  std::uint32_t sum = start;
  for (std::size_t i = first; i < a.size(); i += stride) {
    sum = read_as_plus(row, sum);
    if (row.product != nullptr) {
      sum = added(row, sum, to_f32(rounded_product(row, exact_product(a[i].value, b[i].value))));
    } else if (*row.result != kF32) {
      ExactSum exact;
      exact.add_product(a[i].value, b[i].value);
      exact.add(decode(kF32, sum));
      sum = rounded(row, exact);
    } else {
      sum = row.flush ? flushed_fma(a[i].f32, b[i].f32, sum) : f32::fma(a[i].f32, b[i].f32, sum);
    }
    if (row.zero_sign == SumZero::plus && sum == f32::kSign) sum = 0;
  }
  return sum;
}

/// Chains from +0 side by side, added in order, and what that gives to the sum before where there is one.
std::uint32_t fused_lanes(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b, std::optional<std::uint32_t> start) {
  const auto lanes = static_cast<std::size_t>(row.lanes);
  if (lanes == 1) return fused_chain(row, a, b, start.value_or(0));
  std::uint32_t sum = planted(Fault::lanes_chain_together) ? fused_chain(row, a, b, 0) : fused_chain(row, a, b, 0, 0, lanes);
  for (std::size_t lane = 1; lane < lanes && !planted(Fault::lanes_chain_together); ++lane)
    sum = added(row, sum, fused_chain(row, a, b, 0, lane, lanes));
  return start ? added(row, *start, sum) : sum;
}

std::uint32_t aligned_chain(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b, std::uint32_t start,
                            const Format& start_format) {
  const auto group = static_cast<std::size_t>(row.group);
  std::uint32_t sum = start;
  for (std::size_t first = 0; first < a.size(); first += group) {
    const std::size_t count = std::min(group, a.size() - first);
    sum = aligned_sum(row, a.subspan(first, count), b.subspan(first, count), sum, first == 0 ? start_format : *row.result);
  }
  return sum;
}

/// Groups of products in a tree of neighbours, of which an odd one passes up; the sum before is added to each.
std::uint32_t pairwise_chain(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b, std::uint32_t start) {
  const auto group = static_cast<std::size_t>(row.group);
  std::uint32_t total = start;
  std::vector<std::uint32_t> sums;
  for (std::size_t first = 0; first < a.size(); first += group) {
    sums.clear();
    for (std::size_t i = first; i < std::min(first + group, a.size()); ++i) {
      const std::uint32_t product = to_f32(rounded_product(row, exact_product(a[i].value, b[i].value)));
      sums.push_back(row.flush ? flushed(product) : product);
    }
    while (sums.size() > 1) {
      const std::size_t pairs = sums.size() / 2;
      for (std::size_t i = 0; i < pairs; ++i) sums[i] = added(row, sums[2 * i], sums[2 * i + 1]);
      if (sums.size() % 2 == 1) sums[pairs] = sums.back();
      sums.resize(sums.size() - pairs);
    }
    total = added(row, read_as_plus(row, total), sums[0]);
    if (row.zero_sign == SumZero::plus && total == f32::kSign) total = 0;
  }
  return total;
}

}  // namespace

std::uint32_t flushed_fma(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  a = flushed(a);
  b = flushed(b);
  c = flushed(c);
  const std::uint32_t sum = f32::fma(a, b, c);
  if ((sum & ~f32::kSign) == kSmallestNormal && rounds_below_normal(a, b, c)) return flushed(sum & f32::kSign);
  return flushed(sum);
}

Value rounded_product(const ContractRow& row, const Value& product) {
  if (row.product == nullptr) return product;
  Flags flags;
  return decode(*row.product, encode(product, *row.product, nearest_in(*row.product), flags));
}

std::uint32_t added(const ContractRow& row, std::uint32_t a, std::uint32_t b) {
  if (*row.result == kF32) {
    return row.flush ? flushed(f32::add(flushed(a), flushed(b))) : f32::add(a, b);
  }
  ExactSum sum;
  sum.add(decode(kF32, a));
  sum.add(decode(kF32, b));
  return to_f32(sum.round(*row.result, nearest_in(*row.result)), *row.result);
}

std::uint32_t chain(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b, std::optional<std::uint32_t> start,
                    std::optional<std::uint32_t> term, const Format& start_format) {
  switch (row.step) {
    case Step::exact: return exact_chain(row, a, b, start, term);
    case Step::fused: return fused_lanes(row, a, b, start);
    case Step::pairwise: return pairwise_chain(row, a, b, start.value_or(0));
    case Step::aligned: break;
  }
  return aligned_chain(row, a, b, start.value_or(0), start_format);
}

}  // namespace mx
