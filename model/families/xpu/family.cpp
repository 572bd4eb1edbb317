#include "model/families/xpu/family.hpp"

#include <array>

#include "model/families/kernel_form.hpp"

namespace mx::families {

namespace {

constexpr std::string_view kXpuFormSource = "vllm fused_moe/experts/xpu_moe.py: transposed for the kernel";
bool xpu_scales_are_transposed(const Setting& setting) { return deployment::since(deployment::kVllm2026_08).has(setting.engine); }
constexpr std::array kXpuFormRows{
    KernelFormRow{{}, layout::WeightFormat::mxfp4, FormPart::weight, nullptr, {}, form_by_rows, kXpuFormSource},
    KernelFormRow{{}, layout::WeightFormat::mxfp4, FormPart::scale, nullptr, {}, form_by_rows, kXpuFormSource},
    KernelFormRow{{}, {}, FormPart::weight, nullptr, {}, form_by_columns, kXpuFormSource},
    KernelFormRow{{}, layout::WeightFormat::fp8_tensor, FormPart::scale, nullptr, {}, form_of_numbers, kXpuFormSource},
    KernelFormRow{{}, {}, FormPart::scale, xpu_scales_are_transposed, {}, form_by_columns, kXpuFormSource},
};

}  // namespace

constinit const std::span<const KernelFormRow> kXpuForms{kXpuFormRows};

constinit const Family kXpuFamily{
    .name = "xpu",
    .layouts = {&kXpuLayouts, 5},
    .needs = {&kXpuNeeds},
    .classes = {&kXpuClasses},
    .executions = {&kXpuExecutions, 10},
    .forms = {&kXpuForms},
};

}  // namespace mx::families
