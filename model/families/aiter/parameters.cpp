// Words for what AITER's converters look at.

#include <array>

#include "model/families/aiter/family.hpp"
#include "model/families/setting_key_rows.hpp"

namespace mx::families {
namespace {

constexpr std::array<SettingKey, 1> kKeys{{
    {"a8w4", kYesNo, "AITER's a8w4 switch, with SITU", kBools, [](Setting& s, std::string_view v) { s.aiter.a8w4 = yes_or_no("a8w4", v); },
     [](const Setting& s) { return word_of(s.aiter.a8w4); }},
}};

}  // namespace

constinit const std::span<const SettingKey> kAiterSettingKeys{kKeys};

}  // namespace mx::families
