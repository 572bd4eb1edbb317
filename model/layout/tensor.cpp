#include "model/layout/tensor.hpp"

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/names.hpp"

namespace mx::layout {
namespace {

/// What a role is made of: the facts that everything else is computed from.
struct RoleRow {
  std::string_view name;
  bool gated;    // rows are gate and up of I each, else one matrix of H rows
  char columns;  // 'K' elements, 'G' groups, ' ' none
  int unit_bits;
};

constexpr std::array<RoleRow, 6> kRoleRows{{
    {"w13_weight", true, 'K', 4},
    {"w13_weight_scale", true, 'G', 8},
    {"w13_bias", true, ' ', 16},
    {"w2_weight", false, 'K', 4},
    {"w2_weight_scale", false, 'G', 8},
    {"w2_bias", false, ' ', 16},
}};

constexpr std::array<std::string_view, 2> kOrderNames{"gpt_oss", "standard"};

const RoleRow& row_of(Role role) { return kRoleRows.at(static_cast<std::size_t>(role)); }

}  // namespace

void check(const Sizes& sizes) {
  const auto refuse = [](const std::string& text) { throw Error(ErrorCode::usage, text, "sizes"); };
  // Far above any model, and small enough that no product of two sizes overflows.
  constexpr std::int64_t kLargest = std::int64_t{1} << 30;
  for (std::int64_t size : {sizes.experts, sizes.intermediate, sizes.hidden, sizes.group}) {
    if (size > kLargest) refuse(std::to_string(size) + " is above " + std::to_string(kLargest));
  }
  if (sizes.experts < 1 || sizes.intermediate < 1 || sizes.hidden < 1 || sizes.group < 1) {
    refuse("experts " + std::to_string(sizes.experts) + ", intermediate " + std::to_string(sizes.intermediate) + ", hidden " +
           std::to_string(sizes.hidden) + " and group " + std::to_string(sizes.group) + " must be positive");
  }
  if (sizes.intermediate % sizes.group != 0 || sizes.hidden % sizes.group != 0) {
    refuse("intermediate " + std::to_string(sizes.intermediate) + " and hidden " + std::to_string(sizes.hidden) +
           " must be multiples of the group of " + std::to_string(sizes.group));
  }
}

namespace {

/// Checkpoint order of the rows of w13: interleaved rows have gate and up as the fast axis. Other tensors lie as they are.
void order_rows(Layout& layout, Role role, SourceOrder order) {
  if (!row_of(role).gated || order == SourceOrder::standard) return;
  std::vector<std::string_view> axes{"E", "I", "half"};
  if (layout.view().size() == 4) axes.push_back(layout.view().back().name);
  layout.permute(axes);
}

}  // namespace

std::string_view name_of(Role role) { return row_of(role).name; }
bool is_bias(Role role) { return row_of(role).columns == ' '; }
bool is_scale(Role role) { return row_of(role).columns == 'G'; }
int unit_bits(Role role) { return row_of(role).unit_bits; }

Role role_named(std::string_view name) {
  std::array<std::string_view, 6> names;
  for (Role role : kRoles) {
    if (same_name(name_of(role), name)) return role;
    names[static_cast<std::size_t>(role)] = name_of(role);
  }
  throw Error(ErrorCode::usage, unknown_name("tensor", name, names));
}

std::string_view name_of(SourceOrder order) { return kOrderNames.at(static_cast<std::size_t>(order)); }

SourceOrder source_order_named(std::string_view name) {
  for (SourceOrder order : {SourceOrder::gpt_oss, SourceOrder::standard}) {
    if (same_name(name_of(order), name)) return order;
  }
  throw Error(ErrorCode::usage, unknown_name("source order", name, kOrderNames));
}

std::vector<Axis> logical_axes(Role role, const Sizes& sizes) {
  check(sizes);
  const RoleRow& row = row_of(role);
  std::vector<Axis> axes{{"E", sizes.experts}};
  if (row.gated) {
    axes.push_back({"half", 2});
    axes.push_back({"I", sizes.intermediate});
  } else {
    axes.push_back({"N", sizes.hidden});
  }
  const std::int64_t length = row.gated ? sizes.hidden : sizes.intermediate;
  if (row.columns == 'K') axes.push_back({"K", length});
  if (row.columns == 'G') axes.push_back({"G", length / sizes.group});
  return axes;
}

std::string coord_text(std::span<const Axis> axes, std::span<const std::int64_t> coord) {
  std::string text;
  for (std::size_t i = 0; i < coord.size(); ++i) {
    const std::string value = axes[i].name == "half" ? (coord[i] == 0 ? "gate" : "up") : std::to_string(coord[i]);
    text += (i == 0 ? "" : " ") + axes[i].name + "=" + value;
  }
  return text;
}

Layout canonical(Role role, const Sizes& sizes, SourceOrder order) {
  Layout layout(logical_axes(role, sizes), unit_bits(role));
  order_rows(layout, role, order);
  return layout;
}

void check_padded(const Sizes& sizes, const Sizes& padded) {
  check(sizes);
  check(padded);
  if (padded.experts != sizes.experts || padded.group != sizes.group || padded.intermediate < sizes.intermediate || padded.hidden < sizes.hidden) {
    throw Error(ErrorCode::usage,
                "padded sizes (experts " + std::to_string(padded.experts) + ", intermediate " + std::to_string(padded.intermediate) + ", hidden " +
                    std::to_string(padded.hidden) + ", group " + std::to_string(padded.group) + ") do not hold experts " +
                    std::to_string(sizes.experts) + ", intermediate " + std::to_string(sizes.intermediate) + ", hidden " +
                    std::to_string(sizes.hidden) + ", group " + std::to_string(sizes.group),
                "sizes");
  }
}

Layout padded_tensor(Role role, const Sizes& sizes, const Sizes& padded, int bits) {
  check_padded(sizes, padded);
  Layout layout(logical_axes(role, sizes), bits);
  const std::vector<Axis> from = layout.logical();
  const std::vector<Axis> to = logical_axes(role, padded);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i].extent == from[i].extent) continue;
    const bool before = fault::planted(fault::Fault::padding_before_elements);
    if (before) layout.flip(to[i].name);
    layout.pad(to[i].name, to[i].extent, PadContent::zero);
    if (before) layout.flip(to[i].name);
  }
  return layout;
}

Layout loaded(Role role, const Sizes& sizes, const Sizes& padded, SourceOrder order) {
  if (fault::planted(fault::Fault::halves_padded_together) && row_of(role).gated && order == SourceOrder::standard) {
    Layout layout = padded_tensor(role, sizes, {sizes.experts, sizes.intermediate, padded.hidden, sizes.group}, unit_bits(role));
    layout.merge({"half", "I"}, "rows").pad("rows", 2 * padded.intermediate, PadContent::zero);
    return layout;
  }
  Layout layout = padded_tensor(role, sizes, padded, unit_bits(role));
  order_rows(layout, role, order);
  return layout;
}

}  // namespace mx::layout
