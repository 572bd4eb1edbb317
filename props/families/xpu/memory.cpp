// XPU: MXFP4 as loaded, FP8 transposed. Source: spec layouts 8.2.

#include <array>

#include "props/families/matrix_formula.hpp"

namespace mx::props {
namespace {

using layout::WeightFormat;

/// Weights, and scales with rows and columns.
Memory transposed_place(layout::Role role, const layout::Setting&, const Matrix& sizes) {
  return layout::is_bias(role) ? kept(sizes) : transposed(sizes);
}

constexpr BackendFormula fp8(WeightFormat format, std::int64_t tile_i, std::int64_t tile_h) {
  return fp8_formula(format, "XPU", tile_i, tile_h, loaded_bits, transposed_place, as_loaded);
}

constexpr std::array<BackendFormula, 4> kFormulas{
    mxfp4_as_loaded("XPU"),
    fp8(WeightFormat::fp8_tensor, 16, 32),
    fp8(WeightFormat::fp8_channel, 16, 32),
    fp8(WeightFormat::fp8_block, 128, 128),
};

}  // namespace

std::span<const BackendFormula> xpu_backend_formulas() { return kFormulas; }

}  // namespace mx::props
