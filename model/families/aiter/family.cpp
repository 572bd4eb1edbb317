// Words for what AITER's converters look at, and the record.

#include "model/families/aiter/family.hpp"

#include <array>

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

constinit const Family kAiterFamily{
    .name = "aiter",
    .layouts = {&kAiterLayouts, 11},
    .blocks = {&kAiterBlocks, 1},
    .inputs = {&kAiterInputs},
    .needs = {&kAiterNeeds},
    .classes = {&kAiterClasses},
    .executions = {&kAiterExecutions, 7},
    .setting_keys = {&kAiterSettingKeys, 1},
};

}  // namespace mx::families
