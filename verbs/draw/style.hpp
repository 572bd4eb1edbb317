#pragma once
// Style sheets as rows, so that a picture can stand alone or be one of several in a page.

#include <span>
#include <string>
#include <string_view>

namespace mx::verbs {

/// One rule. Classes rather than variables: not every viewer knows CSS variables.
struct StyleRule {
  std::string_view selectors;  ///< "text" or ".edge1,.edge2"
  std::string_view light;      ///< declarations
  std::string_view dark;       ///< those that differ on a dark page
};

/// What all pictures of one kind share.
struct Look {
  std::string_view name;  ///< a CSS class
  std::span<const StyleRule> rules;
  std::string_view patterns;  ///< what fills refer to by url(#..)
};

/// The rules as CSS, for light and dark. With a scope such as ".layout" they hold inside that element alone.
std::string css(std::span<const StyleRule> rules, std::string_view scope);

/// Layouts: tensors and memory as cells.
extern const Look kLayoutLook;
/// Charts: verdicts, number lines, blocks, rates, heat maps.
extern const Look kChartLook;

}  // namespace mx::verbs
