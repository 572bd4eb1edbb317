#pragma once
// A run's JSON read by name and by type; what is missing or of another type is an error that says where.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/json.hpp"

namespace mx::verbs {

using support::Json;

/// One value of a document that lives longer than it. Every reader throws Error(input) with the place: "run.json: cells[3].verdict".
class Node {
 public:
  Node(const Json& json, std::string place) : json_(&json), place_(std::move(place)) {}

  /// A member that must be there.
  Node operator[](std::string_view key) const;
  /// A member that may be missing; null counts as missing.
  std::optional<Node> find(std::string_view key) const;
  /// Elements of an array.
  std::vector<Node> items() const;
  /// Members of an object, in the order of the file.
  std::vector<std::pair<std::string, Node>> members() const;

  const std::string& text() const;
  std::int64_t integer() const;
  /// An integer of at least 0.
  std::int64_t count() const;
  /// Finite.
  double number() const;
  bool flag() const;

  /// One of `known`; the error names the nearest. Returns its place in the list.
  std::size_t word_of(std::string_view what, std::span<const std::string_view> known) const;

  const Json& json() const { return *json_; }
  const std::string& place() const { return place_; }
  [[noreturn]] void fail(const std::string& message) const;

 private:
  const Json* json_;
  std::string place_;
};

/// The sum of one count of each. Throws Error(input) where it is missing, no count, or the sum is beyond 2^63.
std::int64_t total(std::span<const Node> nodes, std::string_view key);

}  // namespace mx::verbs
