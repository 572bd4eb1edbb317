#pragma once
// The fields of a converter's setting as people type them: one row a field, for options, for "NAME,key=value" and for trying all of them. What every
// converter sees stands in setting_keys.cpp, what one family looks at in that family's parameters.cpp.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/families/setting.hpp"

namespace mx::layout {

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

/// ",engine=vllm@2026-08,num-warps=4": what a setting says besides its sizes, without the fields that `base` has too.
std::string setting_text(const Setting& setting, const Setting& base);

/// A whole number in low..high. Throws Error(usage) naming `what`, the text and the range.
std::int64_t whole_number(std::string_view what, std::string_view text, std::int64_t low, std::int64_t high);

/// The rows of the families.
std::span<const SettingKey> triton_setting_keys();
std::span<const SettingKey> aiter_setting_keys();
std::span<const SettingKey> marlin_setting_keys();
std::span<const SettingKey> deepgemm_setting_keys();
std::span<const SettingKey> flashinfer_setting_keys();
std::span<const SettingKey> b12x_setting_keys();

}  // namespace mx::layout
