#include "props/families/matrix_formula.hpp"

namespace mx::props {
namespace {

using families::Setting;
using layout::Role;

std::int64_t fp8_padded_i(const Setting& setting) { return round_up(setting.padded.intermediate, setting.form.gated ? 16 : 128); }

}  // namespace

bool moves(Role role) { return layout::is_weight(role) || layout::is_scale(role); }

bool orders(Role role, const Setting& setting) { return moves(role) && layout::is_w13(role) && setting.form.gated; }

std::int64_t nvfp4_columns(Role role, std::int64_t elements) { return layout::is_scale(role) ? elements / 16 : elements; }

Matrix loaded_bits(Role role, const Setting& setting) { return loaded_matrix(role, setting); }

Memory kept_place(Role, const Setting&, const Matrix& sizes) { return kept(sizes); }

Matrix tile_padded(Role role, const Setting& setting) {
  Matrix loaded = loaded_matrix(role, setting);
  if (!moves(role) || setting.form.gated) return loaded;
  const std::int64_t i = round_up(setting.padded.intermediate, 128);
  return layout::is_w13(role) ? with_size(loaded, i, loaded.cols) : with_size(loaded, loaded.rows, nvfp4_columns(role, i));
}

Matrix tile_padded_up_first(Role role, const Setting& setting) {
  Matrix loaded = tile_padded(role, setting);
  return orders(role, setting) ? halves_swapped(loaded) : loaded;
}

Memory tile_place(Role role, const Setting&, const Matrix& sizes) {
  return layout::is_scale(role) ? block_memory("sf_128x4", sizes, 8) : kept(sizes);
}

Matrix fp8_padded_up_first(Role role, const Setting& setting) {
  Matrix loaded = loaded_matrix(role, setting);
  if (!layout::is_weight(role)) return loaded;
  if (!layout::is_w13(role)) return with_size(loaded, loaded.rows, fp8_padded_i(setting));
  Matrix padded = with_size(loaded, shard_count(setting) * fp8_padded_i(setting), loaded.cols);
  return setting.form.gated ? halves_swapped(padded) : padded;
}

bool fp8_is_aligned(const Setting& setting) { return fp8_padded_i(setting) == setting.padded.intermediate; }

Matrix fp8_up_first(Role role, const Setting& setting) {
  Matrix loaded = loaded_matrix(role, setting);
  return orders(role, setting) ? halves_swapped(loaded) : loaded;
}

}  // namespace mx::props
