// TRT-LLM generated kernels on sm100: rows of w13 alternate up and gate whatever the checkpoint's order, then all rows are shuffled for the
// 128-row epilogue tile; scales follow their rows into the 128x4 tile.

#include <array>

#include "model/families/casts.hpp"
#include "model/families/memory.hpp"
#include "model/families/stage.hpp"
#include "model/fault.hpp"

namespace mx::layout {
namespace {

bool from_gpt_oss(const Setting& setting) { return setting.form.order == SourceOrder::gpt_oss; }

constexpr std::array<Need, 5> kNeeds{{
    {Quantity::has_bias, Rule::equals, 1, "both must exist in gpt-oss order", from_gpt_oss},
    {Quantity::w13_rows, Rule::multiple_of, 128, "get_shuffle_matrix_sf_a_row_indices asserts the rows of w13"},
    {Quantity::w2_rows, Rule::multiple_of, 128, "get_shuffle_matrix_sf_a_row_indices asserts the rows of w2"},
    {Quantity::w13_groups, Rule::multiple_of, 4, "the interleaved scales of w13 must fit the shape of the scales"},
    {Quantity::w2_groups, Rule::multiple_of, 4, "the interleaved scales of w2 must fit the shape of the scales"},
}};

TensorPlan build(Role role, const Setting& setting) {
  const Cast& cast = is_bias(role) ? cast_named("bf16_to_f32") : kKeep;
  Layout layout = padded_tensor(role, setting.sizes, setting.padded, is_bias(role) ? cast.to_bits : unit_bits(role));
  if (is_w13(role)) blocks::up_gate_interleaved(layout);
  const std::string_view rows = is_w13(role) ? "rows" : "N";
  if (!is_scale(role) || !fault::planted(fault::Fault::scale_rows_not_shuffled)) blocks::shuffle_a128(layout, rows);
  if (is_scale(role)) blocks::sf128x4(layout, rows, "G");
  return {std::move(layout), &cast};
}

constexpr Source kSource{"vllm-project/vllm", "vllm/model_executor/layers/fused_moe/oracle/mxfp4.py",
                         "convert_gpt_oss_weight_to_mxfp4_moe_kernel_format, convert_weight_to_mxfp4_moe_kernel_format",
                         "017e9f4448b700e85ee16023287b025693c72b9e"};

constexpr BackendLayout row(std::string_view backend) {
  return {.format = WeightFormat::mxfp4,
          .backend = backend,
          .family = "trtllm",
          .summary = "w13 rows up 0, gate 0, up 1, ..; all rows shuffled in blocks of 32; scales in the 128x4 tile; biases fp32 in row order",
          .engines = since(kVllm2026_05),
          .standard_order = since(kVllm2026_05),
          .gpt_oss_order = since(kVllm2026_05),
          .takes_not_gated = false,
          .needs = kNeeds,
          .build = build,
          .values = nullptr,
          .undo_values = nullptr,
          .source = kSource};
}

constexpr std::array<BackendLayout, 2> kRows{row("FLASHINFER_TRTLLM_MXFP4_BF16"), row("FLASHINFER_TRTLLM_MXFP4_MXFP8")};

}  // namespace

std::span<const BackendLayout> trtllm_layouts() { return kRows; }

}  // namespace mx::layout
