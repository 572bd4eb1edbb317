#include "model/families/trtllm/family.hpp"

#include <array>

#include "model/families/kernel_form.hpp"

namespace mx::families {

namespace {

constexpr std::string_view kTrtllmFormSource = "flashinfer utils.py and fused_moe/core.py: convert_to_block_layout; scales viewed as float8_e4m3fn";
FormShape blocks_of_128_form(const FormParts& p) { return {{p.memory.experts, p.memory.columns / 128, p.memory.rows, 128}}; }
constexpr std::array kTrtllmFormRows{
    KernelFormRow{{}, layout::WeightFormat::fp8_block, FormPart::weight, nullptr, {}, blocks_of_128_form, kTrtllmFormSource},
    KernelFormRow{{}, layout::WeightFormat::mxfp4, FormPart::scale, nullptr, "float8_e4m3fn", form_by_rows, kTrtllmFormSource},
};

}  // namespace

constinit const std::span<const KernelFormRow> kTrtllmForms{kTrtllmFormRows};

constinit const Family kTrtllmFamily{
    .name = "trtllm",
    .layouts = {&kTrtllmLayouts, 0},
    .blocks = {&kTrtllmBlocks, 0},
    .inputs = {&kTrtllmInputs},
    .needs = {&kTrtllmNeeds},
    .classes = {&kTrtllmClasses},
    .executions = {&kTrtllmExecutions, 1},
    .forms = {&kTrtllmForms},
};

}  // namespace mx::families
