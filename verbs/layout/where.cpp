#include "verbs/layout/where.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "model/error.hpp"
#include "model/families/setting_keys.hpp"
#include "model/layout/address_map.hpp"
#include "model/names.hpp"

namespace mx::verbs {
namespace {

using layout::Axis;
using layout::Coord;
using layout::Layout;

std::int64_t parts_of(const Layout& layout) { return layout.unit_bits() / layout.grain_bits(); }

/// Row-major index on some axes, to a coordinate.
Coord coord_of(std::int64_t index, std::span<const Axis> axes) {
  Coord coord(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    coord[i] = index % axes[i].extent;
    index /= axes[i].extent;
  }
  return coord;
}

/// Row-major index of an element. Throws Error(usage) out of range.
std::int64_t index_of(const Layout& layout, const Coord& coord) {
  const std::vector<Axis>& axes = layout.axes_before(0);
  std::int64_t index = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (coord.at(i) < 0 || coord[i] >= axes[i].extent) {
      throw Error(ErrorCode::usage, fmt::format("index {} of axis {} is not in 0..{}", coord[i], axes[i].name, axes[i].extent - 1), "coord");
    }
    index = index * axes[i].extent + coord[i];
  }
  return index;
}

std::int64_t index_from(std::string_view text, const Axis& axis) {
  // The axis of gate and up has words for its two indexes.
  if (axis.name == "half" && same_name(text, "gate")) return 0;
  if (axis.name == "half" && same_name(text, "up") && axis.extent == 2) return 1;
  if (axis.name == "half" && text.find_first_of("0123456789") == std::string_view::npos)
    throw Error(ErrorCode::usage, fmt::format("half is '{}', must be gate{}", printable(text), axis.extent == 2 ? ", up, 0 or 1" : " or 0"), "coord");
  return families::whole_number("axis " + axis.name, text, 0, axis.extent - 1);
}

}  // namespace

std::vector<CoveredAxis> covered_axes(const Choice& choice) {
  std::vector<CoveredAxis> covered;
  const auto* const backend = std::get_if<BackendChoice>(&choice);
  if (backend == nullptr || !layout::is_scale(backend->role)) return covered;
  const families::Setting& setting = backend->setting;
  const layout::Role weight = layout::is_w13(backend->role) ? layout::Role::w13_weight : layout::Role::w2_weight;
  const std::vector<Axis> of_weight = layout::logical_axes(weight, setting.sizes, setting.form);
  const std::vector<Axis> of_scale = layout::logical_axes(backend->role, setting.sizes, setting.form);
  for (std::size_t i = 0; i < of_weight.size(); ++i) {
    const Axis& axis = of_weight[i];
    if (std::ranges::find(of_scale, axis.name, &Axis::name) != of_scale.end()) continue;
    if (i >= of_scale.size()) {
      covered.push_back({axis.name, axis.extent, {}, axis.extent});
    } else {
      covered.push_back({axis.name, axis.extent, of_scale[i].name, layout::block_side(setting.sizes.group)});
    }
  }
  return covered;
}

namespace {

/// Of an axis that is named a second time, perhaps as the axis of the weights that it stands for.
std::string twice_text(const std::string& axis, const std::string& first, const std::string& second, const std::vector<CoveredAxis>& covered) {
  if (first == second) return fmt::format("axis {} is given twice", first);
  const CoveredAxis& whole = *std::ranges::find_if(covered, [&](const CoveredAxis& one) { return one.axis == axis; });
  return fmt::format("axis {} is given twice, as {} and as {}: {} of {} are one of {}, name one of them", axis, first, second, whole.elements,
                     whole.name, axis);
}

/// -1 for axes that are not named.
Coord indexes_from(std::string_view text, const Layout& layout, const std::vector<CoveredAxis>& covered) {
  const std::vector<Axis>& axes = layout.axes_before(0);
  std::vector<std::string_view> known;
  for (const Axis& axis : axes) known.push_back(axis.name);
  std::vector<std::string_view> unscaled;  // named, and one scale covers all of it
  std::vector<std::string> named(axes.size());
  Coord coord(axes.size(), -1);
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(", ");
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) throw Error(ErrorCode::usage, fmt::format("'{}' is not AXIS=INDEX", word), "coord");
    const std::string_view name = word.substr(0, equals);
    const auto whole = std::ranges::find_if(covered, [&](const CoveredAxis& other) { return same_name(other.name, name); });
    const std::string_view wanted = whole == covered.end() ? name : std::string_view(whole->axis);
    if (whole != covered.end() && whole->axis.empty()) {
      index_from(word.substr(equals + 1), {whole->name, whole->extent});
      if (std::ranges::find(unscaled, whole->name) != unscaled.end())
        throw Error(ErrorCode::usage, fmt::format("axis {} is given twice", whole->name), "coord");
      unscaled.push_back(whole->name);
      continue;
    }
    const auto axis = std::ranges::find_if(axes, [&](const Axis& other) { return same_name(other.name, wanted); });
    if (axis == axes.end()) throw Error(ErrorCode::usage, unknown_name("axis", name, known), "coord");
    const auto index = static_cast<std::size_t>(axis - axes.begin());
    const std::string& own = whole == covered.end() ? axis->name : whole->name;
    if (coord[index] >= 0) throw Error(ErrorCode::usage, twice_text(axis->name, named[index], own, covered), "coord");
    named[index] = own;
    coord[index] = whole == covered.end() ? index_from(word.substr(equals + 1), *axis)
                                          : index_from(word.substr(equals + 1), {whole->name, whole->extent}) / whole->elements;
  }
  return coord;
}

}  // namespace

