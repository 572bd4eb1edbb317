// TRT-LLM generated kernels on sm100: rows of w13 alternate up and gate whatever the checkpoint's order, then all rows are shuffled for the
// 128-row epilogue tile; scales follow their rows into the 128x4 tile.

#include <array>

#include "model/fault.hpp"
#include "model/layout/backend.hpp"

namespace mx::layout {
namespace {

constexpr std::array<Need, 4> kNeeds{{
    {"2I", 128, "get_shuffle_matrix_sf_a_row_indices asserts the rows of w13"},
    {"H", 128, "get_shuffle_matrix_sf_a_row_indices asserts the rows of w2"},
    {"H/group", 4, "the interleaved scales of w13 must fit the shape of the scales"},
    {"I/group", 4, "the interleaved scales of w2 must fit the shape of the scales"},
}};

Layout build(Role role, const Sizes& sizes, const Sizes& padded, SourceOrder) {
  check_padded(sizes, padded);
  check_sizes(kNeeds, padded, "trtllm");
  Layout layout = padded_tensor(role, sizes, padded, is_bias(role) ? 32 : unit_bits(role));
  const bool gated = layout.view()[1].name == "half";
  if (gated) blocks::up_gate_interleaved(layout);
  const std::string_view rows = gated ? "rows" : "N";
  if (!is_scale(role) || !fault::planted(fault::Fault::scale_rows_not_shuffled)) blocks::shuffle_a128(layout, rows);
  if (is_scale(role)) blocks::sf128x4(layout, rows, "G");
  return layout;
}

constexpr Source kSource{"vllm-project/vllm", "vllm/model_executor/layers/fused_moe/oracle/mxfp4.py",
                         "convert_gpt_oss_weight_to_mxfp4_moe_kernel_format, convert_weight_to_mxfp4_moe_kernel_format",
                         "017e9f4448b700e85ee16023287b025693c72b9e"};
constexpr std::string_view kSummary =
    "w13 rows up 0, gate 0, up 1, ..; all rows shuffled in blocks of 32; scales in the 128x4 tile; biases fp32 in row order";

constexpr std::array<BackendLayout, 2> kRows{{
    {"FLASHINFER_TRTLLM_MXFP4_BF16", "trtllm", kSummary, true, true, Cast::bf16_to_f32, kNeeds, build, kSource},
    {"FLASHINFER_TRTLLM_MXFP4_MXFP8", "trtllm", kSummary, true, true, Cast::bf16_to_f32, kNeeds, build, kSource},
}};

}  // namespace

std::span<const BackendLayout> trtllm_layouts() { return kRows; }

}  // namespace mx::layout
