#pragma once
// SplitMix64: the generator behind every seeded input, so that a seed means the same bits everywhere.
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014), the finalizer of MurmurHash3 variant 13.

#include <cstdint>

namespace mx::support {

class SplitMix64 {
 public:
  explicit constexpr SplitMix64(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }

 private:
  std::uint64_t state_;
};

}  // namespace mx::support
