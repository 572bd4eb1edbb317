// Laws of view programs, whatever they are made of.

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>

#include "model/layout/address_map.hpp"
#include "props/layout/checks.hpp"
#include "props/layout/generators.hpp"
#include "props/layout/laws.hpp"

namespace mx::props {
namespace {

using layout::Axis;
using layout::Coord;
using layout::Digit;
using layout::Layout;
using layout::PadContent;

/// Whether the digits map the box of their axes one to one onto [0, its size), by counting.
bool bijective_by_counting(const std::vector<Digit>& digits) {
  std::map<int, std::int64_t> extents;
  for (const Digit& digit : digits) extents.try_emplace(digit.axis, 1).first->second *= digit.radix;
  std::vector<Axis> axes;
  for (int a = 0; a <= (extents.empty() ? 0 : extents.rbegin()->first); ++a) axes.push_back({"", extents.contains(a) ? extents[a] : 1});
  const std::int64_t size =
      std::accumulate(axes.begin(), axes.end(), std::int64_t{1}, [](std::int64_t n, const Axis& axis) { return n * axis.extent; });
  std::vector<bool> taken(static_cast<std::size_t>(size), false);
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t address = address_by_digits(digits, coord_of(i, axes));
    if (address < 0 || address >= size || taken[static_cast<std::size_t>(address)]) return false;
    taken[static_cast<std::size_t>(address)] = true;
  }
  return true;
}

/// Digits of a random valid layout, one number of one of them perhaps changed.
std::vector<Digit> random_digits() {
  std::vector<Digit> digits;
  std::int64_t stride = 1;
  std::map<int, std::int64_t> weights;
  const std::int64_t count = pick(1, 5);
  for (std::int64_t i = 0; i < count; ++i) {
    const int axis = static_cast<int>(pick(0, 2));
    const std::int64_t radix = pick(1, 4);
    std::int64_t& weight = weights.try_emplace(axis, 1).first->second;
    digits.push_back({axis, radix, weight, stride, pick(0, 1) == 1});
    weight *= radix;
    stride *= radix;
  }
  if (pick(0, 1) == 1) digits[static_cast<std::size_t>(pick(0, count - 1))].stride = pick(1, stride + 1);
  if (pick(0, 3) == 3) {
    auto& a = digits[static_cast<std::size_t>(pick(0, count - 1))];
    std::swap(a.stride, digits[static_cast<std::size_t>(pick(0, count - 1))].stride);
  }
  return digits;
}

/// Steps that together do nothing.
void detour(Layout& layout) {
  const Axis axis = layout.view()[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(layout.view().size()) - 1))];
  switch (pick(0, 3)) {
    case 0: layout.flip(axis.name).flip(axis.name); break;
    case 1: layout.pad(axis.name, axis.extent, PadContent::zero); break;
    case 2: layout.slice(axis.name, 0, axis.extent); break;
    default: {
      std::vector<std::int64_t> same(static_cast<std::size_t>(axis.extent));
      std::iota(same.begin(), same.end(), 0);
      layout.table(axis.name, same);
      break;
    }
  }
}

/// Small programs are cheap: ten in every case of RapidCheck.
constexpr int kProgramsPerCase = 10;

Outcome check_programs(const Law& law, const std::function<void()>& property) {
  return check_property(law, [&] {
    for (int i = 0; i < kProgramsPerCase; ++i) property();
  });
}

}  // namespace

Outcome law_addresses(const Law& law) {
  return check_programs(law, [] { check_addresses(random_program({false, true})); });
}

Outcome law_map_in_pieces(const Law& law) {
  return check_programs(law, [] {
    const Layout layout = random_program({false, true});
    RC_LOG() << layout.describe() << "\n";
    const std::vector<std::int64_t> whole = layout.gather();
    const layout::AddressMap map(layout);
    const std::int64_t first = pick(0, map.size() - 1);
    std::vector<std::int64_t> piece(static_cast<std::size_t>(pick(0, map.size() - first)));
    map.read(first, piece);
    RC_ASSERT(std::equal(piece.begin(), piece.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)));
  });
}

Outcome law_digits_agree(const Law& law) {
  return check_programs(law, [] {
    const bool carry_free = pick(0, 2) != 0;
    const Layout layout = random_program({carry_free, true});
    RC_LOG() << layout.describe() << "\n";
    const auto digits = layout.digits();
    RC_ASSERT(digits.has_value() || !carry_free);
    check_digits(layout);
  });
}

Outcome law_digits_are_normal(const Law& law) {
  return check_programs(law, [] {
    // On a tensor this small two random programs often agree.
    const auto small = [] {
      Layout layout({{"p", 2}, {"q", 4}}, 8);
      random_steps(layout, {true, false}, pick(0, 4));
      return layout;
    };
    const Layout a = small();
    const Layout b = small();
    RC_LOG() << a.describe() << "\n" << b.describe() << "\n";
    if (a.logical() == b.logical()) RC_ASSERT((a.gather() == b.gather()) == (a.digits() == b.digits()));
    Layout longer = random_program({true, false});
    const Layout shorter = longer;
    detour(longer);
    RC_ASSERT(longer.digits() == shorter.digits());
    RC_ASSERT(longer.gather() == shorter.gather());
  });
}

Outcome law_bijection_test(const Law& law) {
  return check_programs(law, [] {
    const std::vector<Digit> digits = random_digits();
    for (const Digit& d : digits) {
      RC_LOG() << "axis " << d.axis << " radix " << d.radix << " weight " << d.weight << " stride " << d.stride << "\n";
    }
    RC_ASSERT(layout::is_bijection(digits) == bijective_by_counting(digits));
  });
}

Outcome law_apply_undone(const Law& law) {
  return check_programs(law, [] {
    Layout from({{"p", pick(1, 5)}, {"q", 2 * pick(1, 4)}, {"r", 2}}, pick(0, 1) == 0 ? 4 : 8);
    Layout to = from;
    // Packing units of the same grain on both sides, whatever else happens.
    const auto steps = [](Layout& layout) {
      const std::int64_t count = pick(0, 5);
      for (std::int64_t i = 0; i < count; ++i) {
        const Axis axis = layout.view().front();
        if (pick(0, 1) == 0) layout.flip(axis.name);
        layout.pad(axis.name, axis.extent + pick(0, 2), pick(0, 1) == 0 ? PadContent::zero : PadContent::unwritten);
        std::vector<std::string> names;
        for (const Axis& other : layout.view()) names.push_back(other.name);
        std::rotate(names.begin(), names.begin() + 1, names.end());
        layout.permute(std::vector<std::string_view>(names.begin(), names.end()));
      }
    };
    steps(from);
    steps(to);
    RC_LOG() << from.describe() << "\nto\n" << to.describe() << "\n";
    if (from.cosize() * from.grain_bits() % 8 != 0 || to.cosize() * to.grain_bits() % 8 != 0) return;
    const std::vector<std::uint8_t> canonical = random_bytes(from.size() * from.grain_bits() / 8);
    const Layout identity(from.logical(), from.grain_bits());
    const auto there = layout::apply(identity, canonical, from, 0xA5);
    RC_ASSERT(layout::apply(to, layout::apply(from, there, to, 0x5A), identity) == canonical);
  });
}

}  // namespace mx::props
