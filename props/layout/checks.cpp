#include "props/layout/checks.hpp"

#include <rapidcheck.h>

namespace mx::props {
namespace {

using layout::Axis;
using layout::Coord;
using layout::Digit;
using layout::Layout;
using layout::PadContent;

std::int64_t code_of(PadContent content) {
  switch (content) {
    case PadContent::zero: return Layout::kPadZero;
    case PadContent::neutral: return Layout::kPadNeutral;
    case PadContent::unwritten: break;
  }
  return Layout::kPadUnwritten;
}

std::int64_t row_major(const Coord& coord, const std::vector<Axis>& axes) {
  std::int64_t index = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) index = index * axes[i].extent + coord[i];
  return index;
}

/// Where memory is said to be a stack of parts along the first axis, each part lies as it lies alone, and the next one begins behind it.
void check_stack(const Layout& layout, const std::vector<std::int64_t>& gather) {
  const std::int64_t extent = layout.logical().front().extent;
  for (std::int64_t length = 1; length <= extent; ++length) {
    if (extent % length != 0) continue;
    const std::optional<Layout> part = layout.part_of_stack(length);
    if (!part) continue;
    const std::vector<std::int64_t> alone = part->gather();
    RC_ASSERT(alone.size() * static_cast<std::size_t>(extent / length) == gather.size());
    RC_ASSERT(part->cosize() * part->grain_bits() == 8 * part->bytes());
    for (std::size_t a = 0; a < gather.size(); ++a) {
      const std::int64_t entry = alone[a % alone.size()];
      const std::int64_t expected = entry < 0 ? entry : entry + static_cast<std::int64_t>(a / alone.size()) * part->size();
      if (gather[a] != expected) RC_FAIL("a part of " + std::to_string(length) + " lies alone in another way, seen at " + std::to_string(a));
    }
  }
}

}  // namespace

Coord coord_of(std::int64_t index, const std::vector<Axis>& axes) {
  Coord coord(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    coord[i] = index % axes[i].extent;
    index /= axes[i].extent;
  }
  return coord;
}

std::int64_t address_by_digits(const std::vector<Digit>& digits, const Coord& coord) {
  std::int64_t address = 0;
  for (const Digit& digit : digits) {
    const std::int64_t value = coord[static_cast<std::size_t>(digit.axis)] / digit.weight % digit.radix;
    address += (digit.flipped ? digit.radix - 1 - value : value) * digit.stride;
  }
  return address;
}

void check_addresses(const Layout& layout) {
  RC_LOG() << layout.describe() << "\n";
  const std::vector<std::int64_t> gather = layout.gather();
  RC_ASSERT(static_cast<std::int64_t>(gather.size()) == layout.cosize());
  std::vector<std::int64_t> first(static_cast<std::size_t>(layout.size()), -1);
  for (std::size_t a = 0; a < gather.size(); ++a) {
    const auto address = static_cast<std::int64_t>(a);
    const layout::Place place = layout.inverse(address);
    if (layout.is_padding(address) != (gather[a] < 0) || place.coord.has_value() == (gather[a] < 0)) {
      RC_FAIL("padding differs at " + std::to_string(a));
    }
    if (!place.coord.has_value()) {
      if (code_of(place.content) != gather[a]) RC_FAIL("padding content differs at " + std::to_string(a));
      continue;
    }
    if (row_major(*place.coord, layout.logical()) != gather[a]) RC_FAIL("inverse and gather differ at " + std::to_string(a));
    std::int64_t& held_at = first[static_cast<std::size_t>(gather[a])];
    if (held_at >= 0 && !layout.repeats()) RC_FAIL("an element lies twice in memory, again at " + std::to_string(a));
    if (held_at >= 0) continue;
    held_at = address;
    // The first copy is not the first in memory where a permutation follows.
    const std::optional<std::int64_t> named = layout.at(*place.coord);
    const bool in_memory = named && *named >= 0 && *named < layout.cosize();
    const bool holds_it = in_memory && gather[static_cast<std::size_t>(*named)] == gather[a];
    if (layout.repeats() ? !holds_it : named != address) RC_FAIL("at(inverse(a)) is not a at " + std::to_string(a));
  }
  for (std::int64_t i = 0; i < layout.size(); ++i) {
    if (first[static_cast<std::size_t>(i)] >= 0) continue;
    if (layout.at(coord_of(i, layout.logical())).has_value()) RC_FAIL("element " + std::to_string(i) + " has an address that does not hold it");
  }
  check_stack(layout, gather);
}

void check_digits(const Layout& layout) {
  const auto digits = layout.digits();
  if (!digits.has_value()) return;
  RC_ASSERT(layout::is_bijection(*digits));
  RC_ASSERT(layout.size() == layout.cosize());
  for (std::int64_t i = 0; i < layout.size(); ++i) {
    const Coord coord = coord_of(i, layout.logical());
    if (layout.at(coord) != address_by_digits(*digits, coord)) RC_FAIL("digits and interpreter differ at element " + std::to_string(i));
  }
}

}  // namespace mx::props
