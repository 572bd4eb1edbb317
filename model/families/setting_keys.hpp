#pragma once
// The fields of a converter's setting as people type them: one row a field, for options, for "NAME,key=value" and for trying all of them. What every
// converter sees stands in setting_keys.cpp, what one family looks at in that family's family.cpp.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "model/families/setting.hpp"

namespace mx::families {

struct SettingKey {
  std::string_view key;    ///< "params-dtype"
  std::string_view takes;  ///< its values, for people
  std::string_view meaning;
  std::span<const std::string_view> trials;  ///< the values that identification tries
  /// Throws Error(usage) naming the value and what is allowed.
  void (*set)(Setting& setting, std::string_view value);
  std::string (*get)(const Setting& setting);
};

/// Every field of Setting besides the sizes: first what every converter sees, then family by family.
std::span<const SettingKey> setting_keys();
/// The row with that key, '-' and '_' the same, or null.
const SettingKey* find_setting_key(std::string_view key);

/// An environment variable of the engine that decides a field.
struct SettingVariable {
  std::string_view name;
  std::string_view key;
  /// The field's word for the variable's text. Throws Error(usage) naming the text where the engine could not read it.
  std::string (*word)(std::string_view text);
};
/// Every one; what a variable decides that none of them names is no field of a converter's.
std::span<const SettingVariable> setting_variables();
/// Sets the field that the variable decides; false where it decides none.
bool set_by_variable(Setting& setting, std::string_view name, std::string_view text);
/// The same for each of several, whether or not it decides one.
void set_by_variables(Setting& setting, const std::map<std::string, std::string>& variables);

/// ",engine=vllm@2026-08,num-warps=4": what a setting says besides its sizes, without the fields that `base` has too.
std::string setting_text(const Setting& setting, const Setting& base);

/// A whole number in low..high. Throws Error(usage) naming `what`, the text and the range.
std::int64_t whole_number(std::string_view what, std::string_view text, std::int64_t low, std::int64_t high);

}  // namespace mx::families
