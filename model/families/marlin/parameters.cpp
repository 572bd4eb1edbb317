// Words for what Marlin's converters look at.

#include <array>

#include "model/families/marlin/family.hpp"
#include "model/families/setting_key_rows.hpp"

namespace mx::families {
namespace {

constexpr std::array<std::string_view, 1> kScaleBytes{"0"};

constexpr std::array<SettingKey, 1> kKeys{{
    {"largest-scale-byte", "0..255", "largest byte of the checkpoint's scales, which Marlin with 8-bit activations looks at", kScaleBytes,
     [](Setting& s, std::string_view v) { s.marlin.largest_scale_byte = static_cast<int>(whole_number("largest-scale-byte", v, 0, 255)); },
     [](const Setting& s) { return std::to_string(s.marlin.largest_scale_byte); }},
}};

}  // namespace

constinit const std::span<const SettingKey> kMarlinSettingKeys{kKeys};

}  // namespace mx::families
