// W4A8 with CUTLASS. Source: spec layouts 12.

#include <array>

#include "props/families/cutlass_w4a8/family.hpp"
#include "props/families/memory_formula.hpp"

namespace mx::props {
namespace {

using families::Setting;
using layout::Role;

/// Eight codes for each scale.
Matrix matrix(Role role, const Setting& setting) { return layout::is_scale(role) ? loaded_matrix(role, setting, 64) : loaded_matrix(role, setting); }

Memory place(Role role, const Setting&, const Matrix& sizes) {
  if (layout::is_weight(role)) return block_memory("cutlass_w4a8.reorder", sizes, 4);
  return layout::is_scale(role) ? transposed(sizes) : kept(sizes);
}

/// uint4b8 to two's complement, then 1..7 reversed.
std::uint64_t cast(Role role, const Setting&, std::uint64_t unit) {
  if (!layout::is_weight(role)) return unit;
  const std::uint64_t code = unit ^ 8U;
  return code >= 1 && code <= 7 ? 8 - code : code;
}

double weight(const Setting&, std::uint64_t unit) {
  return unit == 0 ? 0 : unit >= 8 ? static_cast<double>(unit) - 16 : 8 - static_cast<double>(unit);
}
/// The last of the eight codes is the scale times -1; the channel scale of the row is the second number.
double scale(const Setting&, std::uint64_t unit, double second) { return -e4m3_number(unit >> 56) * second; }
Reading reading(const Setting&) { return {weight, scale}; }

constexpr std::array<BackendFormula, 1> kFormulas{{
    {layout::WeightFormat::int4, "CUTLASS", deployment::since(deployment::kVllm2026_05), 256, 256, nullptr, matrix, place, as_loaded, nullptr,
     nullptr, cast, reading},
}};

}  // namespace

constinit const FamilyFormulas kCutlassW4a8Formulas{
    .name = "cutlass_w4a8", .backends = kFormulas, .takes = &kCutlassW4a8Takes, .blocks = &kCutlassW4a8Blocks};

}  // namespace mx::props
