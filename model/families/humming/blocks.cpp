#include "model/families/humming/blocks.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/families/building_block.hpp"

namespace mx::families::blocks {
namespace {

/// Puts the view's axes in this order behind those that are not named.
layout::Layout& at_the_end(layout::Layout& layout, const std::vector<std::string>& order) {
  std::vector<std::string> names;
  for (const layout::Axis& axis : layout.view()) {
    if (std::ranges::find(order, axis.name) == order.end()) names.push_back(axis.name);
  }
  names.insert(names.end(), order.begin(), order.end());
  return layout.permute(std::vector<std::string_view>(names.begin(), names.end()));
}

}  // namespace

layout::Layout& magnitudes_in_value_order(layout::Layout& layout) {
  constexpr std::int64_t kUnits = 8;
  constexpr std::int64_t kRun = 4;  // values of a lane beside each other along K
  layout.explode(1, "bit");
  const std::vector<layout::Axis> view = layout.view();
  std::vector<std::string_view> word;
  std::int64_t bits = 1;
  for (auto axis = view.rbegin(); bits < 4 * kUnits; ++axis) {
    bits *= axis->extent;
    word.insert(word.begin(), axis->name);
  }
  layout.merge(std::span<const std::string_view>(word), "word_bit");
  std::vector<std::int64_t> source(4 * kUnits);
  for (std::int64_t value = 0; value < kUnits; ++value) {
    const std::int64_t unit = value / kRun + value % kRun * (kUnits / kRun);  // the unit that holds it
    for (std::int64_t bit = 0; bit < 3; ++bit) source[static_cast<std::size_t>(4 * value + bit)] = 4 * unit + bit;
    source[static_cast<std::size_t>(4 * value + 3)] = 4 * value + 3;
  }
  return layout.table("word_bit", std::move(source));
}

layout::Layout& pack_k(layout::Layout& layout, std::string_view rows, std::string_view cols) {
  const std::string n(rows);
  const std::string k(cols);
  // A lane's four words are two pairs of rows, of two halves each: the pairs go above the lanes, the second slab of K in their place.
  layout.split(k + ".tile", 2, k + ".tile", k + ".slab");
  return at_the_end(layout, {k + ".tile", n + ".tile", n + ".part", n + ".pair", n, k + ".quad", k + ".slab", n + ".half", k, k + ".half"});
}

layout::Layout& byte_columns(layout::Layout& layout, std::string_view rows, std::string_view cols) {
  const std::string n(rows);
  const std::string k(cols);
  split_off(layout, cols, {{"byte", 16}});
  return at_the_end(layout, {k, n, "byte"});
}

}  // namespace mx::families::blocks
