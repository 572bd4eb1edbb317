#include "model/families/matrix.hpp"

#include <string>

#include "model/families/row_blocks.hpp"
#include "model/fault.hpp"

namespace mx::layout {
namespace {

constexpr std::string_view kRowsAxis = "rows";

}  // namespace

TensorPlan as_loaded(Role role, const Setting& setting) {
  Layout layout = loaded(role, setting.sizes, setting.padded, setting.form);
  if (is_scale(role) && layout.view().size() > 1 && fault::planted(fault::Fault::identity_scale_rows_flipped)) layout.flip(layout.view()[1].name);
  return {std::move(layout), &kKeep};
}

Layout loaded_units(Role role, const Setting& setting) { return loaded_rows(role, setting, unit_bits(role, setting.form.format)); }

bool moves(Role role) { return is_weight(role) || is_scale(role); }

void pad_matrix(Layout& layout, Role role, const Setting& setting, const Sizes& sizes) {
  const std::int64_t rows = is_w13(role) ? (setting.form.gated ? 2 : 1) * sizes.intermediate : sizes.hidden;
  if (rows != blocks::extent_of(layout, kRowsAxis)) layout.pad(kRowsAxis, rows, PadContent::zero);
  const std::int64_t elements = is_w13(role) ? sizes.hidden : sizes.intermediate;
  const std::int64_t columns = is_scale(role) ? elements / sizes.group : elements;
  const std::string name = layout.view().back().name;
  if (columns != blocks::extent_of(layout, name)) layout.pad(name, columns, PadContent::zero);
}

void rows_kept(Layout&, const Setting&) {}

void rows_up_first(Layout& layout, const Setting& setting) {
  if (setting.form.gated) blocks::swap_halves(layout, kRowsAxis);
}

TensorPlan nvfp4_tiled(Role role, const Setting& setting, RowOrder order) {
  Layout layout = loaded_units(role, setting);
  if (!moves(role)) return {std::move(layout), &kKeep};
  pad_matrix(layout, role, setting, padded_by(kNvfp4TilePadding, setting));
  if (is_w13(role)) order(layout, setting);
  if (is_scale(role)) blocks::sf128x4(layout, kRowsAxis, "G");
  return {std::move(layout), &kKeep};
}

Layout fp8_padded_up_first(Role role, const Setting& setting) {
  Layout layout = loaded_units(role, setting);
  if (!is_weight(role)) return layout;
  pad_matrix(layout, role, setting, padded_by(kFp8TensorPadding, setting));
  if (is_w13(role)) rows_up_first(layout, setting);
  return layout;
}

Layout fp8_up_first(Role role, const Setting& setting) {
  Layout layout = loaded_units(role, setting);
  const bool stays = is_scale(role) && fault::planted(fault::Fault::block_scales_not_swapped);
  if (is_w13(role) && moves(role) && !stays) rows_up_first(layout, setting);
  return layout;
}

}  // namespace mx::layout
