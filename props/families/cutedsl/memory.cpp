// CuteDSL with NVFP4. Source: spec layouts 10 and row 20 of section 14.

#include <array>

#include "props/families/cutedsl/family.hpp"
#include "props/families/matrix_formula.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using families::ConverterActivation;
using families::Setting;
using layout::Role;

bool takes_pairs(const Setting& setting) {
  return setting.engine == deployment::kVllm2026_08 && setting.activation == ConverterActivation::swigluoai;
}

/// [up; gate], then 64 rows of each in turn.
Matrix in_blocks_matrix(Role role, const Setting& setting) {
  Matrix loaded = tile_padded(role, setting);
  if (!orders(role, setting)) return loaded;
  const Matrix up_first = halves_swapped(takes_pairs(setting) ? pairs_separated(loaded) : loaded);
  return with_rows(up_first, up_first.rows, [&](std::int64_t r) { return r % 128 / 64 * (up_first.rows / 2) + 64 * (r / 128) + r % 64; });
}

RowPair in_blocks_of_64(std::int64_t i, std::int64_t, const Setting&) {
  const std::int64_t up = i / 64 * 128 + i % 64;
  return {up + 64, up};
}

bool is_of_its_order(const Setting& setting) { return takes_pairs(setting) != is_standard(setting); }

void draw_activation(Setting& setting) { setting.activation = pick(0, 1) == 0 ? ConverterActivation::silu : ConverterActivation::swigluoai; }

constexpr BackendFormula in_blocks(deployment::Versions engines) {
  BackendFormula formula = nvfp4_tiled("FLASHINFER_CUTEDSL", in_blocks_matrix, in_blocks_of_64);
  formula.engines = engines;
  formula.draw = draw_activation;
  formula.halves_meet = is_of_its_order;
  return formula;
}

constexpr std::array<BackendFormula, 3> kFormulas{
    in_blocks(deployment::before(deployment::kVllm2026_08)),
    in_blocks(deployment::since(deployment::kVllm2026_08)),
    nvfp4_tiled("FLASHINFER_CUTEDSL_BATCHED", tile_padded, gate_then_up),
};

}  // namespace

constinit const FamilyFormulas kCutedslFormulas{.name = "cutedsl", .backends = kFormulas, .takes = &kCutedslTakes, .blocks = &kCutedslBlocks};

}  // namespace mx::props
