#pragma once
// Addresses of many elements of one layout: Layout::at as tables.
//
// Where no step carries from one logical axis into another, an element's address is a sum of one number for each logical axis. A table per axis holds
// these numbers. Where a step carries, Layout::at is asked.

#include <cstdint>
#include <span>
#include <vector>

#include "model/layout/layout.hpp"

namespace mx::layout {

class ElementMap {
 public:
  static constexpr std::int64_t kDropped = -1;

  explicit ElementMap(Layout layout);

  const Layout& layout() const { return layout_; }
  bool has_tables() const { return !tables_.empty(); }  ///< false: a step carries
  /// What Layout::at says of a coordinate; kDropped where the layout has no place for the element. Throws Error(usage) as Layout::at does.
  std::int64_t at(std::span<const std::int64_t> coord) const;

 private:
  Layout layout_;
  std::vector<std::vector<std::int64_t>> tables_;  // by logical axis: an index's part of the address, or kDropped
};

}  // namespace mx::layout
