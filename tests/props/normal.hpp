#pragma once
// Normal numbers for outputs that are shown to tolerances.

#include <bit>
#include <cstdint>

#include "sim/execute/kernel.hpp"
#include "support/random.hpp"

namespace mx::tests {

/// A sum of twelve uniform numbers is normal enough, and the same on every machine.
class Normal {
 public:
  explicit Normal(std::uint64_t seed) : random_(seed) {}
  std::uint32_t f32(double deviation) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random_.next() >> 11U) * 0x1p-53;
    return std::bit_cast<std::uint32_t>(static_cast<float>(sum * deviation));
  }
  std::uint32_t bf16(double deviation) { return sim::to_bf16(f32(deviation)) >> 16U; }
  std::uint64_t word() { return random_.next() >> 20U; }

 private:
  support::SplitMix64 random_;
};

}  // namespace mx::tests
