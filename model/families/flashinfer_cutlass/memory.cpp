// FlashInfer's CUTLASS kernels: all up rows before all gate rows whatever the checkpoint's order.

#include <array>

#include "model/families/flashinfer_cutlass/sm90_mixed_blocks.hpp"
#include "model/families/memory.hpp"
#include "model/families/stage.hpp"

namespace mx::layout {
namespace {

bool from_gpt_oss(const Setting& setting) { return setting.form.order == SourceOrder::gpt_oss; }

constexpr std::array<Need, 5> kTileNeeds{{
    {Quantity::has_bias, Rule::equals, 1, "both must exist in gpt-oss order", from_gpt_oss},
    {Quantity::w13_rows, Rule::multiple_of, 128, "the interleaved scales of w13 must fit the shape of the scales"},
    {Quantity::w2_rows, Rule::multiple_of, 128, "the interleaved scales of w2 must fit the shape of the scales"},
    {Quantity::w13_groups, Rule::multiple_of, 4, "the interleaved scales of w13 must fit the shape of the scales"},
    {Quantity::w2_groups, Rule::multiple_of, 4, "the interleaved scales of w2 must fit the shape of the scales"},
}};

/// The weights' own rules, rows of 16 and 64 elements along K, follow from those of the scales.
constexpr std::array<Need, 5> kFoldNeeds{{
    {Quantity::has_bias, Rule::equals, 1, "both must exist in gpt-oss order", from_gpt_oss},
    {Quantity::w13_rows, Rule::multiple_of, 64, "the scales of w13 are folded in blocks of 64 rows"},
    {Quantity::w13_groups, Rule::multiple_of, 4, "a line holds the scales of 128 elements of w13"},
    {Quantity::w2_rows, Rule::multiple_of, 64, "the scales of w2 are folded in blocks of 64 rows"},
    {Quantity::w2_groups, Rule::multiple_of, 4, "a line holds the scales of 128 elements of w2"},
}};

TensorPlan build_bf16(Role role, const Setting& setting) {
  Layout layout = padded_tensor(role, setting.sizes, setting.padded, unit_bits(role));
  if (is_w13(role)) blocks::up_before_gate(layout);
  const std::string_view rows = is_w13(role) ? "rows" : "N";
  if (is_weight(role)) blocks::sm90_mixed_fp4(layout, rows, "K");
  if (is_scale(role)) blocks::sm90_mixed_scale(layout, rows, "G", setting.padded.group);
  return {std::move(layout), &kKeep};
}

TensorPlan build_mxfp8(Role role, const Setting& setting) {
  Layout layout = padded_tensor(role, setting.sizes, setting.padded, unit_bits(role));
  if (is_w13(role)) blocks::up_before_gate(layout);
  if (is_scale(role)) blocks::sf128x4(layout, is_w13(role) ? "rows" : "N", "G");
  return {std::move(layout), &kKeep};
}

constexpr BackendLayout row(std::string_view backend, std::string_view summary, std::span<const Need> needs,
                            TensorPlan (*build)(Role role, const Setting& setting)) {
  return {.format = WeightFormat::mxfp4,
          .backend = backend,
          .family = "flashinfer_cutlass",
          .summary = summary,
          .engines = since(kVllm2026_05),
          .standard_order = since(kVllm2026_08),
          .gpt_oss_order = since(kVllm2026_05),
          .takes_not_gated = false,
          .needs = needs,
          .build = build,
          .values = nullptr,
          .undo_values = nullptr,
          .source = {"vllm-project/vllm", "vllm/model_executor/layers/fused_moe/oracle/mxfp4.py",
                     "convert_gpt_oss_weight_to_mxfp4_moe_kernel_format, convert_weight_to_mxfp4_moe_kernel_format",
                     "017e9f4448b700e85ee16023287b025693c72b9e"}};
}

constexpr std::array<BackendLayout, 2> kRows{{
    row("FLASHINFER_CUTLASS_MXFP4_BF16",
        "w13 rows up then gate; weights in words from rows 8 apart with scattered bits; scales folded into lines of 16 bytes; biases bf16",
        kFoldNeeds, build_bf16),
    row("FLASHINFER_CUTLASS_MXFP4_MXFP8", "w13 rows up then gate; weights otherwise as they are; scales in the 128x4 tile; biases bf16", kTileNeeds,
        build_mxfp8),
}};

}  // namespace

std::span<const BackendLayout> flashinfer_cutlass_layouts() { return kRows; }

}  // namespace mx::layout
