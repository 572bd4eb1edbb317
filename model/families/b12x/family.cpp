// Words for what B12X's converters look at, and the record.

#include "model/families/b12x/family.hpp"

#include <array>

#include "model/families/setting_key_rows.hpp"

namespace mx::families {
namespace {

constexpr std::array<SettingKey, 1> kKeys{{
    {"a16", kYesNo, "B12X takes 16-bit activations with NVFP4 weights", kBools,
     [](Setting& s, std::string_view v) { s.of<B12xParameters>().a16 = yes_or_no("a16", v); },
     [](const Setting& s) { return word_of(s.of<B12xParameters>().a16); }},
}};

/// Does not compile when the parameters get another field, which must then become a row of kKeys.
[[maybe_unused]] void check_fields(const B12xParameters& parameters) { [[maybe_unused]] const auto& [a16] = parameters; }

}  // namespace

constinit const std::span<const SettingKey> kB12xSettingKeys{kKeys};

constinit const Family kB12xFamily{
    .name = "b12x",
    .layouts = {&kB12xLayouts, 2},
    .needs = {&kB12xNeeds},
    .classes = {&kB12xClasses},
    .executions = {&kB12xExecutions, 4},
    .setting_keys = {&kB12xSettingKeys, 5},
};

}  // namespace mx::families
