#include <algorithm>
#include <array>
#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/layout/backend.hpp"
#include "model/names.hpp"

namespace mx::layout {
namespace {

using fault::Fault;
using fault::planted;

std::int64_t round_up(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

std::int64_t extent_of(const Layout& layout, std::string_view name) {
  for (const Axis& axis : layout.view()) {
    if (axis.name == name) return axis.extent;
  }
  throw Error(ErrorCode::usage, "no axis " + std::string(name), "layout");
}

/// Reorders the view such that `from` stands where it stood, as `to`, a rearrangement of the same axes.
void rearrange(Layout& layout, std::span<const std::string> from, std::span<const std::string> to) {
  std::vector<std::string> names;
  for (const Axis& axis : layout.view()) names.push_back(axis.name);
  std::vector<std::string_view> order;
  std::size_t next = 0;
  for (const std::string& name : names) {
    const bool moved = std::find(from.begin(), from.end(), name) != from.end();
    order.push_back(moved ? to[next++] : name);
  }
  layout.permute(order);
}

/// Within blocks of `block` rows the row block/8*j + i moves to 8*i + j.
Layout& shuffle_rows(Layout& layout, std::string_view rows, std::int64_t block) {
  const std::string name(rows);
  const std::string inner = name + ".inner";
  const std::string i = name + ".i";
  const std::string j = name + ".j";
  layout.split(name, block, name + ".block", inner);
  layout.split(inner, planted(Fault::shuffle_a_wrong_stride) ? 8 : block / 8, j, i);
  rearrange(layout, std::array{j, i}, std::array{i, j});
  const std::string outer = name + ".block";
  return layout.merge({outer, i, j}, name);
}

void refuse_rows(const Layout& layout, std::int64_t multiple, std::string_view stage) {
  const std::int64_t rows = extent_of(layout, "rows");
  if (rows % multiple != 0) {
    throw Error(ErrorCode::usage, std::to_string(rows) + " rows are not a multiple of " + std::to_string(multiple), std::string(stage));
  }
}

void build_sf128x4(Layout& layout, const StageParams&) { blocks::sf128x4(layout, "rows", "cols"); }

void build_sf8x4(Layout& layout, const StageParams&) { blocks::sf8x4(layout, "rows", "cols"); }

void build_gated(Layout& layout, const StageParams&) {
  refuse_rows(layout, 2, "trtllm.reorder_rows_for_gated_act_gemm");
  layout.split("rows", extent_of(layout, "rows") / 2, "half", "i");
  layout.permute({"batch", "i", "half", "cols"}).merge({"i", "half"}, "rows");
}

void build_shuffle_a(Layout& layout, const StageParams& params) {
  if (params.epilogue_tile_m < 1) {
    throw Error(ErrorCode::usage, "an epilogue tile of " + std::to_string(params.epilogue_tile_m) + " rows", "trtllm.shuffle_matrix_a");
  }
  const bool wide = params.epilogue_tile_m % 128 == 0;
  refuse_rows(layout, wide ? 32 : 16, "trtllm.shuffle_matrix_a");
  if (wide) {
    blocks::shuffle_a128(layout, "rows");
  } else {
    blocks::shuffle_a64(layout, "rows");
  }
}

void build_shuffle_sf_a(Layout& layout, const StageParams& params) {
  refuse_rows(layout, 128, "trtllm.shuffle_matrix_sf_a");
  build_shuffle_a(layout, params);
  build_sf128x4(layout, params);
}

constexpr std::string_view kFlashinfer = "fb28d7242b3506a2348265962041acc1fb56cca4";

constexpr std::array<StageLayout, 6> kStages{{
    {"sf_128x4",
     "128x4 tile of block scales (cuBLASLt, CUTLASS Sm1xx); rows to 128 and columns to 4 with zero",
     "off(b,n,g) = b*Np*Gp + ((n/128)*(Gp/4) + g/4)*512 + (n%32)*16 + ((n%128)/32)*4 + g%4",
     build_sf128x4,
     {"flashinfer-ai/flashinfer", "csrc/nv_internal/cpp/kernels/quantization.cu", "block_scale_interleave_kernel", kFlashinfer}},
    {"sf_128x4.cutlass_atom",
     "the same tile as CuTe states it, which leaves the padding open; here it is zero, as the converters write it",
     "((32,4),(V,4)) : ((16,4),(0,1)), tiles along K first, then rows, then batch",
     build_sf128x4,
     {"NVIDIA/cutlass", "include/cutlass/detail/sm100_blockscaled_layout.hpp", "Sm1xxBlockScaledConfig::tile_atom_to_shape_SFB",
      "7107b05535f8977f5ecb9d01ee203205b1fd9bc4"}},
    {"sf_8x4",
     "8x4 tile of activation block scales (TRT-LLM gen, few tokens); rows to 8 and columns to 4 with zero, which the quantizer does not always "
     "write (flashinfer#2861)",
     "off(b,n,g) = b*Np*Gp + ((n/8)*(Gp/4) + g/4)*32 + (n%8)*4 + g%4",
     build_sf8x4,
     {"flashinfer-ai/flashinfer", "csrc/nv_internal/tensorrt_llm/kernels/quantization_utils.cuh", "get_sf_out_offset_8x4", kFlashinfer}},
    {"trtllm.reorder_rows_for_gated_act_gemm",
     "top and bottom halves of the rows alternate",
     "dst row r <- src r/2 + (r%2)*(N/2)",
     build_gated,
     {"flashinfer-ai/flashinfer", "flashinfer/fused_moe/core.py", "reorder_rows_for_gated_act_gemm", kFlashinfer}},
    {"trtllm.shuffle_matrix_a",
     "rows shuffled in blocks of 32 (epilogue tile 128) or 16 (other tiles)",
     "dst row r <- src 32*(r/32) + 4*(r%8) + (r%32)/8, or 16*(r/16) + 2*(r%8) + (r%16)/8",
     build_shuffle_a,
     {"flashinfer-ai/flashinfer", "flashinfer/quantization/fp4_quantization.py", "shuffle_matrix_a", kFlashinfer}},
    {"trtllm.shuffle_matrix_sf_a",
     "rows as trtllm.shuffle_matrix_a, then sf_128x4; needs 128 rows",
     "sf_128x4 after trtllm.shuffle_matrix_a",
     build_shuffle_sf_a,
     {"flashinfer-ai/flashinfer", "flashinfer/quantization/fp4_quantization.py", "shuffle_matrix_sf_a", kFlashinfer}},
}};

}  // namespace

namespace blocks {

Layout& up_gate_interleaved(Layout& layout) {
  if (!planted(Fault::gate_up_not_flipped)) layout.flip("half");
  rearrange(layout, std::array<std::string, 2>{"half", "I"}, std::array<std::string, 2>{"I", "half"});
  return layout.merge({"I", "half"}, "rows");
}

Layout& up_before_gate(Layout& layout) {
  if (!planted(Fault::gate_up_not_flipped)) layout.flip("half");
  return layout.merge({"half", "I"}, "rows");
}

Layout& shuffle_a128(Layout& layout, std::string_view rows) { return shuffle_rows(layout, rows, 32); }

Layout& shuffle_a64(Layout& layout, std::string_view rows) { return shuffle_rows(layout, rows, 16); }

Layout& sf128x4(Layout& layout, std::string_view rows, std::string_view cols) {
  const std::string row(rows);
  const std::string col(cols);
  const std::string row_tile = row + ".tile";
  const std::string quarter = row + ".quarter";
  const std::string lane = row + ".lane";
  const std::string col_tile = col + ".tile";
  const std::string byte = col + ".byte";
  const std::int64_t padded_rows = round_up(extent_of(layout, row), 128);
  const std::int64_t padded_cols = round_up(extent_of(layout, col), 4);
  if (padded_rows != extent_of(layout, row)) layout.pad(row, padded_rows, PadContent::zero);
  if (padded_cols != extent_of(layout, col)) layout.pad(col, padded_cols, PadContent::zero);
  layout.split(row, 128, row_tile, row);
  if (planted(Fault::sf128x4_rows_mixed)) {
    layout.split(row, 4, lane, quarter);
  } else {
    layout.split(row, 32, quarter, lane);
  }
  layout.split(col, 4, col_tile, byte);
  std::vector<std::string> from;
  for (const Axis& axis : layout.view()) from.push_back(axis.name);
  from.erase(from.begin(), from.end() - 5);
  if (planted(Fault::sf128x4_columns_swapped)) {
    rearrange(layout, from, std::array{row_tile, col_tile, lane, byte, quarter});
  } else {
    rearrange(layout, from, std::array{row_tile, col_tile, lane, quarter, byte});
  }
  return layout;
}

Layout& sf8x4(Layout& layout, std::string_view rows, std::string_view cols) {
  const std::string row(rows);
  const std::string col(cols);
  const std::int64_t padded_rows = round_up(extent_of(layout, row), 8);
  const std::int64_t padded_cols = round_up(extent_of(layout, col), 4);
  if (padded_rows != extent_of(layout, row)) layout.pad(row, padded_rows, PadContent::zero);
  if (padded_cols != extent_of(layout, col)) layout.pad(col, padded_cols, PadContent::zero);
  const std::string row_tile = row + ".tile";
  const std::string lane = row + ".lane";
  const std::string col_tile = col + ".tile";
  const std::string byte = col + ".byte";
  layout.split(row, 8, row_tile, lane);
  layout.split(col, 4, col_tile, byte);
  const std::array from{row_tile, lane, col_tile, byte};
  if (planted(Fault::sf8x4_columns_first)) {
    rearrange(layout, from, std::array{row_tile, col_tile, byte, lane});
  } else {
    rearrange(layout, from, std::array{row_tile, col_tile, lane, byte});
  }
  return layout;
}

}  // namespace blocks

std::span<const StageLayout> all_stage_layouts() { return kStages; }

Layout stage_layout(std::string_view name, std::int64_t batch, std::int64_t rows, std::int64_t cols, int unit_bits, const StageParams& params) {
  std::array<std::string_view, kStages.size()> names;
  for (std::size_t i = 0; i < kStages.size(); ++i) {
    if (same_name(kStages[i].name, name)) {
      Layout layout({{"batch", batch}, {"rows", rows}, {"cols", cols}}, unit_bits);
      kStages[i].build(layout, params);
      return layout;
    }
    names[i] = kStages[i].name;
  }
  throw Error(ErrorCode::usage, unknown_name("layout", name, names));
}

}  // namespace mx::layout
