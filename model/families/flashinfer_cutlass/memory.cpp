// FlashInfer's CUTLASS kernels: all up rows before all gate rows, of MXFP4 whatever the checkpoint's order.

#include <array>

#include "model/families/block_scales.hpp"
#include "model/families/building_block.hpp"
#include "model/families/flashinfer_cutlass/family.hpp"
#include "model/families/flashinfer_cutlass/sm90_mixed_blocks.hpp"
#include "model/families/matrix.hpp"
#include "model/families/memory_rows.hpp"

namespace mx::families {
namespace {

/// Whether bits are scattered and scales folded for the product on sm90.
bool folds(const Setting& setting) { return flashinfer_of(setting) == Flashinfer::v0_6_18; }
bool keeps_nibbles(const Setting& setting) { return !folds(setting); }

layout::TensorPlan build_mxfp4_bf16(layout::Role role, const Setting& setting) {
  layout::Layout layout = layout::padded_tensor(role, setting.sizes, setting.padded, layout::unit_bits(role));
  if (layout::is_w13(role)) blocks::up_before_gate(layout);
  const std::string_view rows = layout::is_w13(role) ? "rows" : "N";
  if (!folds(setting)) {
    if (layout::is_weight(role)) blocks::sm90_mixed_fp4_nibbles(layout, rows, "K");
    if (layout::is_scale(role)) blocks::sm90_mixed_scale_lines(layout, rows, "G", setting.padded.group);
    return {std::move(layout), &layout::kKeep};
  }
  if (layout::is_weight(role)) blocks::sm90_mixed_fp4(layout, rows, "K");
  if (layout::is_scale(role)) blocks::sm90_mixed_scale(layout, rows, "G", setting.padded.group);
  return {std::move(layout), &layout::kKeep};
}

layout::TensorPlan build_mxfp4_mxfp8(layout::Role role, const Setting& setting) {
  layout::Layout layout = layout::padded_tensor(role, setting.sizes, setting.padded, layout::unit_bits(role));
  if (layout::is_w13(role)) blocks::up_before_gate(layout);
  if (layout::is_scale(role)) blocks::sf128x4(layout, layout::is_w13(role) ? "rows" : "N", "G");
  return {std::move(layout), &layout::kKeep};
}

layout::TensorPlan build_nvfp4(layout::Role role, const Setting& setting) { return nvfp4_tiled(role, setting, rows_up_first); }

layout::TensorPlan build_fp8_tensor(layout::Role role, const Setting& setting) { return {fp8_padded_up_first(role, setting), &layout::kKeep}; }

layout::TensorPlan build_fp8_block(layout::Role role, const Setting& setting) { return {fp8_up_first(role, setting), &layout::kKeep}; }

/// The weights' own rules, rows of 16 and 64 elements along K, follow from those of the scales.
constexpr std::array<Need, 7> kMixedNeeds{{
    kBiasesOfGptOss,
    {Quantity::w13_rows, Rule::multiple_of, 16, "rows of w13 are interleaved in blocks of 16, unchecked", keeps_nibbles},
    {Quantity::w2_rows, Rule::multiple_of, 16, "rows of w2 are interleaved in blocks of 16, unchecked", keeps_nibbles},
    {Quantity::w13_rows, Rule::multiple_of, 64, "the scales of w13 are folded in blocks of 64 rows", folds},
    {Quantity::w13_groups, Rule::multiple_of, 4, "a line holds the scales of 128 elements of w13"},
    {Quantity::w2_rows, Rule::multiple_of, 64, "the scales of w2 are folded in blocks of 64 rows", folds},
    {Quantity::w2_groups, Rule::multiple_of, 4, "a line holds the scales of 128 elements of w2"},
}};
constexpr std::array<Need, 5> kTileNeeds{{
    kBiasesOfGptOss,
    {Quantity::w13_rows, Rule::multiple_of, 128, "the interleaved scales of w13 must fit the shape of the scales"},
    {Quantity::w2_rows, Rule::multiple_of, 128, "the interleaved scales of w2 must fit the shape of the scales"},
    kTileColumnsW13,
    kTileColumnsW2,
}};

constexpr BackendLayout mxfp4(std::string_view backend, std::string_view summary, std::span<const Need> needs, Build build) {
  return standard_since_2026_08(mxfp4_row("flashinfer_cutlass", backend, summary, needs, build));
}

constexpr BackendLayout fp8(layout::WeightFormat format, std::string_view summary, Build build) {
  return fp8_row("flashinfer_cutlass", format, "FLASHINFER_CUTLASS", summary, {}, build);
}

constexpr std::array<BackendLayout, 5> kRows{
    of_library(by_parts(mxfp4("FLASHINFER_CUTLASS_MXFP4_BF16",
                              "w13 rows up then gate; weights in bytes of two elements from rows 8 apart, scales of 128 elements side by side; since "
                              "FlashInfer 0.6.18 "
                              "words from rows 8 apart with scattered bits, and scales folded into lines of 16 bytes; biases bf16",
                              kMixedNeeds, build_mxfp4_bf16),
                        "up to FlashInfer 0.6.17 the interleave of the weights, from its text"),
               "flashinfer"),
    of_library(
        by_parts(mxfp4("FLASHINFER_CUTLASS_MXFP4_MXFP8",
                       "w13 rows up then gate; weights otherwise as they are; scales in the 128x4 tile; biases bf16", kTileNeeds, build_mxfp4_mxfp8),
                 kTileStandIn),
        "flashinfer"),
    nvfp4_tiled_row("flashinfer_cutlass", "FLASHINFER_CUTLASS", kNvfp4UpFirst, deployment::since(deployment::kVllm2026_05), build_nvfp4),
    changed_in_november(
        with_padding(fp8(layout::WeightFormat::fp8_tensor, "w13 rows up then gate, of the halves padded at the end of the matrix", build_fp8_tensor),
                     kFp8TensorPadding),
        kEachHalfPadded, kEachHalfSource),
    by_parts(with_raised_scales(fp8(layout::WeightFormat::fp8_block, "w13 and its scales up then gate; scales at least 1e-10", build_fp8_block)),
             "scales of layers with one matrix in w13 were not recorded"),
};

}  // namespace

constinit const std::span<const BackendLayout> kFlashinferCutlassLayouts{kRows};

}  // namespace mx::families
