// Backends that compute from the loaded buffers as they are.

#include <array>

#include "model/fault.hpp"
#include "model/layout/backend.hpp"

namespace mx::layout {
namespace {

Layout build(Role role, const Sizes& sizes, const Sizes& padded, SourceOrder order) {
  Layout layout = loaded(role, sizes, padded, order);
  if (is_scale(role) && fault::planted(fault::Fault::identity_scale_rows_flipped)) layout.flip(layout.view()[1].name);
  return layout;
}

constexpr Source kSource{"vllm-project/vllm", "vllm/model_executor/layers/fused_moe/oracle/mxfp4.py",
                         "convert_gpt_oss_weight_to_mxfp4_moe_kernel_format, convert_weight_to_mxfp4_moe_kernel_format",
                         "017e9f4448b700e85ee16023287b025693c72b9e"};
constexpr std::string_view kSummary = "every tensor as loaded: the checkpoint's row order, row-major, biases bf16";

constexpr std::array<BackendLayout, 2> kRows{{
    {"XPU", "identity", kSummary, true, false, Cast::none, {}, build, kSource},
    {"EMULATION", "identity", kSummary, true, false, Cast::none, {}, build, kSource},
}};

}  // namespace

std::span<const BackendLayout> identity_layouts() { return kRows; }

}  // namespace mx::layout
