#pragma once
// Products by libraries that know nothing of microscaling, on weights that were dequantized for them: what an engine is worth beside them.

#include <bit>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include "bench/moe_shapes.hpp"

namespace mx::bench {

/// Weights whose products with small integers, and all sums of those, are exact in fp32: values of e2m1, and what they give for the first row of x.
struct PeerWeights {
  std::vector<float> values;    ///< [columns, K]
  std::vector<float> expected;  ///< [columns]
};

/// Small integers, [rows, K]: the first rows are the same for any number of them.
inline std::vector<float> peer_rows(std::size_t rows) {
  Draws draws;
  std::vector<float> x;
  for (std::size_t i = 0; i < rows * kProductK; ++i) x.push_back(static_cast<float>(static_cast<int>(draws() % 9) - 4));
  return x;
}

/// Made once for each number of columns: benchmarks run their functions several times.
inline const PeerWeights& peer_weights(std::size_t columns) {
  static std::map<std::size_t, PeerWeights> made;
  PeerWeights& weights = made[columns];
  if (!weights.values.empty()) return weights;
  constexpr float kValues[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
  Draws draws;
  const std::vector<float> x = peer_rows(1);
  for (std::size_t i = 0; i < columns * kProductK; ++i) weights.values.push_back(kValues[draws() % 8] * (draws() % 2 == 0 ? 1.0F : -1.0F));
  for (std::size_t n = 0; n < columns; ++n) {
    weights.expected.push_back(std::inner_product(x.begin(), x.end(), weights.values.data() + n * kProductK, 0.0F));
  }
  return weights;
}

/// Copies of weights of so many bytes that a product of `rows` rows goes through.
inline std::size_t copies_of(std::size_t bytes, std::size_t rows) { return rows < kColdRows ? kColdBytes / bytes + 1 : 1; }

/// bf16 codes of numbers that bf16 holds.
inline std::vector<std::uint16_t> bf16_codes(const std::vector<float>& values) {
  std::vector<std::uint16_t> codes;
  for (const float value : values) codes.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
  return codes;
}

}  // namespace mx::bench
