// Words for what triton_kernels' converters look at, and the record.

#include "model/families/triton_kernels/family.hpp"

#include <array>

#include "model/error.hpp"
#include "model/families/kernel_form.hpp"
#include "model/families/setting_key_rows.hpp"
#include "model/names.hpp"
#include "model/numerics/rows.hpp"

namespace mx::families {
namespace {

using rows::Word;
using Text = std::string_view;

constexpr std::array<Word<TritonKernels>, 3> kReleases{{
    {TritonKernels::v3_5, "triton_kernels-3.5"},
    {TritonKernels::v3_7, "triton_kernels-3.7"},
    {TritonKernels::v2026_08, "triton_kernels-2026-08"},
}};

constexpr int kMostWarps = 1 << 10;
constexpr std::array<Text, 4> kTrials{"engine", "triton_kernels-3.5", "triton_kernels-3.7", "triton_kernels-2026-08"};
constexpr std::array<Text, 5> kWarps{"1", "2", "4", "8", "16"};

void set_release(Setting& setting, Text value) {
  setting.of<TritonParameters>().release = same_name(value, "engine") ? std::nullopt : std::optional(triton_kernels_named(value));
}

constexpr std::array<SettingKey, 4> kKeys{{
    {"triton-kernels", "triton_kernels-3.5, -3.7, -2026-08, or engine: the one it is built against", "release of triton_kernels", kTrials,
     set_release,
     [](const Setting& s) { return std::string(s.of<TritonParameters>().release ? name_of(*s.of<TritonParameters>().release) : "engine"); }},
    {"torch-before-2-8-1", kYesNo, "torch is older than 2.8.1", kBools,
     [](Setting& s, Text v) { s.of<TritonParameters>().torch_before_2_8_1 = yes_or_no("torch-before-2-8-1", v); },
     [](const Setting& s) { return word_of(s.of<TritonParameters>().torch_before_2_8_1); }},
    {"num-warps", "1 or more", "warps of the Hopper scale layout", kWarps,
     [](Setting& s, Text v) { s.of<TritonParameters>().num_warps = static_cast<int>(whole_number("num-warps", v, 1, kMostWarps)); },
     [](const Setting& s) { return std::to_string(s.of<TritonParameters>().num_warps); }},
    {"before-swizzle", kYesNo, "stop before the layout of triton_kernels", kBools,
     [](Setting& s, Text v) { s.of<TritonParameters>().before_swizzle = yes_or_no("before-swizzle", v); },
     [](const Setting& s) { return word_of(s.of<TritonParameters>().before_swizzle); }},
}};

/// Does not compile when the parameters get another field, which must then become a row of kKeys.
[[maybe_unused]] void check_fields(const TritonParameters& parameters) {
  [[maybe_unused]] const auto& [release, torch_before_2_8_1, num_warps, before_swizzle] = parameters;
}

}  // namespace

std::string_view name_of(TritonKernels version) { return rows::word_of<TritonKernels>(kReleases, version); }
TritonKernels triton_kernels_named(std::string_view name) {
  constexpr Text kPrefix = "triton_kernels-";
  std::string known;
  for (const Word<TritonKernels>& row : kReleases) {
    if (same_name(row.name, name) || row.name.substr(kPrefix.size()) == name) return row.value;
    known += (known.empty() ? "" : ", ") + std::string(row.name.substr(kPrefix.size()));
  }
  if (name == "3.6") return TritonKernels::v3_7;
  throw Error(ErrorCode::unsupported, "release " + std::string(name) + " of triton_kernels is not known: " + known + " are", "triton-kernels");
}

constinit const std::span<const SettingKey> kTritonKernelsSettingKeys{kKeys};

namespace {

/// MXFP4 is [E, K, N] to the kernels, K the fastest axis; the device's layout is a view of the same kind, or tiles.
constexpr std::string_view kTritonForms = "triton python/triton_kernels tensor_details/layout_details, swizzle_data";
FormShape hopper_value_form(const FormParts& p) { return form_transposed(p.memory.experts, 2 * p.memory.columns, p.memory.rows / 4); }
FormShape scales_of_32_rows_form(const FormParts& p) { return form_transposed(p.memory.experts, 32 * p.memory.columns, p.memory.rows / 32); }
FormShape blackwell_scale_form(const FormParts& p) { return {{1, p.memory.experts * p.memory.rows / 128, p.memory.columns / 4, 2, 256}}; }
/// Where the device's layout is not the plain one.
template <Arch kArch>
bool is_swizzled_on(const Setting& setting) {
  const TritonParameters& triton = setting.of<TritonParameters>();
  if (setting.arch != kArch || triton.before_swizzle) return false;
  const bool is_august = deployment::since(deployment::kVllm2026_08).has(setting.engine);
  if (kArch == Arch::sm90) return !triton.torch_before_2_8_1;
  return kArch != Arch::gfx950 || !is_august || setting.tp_size <= 2;
}
constexpr std::array kTritonFormRows{
    KernelFormRow{{}, layout::WeightFormat::mxfp4, FormPart::weight, is_swizzled_on<Arch::sm90>, "uint8", hopper_value_form, kTritonForms},
    KernelFormRow{{}, layout::WeightFormat::mxfp4, FormPart::weight, nullptr, "uint8", form_by_columns, kTritonForms},
    KernelFormRow{{}, layout::WeightFormat::mxfp4, FormPart::scale, is_swizzled_on<Arch::sm90>, "uint8", scales_of_32_rows_form, kTritonForms},
    KernelFormRow{{}, layout::WeightFormat::mxfp4, FormPart::scale, is_swizzled_on<Arch::sm100>, "uint8", blackwell_scale_form, kTritonForms},
    KernelFormRow{{}, layout::WeightFormat::mxfp4, FormPart::scale, is_swizzled_on<Arch::gfx950>, "uint8", scales_of_32_rows_form, kTritonForms},
    KernelFormRow{{}, layout::WeightFormat::mxfp4, FormPart::scale, nullptr, "uint8", form_by_columns, kTritonForms},
};

}  // namespace

constinit const std::span<const KernelFormRow> kTritonKernelsForms{kTritonFormRows};

constinit const Family kTritonKernelsFamily{
    .name = "triton_kernels",
    .layouts = {&kTritonKernelsLayouts, 7},
    .blocks = {&kTritonKernelsBlocks, 5},
    .needs = {&kTritonKernelsNeeds},
    .classes = {&kTritonKernelsClasses},
    .executions = {&kTritonKernelsExecutions, 8},
    .forms = {&kTritonKernelsForms},
    .setting_keys = {&kTritonKernelsSettingKeys, 0},
};

}  // namespace mx::families
