// Groups of products truncated to a unit below the largest of them: a conversion to integers truncates toward zero, as the instruction does.

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "kernels/dot/sums.hpp"
#include "model/numerics/f32.hpp"

namespace mx::kernels::dot {
namespace {

constexpr int kF32Unit = -149;
constexpr int kNoProducts = -4096;  // above any exponent of a product with a zero, below those of others

/// 2^exponent, which is a normal number.
template <class Real>
Real power_of_two(int exponent);
template <>
float power_of_two(int exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23U);
}
template <>
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
}

/// Of fp32 bits that are not zero: a subnormal has that of the smallest normal number.
int exponent_of(std::uint32_t bits) { return std::max(static_cast<int>(bits >> 23U & 0xFFU), 1) - 127; }

/// fp32 of sum * 2^unit, truncated toward zero to `kept` bits and to the grid of subnormals.
float truncated(std::int64_t sum, int unit, int kept) {
  const std::uint64_t magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  const int dropped = std::max(static_cast<int>(std::bit_width(magnitude)) - kept, kF32Unit - unit);
  if (dropped >= 64) return 0;
  const std::uint64_t left = dropped > 0 ? magnitude >> dropped << dropped : magnitude;
  const double value = static_cast<double>(left) * power_of_two<double>(unit);
  return static_cast<float>(sum < 0 && left != 0 ? -value : value);
}

/// One group behind the sum c, which is not -0.
template <class Real, std::size_t kGroup>
float group_sum(const ContractRow& contract, const float* a, const float* b, const std::int16_t* exponents_a, const std::int16_t* exponents_b,
                float c) {
  std::int16_t largest = -16384;
  for (std::size_t i = 0; i < kGroup; ++i) largest = std::max(largest, static_cast<std::int16_t>(exponents_a[i] + exponents_b[i]));
  // A sum alone has no more bits than are kept.
  if (largest < kNoProducts) return c;
  const auto bits = std::bit_cast<std::uint32_t>(c);
  const int exponent = std::max((bits << 1U) == 0 ? largest : std::max<int>(largest, exponent_of(bits)), contract.least_exponent);
  const int unit = exponent - contract.alignment_bits;
  const Real scale = power_of_two<Real>(-unit);
  // Sixteen products fill 31 bits.
  std::conditional_t<kGroup <= 16, std::int32_t, std::int64_t> sum = 0;
  for (std::size_t i = 0; i < kGroup; ++i) sum += static_cast<std::int32_t>(static_cast<Real>(a[i]) * static_cast<Real>(b[i]) * scale);
  return truncated(std::int64_t{sum} + static_cast<std::int64_t>(static_cast<double>(c) * power_of_two<double>(-unit)), unit, contract.kept_bits);
}

/// The groups of k from `first` to `end`, from +0 on.
template <class Real, std::size_t kGroup>
std::uint32_t chain(const ContractRow& contract, const Row& a, const Row& b, std::size_t first, std::size_t end) {
  float sum = 0;
  for (std::size_t k = first; k < end; k += kGroup) {
    sum = group_sum<Real, kGroup>(contract, a.values.data() + k, b.values.data() + k, a.exponents.data() + k, b.exponents.data() + k, sum);
  }
  return std::bit_cast<std::uint32_t>(sum);
}

template <std::size_t kGroup>
std::uint32_t all_chains(const ContractRow& contract, const Row& a, const Row& b) {
  const auto one = [&](std::size_t first, std::size_t end) {
    return a.narrow && b.narrow ? chain<float, kGroup>(contract, a, b, first, end) : chain<double, kGroup>(contract, a, b, first, end);
  };
  const std::size_t all = a.values.size();
  if (contract.restart == 0) return one(0, all);
  std::uint32_t total = 0;
  const auto length = static_cast<std::size_t>(contract.restart);
  for (std::size_t k = 0; k < all; k += length) total = entered(contract, total, one(k, std::min(k + length, all)), scale_of(a, k), scale_of(b, k));
  return finished(contract, total, f32::kOne, f32::kOne, {});
}

}  // namespace

std::uint32_t aligned_sum(const ContractRow& contract, const Row& a, const Row& b) {
  if (contract.group == 8) return all_chains<8>(contract, a, b);
  if (contract.group == 16) return all_chains<16>(contract, a, b);
  return all_chains<32>(contract, a, b);
}

}  // namespace mx::kernels::dot
