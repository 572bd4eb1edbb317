#pragma once
// From coordinates to addresses and back, in words.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/layout/layout.hpp"
#include "verbs/layout/subject.hpp"

namespace mx::verbs {

/// A run of neighbouring bits of one element that are neighbours in memory too.
struct Piece {
  int from_bit;  ///< of the element
  int bits;
  std::int64_t address;  ///< in grains
  std::int64_t byte;
  int bit;  ///< of that byte
};

/// An element and where it lies: one piece, or several where its parts go separate ways or it has copies; none when it is cut off.
struct ElementPlace {
  layout::Coord coord;  ///< on the tensor's own axes
  std::vector<Piece> pieces;
};

/// An axis of the weights that scales have for several elements at once, or not at all.
struct CoveredAxis {
  std::string name;       ///< "K"
  std::int64_t extent;    ///< of the weights
  std::string axis;       ///< of the scales: "G"; empty: one scale covers all of it
  std::int64_t elements;  ///< that an index of the scales' axis stands for
};
/// Of a backend's scales; of every other tensor and of building blocks none.
std::vector<CoveredAxis> covered_axes(const Choice& choice);

/// Coordinate from "E=0,half=up,I=3,K=17" (or with spaces): axes that are not named are 0; an element of the weights stands for its scale. Throws
/// Error(usage) on an unknown or repeated axis and on an index out of range.
layout::Coord coordinate_from(std::string_view text, const layout::Layout& layout, const std::vector<CoveredAxis>& covered = {});

/// The indexes of "E=3,half=up", -1 for axes that are not named. Throws as coordinate_from does.
layout::Coord named_indexes(std::string_view text, const layout::Layout& layout);

/// Where an entry as in Layout::gather() lies, of a layout that repeats none; none where it is cut off.
std::optional<std::int64_t> address_of(const layout::Layout& layout, std::int64_t entry);

/// Every place of an element; of a layout that repeats elements by looking at every address. Throws Error(usage) out of range.
ElementPlace where_is(const layout::Layout& layout, const layout::Coord& coord);

/// The bits that memory of the layout holds at an element's place, bit 0 of the element lowest; where an element has copies, those of the last.
/// Throws Error(usage) at `name` when `memory` has not the layout's size, and for an element of more than 64 bits or without a place.
std::uint64_t read_element(const layout::Layout& layout, const ElementPlace& place, std::span<const std::uint8_t> memory,
                           const std::string& name = "memory");

/// "E=0 half=up I=3 K=17", with " bits 4..7" for a part of an element; `entry` is a logical index as in Layout::gather().
std::string element_text(const layout::Layout& layout, std::int64_t entry);
/// "address 35, byte 17 bit 4"; without the bit where addresses are whole bytes.
std::string address_text(const layout::Layout& layout, std::int64_t address);
/// "padding, zero"
std::string padding_text(layout::PadContent content);
/// What lies at an address: element_text or padding_text. Throws Error(usage) out of range.
std::string content_text(const layout::Layout& layout, std::int64_t address);

}  // namespace mx::verbs
