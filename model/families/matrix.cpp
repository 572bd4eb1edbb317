#include "model/families/matrix.hpp"

#include <string>

#include "model/families/row_blocks.hpp"
#include "model/fault.hpp"

namespace mx::families {
namespace {

constexpr std::string_view kRowsAxis = "rows";

}  // namespace

layout::TensorPlan as_loaded(layout::Role role, const Setting& setting) {
  layout::Layout layout = layout::loaded(role, setting.sizes, setting.padded, setting.form);
  if (layout::is_scale(role) && layout.view().size() > 1 && fault::planted(fault::Fault::identity_scale_rows_flipped))
    layout.flip(layout.view()[1].name);
  return {std::move(layout), &layout::kKeep};
}

layout::Layout loaded_units(layout::Role role, const Setting& setting) {
  return loaded_rows(role, setting, layout::unit_bits(role, setting.form.format));
}

bool moves(layout::Role role) { return layout::is_weight(role) || layout::is_scale(role); }

void pad_matrix(layout::Layout& layout, layout::Role role, const Setting& setting, const layout::Sizes& sizes) {
  const std::int64_t rows = layout::is_w13(role) ? (setting.form.gated ? 2 : 1) * sizes.intermediate : sizes.hidden;
  if (rows != blocks::extent_of(layout, kRowsAxis)) layout.pad(kRowsAxis, rows, layout::PadContent::zero);
  const std::int64_t elements = layout::is_w13(role) ? sizes.hidden : sizes.intermediate;
  const std::int64_t columns = layout::is_scale(role) ? elements / sizes.group : elements;
  const std::string name = layout.view().back().name;
  if (columns != blocks::extent_of(layout, name)) layout.pad(name, columns, layout::PadContent::zero);
}

void rows_kept(layout::Layout&, const Setting&) {}

void rows_up_first(layout::Layout& layout, const Setting& setting) {
  if (setting.form.gated) blocks::swap_halves(layout, kRowsAxis);
}

layout::TensorPlan nvfp4_tiled(layout::Role role, const Setting& setting, RowOrder order) {
  layout::Layout layout = loaded_units(role, setting);
  if (!moves(role)) return {std::move(layout), &layout::kKeep};
  pad_matrix(layout, role, setting, padded_by(kNvfp4TilePadding, setting));
  if (layout::is_w13(role)) order(layout, setting);
  if (layout::is_scale(role)) blocks::sf128x4(layout, kRowsAxis, "G");
  return {std::move(layout), &layout::kKeep};
}

layout::Layout fp8_padded_up_first(layout::Role role, const Setting& setting) {
  layout::Layout layout = loaded_units(role, setting);
  if (!layout::is_weight(role)) return layout;
  pad_matrix(layout, role, setting, padded_by(kFp8TensorPadding, setting));
  if (layout::is_w13(role)) rows_up_first(layout, setting);
  return layout;
}

layout::Layout fp8_up_first(layout::Role role, const Setting& setting) {
  layout::Layout layout = loaded_units(role, setting);
  const bool stays = layout::is_scale(role) && fault::planted(fault::Fault::block_scales_not_swapped);
  if (layout::is_w13(role) && moves(role) && !stays) rows_up_first(layout, setting);
  return layout;
}

}  // namespace mx::families
