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
#include "model/fault.hpp"
#include "model/stand_in.hpp"

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

/// None where a tensor is whole on every rank: w2's bias, and what is one number of an expert.
std::optional<Cut> cut_of(Role role, const Sizes& sizes, const layout::Form& form) {
  const std::int64_t side = layout::block_side(sizes.group);
  const std::array<Cut, 5> cuts{{{"I", 1}, {"IB", side}, {"K", 1}, {"G", sizes.group}, {"KB", side}}};
  const std::span<const Cut> candidates = layout::is_w13(role) ? std::span(cuts).first(2) : std::span(cuts).subspan(2);
  for (const layout::Axis& axis : layout::logical_axes(role, sizes, form)) {
    const auto cut = std::ranges::find(candidates, axis.name, &Cut::axis);
    if (cut != candidates.end()) return *cut;
  }
  return std::nullopt;
}

/// Entries of a rank's tensor along the cut.
std::int64_t entries_of(const Cut& cut, const Sizes& own) { return (own.intermediate + cut.elements - 1) / cut.elements; }

bool is_gpt_oss(const layout::Form& form) { return form.format == layout::WeightFormat::mxfp4 && form.order == layout::SourceOrder::gpt_oss; }

/// OCP_MX_BLOCK_SIZE.
constexpr std::int64_t kMxBlock = 32;

/// Whole blocks of 32, rounded up: the last ranks may be short or empty.
Interval cut_in_blocks(std::int64_t intermediate, std::int64_t allocated, int rank, int tp) {
  const std::int64_t blocks = intermediate / kMxBlock;
  const std::int64_t each = kMxBlock * ((blocks + tp - 1) / tp);
  const std::int64_t first = std::min(rank * (fault::planted(fault::Fault::sim_shard_from_padded) ? allocated : each), intermediate);
  return {first, std::min(first + each, intermediate) - first};
}

/// As many as the buffer holds.
Interval cut_by_buffer(std::int64_t intermediate, std::int64_t allocated, int rank, int /*tp*/) {
  const std::int64_t first = std::min(rank * allocated, intermediate);
  return {first, std::min((rank + 1) * allocated, intermediate) - first};
}

constexpr std::array kLoaders{
    LoaderRow{"gpt-oss MXFP4", is_gpt_oss, cut_in_blocks, true, "vllm models/gpt_oss.py _load_weights_mxfp4"},
    LoaderRow{"standard", nullptr, cut_by_buffer, false, "vllm fused_moe/layer.py _load_w13, _load_w2"},
};

/// A tensor with zeros behind the part that the last rank lacks. A scale of a square is that of every finer square in it.
Layout filled(Role role, const Sizes& whole, const layout::Form& form, const RankPart& part, const Cut& cut, std::int64_t length) {
  Layout tensor(layout::logical_axes(role, whole, form), layout::unit_bits(role, form.format));
  const Sizes own{whole.experts, whole.intermediate, whole.hidden, part.sizes_of(whole).group};
  const std::int64_t times = layout::block_side(whole.group) / layout::block_side(own.group);
  for (const layout::Axis& axis : layout::logical_axes(role, own, form)) {
    if (times == 1 || !axis.name.ends_with('B')) continue;
    if (fault::planted(fault::Fault::finer_squares_reversed)) tensor.flip(axis.name);
    tensor.repeat(axis.name, times);
    // Behind the last whole square.
    const std::int64_t there = std::ranges::find(tensor.view(), axis.name, &layout::Axis::name)->extent;
    if (there > axis.extent) tensor.slice(axis.name, 0, axis.extent);
  }
  const std::int64_t there = std::ranges::find(tensor.view(), cut.axis, &layout::Axis::name)->extent;
  if (there < length) tensor.pad(cut.axis, length, layout::PadContent::zero);
  return tensor;
}

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

std::span<const LoaderRow> loader_rows() { return fault::rows_of<LoaderRow>(fault::Table::loaders, kLoaders); }

const LoaderRow& loader_of(const layout::Form& form) {
  return *std::ranges::find_if(loader_rows(), [&](const LoaderRow& row) { return row.takes == nullptr || row.takes(form); });
}

Sizes RankPart::sizes_of(const Sizes& whole) const {
  Sizes sizes = whole;
  if (tp > 1) sizes.intermediate = intermediate;
  if (group != 0) sizes.group = group;
  return sizes;
}

