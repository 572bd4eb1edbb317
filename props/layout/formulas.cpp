#include "props/layout/formulas.hpp"

#include <array>
#include <string>

#include "model/error.hpp"

namespace mx::props {
namespace {

using layout::Role;
using layout::Sizes;
using layout::SourceOrder;

using RowMap = std::int64_t (*)(std::int64_t r, std::int64_t intermediate);

/// Maps of the rows of w13 by checkpoint order, of the rows of w2, and whether scales are tiled. Rows are applied as the converters apply them.
struct BackendFormula {
  std::string_view backend;
  RowMap w13_gpt_oss;
  RowMap w13_standard;
  RowMap w2;
  bool tiled_scales;
};

std::int64_t same(std::int64_t r, std::int64_t) { return r; }
std::int64_t shuffled(std::int64_t r, std::int64_t) { return shuffled_row_128(r); }
std::int64_t swapped_then_shuffled(std::int64_t r, std::int64_t) { return shuffled_row_128(r) ^ 1; }
std::int64_t interleaved_then_shuffled(std::int64_t r, std::int64_t i) {
  const std::int64_t s = shuffled_row_128(r);
  return (s % 2 == 0 ? i : 0) + s / 2;
}
std::int64_t odd_rows_first(std::int64_t r, std::int64_t i) { return r < i ? 2 * r + 1 : 2 * (r - i); }
std::int64_t halves_swapped(std::int64_t r, std::int64_t i) { return (r + i) % (2 * i); }

constexpr std::array<BackendFormula, 5> kFormulas{{
    {"FLASHINFER_TRTLLM_MXFP4_BF16", swapped_then_shuffled, interleaved_then_shuffled, shuffled, true},
    {"FLASHINFER_TRTLLM_MXFP4_MXFP8", swapped_then_shuffled, interleaved_then_shuffled, shuffled, true},
    {"FLASHINFER_CUTLASS_MXFP4_MXFP8", odd_rows_first, halves_swapped, same, true},
    {"XPU", same, same, same, false},
    {"EMULATION", same, same, same, false},
}};

const BackendFormula& formula_of(std::string_view backend) {
  for (const BackendFormula& row : kFormulas) {
    if (row.backend == backend) return row;
  }
  throw Error(ErrorCode::usage, "no closed formula for " + std::string(backend));
}

std::int64_t rows_of(Role role, const Sizes& sizes) { return layout::is_w13(role) ? 2 * sizes.intermediate : sizes.hidden; }

std::int64_t columns_of(Role role, const Sizes& sizes) {
  const std::int64_t length = layout::is_w13(role) ? sizes.hidden : sizes.intermediate;
  if (layout::is_bias(role)) return 1;
  return layout::is_scale(role) ? length / sizes.group : length;
}

/// Row of the checkpoint that a row of the loaded buffer holds, or -1: interleaved rows are padded at the end, halves each at its own.
std::int64_t checkpoint_row(Role role, SourceOrder order, const Sizes& sizes, const Sizes& padded, std::int64_t row) {
  if (!layout::is_w13(role) || order == SourceOrder::gpt_oss) return row < rows_of(role, sizes) ? row : -1;
  const std::int64_t half = row / padded.intermediate;
  const std::int64_t i = row % padded.intermediate;
  return i < sizes.intermediate ? half * sizes.intermediate + i : -1;
}

}  // namespace

std::int64_t shuffled_row_128(std::int64_t r) { return 32 * (r / 32) + 4 * (r % 8) + (r % 32) / 8; }
std::int64_t shuffled_row_64(std::int64_t r) { return 16 * (r / 16) + 2 * (r % 8) + (r % 16) / 8; }
std::int64_t gated_row(std::int64_t r, std::int64_t rows) { return r / 2 + (r % 2) * (rows / 2); }

std::int64_t scale_tile_offset(std::int64_t n, std::int64_t g, std::int64_t padded_groups) {
  return ((n / 128) * (padded_groups / 4) + g / 4) * 512 + (n % 32) * 16 + ((n % 128) / 32) * 4 + g % 4;
}

ScalePlace scale_tile_place(std::int64_t p, std::int64_t padded_groups) {
  const std::int64_t t = p / 512;
  return {128 * (t / (padded_groups / 4)) + 32 * ((p % 16) / 4) + (p % 512) / 16, 4 * (t % (padded_groups / 4)) + p % 4};
}

std::int64_t source_row(std::string_view backend, Role role, SourceOrder order, std::int64_t r, std::int64_t intermediate) {
  const BackendFormula& formula = formula_of(backend);
  if (!layout::is_w13(role)) return formula.w2(r, intermediate);
  return (order == SourceOrder::gpt_oss ? formula.w13_gpt_oss : formula.w13_standard)(r, intermediate);
}

bool has_tiled_scales(std::string_view backend) { return formula_of(backend).tiled_scales; }

std::int64_t checkpoint_unit(std::string_view backend, Role role, SourceOrder order, const Sizes& sizes, const Sizes& padded, std::int64_t u) {
  const std::int64_t columns = columns_of(role, padded);
  const std::int64_t per_expert = rows_of(role, padded) * columns;
  const std::int64_t expert = u / per_expert;
  ScalePlace place{u % per_expert / columns, u % columns};
  if (layout::is_scale(role) && has_tiled_scales(backend)) place = scale_tile_place(u % per_expert, columns);
  const std::int64_t row = checkpoint_row(role, order, sizes, padded, source_row(backend, role, order, place.row, padded.intermediate));
  if (row < 0 || place.group >= columns_of(role, sizes)) return -1;
  return (expert * rows_of(role, sizes) + row) * columns_of(role, sizes) + place.group;
}

std::int64_t unit_count(Role role, const Sizes& sizes) { return sizes.experts * rows_of(role, sizes) * columns_of(role, sizes); }

}  // namespace mx::props
