#pragma once
// A value of a model's configuration as its file has it: what a reader of JSON hands to those who know what the fields mean.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mx::deployment {

struct ConfigValue {
  enum class Kind : std::uint8_t { null, flag, integer, number, text, list, object };

  Kind kind = Kind::null;
  bool flag = false;
  std::int64_t integer = 0;
  double number = 0;                    ///< of an integer, too
  std::string text = {};                ///< of a text; of a number as it is written
  std::vector<ConfigValue> items = {};  ///< of a list, or of an object
  std::vector<std::string> names = {};  ///< of an object's items

  bool is(Kind wanted) const { return kind == wanted; }
  /// The member under a path of names, "ffn_config.moe_top_k"; null where one of them is not there.
  const ConfigValue* find(std::string_view path) const;
  /// For messages, at most 60 characters: 128.0, 'silu', null, [128, 64], an object.
  std::string written() const;
};

/// "null", "true or false", "an integer", "a number", "text", "a list", "an object".
std::string_view name_of(ConfigValue::Kind kind);

}  // namespace mx::deployment
