#pragma once
// A layout as an SVG picture: the tensor coloured by address, memory coloured by place in the tensor.

#include <cstdint>
#include <string>
#include <string_view>

#include "verbs/draw/figure.hpp"
#include "verbs/layout/subject.hpp"

namespace mx::verbs {

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
  std::string of = {};    ///< a part of the tensor alone, as part_from takes them; memory is not drawn then
  std::string rows = {};
  bool is_part() const { return !of.empty() || !rows.empty(); }
};

/// What a picture shows: "16384 addresses of 8 bits", or "E=3 half=up I=0-127, 4096 of 65536 elements". Throws Error(usage) as part_from does.
std::string shown_text(const Subject& subject, const PictureOptions& options);

/// Memory under two layouts of one tensor, one below or beside the other, in lines of equal length: what both hold at an address is blank, the rest
/// coloured by its place in the tensor. Throws Error(usage) as difference does, when they change values differently, when the addresses of one are
/// finer than the other's, and as draw does.
Figure draw_difference(const Subject& a, const Subject& b);

/// The picture. Throws Error(usage) when the layout, or the part that is asked for, has too many addresses to be seen (kMostCells), as part_from
/// does, and for the memory of a part.
Figure draw(const Subject& subject, const PictureOptions& options);

}  // namespace mx::verbs
