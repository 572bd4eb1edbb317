// DeepGEMM on sm100: weights and biases as loaded; scales leave e8m0.

#include <array>

#include "model/families/casts.hpp"
#include "model/families/deepgemm/blocks.hpp"
#include "model/families/memory.hpp"
#include "model/families/stage.hpp"

namespace mx::layout {
namespace {

TensorPlan build_upcast(Role role, const Setting& setting) {
  const Cast& cast = is_scale(role) ? cast_named("e8m0_to_f32_shift") : kKeep;
  return {loaded(role, setting.sizes, setting.padded, setting.form, is_scale(role) ? cast.to_bits : unit_bits(role)), &cast};
}

/// The upcast and the packing, which takes the exponent back out, leave every code as it was.
TensorPlan build_packed(Role role, const Setting& setting) {
  Layout layout = loaded(role, setting.sizes, setting.padded, setting.form);
  if (!is_scale(role)) return {std::move(layout), &kKeep};
  const std::string rows = blocks::merge_rows(layout);
  blocks::deepgemm_packed_ue8m0(layout, rows, "G");
  return {std::move(layout), &kKeep};
}

constexpr BackendLayout row(std::string_view summary, Versions engines, TensorPlan (*build)(Role role, const Setting& setting),
                            std::string_view commit) {
  return {.format = WeightFormat::mxfp4,
          .backend = "DEEPGEMM_MXFP4",
          .family = "deepgemm",
          .summary = summary,
          .engines = engines,
          .standard_order = engines,
          .gpt_oss_order = engines,
          .takes_not_gated = false,
          .needs = {},
          .build = build,
          .values = nullptr,
          .undo_values = nullptr,
          .source = {"vllm-project/vllm", "vllm/model_executor/layers/fused_moe/oracle/mxfp4.py",
                     "convert_gpt_oss_weight_to_mxfp4_moe_kernel_format, convert_weight_to_mxfp4_moe_kernel_format", commit}};
}

constexpr std::array<BackendLayout, 2> kRows{{
    row("weights and biases as loaded; scales fp32 in row order (code 0 becomes 0, 255 infinity), packed at run time", before(kVllm2026_08), build_upcast,
        "7e1b45a09252a5b513cd83116aa7a2f310220c34"),
    row("weights and biases as loaded; scales four to a word, words column by column", since(kVllm2026_08), build_packed,
        "017e9f4448b700e85ee16023287b025693c72b9e"),
}};

}  // namespace

std::span<const BackendLayout> deepgemm_layouts() { return kRows; }

}  // namespace mx::layout
