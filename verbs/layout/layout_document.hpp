#pragma once
// What the layout verbs say.

#include <optional>
#include <string>

#include "model/deployment/version.hpp"
#include "verbs/document/document.hpp"
#include "verbs/layout/difference.hpp"
#include "verbs/layout/identify/identify.hpp"
#include "verbs/layout/subject.hpp"

namespace mx::verbs {

/// Which rows are listed; empty: all.
struct LayoutFilters {
  std::string backend;
  std::string format;
  std::string engine;
  bool any() const { return !backend.empty() || !format.empty() || !engine.empty(); }
};
/// Every backend's tensors and, without a filter, every building block. The exit code is 5 where a filter leaves no row. Throws Error(usage) for an
/// unknown name.
Document layout_list_document(const LayoutFilters& filters);

/// What the tables say of a name whatever the shape. Throws Error(usage) with the nearest name.
Document layout_rows_document(const std::string& name);
/// One layout: program, digits, example, losses, source.
Document layout_show_document(const Subject& subject);

/// Which place of a layout: exactly one of `coord`, `address` and `byte`.
struct PlaceAsked {
  std::string coord;
  std::string memory;  ///< file in that layout, to read the element from; empty: none
  std::optional<std::int64_t> address;
  std::optional<std::int64_t> byte;
};
/// From an element to its address, or from an address to its element. Throws Error(usage) for what is out of range, and as open_tensor does.
Document layout_where_document(const Subject& subject, const PlaceAsked& asked);

/// A picture of so many bytes that was written. `shown`: what it shows, in words.
Document layout_draw_document(const Subject& subject, const std::string& file, std::size_t bytes, const std::string& shown);

/// The exit code is 1 where they part.
Document layout_diff_document(const Subject& a, const Subject& b, const LayoutDifference& found);

/// The exit code: 0 one layout, 1 none, 5 several.
Document layout_identify_document(const Identification& found);

}  // namespace mx::verbs
