// B12X, FlashInfer's and its own. Source: spec layouts 10, row 26 of section 14.

#include <array>

#include "props/families/b12x/family.hpp"
#include "props/families/matrix_formula.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using families::Setting;
using layout::Role;

/// Gate and up each filled up to 64 rows, the columns of w2 with them; one shard as FlashInfer's.
Matrix own_matrix(Role role, const Setting& setting) {
  if (!setting.form.gated) return tile_padded(role, setting);
  const Matrix loaded = loaded_matrix(role, setting);
  if (!moves(role)) return loaded;
  const std::int64_t i = setting.padded.intermediate;
  const std::int64_t padded = round_up(i, 64);
  if (!layout::is_w13(role)) return with_size(loaded, loaded.rows, nvfp4_columns(role, padded));
  const Matrix shards = with_rows(loaded, 2 * padded, [=](std::int64_t r) { return r % padded < i ? r / padded * i + r % padded : -1; });
  return setting.of<families::B12xParameters>().a16 ? halves_swapped(shards) : shards;
}

RowPair own_rows(std::int64_t i, std::int64_t rows, const Setting& setting) {
  return setting.of<families::B12xParameters>().a16 ? up_then_gate(i, rows, setting) : gate_then_up(i, rows, setting);
}

constexpr BackendFormula own() {
  BackendFormula formula = nvfp4_tiled("B12X", own_matrix, own_rows);
  formula.engines = deployment::since(deployment::kVllm2026_08);
  formula.draw = [](Setting& setting) { setting.of<families::B12xParameters>().a16 = pick(0, 1) == 1; };
  return formula;
}
constexpr BackendFormula mxfp4(std::string_view backend) {
  BackendFormula formula = mxfp4_as_loaded(backend);
  formula.engines = deployment::since(deployment::kVllm2026_08);
  return formula;
}

constexpr std::array<BackendFormula, 4> kFormulas{
    nvfp4_tiled("FLASHINFER_B12X", tile_padded_up_first, up_then_gate),
    own(),
    mxfp4("B12X_MXFP4_MXFP8"),
    mxfp4("B12X_MXFP4_BF16"),
};

void draw_parameters(Setting& setting, std::mt19937& random) { setting.of<families::B12xParameters>().a16 = random() % 2 == 0; }

}  // namespace

constinit const FamilyFormulas kB12xFormulas{.name = "b12x", .backends = kFormulas, .takes = &kB12xTakes, .draw = draw_parameters};

}  // namespace mx::props
