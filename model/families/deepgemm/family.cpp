// Words for what DeepGEMM's converters look at, and the record.

#include "model/families/deepgemm/family.hpp"

#include <array>
#include <string>

#include "model/error.hpp"
#include "model/families/kernel_form.hpp"
#include "model/families/setting_key_rows.hpp"

namespace mx::families {
namespace {

constexpr std::array<std::string_view, 2> kTrials{"yes", "no"};

constexpr std::array<SettingKey, 1> kKeys{{
    {"deep-gemm-e8m0", kYesNo, "VLLM_USE_DEEP_GEMM_E8M0: DeepGEMM's scales of FP8 blocks are made powers of two (default: yes)", kTrials,
     [](Setting& s, std::string_view v) { s.of<DeepgemmParameters>().e8m0 = yes_or_no("deep-gemm-e8m0", v); },
     [](const Setting& s) { return word_of(s.of<DeepgemmParameters>().e8m0); }},
}};

constexpr std::string_view kE8m0Variable = "VLLM_USE_DEEP_GEMM_E8M0";

/// bool(int(text)) of Python. Source: vllm envs.py.
std::string yes_unless_zero(std::string_view text) {
  const std::size_t first = text.find_first_not_of("+-");
  const std::string_view digits = first == std::string_view::npos ? std::string_view() : text.substr(first);
  if (digits.empty() || first > 1 || digits.find_first_not_of("0123456789") != std::string_view::npos)
    throw Error(ErrorCode::usage, "'" + std::string(text) + "' is no integer", std::string(kE8m0Variable));
  return word_of(digits.find_first_not_of('0') != std::string_view::npos);
}

constexpr std::array<SettingVariable, 1> kVariables{{{kE8m0Variable, "deep-gemm-e8m0", yes_unless_zero}}};

/// Does not compile when the parameters get another field, which must then become a row of kKeys.
[[maybe_unused]] void check_fields(const DeepgemmParameters& parameters) { [[maybe_unused]] const auto& [e8m0] = parameters; }

}  // namespace

constinit const std::span<const SettingVariable> kDeepgemmSettingVariables{kVariables};

constinit const std::span<const SettingKey> kDeepgemmSettingKeys{kKeys};

namespace {

constexpr std::array kDeepgemmFormRows{
    KernelFormRow{{}, {}, FormPart::scale, nullptr, kScaleWord, form_of_lines, "deepgemm csrc/apis/layout.hpp transform_sf_into_required_layout"},
};

}  // namespace

constinit const std::span<const KernelFormRow> kDeepgemmForms{kDeepgemmFormRows};

constinit const Family kDeepgemmFamily{
    .name = "deepgemm",
    .layouts = {&kDeepgemmLayouts, 8},
    .blocks = {&kDeepgemmBlocks, 6},
    .value_blocks = {&kDeepgemmValueBlocks},
    .needs = {&kDeepgemmNeeds},
    .classes = {&kDeepgemmClasses},
    .executions = {&kDeepgemmExecutions, 0},
    .forms = {&kDeepgemmForms},
    .setting_keys = {&kDeepgemmSettingKeys, 3},
    .setting_variables = {&kDeepgemmSettingVariables},
};

}  // namespace mx::families
