#include "model/layout/tensor.hpp"

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/names.hpp"

namespace mx::layout {
namespace {

enum class Kind { weight, scale, bias, global_scale, channel_scale };

/// What a role is made of: the facts that everything else is computed from.
struct RoleRow {
  std::string_view name;
  bool gated;  // rows are gate and up of I each, else one matrix of H rows
  Kind kind;
};

constexpr std::array<RoleRow, kRoleCount> kRoleRows{{
    {"w13_weight", true, Kind::weight},
    {"w13_weight_scale", true, Kind::scale},
    {"w13_bias", true, Kind::bias},
    {"w2_weight", false, Kind::weight},
    {"w2_weight_scale", false, Kind::scale},
    {"w2_bias", false, Kind::bias},
    {"w13_global_scale", true, Kind::global_scale},
    {"w2_global_scale", false, Kind::global_scale},
    {"w13_channel_scale", true, Kind::channel_scale},
    {"w2_channel_scale", false, Kind::channel_scale},
}};

/// What the first scale of a format covers.
enum class ScaleShape { group, expert, pair, row, block };

struct FormatRow {
  std::string_view name;
  int weight_bits;
  int scale_bits;
  std::int64_t group;  // elements along K, 0: scales do not group K
  ScaleShape scales;
  bool global_scale;
};

constexpr std::array<FormatRow, kWeightFormats.size()> kFormatRows{{
    {"mxfp4", 4, 8, 32, ScaleShape::group, false},
    {"nvfp4", 4, 8, 16, ScaleShape::group, true},
    {"mxfp8", 8, 8, 32, ScaleShape::group, false},
    {"fp8_tensor", 8, 32, 0, ScaleShape::expert, false},
    {"fp8_channel", 8, 32, 0, ScaleShape::row, false},
    {"fp8_block", 8, 32, 0, ScaleShape::block, false},
    {"int4", 4, 16, 128, ScaleShape::group, false},
    {"fp8_block_e8m0", 8, 8, 0, ScaleShape::block, false},
    {"fp8_pair", 8, 32, 0, ScaleShape::pair, false},
}};

constexpr std::array<std::string_view, 2> kOrderNames{"gpt_oss", "standard"};

const RoleRow& row_of(Role role) { return kRoleRows.at(static_cast<std::size_t>(role)); }
const FormatRow& row_of(WeightFormat format) { return kFormatRows.at(static_cast<std::size_t>(format)); }

std::int64_t blocks_in(std::int64_t size, std::int64_t side) { return (size + side - 1) / side; }

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
void order_rows(Layout& layout, Role role, const Form& form) {
  if (!row_of(role).gated || form.order == SourceOrder::standard || layout.view().size() < 3) return;
  std::vector<std::string_view> axes{"E", layout.view()[2].name, "half"};
  if (layout.view().size() == 4) axes.push_back(layout.view().back().name);
  layout.permute(axes);
}

}  // namespace

std::string_view name_of(Role role) { return row_of(role).name; }
bool is_w13(Role role) { return row_of(role).gated; }
bool is_weight(Role role) { return row_of(role).kind == Kind::weight; }
bool is_bias(Role role) { return row_of(role).kind == Kind::bias; }
bool is_scale(Role role) { return row_of(role).kind == Kind::scale; }

Role role_named(std::string_view name) {
  std::array<std::string_view, kRoleCount> names;
  for (Role role : kAllRoles) {
    if (same_name(name_of(role), name)) return role;
    names[static_cast<std::size_t>(role)] = name_of(role);
  }
  throw Error(ErrorCode::usage, unknown_name("tensor", name, names));
}

std::string_view name_of(WeightFormat format) { return row_of(format).name; }

WeightFormat weight_format_named(std::string_view name) {
  std::array<std::string_view, kWeightFormats.size()> names;
  for (WeightFormat format : kWeightFormats) {
    if (same_name(name_of(format), name)) return format;
    names[static_cast<std::size_t>(format)] = name_of(format);
  }
  throw Error(ErrorCode::usage, unknown_name("weight format", name, names));
}

std::int64_t group_of(WeightFormat format) { return row_of(format).group; }
bool has_squares(WeightFormat format) { return row_of(format).scales == ScaleShape::block; }

bool has_role(WeightFormat format, Role role) {
  switch (row_of(role).kind) {
    case Kind::global_scale: return row_of(format).global_scale;
    case Kind::channel_scale: return false;
    default: return true;
  }
}

int unit_bits(Role role, WeightFormat format) {
  switch (row_of(role).kind) {
    case Kind::weight: return row_of(format).weight_bits;
    case Kind::scale: return row_of(format).scale_bits;
    case Kind::bias: return 16;
    case Kind::global_scale:
    case Kind::channel_scale: break;
  }
  return 32;
}

std::string_view name_of(SourceOrder order) { return kOrderNames.at(static_cast<std::size_t>(order)); }

SourceOrder source_order_named(std::string_view name) {
  for (SourceOrder order : {SourceOrder::gpt_oss, SourceOrder::standard}) {
    if (same_name(name_of(order), name)) return order;
  }
  throw Error(ErrorCode::usage, unknown_name("source order", name, kOrderNames));
}

std::vector<Axis> logical_axes(Role role, const Sizes& sizes, const Form& form) {
  check(sizes);
  const RoleRow& row = row_of(role);
  const ScaleShape scales = row_of(form.format).scales;
  const std::int64_t length = row.gated ? sizes.hidden : sizes.intermediate;
  std::vector<Axis> axes{{"E", sizes.experts}};
  if (row.kind == Kind::global_scale || (row.kind == Kind::scale && scales == ScaleShape::expert)) return axes;
  const bool blocks = row.kind == Kind::scale && scales == ScaleShape::block;
  const std::int64_t rows = row.gated ? sizes.intermediate : sizes.hidden;
  if (row.gated) axes.push_back({"half", form.gated ? 2 : 1});
  if (row.kind == Kind::scale && scales == ScaleShape::pair) return axes;
  axes.push_back({std::string(row.gated ? "I" : "N") + (blocks ? "B" : ""), blocks ? blocks_in(rows, block_side(sizes.group)) : rows});
  if (row.kind == Kind::weight) axes.push_back({"K", length});
  if (row.kind == Kind::scale && scales == ScaleShape::group) axes.push_back({"G", length / sizes.group});
  if (blocks) axes.push_back({"KB", blocks_in(length, block_side(sizes.group))});
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

Layout canonical(Role role, const Sizes& sizes, const Form& form) {
  Layout layout(logical_axes(role, sizes, form), unit_bits(role, form.format));
  order_rows(layout, role, form);
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

Layout padded_tensor(Role role, const Sizes& sizes, const Sizes& padded, int bits, const Form& form) {
  check_padded(sizes, padded);
  Layout layout(logical_axes(role, sizes, form), bits);
  if (fault::planted(fault::Fault::last_expert_first)) layout.flip("E");
  if (fault::planted(fault::Fault::up_loaded_as_gate) && row_of(role).gated && layout.view().size() > 2) layout.flip("half");
  if (fault::planted(fault::Fault::scale_groups_reversed) && is_scale(role) && layout.view().size() > 2) layout.flip(layout.view().back().name);
  const std::vector<Axis> from = layout.logical();
  const std::vector<Axis> to = logical_axes(role, padded, form);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i].extent == from[i].extent) continue;
    const bool before = fault::planted(fault::Fault::padding_before_elements);
    if (before) layout.flip(to[i].name);
    layout.pad(to[i].name, to[i].extent, PadContent::zero);
    if (before) layout.flip(to[i].name);
  }
  return layout;
}

Layout loaded(Role role, const Sizes& sizes, const Sizes& padded, const Form& form, int bits) {
  const bool halves = row_of(role).gated && form.order == SourceOrder::standard && padded.intermediate != sizes.intermediate;
  if (halves && fault::planted(fault::Fault::halves_padded_together)) {
    Layout layout = padded_tensor(role, sizes, {sizes.experts, sizes.intermediate, padded.hidden, sizes.group}, bits, form);
    layout.merge({"half", "I"}, "rows").pad("rows", 2 * padded.intermediate, PadContent::zero);
    layout.split("rows", padded.intermediate, "half", "I");
    return layout;
  }
  Layout layout = padded_tensor(role, sizes, padded, bits, form);
  order_rows(layout, role, form);
  return layout;
}

Layout loaded(Role role, const Sizes& sizes, const Sizes& padded, const Form& form) {
  return loaded(role, sizes, padded, form, unit_bits(role, form.format));
}

}  // namespace mx::layout
