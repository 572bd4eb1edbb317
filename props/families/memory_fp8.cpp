// FP8 and MXFP8 for FlashInfer's kernels and XPU. Source: spec layouts 11 and 8.2.

#include <array>

#include "props/families/memory_formula.hpp"

namespace mx::props {
namespace {

using layout::Role;
using layout::Setting;
using layout::WeightFormat;

std::int64_t padded_i(const Setting& setting) { return round_up(setting.padded.intermediate, setting.form.gated ? 16 : 128); }

bool orders(Role role, const Setting& setting) { return layout::is_w13(role) && setting.form.gated && !layout::is_bias(role); }

/// Zero rows behind the whole matrix, then half-swap of the padded size.
Matrix tensor_matrix(Role role, const Setting& setting) {
  Matrix loaded = loaded_matrix(role, setting);
  if (!layout::is_weight(role)) return loaded;
  if (!layout::is_w13(role)) return with_size(loaded, loaded.rows, padded_i(setting));
  const Matrix padded = with_size(loaded, shard_count(setting) * padded_i(setting), loaded.cols);
  return setting.form.gated ? halves_swapped(padded) : padded;
}

Matrix tensor_trtllm_matrix(Role role, const Setting& setting) {
  const Matrix matrix = tensor_matrix(role, setting);
  return layout::is_weight(role) && orders(role, setting) ? halves_alternating(matrix) : matrix;
}

bool is_aligned(const Setting& setting) { return padded_i(setting) == setting.padded.intermediate; }

/// Of blocks the rows of scales count blocks; they are swapped as the weights are.
Matrix up_first_matrix(Role role, const Setting& setting) {
  const Matrix loaded = loaded_matrix(role, setting);
  return orders(role, setting) ? halves_swapped(loaded) : loaded;
}

Matrix mxfp8_matrix(Role role, const Setting& setting) {
  const Matrix matrix = up_first_matrix(role, setting);
  return orders(role, setting) ? halves_alternating(matrix) : matrix;
}

Matrix loaded(Role role, const Setting& setting) { return loaded_matrix(role, setting); }

Memory kept_place(Role, const Setting&, const Matrix& sizes) { return kept(sizes); }

Memory shuffled_place(Role role, const Setting&, const Matrix& sizes) {
  if (layout::is_weight(role)) return stage_memory("trtllm.shuffle_matrix_a", sizes, 8, {{"epilogue_tile_m", 128}});
  return kept(sizes);
}

Memory mxfp8_place(Role role, const Setting&, const Matrix& sizes) {
  if (layout::is_bias(role)) return kept(sizes);
  return stage_memory(layout::is_scale(role) ? "trtllm.shuffle_matrix_sf_a" : "trtllm.shuffle_matrix_a", sizes, 8, {{"epilogue_tile_m", 128}});
}

/// Rows shuffled in blocks of 16, then [K/128][N][128].
Memory block_major_place(Role role, const Setting&, const Matrix& sizes) {
  if (!layout::is_weight(role)) return kept(sizes);
  Matrix rows{sizes.experts, sizes.rows, sizes.cols, 8, {}};
  for (std::int64_t source : stage_memory("trtllm.shuffle_matrix_a", sizes, 8, {{"epilogue_tile_m", 64}}).sources) rows.units.push_back(source);
  return composed(stage_memory("trtllm.block_major_k", sizes, 8, {{"block_k", 128}}), rows);
}

/// Weights, and scales with rows and columns.
Memory transposed_place(Role role, const Setting&, const Matrix& sizes) { return layout::is_bias(role) ? kept(sizes) : transposed(sizes); }

using MatrixOf = Matrix (*)(Role, const Setting&);
using PlaceOf = Memory (*)(Role, const Setting&, const Matrix&);
using RowsOf = RowPair (*)(std::int64_t, std::int64_t, const Setting&);

constexpr BackendFormula row(WeightFormat format, std::string_view backend, std::int64_t tile_i, std::int64_t tile_h, MatrixOf matrix, PlaceOf place,
                             RowsOf rows, bool (*halves_meet)(const Setting&) = nullptr) {
  return {format, backend, since(kVllm2026_05), tile_i, tile_h, nullptr, matrix, place, rows, nullptr, halves_meet, nullptr};
}

constexpr std::array<BackendFormula, 8> kFormulas{
    row(WeightFormat::fp8_tensor, "FLASHINFER_CUTLASS", 16, 32, tensor_matrix, kept_place, up_then_gate, is_aligned),
    row(WeightFormat::fp8_tensor, "FLASHINFER_TRTLLM", 16, 32, tensor_trtllm_matrix, shuffled_place, up_first_pairs, is_aligned),
    row(WeightFormat::fp8_block, "FLASHINFER_CUTLASS", 128, 128, up_first_matrix, kept_place, up_then_gate),
    row(WeightFormat::fp8_block, "FLASHINFER_TRTLLM", 128, 128, up_first_matrix, block_major_place, up_then_gate),
    row(WeightFormat::mxfp8, "FLASHINFER_TRTLLM", 128, 128, mxfp8_matrix, mxfp8_place, up_first_pairs),
    row(WeightFormat::fp8_tensor, "XPU", 16, 32, loaded, transposed_place, as_loaded),
    row(WeightFormat::fp8_channel, "XPU", 16, 32, loaded, transposed_place, as_loaded),
    row(WeightFormat::fp8_block, "XPU", 128, 128, loaded, transposed_place, as_loaded),
};

}  // namespace

std::span<const BackendFormula> fp8_backend_formulas() { return kFormulas; }

}  // namespace mx::props
