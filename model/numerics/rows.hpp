#pragma once
// Looking up rows of the numerics tables by name or by enumerator. For .cpp files of this folder.

#include <algorithm>
#include <iterator>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::rows {

/// A word for an enumerator.
template <typename Enum>
struct Word {
  Enum value;
  std::string_view name;
};

/// The row with that name; case, '-' and '_' are ignored. Throws Error(usage) with the nearest known name.
template <typename Table>
const auto& named(const Table& table, std::string_view what, std::string_view name) {
  const auto row = std::ranges::find_if(table, [&](const auto& r) { return same_name(r.name, name); });
  if (row != std::end(table)) return *row;
  std::vector<std::string_view> known;
  for (const auto& r : table) known.push_back(r.name);
  throw Error(ErrorCode::usage, unknown_name(what, name, known));
}

/// The word of an enumerator; every enumerator has one.
template <typename Enum>
std::string_view word_of(std::span<const Word<Enum>> words, Enum value) {
  const auto row = std::ranges::find(words, value, &Word<Enum>::value);
  if (row != words.end()) return row->name;
  throw Error(ErrorCode::usage, "enumerator " + std::to_string(static_cast<int>(value)) + " has no name");
}

}  // namespace mx::rows
