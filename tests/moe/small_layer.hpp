#pragma once
// A small gpt-oss style checkpoint layer, and its numbers read by the checkpoint's own definition.

#include <bit>
#include <cmath>
#include <cstdint>

#include "model/layout/packed.hpp"

namespace mx::tests {

using layout::CanonicalLayer;
using layout::Role;
using layout::Sizes;
using layout::SourceOrder;

inline std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
inline std::uint32_t bf16(float value) { return bits(value) >> 16U; }

inline constexpr double kE2m1Numbers[16]{0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6};

/// A gpt-oss layer of random codes with scales 2^-1..2^1 and small biases.
inline CanonicalLayer random_layer(const Sizes& sizes, SourceOrder order, std::uint64_t seed) {
  CanonicalLayer layer;
  layer.sizes = sizes;
  layer.form = order;
  const auto next = [&seed] { return (seed = seed * 6364136223846793005ULL + 1442695040888963407ULL) >> 33U; };
  const auto fill = [&](Role role, std::int64_t bytes, auto make) {
    for (std::int64_t i = 0; i < bytes; ++i) layer[role].push_back(static_cast<std::uint8_t>(make()));
  };
  const std::int64_t e = sizes.experts;
  const std::int64_t i = sizes.intermediate;
  const std::int64_t h = sizes.hidden;
  fill(Role::w13_weight, e * 2 * i * h / 2, [&] { return next() & 0xFFU; });
  fill(Role::w13_weight_scale, e * 2 * i * h / 32, [&] { return 126 + next() % 3; });
  fill(Role::w2_weight, e * h * i / 2, [&] { return next() & 0xFFU; });
  fill(Role::w2_weight_scale, e * h * i / 32, [&] { return 126 + next() % 3; });
  const auto fill_bias = [&](Role role, std::int64_t count) {
    for (std::int64_t n = 0; n < count; ++n) {
      const std::uint32_t code = bf16(static_cast<float>(static_cast<int>(next() % 9) - 4) * 0.25F);
      layer[role].push_back(static_cast<std::uint8_t>(code & 0xFFU));
      layer[role].push_back(static_cast<std::uint8_t>(code >> 8U));
    }
  };
  fill_bias(Role::w13_bias, e * 2 * i);
  fill_bias(Role::w2_bias, e * h);
  return layer;
}

/// One dequantized weight, read by the checkpoint's own definition.
inline double weight_at(const CanonicalLayer& layer, Role weight, Role scale, std::int64_t row, std::int64_t k, std::int64_t length) {
  const std::uint8_t byte = layer[weight][static_cast<std::size_t>((row * length + k) / 2)];
  const double code = kE2m1Numbers[k % 2 == 0 ? byte & 0xFU : byte >> 4U];
  return code * std::ldexp(1.0, layer[scale][static_cast<std::size_t>(row * length / 32 + k / 32)] - 127);
}

inline double bias_at(const CanonicalLayer& layer, Role role, std::int64_t index) {
  const auto at = static_cast<std::size_t>(2 * index);
  return std::bit_cast<float>(static_cast<std::uint32_t>(layer[role][at] | layer[role][at + 1] << 8U) << 16U);
}

/// Row of gate (half 0) or up (half 1) in the checkpoint.
inline std::int64_t w13_row(const CanonicalLayer& layer, std::int64_t expert, std::int64_t half, std::int64_t i) {
  const std::int64_t rows = layer.sizes.intermediate;
  return expert * 2 * rows + (layer.form.order == SourceOrder::gpt_oss ? 2 * i + half : half * rows + i);
}

}  // namespace mx::tests
