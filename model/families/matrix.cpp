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
  if (is_scale(role) && fault::planted(fault::Fault::identity_scale_rows_flipped)) layout.flip(layout.view()[1].name);
  return {std::move(layout), &kKeep};
}

Layout loaded_units(Role role, const Setting& setting) { return loaded_rows(role, setting, unit_bits(role, setting.form.format)); }

bool moves(Role role) { return is_weight(role) || is_scale(role); }

std::int64_t next_multiple(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

void pad_rows(Layout& layout, std::int64_t rows) {
  if (rows != blocks::extent_of(layout, kRowsAxis)) layout.pad(kRowsAxis, rows, PadContent::zero);
}

void pad_columns(Layout& layout, Role role, const Setting& setting, std::int64_t elements) {
  const std::string columns = layout.view().back().name;
  const std::int64_t extent = is_scale(role) ? elements / setting.padded.group : elements;
  if (extent != blocks::extent_of(layout, columns)) layout.pad(columns, extent, PadContent::zero);
}

void rows_kept(Layout&, const Setting&) {}

void rows_up_first(Layout& layout, const Setting& setting) {
  if (setting.form.gated) blocks::swap_halves(layout, kRowsAxis);
}

TensorPlan nvfp4_tiled(Role role, const Setting& setting, RowOrder order) {
  Layout layout = loaded_units(role, setting);
  if (!moves(role)) return {std::move(layout), &kKeep};
  if (!setting.form.gated) {
    const std::int64_t intermediate = next_multiple(setting.padded.intermediate, 128);
    is_w13(role) ? pad_rows(layout, intermediate) : pad_columns(layout, role, setting, intermediate);
  }
  if (is_w13(role)) order(layout, setting);
  if (is_scale(role)) blocks::sf128x4(layout, kRowsAxis, "G");
  return {std::move(layout), &kKeep};
}

Layout fp8_padded_up_first(Role role, const Setting& setting) {
  Layout layout = loaded_units(role, setting);
  if (!is_weight(role)) return layout;
  const std::int64_t intermediate = next_multiple(setting.padded.intermediate, setting.form.gated ? 16 : 128);
  if (!is_w13(role)) {
    pad_columns(layout, role, setting, intermediate);
    return layout;
  }
  pad_rows(layout, (setting.form.gated ? 2 : 1) * intermediate);
  rows_up_first(layout, setting);
  return layout;
}

Layout fp8_up_first(Role role, const Setting& setting) {
  Layout layout = loaded_units(role, setting);
  const bool stays = is_scale(role) && fault::planted(fault::Fault::block_scales_not_swapped);
  if (is_w13(role) && moves(role) && !stays) rows_up_first(layout, setting);
  return layout;
}

}  // namespace mx::layout
