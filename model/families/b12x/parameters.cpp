// Words for what B12X's converters look at.

#include <array>

#include "model/families/b12x/family.hpp"
#include "model/families/setting_key_rows.hpp"

namespace mx::families {
namespace {

constexpr std::array<SettingKey, 1> kKeys{{
    {"a16", kYesNo, "B12X takes 16-bit activations with NVFP4 weights", kBools,
     [](Setting& s, std::string_view v) { s.b12x.a16 = yes_or_no("a16", v); }, [](const Setting& s) { return word_of(s.b12x.a16); }},
}};

}  // namespace

constinit const std::span<const SettingKey> kB12xSettingKeys{kKeys};

}  // namespace mx::families
