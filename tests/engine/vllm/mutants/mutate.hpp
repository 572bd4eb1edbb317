#pragma once
// Changes of the values that tables are made of.

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "model/engine/vllm/tables.hpp"
#include "tests/engine/vllm/mutants/mutants.hpp"

namespace mx::tests {

/// The changes of one member, as changes of the row.
template <typename Row, typename Member>
void add_changes(Changes<Row>& all, const Row& row, Member Row::*member, const std::string& name, Changes<Member> changes) {
  for (Change<Member>& change : changes) {
    Row changed = row;
    changed.*member = std::move(change.value);
    all.push_back({name + " " + change.id, std::move(changed)});
  }
}

inline Changes<bool> flipped(bool value) { return {{value ? "off" : "on", !value}}; }

template <typename Value>
Changes<std::optional<Value>> dropped_condition(const std::optional<Value>& value) {
  if (!value) return {};
  return {{"dropped", std::nullopt}};
}

inline Changes<std::optional<bool>> other_condition(const std::optional<bool>& value) {
  if (!value) return {};
  return {{"dropped", std::nullopt}, {*value ? "false" : "true", !*value}};
}

/// What a list may lose: a row, the order of neighbours.
struct ListChanges {
  bool leave_out = true;
  bool leave_none = true;  ///< whether the last row may go too
  bool swap = true;
};

/// Rows left out and neighbours swapped; each row changed as `change` says, which gives Changes<T>. `name` gives a row's text.
template <typename T, typename Name, typename Vary>
Changes<std::span<const T>> list_changes(Store& store, std::span<const T> rows, const ListChanges& what, const Name& name, const Vary& vary) {
  Changes<std::span<const T>> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string row = std::string(name(rows[i])) + "#" + std::to_string(i);
    for (Change<T>& change : vary(rows[i])) {
      std::vector<T> changed(rows.begin(), rows.end());
      changed[i] = std::move(change.value);
      all.push_back({row + " " + change.id, store.keep(std::move(changed))});
    }
    if (what.leave_out && (what.leave_none || rows.size() > 1)) {
      std::vector<T> fewer(rows.begin(), rows.end());
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      all.push_back({row + " left out", store.keep(std::move(fewer))});
    }
    if (what.swap && i + 1 < rows.size()) {
      std::vector<T> swapped(rows.begin(), rows.end());
      std::swap(swapped[i], swapped[i + 1]);
      all.push_back({row + " behind its neighbour", store.keep(std::move(swapped))});
    }
  }
  return all;
}

/// Lists of names.
Changes<std::span<const std::string_view>> name_changes(Store& store, std::span<const std::string_view> names, const ListChanges& what = {});

/// Each bit among `domain` turned over; its names say which.
Changes<deployment::Mask> bit_changes(deployment::Mask mask, std::span<const std::string_view> domain,
                                      deployment::Mask within = deployment::kEverything);

/// Bounds moved by one, and the range opened.
Changes<deployment::CapRange> range_changes(const deployment::CapRange& range);
Changes<deployment::Where> where_changes(Store& store, const deployment::Where& where);
Changes<std::span<const engine::EnvVariable>> variable_changes(Store& store, std::span<const engine::EnvVariable> variables);

}  // namespace mx::tests
