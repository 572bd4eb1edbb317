#include "props/families/layers.hpp"

#include <algorithm>
#include <random>

#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using families::Setting;
using layout::CanonicalLayer;
using layout::Role;
using layout::WeightFormat;
using Random = std::mt19937;

Random seeded() { return Random(static_cast<std::uint32_t>(pick(0, 1000000))); }
std::int64_t below(Random& random, std::int64_t count) { return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(count)); }

std::int64_t bytes_of(Role role, const Setting& setting) { return layout::canonical(role, setting.sizes, setting.form).bytes(); }

template <class Unit>
std::vector<std::uint8_t> units_of(Role role, const Setting& setting, Unit unit) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(bytes_of(role, setting)));
  const int bits = layout::unit_bits(role, setting.form.format);
  for (std::int64_t u = 0; u < static_cast<std::int64_t>(bytes.size()) * 8 / bits; ++u) put_unit(bytes, u, bits, unit(u));
  return bytes;
}

std::uint64_t tame_weight(Random& random, WeightFormat format) {
  if (format == WeightFormat::int4) return static_cast<std::uint64_t>(below(random, 16));
  if (format == WeightFormat::mxfp4 || format == WeightFormat::nvfp4) {
    const auto code = static_cast<std::uint64_t>(below(random, 15));  // without 8, which is -0
    return code < 8 ? code : code + 1;
  }
  const auto magnitude = static_cast<std::uint64_t>(1 + below(random, 126));
  return magnitude | static_cast<std::uint64_t>(below(random, 2)) << 7;
}

/// fp32 bits of 2^-20 to 2^-1.
std::uint64_t power_of_two(Random& random) { return static_cast<std::uint64_t>(107 + below(random, 20)) << 23; }

std::vector<std::uint8_t> tame_scales(Role role, const Setting& setting, Random& random) {
  switch (setting.form.format) {
    case WeightFormat::mxfp4:
    case WeightFormat::mxfp8:
    case WeightFormat::fp8_block_e8m0:
      return units_of(role, setting,
                      [&](std::int64_t) { return static_cast<std::uint64_t>(124 + below(random, 4)); });  // beside what is padded with 127
    case WeightFormat::nvfp4:
      return units_of(role, setting,
                      [&](std::int64_t u) { return u == 0 ? std::uint64_t{0x7E} : static_cast<std::uint64_t>(8 + below(random, 119)); });
    case WeightFormat::int4: {
      const std::int64_t groups = layout::logical_axes(role, setting.sizes, setting.form).back().extent;
      std::uint64_t power = 0;
      return units_of(role, setting, [&](std::int64_t u) -> std::uint64_t {
        // bf16 of v * 2^power with e4m3 numbers v: 448 first, then some from 2^-3 on.
        if (u % groups == 0) power = static_cast<std::uint64_t>(below(random, 8));
        if (u % groups == 0) return 0x43E0 - (power << 7);
        const auto code = static_cast<std::uint64_t>(32 + below(random, 95));
        return (((code >> 3) + 120 - power) << 7) | (code & 7U) << 4;
      });
    }
    default: return units_of(role, setting, [&](std::int64_t) { return power_of_two(random); });
  }
}

/// Every block of 128 x 128 has the largest code, so that quantizing it anew for a power of two changes nothing.
void fill_blocks(Role role, const Setting& setting, std::vector<std::uint8_t>& codes) {
  if (setting.form.format != WeightFormat::fp8_block) return;
  const std::vector<layout::Axis> axes = layout::logical_axes(role, setting.sizes, setting.form);
  const std::int64_t cols = axes.back().extent;
  const std::int64_t rows = axes[axes.size() - 2].extent;
  constexpr std::int64_t kBlock = 128;
  for (std::int64_t u = 0; u < static_cast<std::int64_t>(codes.size()); ++u) {
    if (u / cols % rows % kBlock == 0 && u % cols % kBlock == 0) codes[static_cast<std::size_t>(u)] = 0x7E;
  }
}

