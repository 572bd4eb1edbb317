#pragma once
// A picture with everything that is said of it: a file of its own, or a part of a page.

#include <string>

#include "support/svg.hpp"
#include "verbs/draw/style.hpp"

namespace mx::verbs {

struct Figure {
  support::Svg svg;
  int width = 0;  ///< in pixels
  int height = 0;
  std::string title;
  std::string description;
  const Look* look = nullptr;
};

/// An SVG file.
std::string as_file(const Figure& figure);
/// An element for a page, which has css(look->rules, ".NAME") in its style sheet and the look's patterns in a picture of their own.
std::string as_part(const Figure& figure);

}  // namespace mx::verbs