Coord named_indexes(std::string_view text, const Layout& layout) { return indexes_from(text, layout, {}); }

Coord coordinate_from(std::string_view text, const Layout& layout, const std::vector<CoveredAxis>& covered) {
  Coord coord = indexes_from(text, layout, covered);
  for (std::int64_t& index : coord) index = std::max<std::int64_t>(index, 0);
  return coord;
}

std::optional<std::int64_t> address_of(const Layout& layout, std::int64_t entry) { return layout.at(coord_of(entry, layout.logical())); }

ElementPlace where_is(const Layout& layout, const Coord& coord) {
  const std::int64_t parts = parts_of(layout);
  const std::int64_t first = index_of(layout, coord) * parts;
  const int bits = layout.grain_bits();
  ElementPlace place{coord, {}};
  const auto add = [&](std::int64_t entry, std::int64_t address) {
    const int from = static_cast<int>(entry - first) * bits;
    if (!place.pieces.empty()) {
      Piece& last = place.pieces.back();
      if (last.from_bit + last.bits == from && last.address + last.bits / bits == address) {
        last.bits += bits;
        return;
      }
    }
    place.pieces.push_back({from, bits, address, address * bits / 8, static_cast<int>(address * bits % 8)});
  };
  if (layout.repeats()) {
    layout::for_each_address(layout, [&](std::int64_t address, std::int64_t entry) {
      if (entry >= first && entry < first + parts) add(entry, address);
    });
    return place;
  }
  for (std::int64_t entry = first; entry < first + parts; ++entry) {
    if (const std::optional<std::int64_t> address = address_of(layout, entry)) add(entry, *address);
  }
  return place;
}

std::uint64_t read_element(const Layout& layout, const ElementPlace& place, std::span<const std::uint8_t> memory, const std::string& name) {
  if (static_cast<std::int64_t>(memory.size()) != layout.bytes()) {
    throw Error(ErrorCode::usage, fmt::format("{} bytes where the layout has {}: another tensor, shape or layout", memory.size(), layout.bytes()),
                name);
  }
  if (place.pieces.empty()) throw Error(ErrorCode::usage, "the element is cut off: no memory holds it", name);
  if (layout.unit_bits() > 64) throw Error(ErrorCode::usage, fmt::format("elements of {} bits are not printed", layout.unit_bits()), name);
  std::uint64_t element = 0;
  for (const Piece& piece : place.pieces) {
    for (int i = 0; i < piece.bits; ++i) {
      const std::int64_t at = piece.byte * 8 + piece.bit + i;
      const std::uint64_t bit = unsigned{memory[static_cast<std::size_t>(at / 8)]} >> (at % 8) & 1U;
      element = (element & ~(std::uint64_t{1} << (piece.from_bit + i))) | bit << (piece.from_bit + i);
    }
  }
  return element;
}

std::string element_text(const Layout& layout, std::int64_t entry) {
  const std::int64_t parts = parts_of(layout);
  const std::vector<Axis>& axes = layout.axes_before(0);
  std::string text = layout::coord_text(axes, coord_of(entry / parts, axes));
  if (parts == 1) return text;
  const std::int64_t from = entry % parts * layout.grain_bits();
  return layout.grain_bits() == 1 ? fmt::format("{} bit {}", text, from) : fmt::format("{} bits {}..{}", text, from, from + layout.grain_bits() - 1);
}

std::string address_text(const Layout& layout, std::int64_t address) {
  const int bits = layout.grain_bits();
  std::string byte = fmt::format("byte {}", address * bits / 8);
  if (bits == 8) return byte;
  return fmt::format("address {}, {}{}", address, byte, bits % 8 == 0 ? "" : fmt::format(" bit {}", address * bits % 8));
}

std::string padding_text(layout::PadContent content) {
  switch (content) {
    case layout::PadContent::zero: return "padding, zero";
    case layout::PadContent::neutral: return "padding, 0x7f";
    case layout::PadContent::unwritten: break;
  }
  return "padding, never written";
}

std::string content_text(const Layout& layout, std::int64_t address) {
  const layout::Place place = layout.inverse(address);
  if (!place.coord) return padding_text(place.content);
  std::int64_t entry = 0;
  for (std::size_t i = 0; i < place.coord->size(); ++i) entry = entry * layout.logical()[i].extent + (*place.coord)[i];
  return element_text(layout, entry);
}

}  // namespace mx::verbs
