// Words for what AITER's converters look at, and the record.

#include "model/families/aiter/family.hpp"

#include <array>

#include "model/families/kernel_form.hpp"
#include "model/families/setting_key_rows.hpp"

namespace mx::families {
namespace {

constexpr std::array<SettingKey, 1> kKeys{{
    {"a8w4", kYesNo, "AITER's a8w4 switch, with SITU", kBools,
     [](Setting& s, std::string_view v) { s.of<AiterParameters>().a8w4 = yes_or_no("a8w4", v); },
     [](const Setting& s) { return word_of(s.of<AiterParameters>().a8w4); }},
}};

/// Does not compile when the parameters get another field, which must then become a row of kKeys.
[[maybe_unused]] void check_fields(const AiterParameters& parameters) { [[maybe_unused]] const auto& [a8w4] = parameters; }

}  // namespace

constinit const std::span<const SettingKey> kAiterSettingKeys{kKeys};

namespace {

FormShape experts_in_rows_form(const FormParts& p) { return {{p.memory.experts * p.memory.rows, p.memory.columns}}; }
/// The converter views what it shuffled as the rows that there were.
FormShape viewed_by_rows_form(const FormParts& p) { return {{p.memory.experts, p.rows, p.memory.rows * p.memory.columns / p.rows}}; }
constexpr bool is_situ_scale(const Setting& setting) { return setting.activation == ConverterActivation::situ && setting.arch != Arch::gfx1250; }
constexpr bool is_shuffled_scale(const Setting& setting) { return setting.arch != Arch::gfx1250; }
constexpr std::string_view kAiterFormSource = "aiter utility/fp4_utils.py e8m0_shuffle, ops/shuffle.py";
constexpr std::array kAiterFormRows{
    KernelFormRow{"AITER_MXFP4_BF16", {}, FormPart::scale, is_situ_scale, "float8_e8m0fnu", experts_in_rows_form, kAiterFormSource},
    KernelFormRow{"AITER_MXFP4_BF16", {}, FormPart::scale, is_shuffled_scale, "uint8", experts_in_rows_form, kAiterFormSource},
    KernelFormRow{"AITER_MXFP4_MXFP4", {}, FormPart::scale, nullptr, "uint8", viewed_by_rows_form, kAiterFormSource},
    KernelFormRow{"AITER_MXFP8", {}, FormPart::scale, nullptr, "uint8", experts_in_rows_form, kAiterFormSource},
};

}  // namespace

constinit const std::span<const KernelFormRow> kAiterForms{kAiterFormRows};

constinit const Family kAiterFamily{
    .name = "aiter",
    .layouts = {&kAiterLayouts, 11},
    .blocks = {&kAiterBlocks, 1},
    .inputs = {&kAiterInputs},
    .needs = {&kAiterNeeds},
    .classes = {&kAiterClasses},
    .executions = {&kAiterExecutions, 7},
    .forms = {&kAiterForms},
    .setting_keys = {&kAiterSettingKeys, 1},
};

}  // namespace mx::families
