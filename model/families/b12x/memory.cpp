// B12X, FlashInfer's and its own: NVFP4 in the 128x4 tile, FlashInfer's with all up rows before all gate rows; MXFP4 as loaded.

#include <array>
#include <string>

#include "model/families/b12x/family.hpp"
#include "model/families/building_block.hpp"
#include "model/families/matrix.hpp"
#include "model/families/memory_rows.hpp"

namespace mx::families {
namespace {

layout::TensorPlan build(layout::Role role, const Setting& setting) { return nvfp4_tiled(role, setting, rows_up_first); }

/// Gate and up are filled up to this, each at its own end, one shard as the tile takes it; and so are the columns of w2.
constexpr ConverterPadding kShardPadding{.gated = 64, .not_gated = kNvfp4TilePadding.not_gated};

layout::Layout& pad_shards(layout::Layout& layout, layout::Role role, const Setting& setting) {
  const std::int64_t intermediate = padded_by(kShardPadding, setting).intermediate;
  if (intermediate == setting.padded.intermediate) return layout;
  if (!layout::is_w13(role)) {
    const std::string columns = layout.view().back().name;
    return layout.pad(columns, layout::is_scale(role) ? intermediate / setting.padded.group : intermediate, layout::PadContent::zero);
  }
  layout.split("rows", setting.padded.intermediate, "shard", "rows").pad("rows", intermediate, layout::PadContent::zero);
  return layout.merge({"shard", "rows"}, "rows");
}

layout::TensorPlan build_own(layout::Role role, const Setting& setting) {
  layout::Layout layout = loaded_units(role, setting);
  if (!moves(role)) return {std::move(layout), &layout::kKeep};
  pad_shards(layout, role, setting);
  if (layout::is_w13(role) && setting.of<B12xParameters>().a16) rows_up_first(layout, setting);
  if (layout::is_scale(role)) blocks::sf128x4(layout, "rows", "G");
  return {std::move(layout), &layout::kKeep};
}

constexpr BackendLayout own() {
  BackendLayout row =
      with_padding(nvfp4_row("b12x", "B12X", "gate and up each padded at its own end, up first for 16-bit activations; scales in the 128x4 tile",
                             deployment::since(deployment::kVllm2026_08), {}, build_own),
                   kShardPadding);
  row.source.commit = kCommit2026_08_22;
  return row;
}

constexpr BackendLayout mxfp4(std::string_view backend) {
  BackendLayout row = in_versions(mxfp4_row("b12x", backend, "every tensor as loaded", {}, as_loaded), deployment::since(deployment::kVllm2026_08));
  row.gpt_oss_order = deployment::kNever;
  row.source.commit = kCommit2026_08_22;
  return row;
}

constexpr std::array<BackendLayout, 4> kRows{
    nvfp4_tiled_row("b12x", "FLASHINFER_B12X", kNvfp4UpFirst, deployment::since(deployment::kVllm2026_05), build),
    of_library(own(), "flashinfer"),
    of_library(mxfp4("B12X_MXFP4_MXFP8"), "flashinfer"),
    of_library(mxfp4("B12X_MXFP4_BF16"), "flashinfer"),
};

}  // namespace

constinit const std::span<const BackendLayout> kB12xLayouts{kRows};

}  // namespace mx::families
