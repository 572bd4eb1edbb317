#include "kernels/relayout/nibbles.hpp"

#include <algorithm>
#include <utility>

namespace mx::kernels::relayout {
namespace {

/// A target byte of two halves: the low one is a half of the byte at place `low`, the high one the same half of the one at `high`.
struct Crossed {
  std::int16_t low;
  std::int16_t high;
  int half;  ///< 0 or 1

  friend bool operator==(const Crossed&, const Crossed&) = default;
};

/// Half `half` of a byte as half `place` of another.
std::array<std::uint8_t, 8> half_matrix(unsigned half, unsigned place) {
  std::array<std::uint8_t, 8> rows{};
  for (unsigned bit = 0; bit < 4; ++bit) rows[4 * place + bit] = static_cast<std::uint8_t>(1U << (4 * half + bit));
  return rows;
}

std::optional<Crossed> crossed(const std::vector<BytePart>& parts, const Slots& met) {
  if (parts.size() != 2) return std::nullopt;
  const auto place = [&](const BytePart& part) { return static_cast<std::int16_t>(std::ranges::find(met, part.source) - met.begin()); };
  for (const unsigned half : {0U, 1U}) {
    for (const std::size_t low : {std::size_t{0}, std::size_t{1}}) {
      if (parts[low].rows != half_matrix(half, 0) || parts[1 - low].rows != half_matrix(half, 1)) continue;
      return Crossed{place(parts[low]), place(parts[1 - low]), static_cast<int>(half)};
    }
  }
  return std::nullopt;
}

std::optional<std::vector<Crossed>> all_crossed(std::span<const std::vector<BytePart>> target, const Slots& met) {
  std::vector<Crossed> out;
  for (const std::vector<BytePart>& parts : target) {
    const std::optional<Crossed> byte = crossed(parts, met);
    if (!byte) return std::nullopt;
    out.push_back(*byte);
  }
  return out;
}

}  // namespace

std::optional<NibbleSwap> nibble_swap(std::span<const std::vector<BytePart>> target, const Slots& met, int from) {
  const std::optional<std::vector<Crossed>> bytes = all_crossed(target, met);
  if (!bytes || met.size() != target.size()) return std::nullopt;
  NibbleSwap swap{from, std::vector<std::int16_t>(met.size()), std::vector<std::uint8_t>(met.size()), {}};
  constexpr std::uint8_t kLow = 0x0F;
  constexpr std::uint8_t kHigh = 0xF0;
  for (const Crossed& byte : *bytes) {
    const auto low = static_cast<std::size_t>(byte.low);
    const auto high = static_cast<std::size_t>(byte.high);
    swap.partners[low] = byte.high;
    swap.partners[high] = byte.low;
    swap.masks[high] = kLow;
    swap.masks[low] = kHigh;
    swap.order.push_back(byte.half == 0 ? byte.high : byte.low);
  }
  // A byte that has two partners, or is first and second at once, kept what was said last.
  const bool fits = std::ranges::all_of(*bytes, [&](const Crossed& byte) {
    const auto low = static_cast<std::size_t>(byte.low);
    const auto high = static_cast<std::size_t>(byte.high);
    return swap.partners[low] == byte.high && swap.partners[high] == byte.low && swap.masks[high] == kLow && swap.masks[low] == kHigh;
  });
  return fits ? std::optional(std::move(swap)) : std::nullopt;
}

std::optional<NibbleTwins> nibble_twins(std::span<const std::vector<BytePart>> first, std::span<const std::vector<BytePart>> second,
                                        const Slots& met) {
  const std::optional<std::vector<Crossed>> low_halves = all_crossed(first, met);
  const std::optional<std::vector<Crossed>> high_halves = all_crossed(second, met);
  if (!low_halves || !high_halves) return std::nullopt;
  NibbleTwins twins{0, 0, {}, {}, {}};
  for (std::size_t i = 0; i < low_halves->size(); ++i) {
    const Crossed& byte = (*low_halves)[i];
    if (byte.half != 0 || (*high_halves)[i] != Crossed{byte.low, byte.high, 1}) return std::nullopt;
    twins.low.push_back(byte.low);
    twins.high.push_back(byte.high);
  }
  return twins;
}

}  // namespace mx::kernels::relayout
