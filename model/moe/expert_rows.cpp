#include "model/moe/expert_rows.hpp"

#include <algorithm>
#include <string>

#include "model/error.hpp"
#include "model/layout/grains.hpp"
#include "model/numerics/block.hpp"

namespace mx::moe {
namespace {

using layout::Role;
using layout::WeightFormat;

/// What one scale covers.
enum class Coverage { group, square, row, expert };

/// Elements, scales and their blocks of each format. Source: model/layout/tensor.hpp WeightFormat.
struct FormatRow {
  WeightFormat format;
  const Format* element;
  const Format* scale;
  Coverage coverage;
  bool times_global;
};
constexpr std::array kFormats{
    FormatRow{WeightFormat::mxfp4, &kE2m1, &kE8m0, Coverage::group, false},
    FormatRow{WeightFormat::mxfp8, &kE4m3fn, &kE8m0, Coverage::group, false},
    FormatRow{WeightFormat::nvfp4, &kE2m1, &kE4m3fn, Coverage::group, true},
    FormatRow{WeightFormat::fp8_block, &kE4m3fn, &kF32, Coverage::square, false},
    FormatRow{WeightFormat::fp8_channel, &kE4m3fn, &kF32, Coverage::row, false},
    FormatRow{WeightFormat::fp8_tensor, &kE4m3fn, &kF32, Coverage::expert, false},
};
constexpr std::int64_t kSquare = 128;

const FormatRow& facts_of(WeightFormat format) {
  const auto* const found = std::ranges::find(kFormats, format, &FormatRow::format);
  if (found == kFormats.end()) {
    throw Error(ErrorCode::unsupported, "no contract takes codes and scales of " + std::string(layout::name_of(format)), "layer");
  }
  return *found;
}

std::int64_t squares_in(std::int64_t size) { return (size + kSquare - 1) / kSquare; }

}  // namespace

ExpertRows::ExpertRows(const layout::CanonicalLayer& layer) : sizes_(layer.sizes), form_(layer.form) {
  facts_of(form_.format);
  for (const Role role : layout::kAllRoles) {
    if (!layout::has_role(form_.format, role)) continue;
    if (layer[role].empty() && !layout::is_bias(role)) throw Error(ErrorCode::usage, "missing from the layer", std::string(layout::name_of(role)));
    if (layer[role].empty()) continue;
    units_[static_cast<std::size_t>(role)] = layout::to_row_major(layout::canonical(role, sizes_, form_), layer[role]);
  }
}

ScaledRow ExpertRows::w13(std::int64_t expert, std::int64_t half, std::int64_t i) const {
  return row({Role::w13_weight, Role::w13_weight_scale, Role::w13_global_scale},
             {expert, form_.gated ? 2 : 1, half, sizes_.intermediate, i, sizes_.hidden});
}

ScaledRow ExpertRows::w2(std::int64_t expert, std::int64_t n) const {
  return row({Role::w2_weight, Role::w2_weight_scale, Role::w2_global_scale}, {expert, 1, 0, sizes_.hidden, n, sizes_.intermediate});
}

std::optional<std::uint32_t> ExpertRows::w13_bias(std::int64_t expert, std::int64_t half, std::int64_t i) const {
  return bias(Role::w13_bias, (expert * (form_.gated ? 2 : 1) + half) * sizes_.intermediate + i);
}

std::optional<std::uint32_t> ExpertRows::w2_bias(std::int64_t expert, std::int64_t n) const {
  return bias(Role::w2_bias, expert * sizes_.hidden + n);
}

ScaledRow ExpertRows::row(const Roles& roles, const Place& place) const {
  const FormatRow& facts = facts_of(form_.format);
  ScaledRow row{{}, {}, facts.element, 0};
  for (std::int64_t k = 0; k < place.length; ++k)
    row.elements.push_back(decode(*facts.element, unit(roles.weight, place.index() * place.length + k)));
  add_scales(roles, place, row);
  return row;
}

void ExpertRows::add_scales(const Roles& roles, const Place& place, ScaledRow& row) const {
  const FormatRow& facts = facts_of(form_.format);
  const auto add = [&](std::int64_t first, std::int64_t count, std::int64_t block) {
    row.block = static_cast<int>(block);
    for (std::int64_t i = first; i < first + count; ++i) row.scales.push_back(decode(*facts.scale, unit(roles.scale, i)));
  };
  switch (facts.coverage) {
    case Coverage::group: add(place.index() * (place.length / sizes_.group), place.length / sizes_.group, sizes_.group); break;
    case Coverage::square: {
      const std::int64_t above = (place.expert * place.halves + place.half) * squares_in(place.rows) + place.row / kSquare;
      add(above * squares_in(place.length), squares_in(place.length), kSquare);
      break;
    }
    case Coverage::row: add(place.index(), 1, place.length); break;
    case Coverage::expert: add(place.expert, 1, place.length); break;
  }
  if (!facts.times_global) return;
  const Value global = decode(kF32, unit(roles.global, place.expert));
  for (Value& scale : row.scales) scale = exact_product(scale, global);
}

std::uint32_t ExpertRows::unit(Role role, std::int64_t index) const {
  const int bits = layout::unit_bits(role, form_.format);
  return static_cast<std::uint32_t>(layout::get_grain(units_[static_cast<std::size_t>(role)], index, bits));
}

std::optional<std::uint32_t> ExpertRows::bias(Role role, std::int64_t index) const {
  if (units_[static_cast<std::size_t>(role)].empty()) return std::nullopt;
  return unit(role, index) << 16;
}

}  // namespace mx::moe