Sizes rank_sizes(const Sizes& whole, const layout::Form& form, int tp, std::int64_t allocated, std::int64_t group) {
  const std::int64_t intermediate = whole.intermediate;
  if (intermediate % tp != 0)
    throw Error(ErrorCode::usage,
                "intermediate size " + std::to_string(intermediate) + " is not divisible by " + std::to_string(tp) + " tensor parallel ranks", "tp");
  Sizes sizes = whole;
  if (group != 0) sizes.group = group;
  const std::int64_t unit = layout::has_squares(form.format) ? layout::block_side(sizes.group) : sizes.group;
  sizes.intermediate = loader_of(form).cut(intermediate, allocated, 0, tp).count;
  if (tp == 1 || sizes.intermediate % unit == 0) return sizes;
  throw Error(ErrorCode::usage, "intermediate size " + std::to_string(intermediate) + " over TP=" + std::to_string(tp) +
                                    " is not a whole number of scale groups of " + std::to_string(unit));
}

Sizes rank_sizes(const Sizes& whole, const layout::Form& form, int tp) { return rank_sizes(whole, form, tp, whole.intermediate / tp); }

std::optional<Layout> rank_layout(Role role, const Sizes& whole, const layout::Form& form, const RankPart& part) {
  const Sizes own = part.sizes_of(whole);
  const std::optional<Cut> cut = cut_of(role, own, form);
  if (!cut) return std::nullopt;
  const std::int64_t length = entries_of(*cut, own);
  Layout tensor = filled(role, whole, form, part, *cut, length * part.tp);
  const std::vector<std::string> order = axes_in_order(role, *cut, tensor, form);
  // Slice first, then the checkpoint's own row order.
  return tensor.slice(cut->axis, part.rank * length, length).permute(views(order));
}

std::optional<Layout> ranks_layout(Role role, const Sizes& whole, const layout::Form& form, const RankPart& part) {
  const Sizes own = part.sizes_of(whole);
  const std::optional<Cut> cut = cut_of(role, own, form);
  if (!cut) return std::nullopt;
  const std::int64_t length = entries_of(*cut, own);
  Layout parts = filled(role, whole, form, part, *cut, length * part.tp);
  std::vector<std::string> order = axes_in_order(role, *cut, parts, form);
  order.insert(order.begin(), "rank");
  return parts.split(cut->axis, length, "rank", cut->axis).permute(views(order));
}

CanonicalLayer shard(const CanonicalLayer& layer, const RankPart& part, const layout::Mover& mover) {
  if (part.rank < 0 || part.rank >= part.tp) {
    throw Error(ErrorCode::usage,
                "rank " + std::to_string(part.rank) + " is not in 0.." + std::to_string(part.tp - 1) + ": tp is " + std::to_string(part.tp), "rank");
  }
  CanonicalLayer own{part.sizes_of(layer.sizes), layer.form, {}};
  for (Role role : layout::kAllRoles) {
    if (layer[role].empty()) continue;
    const std::optional<Layout> held = rank_layout(role, layer.sizes, layer.form, part);
    own[role] = held ? mover.place(layout::canonical(role, layer.sizes, layer.form), layer[role], {*held, &layout::kKeep}) : layer[role];
  }
  return own;
}

CanonicalLayer join(std::vector<CanonicalLayer> ranks, const Sizes& whole, const layout::Mover& mover) {
  const Sizes& own = ranks.front().sizes;
  const RankPart part{0, static_cast<int>(ranks.size()), own.intermediate, own.group};
  CanonicalLayer layer{whole, ranks.front().form, {}};
  for (Role role : layout::kAllRoles) {
    const std::size_t size = ranks.front()[role].size();
    if (std::ranges::any_of(ranks, [&](const CanonicalLayer& rank) { return rank[role].size() != size; })) {
      throw Error(ErrorCode::input, "has not the same size on every rank", std::string(layout::name_of(role)));
    }
    if (size == 0) continue;
    const std::optional<Layout> held = ranks_layout(role, layer.sizes, layer.form, part);
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
    layer[role] = mover.take({*held, &layout::kKeep}, parts, layout::canonical(role, layer.sizes, layer.form));
  }
  return layer;
}

}  // namespace mx::checkpoint
