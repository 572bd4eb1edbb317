// NVFP4 for FlashInfer's and vLLM's kernels. Source: spec layouts 10 and rows 17, 18 and 20 of section 14.

#include <array>

#include "props/families/memory_formula.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using layout::ConverterActivation;
using layout::Role;
using layout::Setting;
using layout::WeightFormat;

bool moves(Role role) { return layout::is_weight(role) || layout::is_scale(role); }

std::int64_t columns(Role role, std::int64_t elements) { return layout::is_scale(role) ? elements / 16 : elements; }

/// What TRT-LLM's conversion makes of I: with two shards the multiple grew from 16 to 64.
std::int64_t trtllm_i(const Setting& setting) {
  const std::int64_t multiple = !setting.form.gated ? 128 : setting.engine == kVllm2026_05 ? 16 : 64;
  return round_up(setting.padded.intermediate, multiple);
}

/// half-swap, zero rows behind the whole matrix, then its halves alternate.
Matrix trtllm_matrix(Role role, const Setting& setting) {
  Matrix loaded = loaded_matrix(role, setting);
  if (!moves(role)) return loaded;
  const std::int64_t hidden = round_up(setting.padded.hidden, 256);
  const std::int64_t i = trtllm_i(setting);
  if (!layout::is_w13(role)) return with_size(loaded, hidden, columns(role, i));
  if (!setting.form.gated) return with_size(loaded, i, columns(role, hidden));
  return halves_alternating(with_size(halves_swapped(loaded), 2 * i, columns(role, hidden)));
}

Memory trtllm_place(Role role, const Setting&, const Matrix& sizes) {
  if (!moves(role)) return kept(sizes);
  const std::string_view stage = layout::is_scale(role) ? "trtllm.shuffle_matrix_sf_a" : "trtllm.shuffle_matrix_a";
  return stage_memory(stage, sizes, sizes.bits, {{"epilogue_tile_m", 128}});
}

bool is_aligned(const Setting& setting) { return trtllm_i(setting) == setting.padded.intermediate; }

/// Without gate and up the rows of the tile are filled up: w13's rows, w2's columns.
Matrix tile_padded(Role role, const Setting& setting) {
  Matrix loaded = loaded_matrix(role, setting);
  if (!moves(role) || setting.form.gated) return loaded;
  const std::int64_t i = round_up(setting.padded.intermediate, 128);
  return layout::is_w13(role) ? with_size(loaded, i, loaded.cols) : with_size(loaded, loaded.rows, columns(role, i));
}

bool orders(Role role, const Setting& setting) { return moves(role) && layout::is_w13(role) && setting.form.gated; }

Matrix up_first_matrix(Role role, const Setting& setting) {
  const Matrix loaded = tile_padded(role, setting);
  return orders(role, setting) ? halves_swapped(loaded) : loaded;
}

bool takes_pairs(const Setting& setting) { return setting.engine == kVllm2026_08 && setting.activation == ConverterActivation::swigluoai; }

/// [up; gate], then 64 rows of each in turn.
Matrix cutedsl_matrix(Role role, const Setting& setting) {
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

Memory tile_place(Role role, const Setting&, const Matrix& sizes) {
  return layout::is_scale(role) ? stage_memory("sf_128x4", sizes, 8) : kept(sizes);
}

using MatrixOf = Matrix (*)(Role, const Setting&);
using RowsOf = RowPair (*)(std::int64_t, std::int64_t, const Setting&);

constexpr BackendFormula trtllm(Versions engines) {
  return {WeightFormat::nvfp4, "FLASHINFER_TRTLLM", engines,        64,      256,        nullptr,
          trtllm_matrix,       trtllm_place,        up_first_pairs, nullptr, is_aligned, nullptr};
}
constexpr BackendFormula tiled(std::string_view backend, Versions engines, MatrixOf matrix, RowsOf rows) {
  return {WeightFormat::nvfp4, backend, engines, 64, 128, nullptr, matrix, tile_place, rows, nullptr, nullptr, nullptr};
}
constexpr BackendFormula cutedsl(Versions engines) {
  return {WeightFormat::nvfp4,
          "FLASHINFER_CUTEDSL",
          engines,
          64,
          128,
          draw_activation,
          cutedsl_matrix,
          tile_place,
          in_blocks_of_64,
          nullptr,
          is_of_its_order,
          nullptr};
}

constexpr std::array<BackendFormula, 8> kFormulas{
    trtllm(before(kVllm2026_08)),
    trtllm(since(kVllm2026_08)),
    tiled("FLASHINFER_CUTLASS", since(kVllm2026_05), up_first_matrix, up_then_gate),
    tiled("FLASHINFER_B12X", since(kVllm2026_05), up_first_matrix, up_then_gate),
    tiled("VLLM_CUTLASS", since(kVllm2026_05), tile_padded, gate_then_up),
    cutedsl(before(kVllm2026_08)),
    cutedsl(since(kVllm2026_08)),
    tiled("FLASHINFER_CUTEDSL_BATCHED", since(kVllm2026_05), tile_padded, gate_then_up),
};

}  // namespace

std::span<const BackendFormula> nvfp4_backend_formulas() { return kFormulas; }

}  // namespace mx::props
