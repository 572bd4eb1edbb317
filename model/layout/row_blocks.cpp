#include "model/layout/row_blocks.hpp"

#include <array>
#include <string>

namespace mx::layout {

Layout loaded_rows(Role role, const Setting& setting, int bits) {
  Layout layout = loaded(role, setting.sizes, setting.padded, setting.form, bits);
  const std::size_t axes = layout.view().size();
  if (axes == 1) return layout;
  // Of w13 the halves are one of the two axes behind the experts: which one depends on the checkpoint's order.
  const std::string first = layout.view()[1].name;
  if (!is_w13(role)) return layout.merge({first}, "rows");
  const std::string second = layout.view()[2].name;
  return layout.merge({first, second}, "rows");
}

namespace blocks {
namespace {

/// [outer, inner] of the rows becomes [inner, outer], `inner` neighbouring rows of the new order coming from `inner` different places.
Layout& transpose_rows(Layout& layout, std::string_view rows, std::int64_t outer, std::int64_t group) {
  const std::string name(rows);
  const std::string first = name + ".outer";
  const std::string second = name + ".inner";
  const std::string third = name + ".row";
  layout.split(name, extent_of(layout, name) / outer, first, second);
  layout.split(second, group, second, third);
  rearrange(layout, std::array{first, second}, std::array{second, first});
  return layout.merge({second, first, third}, name);
}

}  // namespace

Layout& swap_halves(Layout& layout, std::string_view rows) {
  const std::string name(rows);
  const std::string half = name + ".half";
  layout.split(name, extent_of(layout, name) / 2, half, name);
  return layout.flip(half).merge({half, name}, name);
}

Layout& alternate_halves(Layout& layout, std::string_view rows, std::int64_t group) { return transpose_rows(layout, rows, 2, group); }

Layout& separate_pairs(Layout& layout, std::string_view rows) { return transpose_rows(layout, rows, extent_of(layout, rows) / 2, 1); }

}  // namespace blocks

}  // namespace mx::layout
