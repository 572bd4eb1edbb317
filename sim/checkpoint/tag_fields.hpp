#pragma once
// Strict reading of the tags' JSON, and settings as JSON. For sim/checkpoint/layout_tags.cpp and sim/checkpoint/converted.cpp.

#include <set>
#include <string>
#include <vector>

#include "model/families/setting.hpp"
#include "sim/checkpoint/scan.hpp"
#include "support/json.hpp"

namespace mx::sim {

/// The members of one object, each to be taken once. Throws Error(input) that names the place and the key.
class TagFields {
 public:
  TagFields(const Json& json, std::string where);

  const Json& at(const std::string& key);
  std::string text(const std::string& key);
  std::int64_t integer(const std::string& key, std::int64_t low, std::int64_t high);
  const Json& array(const std::string& key);
  std::vector<std::string> texts(const std::string& key);
  std::vector<std::int64_t> integers(const std::string& key);
  /// Throws when a member was not taken.
  void finish() const;

  const std::string& where() const { return where_; }

 private:
  const Json& json_;
  std::string where_;
  std::set<std::string> taken_;
};

/// Every field of a setting: sizes, and one word per row of setting_keys(). Reading throws Error(input) naming `where` and the key.
Json setting_json(const layout::Setting& setting);
layout::Setting read_setting(const Json& json, const std::string& where);

/// Faults of the numbers of layers, and one of them back.
Json values_json(const std::vector<LayerValues>& values);
LayerValues read_values(const Json& json, const std::string& where);

}  // namespace mx::sim
