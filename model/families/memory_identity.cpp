// Backends that compute from the loaded buffers as they are.

#include <array>

#include "model/families/memory.hpp"
#include "model/fault.hpp"

namespace mx::layout {
namespace {

TensorPlan build(Role role, const Setting& setting) {
  Layout layout = loaded(role, setting.sizes, setting.padded, setting.form);
  if (is_scale(role) && fault::planted(fault::Fault::identity_scale_rows_flipped)) layout.flip(layout.view()[1].name);
  return {std::move(layout), &kKeep};
}

constexpr BackendLayout row(std::string_view backend) {
  return {.format = WeightFormat::mxfp4,
          .backend = backend,
          .family = "identity",
          .summary = "every tensor as loaded: the checkpoint's row order, row-major, biases bf16",
          .engines = since(kVllm2026_05),
          .standard_order = since(kVllm2026_08),
          .gpt_oss_order = since(kVllm2026_05),
          .takes_not_gated = false,
          .needs = {},
          .build = build,
          .values = nullptr,
          .undo_values = nullptr,
          .source = {"vllm-project/vllm", "vllm/model_executor/layers/fused_moe/oracle/mxfp4.py",
                     "convert_gpt_oss_weight_to_mxfp4_moe_kernel_format, convert_weight_to_mxfp4_moe_kernel_format",
                     "017e9f4448b700e85ee16023287b025693c72b9e"}};
}

constexpr std::array<BackendLayout, 2> kRows{row("XPU"), row("EMULATION")};

}  // namespace

std::span<const BackendLayout> identity_layouts() { return kRows; }

}  // namespace mx::layout
