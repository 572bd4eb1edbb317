#pragma once
// Strict reading of a JSON object: each member is taken once, by name and type, and none may be left.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/json.hpp"

namespace mx::support {

/// The members of one object, each to be taken once. Throws Error(input) that names the place and the key.
class JsonFields {
 public:
  JsonFields(const Json& json, std::string where);

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

}  // namespace mx::support
