// MXFP4 for FlashInfer's kernels. Source: spec layouts 2 and 3.

#include <array>

#include "props/families/memory_formula.hpp"

namespace mx::props {
namespace {

using layout::Role;
using layout::Setting;
using layout::WeightFormat;

/// w13 rows up 0, gate 0, up 1, ..
Matrix trtllm_matrix(Role role, const Setting& setting) {
  Matrix loaded = loaded_with_f32_bias(role, setting);
  if (!layout::is_w13(role)) return loaded;
  if (is_standard(setting)) return halves_alternating(halves_swapped(loaded));
  return with_rows(loaded, loaded.rows, [](std::int64_t r) { return r ^ 1; });
}

Memory trtllm_place(Role role, const Setting&, const Matrix& sizes) {
  const std::string_view stage = layout::is_scale(role) ? "trtllm.shuffle_matrix_sf_a" : "trtllm.shuffle_matrix_a";
  return stage_memory(stage, sizes, sizes.bits, {{"epilogue_tile_m", 128}});
}

/// All up rows, then all gate rows.
Matrix cutlass_matrix(Role role, const Setting& setting) {
  Matrix loaded = loaded_matrix(role, setting);
  if (!layout::is_w13(role)) return loaded;
  return halves_swapped(is_standard(setting) ? loaded : pairs_separated(loaded));
}

Memory cutlass_mxfp8_place(Role role, const Setting&, const Matrix& sizes) {
  return layout::is_scale(role) ? stage_memory("sf_128x4", sizes, 8) : kept(sizes);
}

Memory cutlass_bf16_place(Role role, const Setting&, const Matrix& sizes) {
  if (layout::is_weight(role)) return stage_memory("cutlass_sm90_mixed.weight.fp4", sizes, 8);
  return layout::is_scale(role) ? stage_memory("cutlass_sm90_mixed.scale", sizes, 8, {{"group_size", 32}}) : kept(sizes);
}

constexpr BackendFormula trtllm(std::string_view backend) {
  return {WeightFormat::mxfp4, backend, since(kVllm2026_05), 64, 128, nullptr, trtllm_matrix, trtllm_place, up_first_pairs, nullptr, nullptr, f32_bias};
}
constexpr std::array<BackendFormula, 2> kTrtllm{trtllm("FLASHINFER_TRTLLM_MXFP4_BF16"), trtllm("FLASHINFER_TRTLLM_MXFP4_MXFP8")};

constexpr std::array<BackendFormula, 2> kCutlass{{
    {WeightFormat::mxfp4, "FLASHINFER_CUTLASS_MXFP4_BF16", since(kVllm2026_05), 128, 128, nullptr, cutlass_matrix, cutlass_bf16_place, up_then_gate, nullptr,
     nullptr, nullptr},
    {WeightFormat::mxfp4, "FLASHINFER_CUTLASS_MXFP4_MXFP8", since(kVllm2026_05), 128, 128, nullptr, cutlass_matrix, cutlass_mxfp8_place, up_then_gate,
     nullptr, nullptr, nullptr},
}};

/// XPU and EMULATION take what is loaded. Source: spec layouts 8.2.
Matrix loaded(Role role, const Setting& setting) { return loaded_matrix(role, setting); }
Memory kept_place(Role, const Setting&, const Matrix& sizes) { return kept(sizes); }

constexpr BackendFormula identity(std::string_view backend) {
  return {WeightFormat::mxfp4, backend, since(kVllm2026_05), 32, 64, nullptr, loaded, kept_place, as_loaded, nullptr, nullptr, nullptr};
}
constexpr std::array<BackendFormula, 2> kIdentity{identity("XPU"), identity("EMULATION")};

}  // namespace

std::span<const BackendFormula> trtllm_backend_formulas() { return kTrtllm; }
std::span<const BackendFormula> flashinfer_cutlass_backend_formulas() { return kCutlass; }
std::span<const BackendFormula> identity_backend_formulas() { return kIdentity; }

}  // namespace mx::props
