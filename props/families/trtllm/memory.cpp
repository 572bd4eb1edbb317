// TRT-LLM generated kernels. Source: spec layouts 2 (MXFP4), 10 (NVFP4), 11 (FP8 and MXFP8) and rows 17 and 18 of section 14.

#include <array>

#include "props/families/matrix_formula.hpp"
#include "props/families/trtllm/family.hpp"

namespace mx::props {
namespace {

using families::Setting;
using layout::Role;
using layout::WeightFormat;

/// w13 rows up 0, gate 0, up 1, ..
Matrix mxfp4_matrix(Role role, const Setting& setting) {
  Matrix loaded = loaded_with_f32_bias(role, setting);
  if (!layout::is_w13(role)) return loaded;
  if (is_standard(setting)) return halves_alternating(halves_swapped(loaded));
  return with_rows(loaded, loaded.rows, [](std::int64_t r) { return r ^ 1; });
}

/// What the conversion makes of I: with two shards the multiple grew from 16 to 64.
std::int64_t nvfp4_i(const Setting& setting) {
  const std::int64_t multiple = !setting.form.gated ? 128 : setting.engine == deployment::kVllm2026_05 ? 16 : 64;
  return round_up(setting.padded.intermediate, multiple);
}

bool nvfp4_is_aligned(const Setting& setting) { return nvfp4_i(setting) == setting.padded.intermediate; }

/// half-swap, zero rows behind the whole matrix, then its halves alternate.
Matrix nvfp4_matrix(Role role, const Setting& setting) {
  Matrix loaded = loaded_matrix(role, setting);
  if (!moves(role)) return loaded;
  const std::int64_t hidden = round_up(setting.padded.hidden, 256);
  const std::int64_t i = nvfp4_i(setting);
  if (!layout::is_w13(role)) return with_size(loaded, hidden, nvfp4_columns(role, i));
  if (!setting.form.gated) return with_size(loaded, i, nvfp4_columns(role, hidden));
  return halves_alternating(with_size(halves_swapped(loaded), 2 * i, nvfp4_columns(role, hidden)));
}

Matrix tensor_matrix(Role role, const Setting& setting) {
  Matrix matrix = fp8_padded_up_first(role, setting);
  return layout::is_weight(role) && orders(role, setting) ? halves_alternating(matrix) : matrix;
}

Matrix mxfp8_matrix(Role role, const Setting& setting) {
  Matrix matrix = fp8_up_first(role, setting);
  return orders(role, setting) ? halves_alternating(matrix) : matrix;
}

Memory shuffled(std::string_view block, const Matrix& sizes) { return block_memory(block, sizes, sizes.bits, {{"epilogue_tile_m", 128}}); }

Memory mxfp4_place(Role role, const Setting&, const Matrix& sizes) {
  return shuffled(layout::is_scale(role) ? "trtllm.shuffle_matrix_sf_a" : "trtllm.shuffle_matrix_a", sizes);
}

Memory tiled_place(Role role, const Setting& setting, const Matrix& sizes) { return moves(role) ? mxfp4_place(role, setting, sizes) : kept(sizes); }

Memory weights_shuffled(Role role, const Setting&, const Matrix& sizes) {
  return layout::is_weight(role) ? shuffled("trtllm.shuffle_matrix_a", sizes) : kept(sizes);
}

/// Rows shuffled in blocks of 16, then [K/128][N][128].
Memory block_major_place(Role role, const Setting&, const Matrix& sizes) {
  if (!layout::is_weight(role)) return kept(sizes);
  Matrix rows{sizes.experts, sizes.rows, sizes.cols, 8, {}};
  for (std::int64_t source : block_memory("trtllm.shuffle_matrix_a", sizes, 8, {{"epilogue_tile_m", 64}}).sources) rows.units.push_back(source);
  return composed(block_memory("trtllm.block_major_k", sizes, 8, {{"block_k", 128}}), rows);
}

constexpr BackendFormula mxfp4(std::string_view backend) {
  return {WeightFormat::mxfp4,
          backend,
          deployment::since(deployment::kVllm2026_05),
          64,
          128,
          nullptr,
          mxfp4_matrix,
          mxfp4_place,
          up_first_pairs,
          nullptr,
          nullptr,
          f32_bias};
}
constexpr BackendFormula nvfp4(deployment::Versions engines) {
  return {WeightFormat::nvfp4,
          "FLASHINFER_TRTLLM",
          engines,
          64,
          256,
          nullptr,
          nvfp4_matrix,
          tiled_place,
          up_first_pairs,
          nullptr,
          nvfp4_is_aligned,
          nullptr};
}

constexpr std::array<BackendFormula, 7> kFormulas{
    mxfp4("FLASHINFER_TRTLLM_MXFP4_BF16"),
    mxfp4("FLASHINFER_TRTLLM_MXFP4_MXFP8"),
    nvfp4(deployment::before(deployment::kVllm2026_08)),
    nvfp4(deployment::since(deployment::kVllm2026_08)),
    fp8_formula(WeightFormat::fp8_tensor, "FLASHINFER_TRTLLM", 16, 32, tensor_matrix, weights_shuffled, up_first_pairs, fp8_is_aligned),
    fp8_formula(WeightFormat::fp8_block, "FLASHINFER_TRTLLM", 128, 128, fp8_up_first, block_major_place, up_then_gate),
    fp8_formula(WeightFormat::mxfp8, "FLASHINFER_TRTLLM", 128, 128, mxfp8_matrix, tiled_place, up_first_pairs),
};

}  // namespace

constinit const FamilyFormulas kTrtllmFormulas{.name = "trtllm", .backends = kFormulas, .takes = &kTrtllmTakes, .blocks = &kTrtllmBlocks};

}  // namespace mx::props
