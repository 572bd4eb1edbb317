#include "model/moe/expert_rows.hpp"

#include <string>

#include "model/error.hpp"
#include "model/layout/grains.hpp"

namespace mx::moe {
namespace {

using layout::Role;
}  // namespace

ExpertRows::ExpertRows(const layout::CanonicalLayer& layer) : sizes_(layer.sizes), form_(layer.form) {
  if (weight_facts(form_.format).chosen) {
    throw Error(ErrorCode::unsupported, "no contract takes codes and scales of " + std::string(layout::name_of(form_.format)), "layer");
  }
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

ScaledRow ExpertRows::row(const Roles& roles, const RowPlace& place) const {
  const WeightFacts& facts = weight_facts(form_.format);
  const RowScales scales = scales_of_row(facts, place, sizes_.group);
  ScaledRow row{{}, {}, facts.element, static_cast<int>(scales.block)};
  for (std::int64_t k = 0; k < place.length; ++k)
    row.elements.push_back(decode(*facts.element, unit(roles.weight, place.index() * place.length + k)));
  for (std::int64_t i = scales.first; i < scales.first + scales.count; ++i) row.scales.push_back(decode(*facts.scale, unit(roles.scale, i)));
  if (!layout::has_role(form_.format, roles.global)) return row;
  const Value global = decode(kF32, unit(roles.global, place.expert));
  for (Value& scale : row.scales) scale = exact_product(scale, global);
  return row;
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
