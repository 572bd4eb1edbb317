// FlashInfer's CUTLASS kernels. Source: spec layouts 3 (MXFP4), 10 (NVFP4) and 11 (FP8).

#include <array>

#include "props/families/flashinfer_cutlass/family.hpp"
#include "props/families/matrix_formula.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using families::Setting;
using layout::Role;
using layout::WeightFormat;

/// All up rows, then all gate rows.
Matrix mxfp4_matrix(Role role, const Setting& setting) {
  Matrix loaded = loaded_matrix(role, setting);
  if (!layout::is_w13(role)) return loaded;
  return halves_swapped(is_standard(setting) ? loaded : pairs_separated(loaded));
}

/// The engine's releases of FlashInfer in both versions, unless a later one is named.
bool folds(const Setting& setting) { return setting.of<families::FlashinferParameters>().release == families::Flashinfer::v0_6_18; }

Memory mixed_place(Role role, const Setting& setting, const Matrix& sizes) {
  if (!folds(setting)) {
    if (layout::is_weight(role)) return block_memory("cutlass_sm90_mixed.weight.fp4_nibbles", sizes, 8);
    return layout::is_scale(role) ? block_memory("cutlass_sm90_mixed.scale_lines", sizes, 8, {{"group_size", 32}}) : kept(sizes);
  }
  if (layout::is_weight(role)) return block_memory("cutlass_sm90_mixed.weight.fp4", sizes, 8);
  return layout::is_scale(role) ? block_memory("cutlass_sm90_mixed.scale", sizes, 8, {{"group_size", 32}}) : kept(sizes);
}

void draw_mixed(Setting& setting) {
  constexpr std::array<std::optional<families::Flashinfer>, 3> kReleases{std::nullopt, families::Flashinfer::v0_6_11, families::Flashinfer::v0_6_18};
  setting.of<families::FlashinferParameters>().release = kReleases[static_cast<std::size_t>(pick(0, 2))];
}

constexpr BackendFormula mxfp4(std::string_view backend, PlaceOf place, void (*draw)(Setting&)) {
  return {WeightFormat::mxfp4,
          backend,
          deployment::since(deployment::kVllm2026_05),
          128,
          128,
          draw,
          mxfp4_matrix,
          place,
          up_then_gate,
          nullptr,
          nullptr,
          nullptr};
}

constexpr std::array<BackendFormula, 5> kFormulas{
    mxfp4("FLASHINFER_CUTLASS_MXFP4_BF16", mixed_place, draw_mixed),
    mxfp4("FLASHINFER_CUTLASS_MXFP4_MXFP8", tile_place, nullptr),
    nvfp4_tiled("FLASHINFER_CUTLASS", tile_padded_up_first, up_then_gate),
    fp8_formula(WeightFormat::fp8_tensor, "FLASHINFER_CUTLASS", 16, 32, fp8_padded_up_first, kept_place, up_then_gate, fp8_is_aligned),
    fp8_formula(WeightFormat::fp8_block, "FLASHINFER_CUTLASS", 128, 128, fp8_up_first, kept_place, up_then_gate),
};

void draw_parameters(Setting& setting, std::mt19937& random) {
  if (random() % 2 == 0) setting.of<families::FlashinferParameters>().release = static_cast<families::Flashinfer>(random() % 2);
}

}  // namespace

constinit const FamilyFormulas kFlashinferCutlassFormulas{.name = "flashinfer_cutlass",
                                                          .backends = kFormulas,
                                                          .takes = &kFlashinferCutlassTakes,
                                                          .blocks = &kFlashinferCutlassBlocks,
                                                          .draw = draw_parameters};

}  // namespace mx::props
