#include "model/families/row_blocks.hpp"

#include <string>

#include "model/fault.hpp"

namespace mx::families {

layout::Layout loaded_rows(layout::Role role, const Setting& setting, int bits) {
  layout::Layout layout = layout::loaded(role, setting.sizes, setting.padded, setting.form, bits);
  if (layout.view().size() == 1) return layout;
  // Of w13 the rows are two axes, half and row in the checkpoint's order.
  const std::string first = layout.view()[1].name;
  if (!layout::is_w13(role)) return layout.merge({first}, "rows");
  if (layout.view().size() == 2) return layout.merge({first}, "rows");  // one number for each half
  const std::string second = layout.view()[2].name;
  return layout.merge({first, second}, "rows");
}

namespace blocks {

layout::Layout& swap_halves(layout::Layout& layout, std::string_view rows) {
  const std::string name(rows);
  layout.split(rows, extent_of(layout, rows) / 2, "half", name);
  if (!fault::planted(fault::Fault::halves_not_swapped)) layout.flip("half");
  return layout.merge({"half", rows}, name);
}

layout::Layout& alternate_halves(layout::Layout& layout, std::string_view rows, std::int64_t group) {
  const std::string name(rows);
  layout.split(rows, extent_of(layout, rows) / 2, "half", name);
  split_off(layout, rows, {{"in_group", fault::planted(fault::Fault::row_groups_of_one) ? 1 : group}});
  order(layout, {rows, "half", "in_group"});
  return layout.merge({rows, "half", "in_group"}, name);
}

layout::Layout& separate_pairs(layout::Layout& layout, std::string_view rows) {
  split_off(layout, rows, {{"parity", 2}});
  if (fault::planted(fault::Fault::pairs_not_separated)) return layout.merge({rows, "parity"}, std::string(rows));
  order(layout, {"parity", rows});
  return layout.merge({"parity", rows}, std::string(rows));
}

}  // namespace blocks

}  // namespace mx::families
