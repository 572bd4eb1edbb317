#include "model/numerics/chain.hpp"

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

std::uint32_t exact_chain(std::span<const Factor> a, std::span<const Factor> b, std::optional<std::uint32_t> start,
                          std::optional<std::uint32_t> term) {
  ExactSum sum;
  for (std::size_t i = 0; i < a.size(); ++i) sum.add_product(a[i].value, b[i].value);
  if (start) sum.add(decode(kF32, *start));
  if (term) sum.add(decode(kF32, *term));
  return sum.to_f32();
}

std::uint32_t fused_chain(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b, std::uint32_t start) {
  std::uint32_t sum = start;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum = row.flush ? flushed_fma(a[i].f32, b[i].f32, sum) : f32::fma(a[i].f32, b[i].f32, sum);
  }
  return sum;
}

std::uint32_t aligned_chain(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b, std::uint32_t start) {
  const auto group = static_cast<std::size_t>(row.group);
  std::uint32_t sum = start;
  for (std::size_t first = 0; first < a.size(); first += group) {
    const std::size_t count = std::min(group, a.size() - first);
    sum = aligned_sum(row, a.subspan(first, count), b.subspan(first, count), sum);
  }
  return sum;
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

std::uint32_t chain(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b, std::optional<std::uint32_t> start,
                    std::optional<std::uint32_t> term) {
  switch (row.step) {
    case Step::exact: return exact_chain(a, b, start, term);
    case Step::fused: return fused_chain(row, a, b, start.value_or(0));
    case Step::aligned: break;
  }
  return aligned_chain(row, a, b, start.value_or(0));
}

}  // namespace mx