/// bf16 numbers of 2^-8 to 2^7, whose eight bits fp16 has too.
std::uint64_t tame_bias(Random& random) {
  return static_cast<std::uint64_t>(119 + below(random, 16)) << 7 | static_cast<std::uint64_t>(below(random, 128)) |
         static_cast<std::uint64_t>(below(random, 2)) << 15;
}

/// The largest scale byte that the conversion takes: 6 is added for 8-bit activations, with fp16 parameters to what fp16 holds.
int largest_byte(const Setting& setting) {
  if (setting.input_dtype == families::InputDtype::none) return 255;
  return setting.params_dtype == families::ParamsDtype::fp16 ? 142 : 249;
}

}  // namespace

std::uint64_t unit_at(std::span<const std::uint8_t> bytes, std::int64_t unit, int bits) {
  const auto first = static_cast<std::size_t>(unit) * static_cast<std::size_t>(bits);
  if (bits < 8) return std::uint32_t{bytes[first / 8]} >> (first % 8) & ((1U << bits) - 1U);
  std::uint64_t value = 0;
  for (std::size_t b = static_cast<std::size_t>(bits) / 8; b-- > 0;) value = value << 8 | bytes[first / 8 + b];
  return value;
}

void put_unit(std::span<std::uint8_t> bytes, std::int64_t unit, int bits, std::uint64_t value) {
  const auto first = static_cast<std::size_t>(unit) * static_cast<std::size_t>(bits);
  if (bits < 8) {
    const unsigned mask = ((1U << bits) - 1U) << (first % 8);
    bytes[first / 8] = static_cast<std::uint8_t>((bytes[first / 8] & ~mask) | (static_cast<unsigned>(value) << (first % 8) & mask));
    return;
  }
  for (std::size_t b = 0; b < static_cast<std::size_t>(bits) / 8; ++b) bytes[first / 8 + b] = static_cast<std::uint8_t>(value >> (8 * b));
}

CanonicalLayer tame_layer(const Setting& setting) {
  CanonicalLayer layer{setting.sizes, setting.form, {}};
  Random random = seeded();
  for (Role role : layout::kAllRoles) {
    if (!layout::has_role(setting.form.format, role) || (layout::is_bias(role) && !setting.has_bias)) continue;
    if (layout::is_weight(role)) {
      layer[role] = units_of(role, setting, [&](std::int64_t) { return tame_weight(random, setting.form.format); });
      fill_blocks(role, setting, layer[role]);
    } else if (layout::is_scale(role)) {
      layer[role] = tame_scales(role, setting, random);
    } else if (layout::is_bias(role)) {
      layer[role] = units_of(role, setting, [&](std::int64_t) { return tame_bias(random); });
    } else {
      layer[role] = units_of(role, setting, [&](std::int64_t) { return power_of_two(random) | static_cast<std::uint64_t>(below(random, 1 << 16)); });
    }
  }
  return layer;
}

CanonicalLayer wild_layer(const families::BackendLayout& row, const Setting& setting) {
  CanonicalLayer layer = tame_layer(setting);
  Random random = seeded();
  for (Role role : layout::kAllRoles) {
    // A block with a NaN or an infinity has no scale that DeepGEMM could read.
    const bool to_numbers = row.family == "deepgemm" && row.format == WeightFormat::fp8_block;
    if (to_numbers && layout::is_scale(role)) {
      layer[role] = units_of(role, setting, [&](std::int64_t) { return power_of_two(random) | static_cast<std::uint64_t>(below(random, 1 << 23)); });
      continue;
    }
    for (std::uint8_t& byte : layer[role]) byte = static_cast<std::uint8_t>(random());
    if (to_numbers && layout::is_weight(role))
      std::ranges::replace_if(
          layer[role], [](std::uint8_t code) { return (code & 0x7FU) == 0x7F; }, std::uint8_t{0});
    if (!layout::is_scale(role) || layout::unit_bits(role, setting.form.format) != 8) continue;
    for (std::uint8_t& byte : layer[role]) byte = static_cast<std::uint8_t>(byte % (largest_byte(setting) + 1));
  }
  return layer;
}

}  // namespace mx::props
