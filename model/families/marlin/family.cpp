// Words for what Marlin's converters look at, and the record.

#include "model/families/marlin/family.hpp"

#include <array>

#include "model/families/setting_key_rows.hpp"

namespace mx::families {
namespace {

constexpr std::array<std::string_view, 1> kScaleBytes{"0"};

constexpr std::array<SettingKey, 1> kKeys{{
    {"largest-scale-byte", "0..255", "largest byte of the checkpoint's scales, which Marlin with 8-bit activations looks at", kScaleBytes,
     [](Setting& s, std::string_view v) {
       s.of<MarlinParameters>().largest_scale_byte = static_cast<int>(whole_number("largest-scale-byte", v, 0, 255));
     },
     [](const Setting& s) { return std::to_string(s.of<MarlinParameters>().largest_scale_byte); }},
}};

/// Does not compile when the parameters get another field, which must then become a row of kKeys.
[[maybe_unused]] void check_fields(const MarlinParameters& parameters) { [[maybe_unused]] const auto& [largest_scale_byte] = parameters; }

}  // namespace

constinit const std::span<const SettingKey> kMarlinSettingKeys{kKeys};

constinit const Family kMarlinFamily{
    .name = "marlin",
    .layouts = {&kMarlinLayouts, 9},
    .blocks = {&kMarlinBlocks, 8},
    .value_blocks = {&kMarlinValueBlocks},
    .inputs = {&kMarlinInputs},
    .needs = {&kMarlinNeeds},
    .classes = {&kMarlinClasses},
    .executions = {&kMarlinExecutions, 6},
    .setting_keys = {&kMarlinSettingKeys, 2},
};

}  // namespace mx::families
