// FlashInfer's CUTLASS kernels: all up rows before all gate rows whatever the checkpoint's order.

#include <array>

#include "model/layout/backend.hpp"

namespace mx::layout {
namespace {

constexpr std::array<Need, 4> kNeeds{{
    {"2I", 128, "the interleaved scales of w13 must fit the shape of the scales"},
    {"H", 128, "the interleaved scales of w2 must fit the shape of the scales"},
    {"H/group", 4, "the interleaved scales of w13 must fit the shape of the scales"},
    {"I/group", 4, "the interleaved scales of w2 must fit the shape of the scales"},
}};

Layout build(Role role, const Sizes& sizes, const Sizes& padded, SourceOrder) {
  check_padded(sizes, padded);
  check_sizes(kNeeds, padded, "flashinfer_cutlass");
  Layout layout = padded_tensor(role, sizes, padded, unit_bits(role));
  const bool gated = layout.view()[1].name == "half";
  if (gated) blocks::up_before_gate(layout);
  if (is_scale(role)) blocks::sf128x4(layout, gated ? "rows" : "N", "G");
  return layout;
}

constexpr std::array<BackendLayout, 1> kRows{{
    {"FLASHINFER_CUTLASS_MXFP4_MXFP8",
     "flashinfer_cutlass",
     "w13 rows up then gate; weights otherwise as they are; scales in the 128x4 tile; biases bf16",
     true,
     true,
     Cast::none,
     kNeeds,
     build,
     {"vllm-project/vllm", "vllm/model_executor/layers/fused_moe/oracle/mxfp4.py",
      "convert_gpt_oss_weight_to_mxfp4_moe_kernel_format, convert_weight_to_mxfp4_moe_kernel_format", "017e9f4448b700e85ee16023287b025693c72b9e"}},
}};

}  // namespace

std::span<const BackendLayout> flashinfer_cutlass_layouts() { return kRows; }

}  // namespace mx::layout
