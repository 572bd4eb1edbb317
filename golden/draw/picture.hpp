#pragma once
// A layout as an SVG picture: the tensor coloured by address, memory coloured by place in the tensor.

#include <cstdint>
#include <string_view>

#include "golden/draw/figure.hpp"
#include "golden/layouts/subject.hpp"

namespace mx::golden {

/// Which grids a picture shows.
enum class Panels {
  both,
  logical,  ///< the tensor, coloured by address
  memory,   ///< memory with its padding, coloured by place in the tensor
};
/// Throws Error(usage) with the nearest name: both, logical, memory.
Panels panels_named(std::string_view name);

struct PictureOptions {
  Panels panels = Panels::both;
  std::int64_t line = 0;  ///< addresses in a line of memory; 0: like the tensor's rows
};

/// The picture. Throws Error(usage) when the layout has too many addresses to be seen (kMostCells).
Figure draw(const Subject& subject, const PictureOptions& options);

}  // namespace mx::golden
