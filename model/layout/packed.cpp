#include "model/layout/packed.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/layout/address_map.hpp"
#include "model/layout/grains.hpp"
#include "model/layout/one_line.hpp"

namespace mx::layout {
namespace {

std::string hex(std::uint64_t value) {
  char text[32];
  static_cast<void>(std::snprintf(text, sizeof text, "0x%llX", static_cast<unsigned long long>(value)));
  return text;
}

std::vector<std::uint8_t> named_row_major(Role role, const Layout& layout, std::span<const std::uint8_t> bytes) {
  return named(role, [&] { return to_row_major(layout, bytes); });
}

/// Bits of the units that a plan places, before its cast.
int source_bits(const Layout& layout, const Cast& cast) { return cast.keeps() ? layout.grain_bits() : cast.from_bits; }

/// Memory units in row-major order -> units before the cast; every one must be what the cast makes of its result.
std::vector<std::uint8_t> undo_cast(const TensorPlan& from, std::vector<std::uint8_t> memory) {
  const Cast& cast = *from.cast;
  if (cast.keeps()) return memory;
  const Uncast uncast(cast);
  std::vector<std::uint8_t> units(static_cast<std::size_t>((from.layout.size() * cast.from_bits + 7) / 8));
  for (std::int64_t i = 0; i < from.layout.size(); ++i) {
    const std::uint64_t found = get_grain(memory, i, from.layout.grain_bits());
    const std::optional<std::uint64_t> unit = uncast(found);
    if (!unit)
      throw Error(ErrorCode::input, "element " + std::to_string(i) + " is " + hex(found) + ", which " + std::string(cast.name) + " never makes");
    set_grain(units, i, cast.from_bits, *unit);
  }
  return units;
}

std::vector<std::uint8_t> place_by_units(const Layout& from, std::span<const std::uint8_t> source, const TensorPlan& to) {
  return from_row_major(to.layout, to_row_major(from, source), *to.cast, 0);
}

std::vector<std::uint8_t> take_by_units(const TensorPlan& from, std::span<const std::uint8_t> memory, const Layout& to) {
  return from_row_major(to, undo_cast(from, held_row_major(from.layout, memory).bytes), 0);
}

Coord coord_of(std::int64_t index, const std::vector<Axis>& axes) {
  Coord coord(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    coord[i] = index % axes[i].extent;
    index /= axes[i].extent;
  }
  return coord;
}

/// Throws unless the memory fits its layout, and the units its logical axes.
void check_units(Role role, const TensorPlan& plan, std::span<const std::uint8_t> memory, const Units& expected) {
  check_fit(role, plan.layout, memory);
  if (static_cast<std::int64_t>(expected.bytes.size()) == (plan.layout.size() * source_bits(plan.layout, *plan.cast) + 7) / 8) return;
  throw Error(ErrorCode::usage, "the layout is not one of these sizes: " + one_line(plan.layout), std::string(name_of(role)));
}

/// Calls visit(address, entry) for the addresses of the pieces that are looked at, in ascending order.
template <class Visit>
void for_each_compared(const Layout& layout, const Pieces& pieces, Visit visit) {
  const AddressMap map(layout);
  std::array<std::int64_t, kComparedPiece> entries;
  for (std::int64_t piece = pieces.from; piece * kComparedPiece < map.size(); piece += pieces.every) {
    const std::int64_t first = piece * kComparedPiece;
    const auto some = std::span(entries).first(static_cast<std::size_t>(std::min(map.size() - first, kComparedPiece)));
    map.read(first, some);
    for (std::size_t i = 0; i < some.size(); ++i) visit(first + static_cast<std::int64_t>(i), some[i]);
  }
}

}  // namespace

void check_fit(Role role, const Layout& layout, std::span<const std::uint8_t> bytes) {
  if (static_cast<std::int64_t>(bytes.size()) == layout.bytes()) return;
  throw Error(ErrorCode::input, std::to_string(bytes.size()) + " bytes where the layout has " + std::to_string(layout.bytes()),
              std::string(name_of(role)));
}

const Mover kMoveByUnits{"model", place_by_units, take_by_units};

std::string Mismatch::text() const {
  const std::string place = coord.has_value() ? coord_text(axes, *coord) : "padding";
  return std::string(name_of(role)) + " [" + place + "] at byte " + std::to_string(byte_address) + " bit " + std::to_string(bit) + ": expected " +
         hex(expected) + ", found " + hex(found);
}

Comparison compare(const PackedTensor& packed, const CanonicalLayer& layer) {
  const Layout memory = canonical(packed.role, layer.sizes, layer.form);
  return compare(packed, Units{memory.grain_bits(), named_row_major(packed.role, memory, layer[packed.role])});
}

Comparison compare(const PackedTensor& packed, const Units& expected, const Pieces& pieces) {
  const TensorPlan plan{packed.layout, packed.cast};
  check_units(packed.role, plan, packed.bytes, expected);
  const int from_bits = source_bits(packed.layout, *packed.cast);
  const int bits = packed.layout.grain_bits();
  Comparison result;
  result.units = packed.layout.cosize();
  for_each_compared(packed.layout, pieces, [&](std::int64_t address, std::int64_t entry) {
    if (entry == Layout::kPadUnwritten) {
      ++result.unwritten;
      return;
    }
    if (entry < 0 && fault::planted(fault::Fault::compare_skips_padding)) return;
    ++result.compared;
    const std::uint64_t wanted = entry < 0 ? pad_grain(entry, address, bits, 0) : packed.cast->make(get_grain(expected.bytes, entry, from_bits));
    const std::uint64_t found = get_grain(packed.bytes, address, bits);
    if (wanted == found || ++result.differing > 1) return;
    const std::optional<Coord> coord = entry < 0 ? std::nullopt : std::optional(coord_of(entry, packed.layout.logical()));
    if (fault::planted(fault::Fault::compare_names_next_place)) ++address;
    result.first = Mismatch{packed.role, packed.layout.logical(), coord, address * bits / 8, static_cast<int>(address * bits % 8), wanted, found};
  });
  return result;
}

}  // namespace mx::layout
