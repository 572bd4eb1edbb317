#pragma once
// What several families' converters do to matrices, said a second time: NVFP4 in the 128x4 tile, FP8 with up before gate, tensors as loaded. Source:
// spec layouts 8.2, 10 and 11.

#include "props/families/memory_formula.hpp"

namespace mx::props {

using MatrixOf = Matrix (*)(layout::Role, const families::Setting&);
using PlaceOf = Memory (*)(layout::Role, const families::Setting&, const Matrix&);
using RowsOf = RowPair (*)(std::int64_t, std::int64_t, const families::Setting&);

bool moves(layout::Role role);                                         ///< weights and their scales
bool orders(layout::Role role, const families::Setting& setting);      ///< of these w13's, where it has two halves
std::int64_t nvfp4_columns(layout::Role role, std::int64_t elements);  ///< of weights, or of their scales

/// The checkpoint's bits as loaded, row-major.
Matrix loaded_bits(layout::Role role, const families::Setting& setting);
Memory kept_place(layout::Role, const families::Setting&, const Matrix& sizes);

/// NVFP4: of one shard the rows of the tile are filled up, w13's rows and w2's columns.
Matrix tile_padded(layout::Role role, const families::Setting& setting);
Matrix tile_padded_up_first(layout::Role role, const families::Setting& setting);
Memory tile_place(layout::Role role, const families::Setting&, const Matrix& sizes);

/// FP8 per tensor: zero rows behind the whole matrix, then half-swap of the padded size; and whether nothing was padded.
Matrix fp8_padded_up_first(layout::Role role, const families::Setting& setting);
bool fp8_is_aligned(const families::Setting& setting);
/// Of blocks the rows of scales count blocks; they are swapped as the weights are.
Matrix fp8_up_first(layout::Role role, const families::Setting& setting);

constexpr BackendFormula mxfp4_as_loaded(std::string_view backend) {
  return {layout::WeightFormat::mxfp4,
          backend,
          deployment::since(deployment::kVllm2026_05),
          32,
          64,
          nullptr,
          loaded_bits,
          kept_place,
          as_loaded,
          nullptr,
          nullptr,
          nullptr};
}
/// FP8 and MXFP8 as loaded.
constexpr BackendFormula fp8_as_loaded(layout::WeightFormat format, std::string_view backend,
                                       deployment::Versions engines = deployment::since(deployment::kVllm2026_05)) {
  return {format, backend, engines, 32, 64, nullptr, loaded_bits, kept_place, as_loaded, nullptr, nullptr, nullptr};
}
constexpr BackendFormula nvfp4_tiled(std::string_view backend, MatrixOf matrix, RowsOf rows) {
  return {layout::WeightFormat::nvfp4,
          backend,
          deployment::since(deployment::kVllm2026_05),
          64,
          128,
          nullptr,
          matrix,
          tile_place,
          rows,
          nullptr,
          nullptr,
          nullptr};
}
constexpr BackendFormula fp8_formula(layout::WeightFormat format, std::string_view backend, std::int64_t tile_i, std::int64_t tile_h, MatrixOf matrix,
                                     PlaceOf place, RowsOf rows, bool (*halves_meet)(const families::Setting&) = nullptr) {
  return {format, backend, deployment::since(deployment::kVllm2026_05), tile_i, tile_h, nullptr, matrix, place, rows, nullptr, halves_meet, nullptr};
}

}  // namespace mx::props
