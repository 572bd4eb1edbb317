#pragma once
// What the rows of families/*/memory.cpp start from: the engine's converters of a format that serve several families, and checks that several of
// them make. Each row changes what is its own.

#include <array>
#include <span>
#include <string_view>

#include "model/families/matrix.hpp"
#include "model/families/memory.hpp"
#include "model/families/ran.hpp"

namespace mx::families {

inline constexpr std::string_view kCommit2026_05 = "7e1b45a09252a5b513cd83116aa7a2f310220c34";
inline constexpr std::string_view kCommit2026_08 = "017e9f4448b700e85ee16023287b025693c72b9e";
inline constexpr std::string_view kCommit2026_08_22 = "7ca49fbe4bab019e55d57cdc4b7fd3d55c67c1a6";  // what is not yet in the one above

/// MXFP4: one converter for each order of the checkpoint's rows.
inline constexpr layout::Source kMxfp4Converter{"vllm-project/vllm", "vllm/model_executor/layers/fused_moe/oracle/mxfp4.py",
                                                "convert_gpt_oss_weight_to_mxfp4_moe_kernel_format, convert_weight_to_mxfp4_moe_kernel_format",
                                                kCommit2026_08};
inline constexpr layout::Source kNvfp4Converter{"vllm-project/vllm", "vllm/model_executor/layers/quantization/utils/flashinfer_fp4_moe.py",
                                                "prepare_nvfp4_moe_layer_for_fi_or_cutlass", kCommit2026_08};
/// FP8 for FlashInfer's kernels.
inline constexpr layout::Source kFp8Converter{"vllm-project/vllm", "vllm/model_executor/layers/quantization/utils/flashinfer_utils.py",
                                              "prepare_fp8_moe_layer_for_fi", kCommit2026_08};

using Build = layout::TensorPlan (*)(layout::Role role, const Setting& setting);

/// Of both versions of the engine and both orders of rows, gated alone.
constexpr BackendLayout mxfp4_row(std::string_view family, std::string_view backend, std::string_view summary, std::span<const Need> needs,
                                  Build build) {
  return {.format = layout::WeightFormat::mxfp4,
          .backend = backend,
          .family = family,
          .summary = summary,
          .engines = deployment::since(deployment::kVllm2026_05),
          .standard_order = deployment::since(deployment::kVllm2026_05),
          .gpt_oss_order = deployment::since(deployment::kVllm2026_05),
          .takes_not_gated = false,
          .needs = needs,
          .build = build,
          .values = nullptr,
          .undo_values = nullptr,
          .source = kMxfp4Converter};
}

/// Of standard order, gated or not.
constexpr BackendLayout nvfp4_row(std::string_view family, std::string_view backend, std::string_view summary, deployment::Versions engines,
                                  std::span<const Need> needs, Build build) {
  BackendLayout row{.format = layout::WeightFormat::nvfp4,
                    .backend = backend,
                    .family = family,
                    .summary = summary,
                    .engines = engines,
                    .standard_order = engines,
                    .gpt_oss_order = deployment::kNever,
                    .takes_not_gated = true,
                    .needs = needs,
                    .build = build,
                    .values = nullptr,
                    .undo_values = nullptr,
                    .source = kNvfp4Converter};
  if (!engines.has(deployment::kVllm2026_08)) row.source.commit = kCommit2026_05;
  return row;
}

/// FP8 and MXFP8: of both versions of the engine and of standard order, gated or not.
constexpr BackendLayout fp8_row(std::string_view family, layout::WeightFormat format, std::string_view backend, std::string_view summary,
                                std::span<const Need> needs, Build build) {
  return {.format = format,
          .backend = backend,
          .family = family,
          .summary = summary,
          .engines = deployment::since(deployment::kVllm2026_05),
          .standard_order = deployment::since(deployment::kVllm2026_05),
          .gpt_oss_order = deployment::kNever,
          .takes_not_gated = true,
          .needs = needs,
          .build = build,
          .values = nullptr,
          .undo_values = nullptr,
          .source = kFp8Converter};
}

/// The row of a converter that pads.
constexpr BackendLayout with_padding(BackendLayout row, const ConverterPadding& padding) {
  row.padding = padding;
  return row;
}
/// The row for two shards of w13, gate and up, alone.
constexpr BackendLayout gated_only(BackendLayout row) {
  row.takes_not_gated = false;
  return row;
}
/// Checkpoints in standard order are converted by the engine's later version alone.
constexpr BackendLayout standard_since_2026_08(BackendLayout row) {
  row.standard_order = deployment::since(deployment::kVllm2026_08);
  return row;
}

/// Of these versions alone.
constexpr BackendLayout in_versions(BackendLayout row, deployment::Versions engines) {
  row.engines = row.standard_order = engines;
  if (!engines.has(deployment::kVllm2026_08)) row.source.commit = kCommit2026_05;
  return row;
}

inline constexpr layout::Source kFp8Oracle{"vllm-project/vllm", "vllm/model_executor/layers/fused_moe/oracle/fp8.py",
                                           "convert_to_fp8_moe_kernel_format", kCommit2026_08};

/// FP8 and MXFP8 for what computes from the loaded buffers.
constexpr BackendLayout fp8_as_loaded_row(std::string_view family, layout::WeightFormat format, std::string_view backend,
                                          deployment::Versions engines = deployment::since(deployment::kVllm2026_05)) {
  BackendLayout row = in_versions(fp8_row(family, format, backend, "weights and scales as loaded", {}, as_loaded), engines);
  row.ran.not_gated = false;
  row.source = kFp8Oracle;
  return row;
}

/// MXFP4 for what computes from the loaded buffers.
constexpr BackendLayout as_loaded_row(std::string_view family, std::string_view backend) {
  return standard_since_2026_08(
      mxfp4_row(family, backend, "every tensor as loaded: the checkpoint's row order, row-major, biases bf16", {}, as_loaded));
}

inline bool is_gated(const Setting& setting) { return setting.form.gated; }
inline bool from_gpt_oss(const Setting& setting) { return setting.form.order == layout::SourceOrder::gpt_oss; }

inline constexpr Need kBiasesOfGptOss{Quantity::has_bias, Rule::equals, 1, "both must exist in gpt-oss order", from_gpt_oss};
/// The 128x4 tile of scales, where it must not pad columns.
inline constexpr Need kTileColumnsW13{Quantity::w13_groups, Rule::multiple_of, 4, "the interleaved scales of w13 must fit the shape of the scales"};
inline constexpr Need kTileColumnsW2{Quantity::w2_groups, Rule::multiple_of, 4, "the interleaved scales of w2 must fit the shape of the scales"};
/// NVFP4's converters pad one shard to the rows of that tile, gate and up not.
inline constexpr std::array<Need, 1> kNvfp4TileNeeds{
    {{Quantity::w13_rows, Rule::multiple_of, 128, "gate and up together are not padded", is_gated, "NotImplementedError"}}};

/// NVFP4 whose scales lie in that tile, as nvfp4_tiled makes it.
constexpr BackendLayout nvfp4_tiled_row(std::string_view family, std::string_view backend, std::string_view summary, deployment::Versions engines,
                                        Build build) {
  return with_padding(nvfp4_row(family, backend, summary, engines, kNvfp4TileNeeds, build), kNvfp4TilePadding);
}

inline constexpr std::string_view kNvfp4UpFirst = "w13 rows up then gate; scales in the 128x4 tile";
inline constexpr std::string_view kNvfp4Kept = "weights as loaded; scales in the 128x4 tile";

}  // namespace mx::families
