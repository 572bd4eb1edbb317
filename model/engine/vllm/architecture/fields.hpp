#pragma once
// Fields of a model's configuration, read as its configuration class does: under the class's own names, with the class's defaults, by their types.

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/config_value.hpp"

namespace mx::engine {

/// A whole number: its names, the class's own first, and what the class fills in. "moe.num_experts" is a member of a member.
struct SizeField {
  std::array<std::string_view, 3> names = {};
  std::int64_t fallback = 0;      ///< of a file that has none of the names; see `given`
  bool has_fallback = false;      ///< false: the file has to say it
  bool null_is_fallback = false;  ///< the class takes null for a missing one

  bool exists() const { return has_fallback || !names[0].empty(); }
};
/// A field that the file has to say, under one of two names.
constexpr SizeField must(std::string_view name, std::string_view other = {}) { return {.names = {name, other}}; }
/// A field that the class has a value for where the file does not say it.
constexpr SizeField usual(std::string_view name, std::int64_t fallback, std::string_view other = {}, std::string_view third = {}) {
  return {.names = {name, other, third}, .fallback = fallback, .has_fallback = true};
}
/// No field has it.
constexpr SizeField fixed(std::int64_t value) { return {.fallback = value, .has_fallback = true}; }

/// A flag, a word or another number likewise.
struct FlagField {
  std::string_view name;
  std::optional<bool> fallback;
};
struct WordField {
  std::string_view name;
  std::string_view fallback;  ///< empty: the file has to say it
};
struct NumberField {
  std::string_view name;
  double fallback = 1;
};

/// Reads fields of one object and remembers which names were asked for. Every read throws Error(input) that names the file, the field, what it holds
/// and what it must be; a field that is missing without a fallback is named as missing.
class FieldReader {
 public:
  /// `part`: what stands before the names in messages, "text_config.".
  FieldReader(const deployment::ConfigValue& object, std::string where, std::string part)
      : object_(object), where_(std::move(where)), part_(std::move(part)) {}

  /// From `low` to `high`. Throws, too, where two names of the field are given and differ.
  std::int64_t size(const SizeField& field, std::int64_t low, std::int64_t high) const;
  bool flag(const FlagField& field) const;
  std::string word(const WordField& field) const;
  double number(const NumberField& field) const;
  /// Null where the name is missing or null.
  const deployment::ConfigValue* given(std::string_view name) const;
  /// A list of whole numbers in the range of int; empty where none is given.
  std::vector<std::int64_t> integers(std::string_view name) const;
  std::vector<std::string> words(std::string_view name) const;

  /// "num_experts is 128.0": the field as messages call it, by the name that the file has.
  std::string called(const SizeField& field) const;
  std::string called(std::string_view name) const;

  [[noreturn]] void fail(const std::string& message) const;         ///< Error(input) with the file
  [[noreturn]] void unsupported(const std::string& message) const;  ///< Error(unsupported) with the file

  const std::string& where() const { return where_; }
  const deployment::ConfigValue& object() const { return object_; }
  bool was_asked(std::string_view name) const { return asked_.contains(name); }
  /// Sizes that the file does not have, with what their class fills in: "num_local_experts 8".
  const std::vector<std::string>& defaults() const { return defaults_; }

 private:
  const deployment::ConfigValue* value_of(const SizeField& field, std::string_view& name) const;
  [[noreturn]] void missing(std::string_view name) const;
  [[noreturn]] void wrong(std::string_view name, const deployment::ConfigValue& value, const std::string& wanted) const;

  const deployment::ConfigValue& object_;
  std::string where_;
  std::string part_;
  mutable std::set<std::string, std::less<>> asked_;
  mutable std::vector<std::string> defaults_;
};

}  // namespace mx::engine
