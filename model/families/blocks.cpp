#include <algorithm>
#include <array>
#include <string>

#include "model/error.hpp"
#include "model/families/building_block.hpp"
#include "model/fault.hpp"

namespace mx::families {
namespace {

using fault::Fault;
using fault::planted;

using blocks::rearrange;

/// Within blocks of `block` rows the row block/8*j + i moves to 8*i + j.
layout::Layout& shuffle_rows(layout::Layout& layout, std::string_view rows, std::int64_t block) {
  const std::string name(rows);
  const std::string inner = name + ".inner";
  const std::string i = name + ".i";
  const std::string j = name + ".j";
  layout.split(name, block, name + ".block", inner);
  layout.split(inner, planted(Fault::shuffle_a_wrong_stride) ? 8 : block / 8, j, i);
  rearrange(layout, std::array{j, i}, std::array{i, j});
  const std::string outer = name + ".block";
  return layout.merge({outer, i, j}, name);
}

}  // namespace

namespace blocks {

std::int64_t extent_of(const layout::Layout& layout, std::string_view name) {
  for (const layout::Axis& axis : layout.view()) {
    if (axis.name == name) return axis.extent;
  }
  throw Error(ErrorCode::usage, "no axis " + std::string(name), "layout");
}

layout::Layout& pad_to_multiple(layout::Layout& layout, std::string_view axis, std::int64_t multiple, layout::PadContent content) {
  const std::int64_t extent = extent_of(layout, axis);
  const std::int64_t padded = (extent + multiple - 1) / multiple * multiple;
  return padded == extent ? layout : layout.pad(axis, padded, content);
}

void rearrange(layout::Layout& layout, std::span<const std::string> from, std::span<const std::string> to) {
  std::vector<std::string> names;
  for (const layout::Axis& axis : layout.view()) names.push_back(axis.name);
  std::vector<std::string_view> order;
  std::size_t next = 0;
  for (const std::string& name : names) {
    const bool moved = std::find(from.begin(), from.end(), name) != from.end();
    order.push_back(moved ? to[next++] : name);
  }
  layout.permute(order);
}

layout::Layout& split_off(layout::Layout& layout, std::string_view axis, std::span<const layout::Axis> parts) {
  const std::string name(axis);
  for (std::size_t i = parts.size(); i-- > 0;) layout.split(name, parts[i].extent, name, parts[i].name);
  return layout;
}

layout::Layout& split_off(layout::Layout& layout, std::string_view axis, std::initializer_list<layout::Axis> parts) {
  return split_off(layout, axis, std::span(parts.begin(), parts.size()));
}

layout::Layout& order(layout::Layout& layout, std::initializer_list<std::string_view> axes) {
  const std::vector<std::string> names(axes.begin(), axes.end());
  rearrange(layout, names, names);
  return layout;
}

std::string merge_rows(layout::Layout& layout) {
  const std::vector<layout::Axis>& view = layout.view();
  if (view.size() == 4) {
    const std::array<std::string, 2> rows{view[1].name, view[2].name};
    layout.merge({rows[0], rows[1]}, "rows");
  }
  return layout.view()[1].name;
}

layout::Layout& up_gate_interleaved(layout::Layout& layout) {
  if (!planted(Fault::gate_up_not_flipped)) layout.flip("half");
  rearrange(layout, std::array<std::string, 2>{"half", "I"}, std::array<std::string, 2>{"I", "half"});
  return layout.merge({"I", "half"}, "rows");
}

layout::Layout& up_before_gate(layout::Layout& layout) {
  if (!planted(Fault::gate_up_not_flipped)) layout.flip("half");
  return layout.merge({"half", "I"}, "rows");
}

layout::Layout& shuffle_a128(layout::Layout& layout, std::string_view rows) { return shuffle_rows(layout, rows, 32); }

layout::Layout& shuffle_a64(layout::Layout& layout, std::string_view rows) { return shuffle_rows(layout, rows, 16); }

layout::Layout& sf128x4(layout::Layout& layout, std::string_view rows, std::string_view cols) {
  const std::string row(rows);
  const std::string col(cols);
  const std::string row_tile = row + ".tile";
  const std::string quarter = row + ".quarter";
  const std::string lane = row + ".lane";
  const std::string col_tile = col + ".tile";
  const std::string byte = col + ".byte";
  pad_to_multiple(layout, row, planted(Fault::sf128x4_pads_to_lanes) && extent_of(layout, row) < 128 ? 32 : 128, layout::PadContent::zero);
  pad_to_multiple(layout, col, 4, layout::PadContent::zero);
  if (planted(Fault::sf128x4_only_padded)) return layout;
  layout.split(row, std::min<std::int64_t>(128, extent_of(layout, row)), row_tile, row);
  if (planted(Fault::sf128x4_rows_mixed)) {
    layout.split(row, 4, lane, quarter);
  } else {
    layout.split(row, 32, quarter, lane);
  }
  layout.split(col, 4, col_tile, byte);
  std::vector<std::string> from;
  for (const layout::Axis& axis : layout.view()) from.push_back(axis.name);
  from.erase(from.begin(), from.end() - 5);
  if (planted(Fault::sf128x4_columns_swapped)) {
    rearrange(layout, from, std::array{row_tile, col_tile, lane, byte, quarter});
  } else {
    rearrange(layout, from, std::array{row_tile, col_tile, lane, quarter, byte});
  }
  return layout;
}

layout::Layout& sf8x4(layout::Layout& layout, std::string_view rows, std::string_view cols) {
  const std::string row(rows);
  const std::string col(cols);
  pad_to_multiple(layout, row, 8, layout::PadContent::zero);
  pad_to_multiple(layout, col, 4, layout::PadContent::zero);
  const std::string row_tile = row + ".tile";
  const std::string lane = row + ".lane";
  const std::string col_tile = col + ".tile";
  const std::string byte = col + ".byte";
  layout.split(row, 8, row_tile, lane);
  layout.split(col, 4, col_tile, byte);
  const std::array from{row_tile, lane, col_tile, byte};
  if (planted(Fault::sf8x4_columns_first)) {
    rearrange(layout, from, std::array{row_tile, col_tile, byte, lane});
  } else {
    rearrange(layout, from, std::array{row_tile, col_tile, lane, byte});
  }
  return layout;
}

}  // namespace blocks

}  // namespace mx::families
