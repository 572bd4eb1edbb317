#pragma once
// A matrix as a picture: one self-contained file, light and dark, with the reason of every refusal behind its cell.

#include <string>

#include "verbs/matrix/matrix.hpp"

namespace mx::verbs {

/// The tables of all checkpoints below each other, as SVG.
std::string matrix_svg(const verbs::Matrix& matrix);

/// A page that works without a network: a legend, then each checkpoint with a table for each group of parallelisms that look the same.
std::string matrix_html(const verbs::Matrix& matrix);
/// What stands on that page below its title, as a part of another page.
std::string matrix_part(const verbs::Matrix& matrix);

}  // namespace mx::verbs
