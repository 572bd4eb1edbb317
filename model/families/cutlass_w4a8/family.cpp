#include "model/families/cutlass_w4a8/family.hpp"

#include <array>

#include "model/families/kernel_form.hpp"

namespace mx::families {

namespace {

constexpr std::array kW4a8FormRows{
    KernelFormRow{{}, {}, FormPart::weight, nullptr, "int32", form_by_rows, "vllm csrc/quantization/cutlass_w4a8: eight codes in a word"},
    KernelFormRow{{}, {}, FormPart::scale, nullptr, {}, nullptr, {}},
};

}  // namespace

constinit const std::span<const KernelFormRow> kCutlassW4a8Forms{kW4a8FormRows};

constinit const Family kCutlassW4a8Family{
    .name = "cutlass_w4a8",
    .layouts = {&kCutlassW4a8Layouts, 13},
    .blocks = {&kCutlassW4a8Blocks, 4},
    .value_blocks = {&kCutlassW4a8ValueBlocks},
    .inputs = {&kCutlassW4a8Inputs},
    .needs = {&kCutlassW4a8Needs},
    .classes = {&kCutlassW4a8Classes},
    .executions = {&kCutlassW4a8Executions, 14},
    .forms = {&kCutlassW4a8Forms},
};

}  // namespace mx::families
