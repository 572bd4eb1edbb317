// CuteDSL: NVFP4, of which blocks of up rows and of gate rows alternate; the batched kernel takes the rows as loaded.

#include <array>

#include "model/families/cutedsl/family.hpp"
#include "model/families/matrix.hpp"
#include "model/families/memory_rows.hpp"
#include "model/families/row_blocks.hpp"

namespace mx::families {
namespace {

constexpr std::string_view kRowsAxis = "rows";
constexpr std::int64_t kBlockRows = 64;

void rows_in_blocks(layout::Layout& layout, const Setting& setting) {
  if (!setting.form.gated) return;
  if (setting.engine == deployment::kVllm2026_08 && setting.activation == ConverterActivation::swigluoai) blocks::separate_pairs(layout, kRowsAxis);
  blocks::swap_halves(layout, kRowsAxis);
  blocks::alternate_halves(layout, kRowsAxis, kBlockRows);
}

layout::TensorPlan build(layout::Role role, const Setting& setting) { return nvfp4_tiled(role, setting, rows_in_blocks); }
layout::TensorPlan build_batched(layout::Role role, const Setting& setting) { return nvfp4_tiled(role, setting, rows_kept); }

/// Takes rows interleaved as in gpt-oss as well: with SWIGLUOAI it expects them so.
constexpr BackendLayout from_any_order(BackendLayout row) {
  row.gpt_oss_order = row.engines;
  return row;
}

constexpr BackendLayout row(deployment::Versions engines) {
  return nvfp4_tiled_row("cutedsl", "FLASHINFER_CUTEDSL", "w13 blocks of 64 up rows and 64 gate rows alternate; scales in the 128x4 tile", engines,
                         build);
}

constexpr std::array<BackendLayout, 3> kRows{
    gated_only(row(deployment::before(deployment::kVllm2026_08))),
    changed_in_november(from_any_order(row(deployment::since(deployment::kVllm2026_08))), "I is padded to 64, to 128 without a gate, and H to 256",
                        "Q/flashinfer_fp4_moe.py prepare_nvfp4_moe_layer_for_flashinfer_cutedsl"),
    nvfp4_tiled_row("cutedsl", "FLASHINFER_CUTEDSL_BATCHED", kNvfp4Kept, deployment::since(deployment::kVllm2026_05), build_batched),
};

std::vector<BlockNeed> broken_interleave(const BlockRequest& request) {
  std::vector<BlockNeed> broken;
  need_multiple(broken, kRowsAxis, request.rows, 2 * request.param("group_rows"), "groups of rows of both halves alternate");
  return broken;
}

layout::Layout interleave(const BlockRequest& request) {
  layout::Layout layout({{"batch", request.batch}, {"rows", request.rows}, {"cols", request.cols}}, request.unit_bits);
  return blocks::alternate_halves(layout, kRowsAxis, request.param("group_rows"));
}

constexpr std::array<BlockParam, 1> kGroupRows{{{"group_rows", kBlockRows, 1, 1 << 20, "rows of one half before the other's follow"}}};
constexpr std::array<std::string_view, 1> kVersions{"vllm-2026-08"};

constexpr std::array<BuildingBlock, 1> kBuildingBlocks{{
    {"nvfp4_moe.FLASHINFER_CUTEDSL",
     "rows",
     0,
     "groups of rows of the two halves alternate",
     "dst row r <- src ((r%2g)/g)*(N/2) + g*(r/2g) + r%g, g = group_rows",
     kVersions,
     kGroupRows,
     broken_interleave,
     interleave,
     {kNvfp4Converter.repository, kNvfp4Converter.path, "interleave_linear_and_gate", kCommit2026_08}},
}};

}  // namespace

constinit const std::span<const BackendLayout> kCutedslLayouts{kRows};
constinit const std::span<const BuildingBlock> kCutedslBlocks{kBuildingBlocks};

}  // namespace mx::families
