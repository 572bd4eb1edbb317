#pragma once
// What users wrote, kept by its text for as long as the program runs: for rules.cpp and block_rules.cpp.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/error.hpp"

namespace mx::rules {

/// Rows with a `name`, numbered in the order in which they came; none moves or goes. Who calls from several threads holds a lock.
template <class Row>
class KeptTexts {
 public:
  /// `what`: of the error where there are too many, "texts of rules".
  explicit KeptTexts(std::string_view what) : what_(what) {}

  Row* find(std::string_view name) { return at(number(name).value_or(-1)); }
  const Row* find(std::string_view name) const { return at(number(name).value_or(-1)); }

  /// Keeps a row whose name is new. Throws Error(resource) where there are 100,000.
  Row& add(Row row) {
    constexpr std::size_t kMost = 100'000;
    if (rows_.size() == kMost) throw Error(ErrorCode::resource, "more than " + std::to_string(kMost) + " " + std::string(what_) + " in one program");
    Row& kept = rows_.emplace_back(std::move(row));
    by_name_.emplace(kept.name, static_cast<std::int32_t>(rows_.size() - 1));
    return kept;
  }

  std::optional<std::int32_t> number(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Null for a number that no row has.
  const Row* at(std::int32_t number) const { return has(number) ? &rows_[static_cast<std::size_t>(number)] : nullptr; }
  Row* at(std::int32_t number) { return has(number) ? &rows_[static_cast<std::size_t>(number)] : nullptr; }

 private:
  bool has(std::int32_t number) const { return number >= 0 && std::cmp_less(number, rows_.size()); }

  std::string_view what_;
  std::deque<Row> rows_;
  std::map<std::string, std::int32_t, std::less<>> by_name_;
};

}  // namespace mx::rules
