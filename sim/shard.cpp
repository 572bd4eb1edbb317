// Tensor parallel sharding of a layer, through the layouts: a shard is a slice of the logical tensor.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/error.hpp"
#include "sim/verify.hpp"

namespace mx::sim {
namespace {

using layout::CanonicalLayer;
using layout::Layout;
using layout::Role;
using layout::Sizes;

/// The axis that tensor parallelism cuts, or none (w2's bias is whole on every rank), with the number of its entries per scale group.
struct Cut {
  const char* axis;
  bool in_groups;
};

std::optional<Cut> cut_of(Role role) {
  switch (role) {
    case Role::w13_weight:
    case Role::w13_weight_scale:
    case Role::w13_bias: return Cut{"I", false};
    case Role::w2_weight: return Cut{"K", false};
    case Role::w2_weight_scale: return Cut{"G", true};
    default: return std::nullopt;
  }
  return std::nullopt;
}

/// Entries of the cut axis that one rank has.
std::int64_t cut_length(const Cut& cut, const Sizes& sizes, int tp) { return sizes.intermediate / tp / (cut.in_groups ? sizes.group : 1); }

/// A tensor's axes in the checkpoint's own row order.
std::vector<std::string_view> axes_in_order(Role role, const Cut& cut, const Layout& logical, const layout::Form& form) {
  if (cut.axis == std::string_view("I") && form.order == layout::SourceOrder::gpt_oss) {
    if (role == Role::w13_bias) return {"E", "I", "half"};
    return {"E", "I", "half", role == Role::w13_weight ? "K" : "G"};
  }
  std::vector<std::string_view> names;
  for (const layout::Axis& axis : logical.logical()) names.push_back(axis.name);
  return names;
}

/// A rank's memory, described on the whole logical tensor: slice first, then the checkpoint's own row order.
Layout part_layout(Role role, const Cut& cut, const Sizes& sizes, const layout::Form& form, int rank, int tp) {
  Layout part(layout::logical_axes(role, sizes), layout::unit_bits(role));
  const std::vector<std::string_view> order = axes_in_order(role, cut, part, form);
  const std::int64_t length = cut_length(cut, sizes, tp);
  return part.slice(cut.axis, rank * length, length).permute(order);
}

/// The memory of all ranks, one behind the other.
Layout parts_layout(Role role, const Cut& cut, const Sizes& sizes, const layout::Form& form, int tp) {
  Layout parts(layout::logical_axes(role, sizes), layout::unit_bits(role));
  std::vector<std::string_view> order = axes_in_order(role, cut, parts, form);
  order.insert(order.begin(), "rank");
  return parts.split(cut.axis, cut_length(cut, sizes, tp), "rank", cut.axis).permute(order);
}

}  // namespace

void check_cut(const Sizes& sizes, int tp) {
  if (sizes.intermediate % (static_cast<std::int64_t>(tp) * sizes.group) == 0) return;
  throw Error(ErrorCode::usage, "intermediate size " + std::to_string(sizes.intermediate) + " over TP=" + std::to_string(tp) +
                                    " is not a whole number of scale groups of " + std::to_string(sizes.group));
}

CanonicalLayer shard(const CanonicalLayer& layer, int rank, int tp, const layout::Mover& mover) {
  const Sizes& sizes = layer.sizes;
  check_cut(sizes, tp);
  CanonicalLayer part;
  part.sizes = sizes;
  part.sizes.intermediate = sizes.intermediate / tp;
  part.form = layer.form;
  for (Role role : layout::kRoles) {
    if (layer[role].empty()) continue;
    const std::optional<Cut> cut = cut_of(role);
    if (!cut) {
      part[role] = layer[role];
      continue;
    }
    const Layout whole = layout::canonical(role, sizes, layer.form);
    part[role] = mover.place(whole, layer[role], {part_layout(role, *cut, sizes, layer.form, rank, tp), &layout::kKeep});
  }
  return part;
}

CanonicalLayer join(std::vector<CanonicalLayer> ranks, const layout::Mover& mover) {
  const auto tp = static_cast<int>(ranks.size());
  CanonicalLayer layer{ranks.front().sizes, ranks.front().form, {}};
  layer.sizes.intermediate *= tp;
  for (Role role : layout::kRoles) {
    const std::size_t size = ranks.front()[role].size();
    if (std::ranges::any_of(ranks, [&](const CanonicalLayer& rank) { return rank[role].size() != size; })) {
      throw Error(ErrorCode::input, "has not the same size on every rank", std::string(layout::name_of(role)));
    }
    if (size == 0) continue;
    const std::optional<Cut> cut = cut_of(role);
    if (!cut) {
      const bool same = std::ranges::all_of(ranks, [&](const CanonicalLayer& rank) { return rank[role] == ranks.front()[role]; });
      if (!same) throw Error(ErrorCode::input, "is whole on every rank, but the ranks' differ", std::string(layout::name_of(role)));
      layer[role] = std::move(ranks.front()[role]);
      continue;
    }
    std::vector<std::uint8_t> parts;
    parts.reserve(size * ranks.size());
    for (CanonicalLayer& rank : ranks) {
      parts.insert(parts.end(), rank[role].begin(), rank[role].end());
      std::vector<std::uint8_t>().swap(rank[role]);
    }
    const Layout whole = layout::canonical(role, layer.sizes, layer.form);
    layer[role] = mover.take({parts_layout(role, *cut, layer.sizes, layer.form, tp), &layout::kKeep}, parts, whole);
  }
  return layer;
}

}  // namespace mx::sim
