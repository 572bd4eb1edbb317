#include "model/families/cutedsl/family.hpp"

#include <array>

#include "model/families/kernel_form.hpp"

namespace mx::families {

namespace {

/// The 128x4 tile as CuTe names its axes: 32 rows, 4 times 32 rows, tiles of rows, 4 groups, tiles of groups, experts.
FormShape cute_atoms_form(const FormParts& p) {
  const std::int64_t rows = p.memory.rows / 128, columns = p.memory.columns / 4;
  return {{32, 4, rows, 4, columns, p.memory.experts}, {16, 4, columns * 512, 1, 512, rows * columns * 512}};
}
constexpr bool names_cute_axes(const Setting& setting) { return deployment::before(deployment::kVllm2026_08).has(setting.engine); }
constexpr std::array kCutedslFormRows{
    KernelFormRow{
        "FLASHINFER_CUTEDSL", {}, FormPart::scale, names_cute_axes, "float8_e4m3fn", cute_atoms_form, "flashinfer cute_dsl convert_sf_to_mma_layout"},
};

}  // namespace

constinit const std::span<const KernelFormRow> kCutedslForms{kCutedslFormRows};

constinit const Family kCutedslFamily{
    .name = "cutedsl",
    .layouts = {&kCutedslLayouts, 4},
    .blocks = {&kCutedslBlocks, 3},
    .needs = {&kCutedslNeeds},
    .classes = {&kCutedslClasses},
    .executions = {&kCutedslExecutions, 3},
    .forms = {&kCutedslForms},
};

}  // namespace mx::families
