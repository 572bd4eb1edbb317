// Words for what Humming's converter looks at, and the record.

#include "model/families/humming/family.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/error.hpp"
#include "model/families/kernel_form.hpp"
#include "model/families/setting_key_rows.hpp"
#include "model/names.hpp"
#include "model/numerics/rows.hpp"

namespace mx::families {
namespace {

using rows::Word;
using Text = std::string_view;

constexpr std::array<Word<Humming>, 3> kReleases{{{Humming::v0_1_0, "0.1.0"}, {Humming::v0_1_12, "0.1.12"}, {Humming::v0_1_19, "0.1.19"}}};
constexpr std::array<Text, 4> kTrials{"engine", "0.1.0", "0.1.12", "0.1.19"};

constexpr std::array<SettingKey, 2> kKeys{{
    {"humming", "a release, as 0.1.12, or engine: the one that it asks for", "release of humming-kernels", kTrials,
     [](Setting& s, Text v) { s.of<HummingParameters>().release = same_name(v, "engine") ? std::nullopt : std::optional(humming_named(v)); },
     [](const Setting& s) { return std::string(s.of<HummingParameters>().release ? name_of(*s.of<HummingParameters>().release) : "engine"); }},
    {"humming-group-128", kYesNo, "Humming's 8-bit activations have a scale for every 128 of K, not for a token", kBools,
     [](Setting& s, Text v) { s.of<HummingParameters>().group_128 = yes_or_no("humming-group-128", v); },
     [](const Setting& s) { return word_of(s.of<HummingParameters>().group_128); }},
}};

/// Does not compile when the parameters get another field, which must then become a row of kKeys.
[[maybe_unused]] void check_fields(const HummingParameters& parameters) { [[maybe_unused]] const auto& [release, group_128] = parameters; }

}  // namespace

std::string_view name_of(Humming release) { return rows::word_of<Humming>(kReleases, release); }

Humming humming_named(Text release) {
  std::string known;
  for (const Word<Humming>& row : kReleases) {
    if (row.name == release) return row.value;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw Error(ErrorCode::unsupported, "release " + std::string(release) + " of humming is not known: " + known + " are", "humming");
}

Humming humming_of(const Setting& setting) {
  return setting.of<HummingParameters>().release.value_or(setting.engine >= deployment::kVllm2026_08 ? Humming::v0_1_12 : Humming::v0_1_0);
}

constinit const std::span<const SettingKey> kHummingSettingKeys{kKeys};

namespace {

/// As Marlin's; with activations of 8 bits no form is known.
constexpr std::string_view kHummingTiles = "humming-kernels, its converter: int32 tiles of 16 columns, scales by column";
constexpr bool humming_takes_16_bits(const Setting& setting) { return setting.input_dtype == InputDtype::none; }
constexpr std::array kHummingFormRows{
    KernelFormRow{{}, {}, FormPart::weight, humming_takes_16_bits, "int32", form_of_tiles, kHummingTiles},
    KernelFormRow{{}, layout::WeightFormat::mxfp4, FormPart::scale, humming_takes_16_bits, "float8_e8m0fnu", form_of_scales, kHummingTiles},
    KernelFormRow{{}, layout::WeightFormat::mxfp8, FormPart::scale, humming_takes_16_bits, "float8_e8m0fnu", form_of_scales, kHummingTiles},
    KernelFormRow{{}, layout::WeightFormat::nvfp4, FormPart::scale, humming_takes_16_bits, "float8_e4m3fn", form_of_scales, kHummingTiles},
    KernelFormRow{{}, {}, FormPart::scale, humming_takes_16_bits, kParamsDtype, form_of_scales, kHummingTiles},
    KernelFormRow{{}, {}, FormPart::weight, nullptr, {}, nullptr, {}},
    KernelFormRow{{}, {}, FormPart::scale, nullptr, {}, nullptr, {}},
};

}  // namespace

constinit const std::span<const KernelFormRow> kHummingForms{kHummingFormRows};

constinit const Family kHummingFamily{
    .name = "humming",
    .layouts = {&kHummingLayouts, 10},
    .blocks = {&kHummingBlocks, 9},
    .value_blocks = {&kHummingValueBlocks},
    .needs = {&kHummingNeeds},
    .classes = {&kHummingClasses},
    .executions = {&kHummingExecutions, 13},
    .forms = {&kHummingForms},
    .setting_keys = {&kHummingSettingKeys, 6},
};

}  // namespace mx::families
