#pragma once
// The part of JSON Schema (draft 2020-12) that docs/schema/mxact.json is written in; a keyword beyond it is an error, never passed over.

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/json.hpp"

namespace mx::tests {

class JsonSchema {
 public:
  explicit JsonSchema(const support::Json& root) : root_(&root) {}

  /// What is wrong with the value, and where; empty when it follows the schema.
  std::string problem(const support::Json& value, const support::Json& schema, const std::string& place) const {
    for (const support::JsonMember& keyword : schema.items()) {
      const std::string found = keyword_problem(keyword, value, schema, place);
      if (!found.empty()) return found;
    }
    return {};
  }
  /// By the definition that the document names.
  std::string problem(const support::Json& document) const {
    const std::string& schema = document["schema"].text();
    constexpr std::string_view kPrefix = "mxact-";
    if (!schema.starts_with(kPrefix)) return "schema " + schema;
    const std::string name = schema.substr(kPrefix.size(), schema.find('/') - kPrefix.size());
    const support::Json* definition = (*root_)["$defs"].find(name);
    return definition == nullptr ? "no definition of " + schema : problem(document, *definition, name);
  }

 private:
  static bool is_of(const support::Json& value, std::string_view type) {
    if (type == "integer") return value.is_number_integer();
    return type == value.type_name();
  }

  std::string keyword_problem(const support::JsonMember& keyword, const support::Json& value, const support::Json& schema,
                              const std::string& place) const {
    const std::string& key = keyword.key;
    const support::Json& rule = keyword.value;
    const auto unless = [&](bool right) { return right ? std::string() : place + " is " + value.dump().substr(0, 80) + ", not " + rule.dump(); };
    if (key == "description") return {};
    if (key == "$ref") return problem(value, referred(rule.text()), place);
    if (key == "const") return unless(value == rule);
    if (key == "enum") return unless(std::ranges::find(rule, value) != rule.end());
    if (key == "type")
      return unless(rule.is_array() ? std::ranges::any_of(rule, [&](const support::Json& t) { return is_of(value, t.text()); })
                                    : is_of(value, rule.text()));
    if (key == "anyOf") return unless(std::ranges::any_of(rule, [&](const support::Json& one) { return problem(value, one, place).empty(); }));
    if (key == "items") return value.is_array() ? items_problem(value, rule, place) : "";
    if (key == "properties" || key == "additionalProperties") return value.is_object() ? members_problem(key, rule, value, schema, place) : "";
    if (key == "required") {
      for (const support::Json& name : rule) {
        if (value.is_object() && !value.contains(name.text())) return place + " has no " + name.text();
      }
      return {};
    }
    throw std::logic_error("the schema has the keyword " + key);
  }

  std::string items_problem(const support::Json& value, const support::Json& rule, const std::string& place) const {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string found = problem(value[i], rule, place + "[" + std::to_string(i) + "]");
      if (!found.empty()) return found;
    }
    return {};
  }

  std::string members_problem(const std::string& key, const support::Json& rule, const support::Json& value, const support::Json& schema,
                              const std::string& place) const {
    for (const support::JsonMember& member : value.items()) {
      const std::string at = place + "." + member.key;
      const support::Json* named = schema.contains("properties") ? schema["properties"].find(member.key) : nullptr;
      if (key == "properties" && named != nullptr) {
        if (std::string found = problem(member.value, *named, at); !found.empty()) return found;
      }
      if (key == "properties" || named != nullptr) continue;
      if (rule == false) return at + " is no member of the definition";
      if (std::string found = problem(member.value, rule, at); !found.empty()) return found;
    }
    return {};
  }

  const support::Json& referred(std::string_view path) const {
    constexpr std::string_view kPrefix = "#/$defs/";
    if (!path.starts_with(kPrefix)) throw std::logic_error("the schema refers to " + std::string(path));
    return (*root_)["$defs"].at(path.substr(kPrefix.size()));
  }

  const support::Json* root_;
};

}  // namespace mx::tests
