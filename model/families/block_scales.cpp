#include "model/families/block_scales.hpp"

#include <cstdint>

#include "model/layout/grains.hpp"
#include "model/numerics/f32.hpp"

namespace mx::families {
namespace {

constexpr std::uint32_t kSmallest = 0x2EDBE6FFU;  // 1e-10

}  // namespace

void raise_block_scales(layout::LayerUnits& units, const Setting&, std::vector<layout::Loss>& losses) {
  for (layout::Role role : {layout::Role::w13_weight_scale, layout::Role::w2_weight_scale}) {
    layout::Units& scales = units[static_cast<std::size_t>(role)];
    std::int64_t raised = 0;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(scales.bytes.size()) / 4; ++i) {
      const auto scale = static_cast<std::uint32_t>(layout::get_grain(scales.bytes, i, 32));
      if (!f32::less(scale, kSmallest)) continue;
      layout::set_grain(scales.bytes, i, 32, kSmallest);
      ++raised;
    }
    if (raised > 0) losses.push_back({role, "block scales below 1e-10 become 1e-10", raised});
  }
}

void keep_block_scales(layout::LayerUnits&, const Setting&) {}

}  // namespace mx::families
