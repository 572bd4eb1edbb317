#pragma once
// A small layer in any format of the checkpoints, gated or not.

#include <random>

#include "tests/moe/small_layer.hpp"

namespace mx::tests {

using layout::WeightFormat;

inline CanonicalLayer any_layer(WeightFormat format, std::int64_t experts, std::int64_t intermediate, std::int64_t hidden, SourceOrder order,
                                bool gated, std::mt19937& random) {
  CanonicalLayer layer;
  layer.form = {format, order, gated};
  layer.sizes = {experts, intermediate, hidden, layout::group_of(format) == 0 ? 1 : layout::group_of(format)};
  const auto next = [&] { return static_cast<std::uint32_t>(random()); };
  for (const Role role : layout::kAllRoles) {
    if (!layout::has_role(format, role)) continue;
    const int bits = layout::unit_bits(role, format);
    const layout::Layout memory = layout::canonical(role, layer.sizes, layer.form);
    std::vector<std::uint8_t>& bytes = layer[role];
    if (layout::is_bias(role)) {
      for (std::int64_t i = 0; i < memory.size(); ++i) {
        const std::uint32_t code = bf16(static_cast<float>(static_cast<int>(next() % 9) - 4) * 0.25F);
        bytes.push_back(static_cast<std::uint8_t>(code));
        bytes.push_back(static_cast<std::uint8_t>(code >> 8));
      }
    } else if (bits == 32) {
      for (std::int64_t i = 0; i < memory.size(); ++i) {
        const std::uint32_t word = (next() & 0x007FFFFFU) | (123 + next() % 3) << 23;
        for (int b = 0; b < 4; ++b) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * b)));
      }
    } else {
      // Codes but the NaNs of e4m3; scales 2^-1 to 2^1, as e4m3 0.25 to 4.
      const bool e8m0 = layout::is_scale(role) && format != WeightFormat::nvfp4;
      for (std::int64_t i = 0; i < memory.bytes(); ++i) {
        const std::uint32_t code = layout::is_weight(role) ? next() & 0xFFU : e8m0 ? 126 + next() % 3 : 40 + next() % 33;
        bytes.push_back(static_cast<std::uint8_t>(bits == 8 && layout::is_weight(role) && (code & 0x7FU) == 0x7FU ? 0x38U : code));
      }
    }
  }
  return layer;
}

}  // namespace mx::tests
