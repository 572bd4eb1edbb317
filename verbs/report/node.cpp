#include "verbs/report/node.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/error.hpp"
#include "model/names.hpp"
#include "support/quote.hpp"

namespace mx::verbs {
namespace {

/// A value in a message: shortened, without line breaks.
std::string shown(const Json& json) { return json.is_string() ? support::in_quotes(json.text()) : support::printable(json.dump()); }

}  // namespace

void Node::fail(const std::string& message) const { throw Error(ErrorCode::input, message, place_); }

std::optional<Node> Node::find(std::string_view key) const {
  if (!json_->is_object()) fail(fmt::format("must be an object, not {}", json_->type_name()));
  const auto member = json_->find(key);
  if (member == nullptr || member->is_null()) return std::nullopt;
  return Node(*member, fmt::format("{}{}{}", place_, place_.ends_with(": ") ? "" : ".", support::printable(key)));
}

Node Node::operator[](std::string_view key) const {
  std::optional<Node> member = find(key);
  if (!member) fail(fmt::format("has no '{}': truncated, or not what its schema says", key));
  return *member;
}

std::vector<Node> Node::items() const {
  if (!json_->is_array()) fail(fmt::format("must be an array, not {}", json_->type_name()));
  std::vector<Node> nodes;
  for (const Json& item : *json_) nodes.emplace_back(item, fmt::format("{}[{}]", place_, nodes.size()));
  return nodes;
}

std::vector<std::pair<std::string, Node>> Node::members() const {
  if (!json_->is_object()) fail(fmt::format("must be an object, not {}", json_->type_name()));
  std::vector<std::pair<std::string, Node>> nodes;
  for (const auto& [key, value] : json_->items()) nodes.emplace_back(key, Node(value, fmt::format("{}.{}", place_, support::printable(key))));
  return nodes;
}

const std::string& Node::text() const {
  if (!json_->is_string()) fail(fmt::format("must be text, not {}", shown(*json_)));
  return json_->text();
}

std::int64_t Node::integer() const {
  if (!json_->is_int64()) fail(fmt::format("must be a whole number below 2^63, not {}", shown(*json_)));
  return json_->get<std::int64_t>();
}

std::int64_t Node::count() const {
  const std::int64_t value = integer();
  if (value < 0) fail(fmt::format("must be a count, not {}", value));
  return value;
}

double Node::number() const {
  if (!json_->is_number()) fail(fmt::format("must be a number, not {}", shown(*json_)));
  return json_->get<double>();
}

bool Node::flag() const {
  if (!json_->is_boolean()) fail(fmt::format("must be true or false, not {}", shown(*json_)));
  return json_->get<bool>();
}

std::size_t Node::word_of(std::string_view what, std::span<const std::string_view> known) const {
  const auto row = std::ranges::find(known, text());
  if (row == known.end()) fail(unknown_name(what, text(), known));
  return static_cast<std::size_t>(row - known.begin());
}

std::int64_t total(std::span<const Node> nodes, std::string_view key) {
  std::int64_t sum = 0;
  for (const Node& node : nodes) {
    if (__builtin_add_overflow(sum, node[key].count(), &sum)) node[key].fail("adds up to more than 2^63");
  }
  return sum;
}

}  // namespace mx::verbs
