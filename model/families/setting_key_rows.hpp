#pragma once
// What the rows of setting keys are made of.

#include <array>
#include <string>
#include <string_view>

#include "model/families/setting_keys.hpp"

namespace mx::families {

inline constexpr std::string_view kYesNo = "yes or no";
inline constexpr std::array<std::string_view, 2> kBools{"no", "yes"};

/// Throws Error(usage) naming the value and the key.
bool yes_or_no(std::string_view key, std::string_view value);
inline std::string word_of(bool value) { return value ? "yes" : "no"; }

}  // namespace mx::families
