// FlashInfer's CUTLASS kernels: all up rows before all gate rows whatever the checkpoint's order.

#include <array>

#include "model/layout/backend.hpp"
#include "model/layout/stage.hpp"

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

TensorPlan build_mxfp8(Role role, const Setting& setting) {
  Layout layout = padded_tensor(role, setting.sizes, setting.padded, unit_bits(role));
  if (is_w13(role)) blocks::up_before_gate(layout);
  if (is_scale(role)) blocks::sf128x4(layout, is_w13(role) ? "rows" : "N", "G");
  return {std::move(layout), &kKeep};
}

constexpr std::array<BackendLayout, 1> kRows{{
    {.format = WeightFormat::mxfp4,
     .backend = "FLASHINFER_CUTLASS_MXFP4_MXFP8",
     .family = "flashinfer_cutlass",
     .summary = "w13 rows up then gate; weights otherwise as they are; scales in the 128x4 tile; biases bf16",
     .engines = kBothEngines,
     .standard_order = kOnly2026_08,
     .gpt_oss_order = kBothEngines,
     .takes_not_gated = false,
     .needs = kTileNeeds,
     .build = build_mxfp8,
     .values = nullptr,
     .undo_values = nullptr,
     .source = {"vllm-project/vllm", "vllm/model_executor/layers/fused_moe/oracle/mxfp4.py",
                "convert_gpt_oss_weight_to_mxfp4_moe_kernel_format, convert_weight_to_mxfp4_moe_kernel_format",
                "017e9f4448b700e85ee16023287b025693c72b9e"}},
}};

}  // namespace

std::span<const BackendLayout> flashinfer_cutlass_layouts() { return kRows; }

}  // namespace mx::layout
