#pragma once
// Looking names up for people: case is forgiven, a misspelt name gets the nearest known one.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mx {

/// True when both names are equal once case, '-' and '_' are ignored.
bool same_name(std::string_view a, std::string_view b);

/// The known name with the smallest edit distance to `name`, or an empty view when none is near enough to be a typo.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known);

/// All known names at that smallest distance, in their order.
std::vector<std::string_view> nearest_names(std::string_view name, std::span<const std::string_view> known);

/// At most 200 characters, control characters as \xNN: a message is one line whatever was typed.
std::string printable(std::string_view name);

/// One line for an unknown name: "unknown platform 'SM101' (did you mean SM100?)", or the list of known names when none is near.
std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string_view> known);

}  // namespace mx
