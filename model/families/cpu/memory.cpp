// The CPU's kernels (AMX): packed in blocks of 32 rows.

#include <array>

#include "model/families/casts.hpp"
#include "model/families/cpu/blocks.hpp"
#include "model/families/cpu/family.hpp"
#include "model/families/memory_rows.hpp"
#include "model/families/row_blocks.hpp"

namespace mx::families {
namespace {

// The rules of the packing itself hold of every MXFP4 layer: sizes are multiples of the group of 32.
layout::TensorPlan build_fp4(layout::Role role, const Setting& setting) {
  if (layout::is_bias(role)) return {loaded_rows(role, setting, 32), &cast_named("bf16_to_f32")};
  layout::Layout layout = loaded_rows(role, setting, layout::unit_bits(role));
  if (layout::is_scale(role)) return {blocks::cpu_scale(layout, "rows", "G"), &layout::kKeep};
  return {blocks::cpu_nibbles(layout, "rows", "K"), &layout::kKeep};
}

layout::TensorPlan build_fp8(layout::Role role, const Setting& setting) {
  layout::Layout layout = loaded_rows(role, setting, layout::unit_bits(role, setting.form.format));
  return {layout::is_weight(role) ? blocks::cpu_vnni2(layout, "rows", "K") : layout, &layout::kKeep};
}

constexpr std::array<Need, 4> kFp8Needs{{
    {Quantity::w13_rows, Rule::multiple_of, 16, "convert_weight_packed takes whole tiles of 16 rows"},
    {Quantity::hidden, Rule::multiple_of, 32, "convert_weight_packed takes whole tiles of 32 columns"},
    {Quantity::w2_rows, Rule::multiple_of, 16, "convert_weight_packed takes whole tiles of 16 rows"},
    {Quantity::intermediate, Rule::multiple_of, 32, "convert_weight_packed takes whole tiles of 32 columns"},
}};

constexpr BackendLayout fp8(layout::WeightFormat format) {
  BackendLayout row = fp8_row("cpu", format, "CPU", "blocks of 32 rows, in them pairs of columns; scales as loaded", kFp8Needs, build_fp8);
  row.source = kFp8Oracle;
  return row;
}

constexpr std::array<BackendLayout, 3> kRows{{
    {.format = layout::WeightFormat::mxfp4,
     .backend = "CPU",
     .family = "cpu",
     .summary = "blocks of 32 rows, rows 0..15 in low nibbles and 16..31 in high ones; scales of a block transposed; rows in order; biases fp32",
     .engines = deployment::since(deployment::kVllm2026_05),
     .standard_order = deployment::kNever,
     .gpt_oss_order = deployment::since(deployment::kVllm2026_05),
     .takes_not_gated = false,
     .needs = {},
     .build = build_fp4,
     .values = nullptr,
     .undo_values = nullptr,
     .source = {"vllm-project/vllm", "vllm/model_executor/layers/fused_moe/oracle/mxfp4.py", "convert_gpt_oss_weight_to_mxfp4_moe_kernel_format",
                kCommit2026_08},
     .ran = {.grounds = Grounds::run_by_parts, .stand_ins = "convert_weight_packed and convert_scale_packed"}},
    read_alone(fp8(layout::WeightFormat::fp8_tensor)),
    by_parts(fp8(layout::WeightFormat::fp8_block), "convert_weight_packed"),
}};

}  // namespace

constinit const std::span<const BackendLayout> kCpuLayouts{kRows};

}  // namespace mx::families
