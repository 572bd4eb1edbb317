#include "model/families/fnuz.hpp"

#include <algorithm>

#include "model/families/matrix.hpp"
#include "model/fault.hpp"
#include "model/layout/grains.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/fp8_recipe.hpp"

namespace mx::families {
namespace {

using layout::Role;
using layout::WeightFormat;

constexpr std::uint8_t kNegativeZero = 0x80;
constexpr std::uint32_t kHalf = 0x3F000000U;

bool is_fp8(WeightFormat format) {
  return format == WeightFormat::fp8_tensor || format == WeightFormat::fp8_channel || format == WeightFormat::fp8_block ||
         format == WeightFormat::fp8_pair;
}

std::int64_t count_of(std::span<const std::uint8_t> scales) { return static_cast<std::int64_t>(scales.size()) / 4; }
std::uint32_t scale_at(std::span<const std::uint8_t> scales, std::int64_t i) { return static_cast<std::uint32_t>(layout::get_grain(scales, i, 32)); }
std::uint32_t doubled(std::uint32_t scale) { return e4m3fn_to_e4m3fnuz(0, scale).scale; }

bool on_fnuz(const Setting& setting) { return setting.arch == Arch::gfx942 && is_fp8(setting.form.format); }

}  // namespace

bool has_fnuz(const Setting& setting) { return on_fnuz(setting) && !setting.leaves_e4m3fn; }
bool leaves_fn(const Setting& setting) { return on_fnuz(setting) && setting.leaves_e4m3fn; }

Operation operation_of(const Setting& setting) {
  const std::int64_t block = layout::has_squares(setting.form.format) ? layout::block_side(setting.padded.group) : layout::kBlockSide;
  return {setting.arch,
          has_fnuz(setting),
          block,
          triton_kernels_of(setting) != TritonKernels::v3_5,
          setting.of<DeepgemmParameters>().e8m0,
          setting.input_dtype != InputDtype::none};
}

bool makes_fnuz(const BackendLayout& backend, const Setting& setting) {
  if (fault::planted(fault::Fault::fnuz_where_units_move) && backend.build == as_loaded) return false;
  return has_fnuz(setting);
}

void to_fnuz(Role role, std::span<std::uint8_t> units) {
  if (layout::is_weight(role)) std::ranges::replace(units, kNegativeZero, std::uint8_t{0});
  if (!layout::is_scale(role)) return;
  for (std::int64_t i = 0; i < count_of(units); ++i) layout::set_grain(units, i, 32, doubled(scale_at(units, i)));
}

void from_fnuz(Role role, std::span<std::uint8_t> units) {
  if (!layout::is_scale(role)) return;
  for (std::int64_t i = 0; i < count_of(units); ++i) layout::set_grain(units, i, 32, f32::mul(scale_at(units, i), kHalf));
}

std::int64_t lost_to_fnuz(Role role, std::span<const std::uint8_t> units) {
  if (layout::is_weight(role)) return std::ranges::count(units, kNegativeZero);
  std::int64_t lost = 0;
  if (!layout::is_scale(role)) return lost;
  for (std::int64_t i = 0; i < count_of(units); ++i) lost += f32::mul(doubled(scale_at(units, i)), kHalf) == scale_at(units, i) ? 0 : 1;
  return lost;
}

void note_fnuz(Role role, std::int64_t lost, std::vector<layout::Loss>& losses) {
  if (lost == 0) return;
  if (layout::is_weight(role)) {
    losses.push_back({role, "codes of -0, which e4m3fnuz has not, become 0", lost, lost});
  } else {
    losses.push_back({role, "scales of 2^127 and more and NaNs are not doubled", lost});
  }
}

void to_fnuz(layout::CanonicalLayer& layer, std::vector<layout::Loss>& losses) {
  for (const Role role : layout::kAllRoles) {
    note_fnuz(role, lost_to_fnuz(role, layer[role]), losses);
    to_fnuz(role, layer[role]);
  }
}

void from_fnuz(layout::CanonicalLayer& layer) {
  for (const Role role : layout::kAllRoles) from_fnuz(role, layer[role]);
}

void to_fnuz(layout::LayerUnits& units) {
  for (const Role role : layout::kAllRoles) to_fnuz(role, units[static_cast<std::size_t>(role)].bytes);
}

}  // namespace mx::families
