#pragma once
// Sums of pairs of bf16 numbers where units that add them could differ: what tests of bf16-pair draw.

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>

namespace mx::tests {

inline constexpr std::size_t kMostPairs = 16;

/// One sum: an fp32 number and pairs of bf16 codes.
struct Sum {
  std::uint32_t c = 0;
  std::size_t pairs = kMostPairs;
  std::array<std::uint32_t, 2 * kMostPairs> a{}, b{};
};

/// fp32 bits of a bf16 code.
constexpr std::uint32_t in_f32(std::uint32_t bf16) { return bf16 << 16; }

class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}
  std::uint32_t word() { return static_cast<std::uint32_t>(random_()); }
  std::uint32_t below(std::uint32_t bound) { return word() % bound; }
  /// A code whose exponent field is one of `count` from `first` on.
  std::uint32_t bf16(std::uint32_t first, std::uint32_t count) { return (word() & 0x807FU) | (first + below(count)) << 7; }
  std::uint32_t f32(std::uint32_t first, std::uint32_t count) { return (word() & 0x807FFFFFU) | (first + below(count)) << 23; }
  std::uint32_t signed_zero() { return word() & 0x80000000U; }

 private:
  std::mt19937 random_;
};

/// What inputs tell from bf16-pair.
enum Tells : unsigned {
  kKept = 1U << 0,        ///< subnormals kept
  kBefore = 1U << 1,      ///< flushed before rounding
  kLaneByLane = 1U << 2,  ///< (c + e) + o
  kFromC = 1U << 3,       ///< the even chain starts at c
  kOneChain = 1U << 4,    ///< one chain from c, of each pair the odd element first
  kDescending = 1U << 5,  ///< k descending
  kOrders = kLaneByLane | kFromC | kOneChain | kDescending,
};

/// Inputs of one kind, and which alternatives they tell apart: Tells.
struct Inputs {
  std::string_view what;
  void (*draw)(Sum& sum, Draw& draw);
  unsigned tells;
};
/// Every kind that the instruction was held to.
std::span<const Inputs> pair_inputs();

Sum drawn(const Inputs& inputs, Draw& draw, std::size_t pairs);
/// What the model gives for it.
std::uint32_t modelled(const Sum& sum);
/// Mostly all 16.
std::size_t some_pairs(Draw& draw);

}  // namespace mx::tests
