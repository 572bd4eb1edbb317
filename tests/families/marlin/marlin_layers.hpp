#pragma once
// Layers and numbers for the tests of Marlin.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "model/families/convert.hpp"
#include "model/layout/packed.hpp"

namespace mx::tests {

using Bytes = std::vector<std::uint8_t>;

inline std::uint32_t f32_bits(float value) { return std::bit_cast<std::uint32_t>(value); }

inline Bytes bytes_of(const std::vector<std::uint32_t>& words) {
  Bytes out;
  for (std::uint32_t word : words) {
    for (int b = 0; b < 4; ++b) out.push_back(static_cast<std::uint8_t>(word >> (8 * b)));
  }
  return out;
}

/// Bytes at random, scales as given.
inline layout::CanonicalLayer filled(const layout::Sizes& sizes, const layout::Form& form, bool biases, std::uint8_t (*scale)(std::mt19937& engine)) {
  layout::CanonicalLayer layer{sizes, form, {}};
  std::mt19937 engine(20260817);
  for (layout::Role role : layout::kAllRoles) {
    if (!layout::has_role(form.format, role) || (layout::is_bias(role) && !biases)) continue;
    layer[role].resize(static_cast<std::size_t>(layout::canonical(role, sizes, form).bytes()));
    for (std::uint8_t& byte : layer[role]) byte = static_cast<std::uint8_t>(engine());
    const bool is_number = layout::unit_bits(role, form.format) == 32;
    for (std::size_t i = 0; is_number && i < layer[role].size(); i += 4) {
      const Bytes number = bytes_of({f32_bits(std::ldexp(static_cast<float>(128 + engine() % 128), -14))});
      std::ranges::copy(number, layer[role].begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (std::uint8_t& byte : layer[role]) {
      if (layout::is_scale(role) && !is_number) byte = scale(engine);
    }
  }
  return layer;
}

inline std::uint8_t any_byte(std::mt19937& engine) { return static_cast<std::uint8_t>(engine()); }

inline families::Setting setting_for(const layout::CanonicalLayer& layer, deployment::Engine engine = deployment::kVllm2026_08) {
  return {.sizes = layer.sizes, .padded = layer.sizes, .form = layer.form, .engine = engine};
}

inline families::PackedLayer converted(const layout::CanonicalLayer& layer, const families::Setting& setting, const char* backend = "MARLIN") {
  return families::convert(layer, families::backend_layout_named(backend, layer.form.format, setting.engine), setting);
}

}  // namespace mx::tests
