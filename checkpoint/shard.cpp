#include "checkpoint/shard.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/error.hpp"

namespace mx::checkpoint {
namespace {

using layout::CanonicalLayer;
using layout::Layout;
using layout::Role;
using layout::Sizes;

/// The axis that tensor parallelism cuts, and the elements that one of its entries stands for.
struct Cut {
  std::string axis;
  std::int64_t elements;
};

/// Rows and columns of a square block of FP8 scales.
constexpr std::int64_t kBlock = 128;

/// None where a tensor is whole on every rank: w2's bias, and what is one number of an expert.
std::optional<Cut> cut_of(Role role, const Sizes& sizes, const layout::Form& form) {
  const std::array<Cut, 5> cuts{{{"I", 1}, {"IB", kBlock}, {"K", 1}, {"G", sizes.group}, {"KB", kBlock}}};
  const std::span<const Cut> candidates = layout::is_w13(role) ? std::span(cuts).first(2) : std::span(cuts).subspan(2);
  for (const layout::Axis& axis : layout::logical_axes(role, sizes, form)) {
    const auto cut = std::ranges::find(candidates, axis.name, &Cut::axis);
    if (cut != candidates.end()) return *cut;
  }
  return std::nullopt;
}

/// Entries of the cut axis that one rank has.
std::int64_t cut_length(const Cut& cut, const Sizes& sizes, int tp) { return sizes.intermediate / tp / cut.elements; }

/// A tensor's axes in the checkpoint's own row order.
std::vector<std::string> axes_in_order(Role role, const Cut& cut, const Layout& logical, const layout::Form& form) {
  std::vector<std::string> names;
  for (const layout::Axis& axis : logical.logical()) names.push_back(axis.name);
  if (!layout::is_w13(role) || form.order != layout::SourceOrder::gpt_oss) return names;
  std::vector<std::string> order{"E", cut.axis, "half"};
  if (names.size() == 4) order.push_back(names.back());
  return order;
}

std::vector<std::string_view> views(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

}  // namespace

std::optional<Layout> rank_layout(Role role, const Sizes& whole, const layout::Form& form, int rank, int tp) {
  const std::optional<Cut> cut = cut_of(role, whole, form);
  if (!cut) return std::nullopt;
  Layout part(layout::logical_axes(role, whole, form), layout::unit_bits(role, form.format));
  const std::vector<std::string> order = axes_in_order(role, *cut, part, form);
  const std::int64_t length = cut_length(*cut, whole, tp);
  // Slice first, then the checkpoint's own row order.
  return part.slice(cut->axis, rank * length, length).permute(views(order));
}

std::optional<Layout> ranks_layout(Role role, const Sizes& whole, const layout::Form& form, int tp) {
  const std::optional<Cut> cut = cut_of(role, whole, form);
  if (!cut) return std::nullopt;
  Layout parts(layout::logical_axes(role, whole, form), layout::unit_bits(role, form.format));
  std::vector<std::string> order = axes_in_order(role, *cut, parts, form);
  order.insert(order.begin(), "rank");
  return parts.split(cut->axis, cut_length(*cut, whole, tp), "rank", cut->axis).permute(views(order));
}

void check_cut(const Sizes& sizes, layout::WeightFormat format, int tp) {
  const std::int64_t unit = format == layout::WeightFormat::fp8_block || format == layout::WeightFormat::fp8_block_e8m0 ? kBlock : sizes.group;
  if (tp == 1 || sizes.intermediate % (tp * unit) == 0) return;
  throw Error(ErrorCode::usage, "intermediate size " + std::to_string(sizes.intermediate) + " over TP=" + std::to_string(tp) +
                                    " is not a whole number of scale groups of " + std::to_string(unit));
}

CanonicalLayer shard(const CanonicalLayer& layer, int rank, int tp, const layout::Mover& mover) {
  const Sizes& sizes = layer.sizes;
  check_cut(sizes, layer.form.format, tp);
  CanonicalLayer part;
  part.sizes = sizes;
  part.sizes.intermediate = sizes.intermediate / tp;
  part.form = layer.form;
  for (Role role : layout::kAllRoles) {
    if (layer[role].empty()) continue;
    const std::optional<Layout> held = rank_layout(role, sizes, layer.form, rank, tp);
    if (!held) {
      part[role] = layer[role];
      continue;
    }
    part[role] = mover.place(layout::canonical(role, sizes, layer.form), layer[role], {*held, &layout::kKeep});
  }
  return part;
}

CanonicalLayer join(std::vector<CanonicalLayer> ranks, const layout::Mover& mover) {
  const auto tp = static_cast<int>(ranks.size());
  CanonicalLayer layer{ranks.front().sizes, ranks.front().form, {}};
  layer.sizes.intermediate *= tp;
  for (Role role : layout::kAllRoles) {
    const std::size_t size = ranks.front()[role].size();
    if (std::ranges::any_of(ranks, [&](const CanonicalLayer& rank) { return rank[role].size() != size; })) {
      throw Error(ErrorCode::input, "has not the same size on every rank", std::string(layout::name_of(role)));
    }
    if (size == 0) continue;
    const std::optional<Layout> held = ranks_layout(role, layer.sizes, layer.form, tp);
    if (!held) {
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
    layer[role] = mover.take({*held, &layout::kKeep}, parts, whole);
  }
  return layer;
}

}  // namespace mx::checkpoint
