// Exact sums: products of integers in doubles that hold them, chunk by chunk, gathered in 128 bits.

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/dot/sums.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"

namespace mx::kernels::dot {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

constexpr int kDoubleBits = 53;
constexpr int kChunkBits = 4;  // of a sum of kChunk
/// Of the whole sum, a sign and carries of up to 2^20 chunks aside.
constexpr int kGathered = 127 - 20;

/// Where the bits of a sum's terms lie.
struct Units {
  int least = 0;
  int most = 0;
  bool any = false;

  void take(int unit, int bits) {
    least = any ? std::min(least, unit) : unit;
    most = any ? std::max(most, unit + bits) : unit + bits;
    any = true;
  }
};

/// An exact integer below 2^53: the order of additions does not matter.
double chunk_sum(const double* a, const double* b) {
  double lanes[4] = {};
  for (std::size_t i = 0; i < kChunk; i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  }
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

/// The sign of a sum that is zero: minus when every product is -0, as is the term.
std::uint32_t zero_sum(const Row& a, const Row& b, std::optional<std::uint32_t> term) {
  bool all_negative = a.elements > 0 && (!term || *term == f32::kSign);
  for (std::size_t part = 0; part < a.chunks.size() && all_negative; ++part) {
    const std::size_t first = a.chunks[part] * kChunk;
    const bool has_signs = part == 0 || a.chunks[part] != a.chunks[part - 1];
    for (std::size_t i = 0; i < kChunk && first + i < a.elements; ++i) {
      const double product = a.mantissas[part * kChunk + i] * b.mantissas[first + i];
      all_negative = all_negative && product == 0 && (!has_signs || std::signbit(product));
    }
  }
  return all_negative ? f32::kSign : 0;
}

std::uint32_t rounded(Int128 sum, int unit) {
  const bool negative = sum < 0;
  const auto magnitude = negative ? -static_cast<Uint128>(sum) : static_cast<Uint128>(sum);
  const auto high = static_cast<std::uint64_t>(magnitude >> 64);
  const int dropped = high == 0 ? 0 : static_cast<int>(std::bit_width(high));
  auto significand = static_cast<std::uint64_t>(magnitude >> dropped);
  // The lowest of 64 bits stands for all below it: no rounding to 24 bits sees the difference.
  if (Uint128{significand} << dropped != magnitude) significand |= 1U;
  return to_f32(Value{.significand = significand, .exponent = unit + dropped, .cls = ValueClass::finite, .negative = negative});
}

}  // namespace

std::optional<std::uint32_t> exact_sum(const Row& a, const Row& b, std::optional<std::uint32_t> term) {
  // The weights' numbers of a chunk lie together, as any small format's do.
  const bool together = b.chunks.empty() || b.chunks.back() + 1 == b.chunks.size();
  const int widest = a.bits + b.bits + kChunkBits;
  const Value added = decode(kF32, term.value_or(0));
  if (!together || widest > kDoubleBits || added.cls == ValueClass::nan || added.cls == ValueClass::infinity) return std::nullopt;
  Units units;
  for (std::size_t part = 0; part < a.chunks.size(); ++part) {
    const std::int32_t of_b = b.units[a.chunks[part]];
    if (a.units[part] != kNoUnit && of_b != kNoUnit) units.take(a.units[part] + of_b, widest);
  }
  if (added.cls == ValueClass::finite) units.take(added.exponent, static_cast<int>(std::bit_width(added.significand)));
  if (units.most - units.least > kGathered) return std::nullopt;
  Int128 sum = 0;
  for (std::size_t part = 0; part < a.chunks.size(); ++part) {
    const std::size_t chunk = a.chunks[part];
    if (a.units[part] == kNoUnit || b.units[chunk] == kNoUnit) continue;
    const double of_part = chunk_sum(a.mantissas.data() + part * kChunk, b.mantissas.data() + chunk * kChunk);
    sum += Int128{static_cast<std::int64_t>(of_part)} * (Int128{1} << (a.units[part] + b.units[chunk] - units.least));
  }
  if (added.cls == ValueClass::finite) {
    const Int128 magnitude = Int128{static_cast<std::int64_t>(added.significand)} << (added.exponent - units.least);
    sum += added.negative ? -magnitude : magnitude;
  }
  return sum == 0 ? zero_sum(a, b, term) : rounded(sum, units.least);
}

}  // namespace mx::kernels::dot
