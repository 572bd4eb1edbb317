// Laws of view programs: any program, and the building blocks.

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>

#include "model/error.hpp"
#include "model/layout/address_map.hpp"
#include "model/layout/stage.hpp"
#include "props/layout/formulas.hpp"
#include "props/layout/generators.hpp"
#include "props/layout/laws.hpp"

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

Coord coord_of(std::int64_t index, const std::vector<Axis>& axes) {
  Coord coord(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    coord[i] = index % axes[i].extent;
    index /= axes[i].extent;
  }
  return coord;
}

/// The definition of a digit, executed.
std::int64_t address_by_digits(const std::vector<Digit>& digits, const Coord& coord) {
  std::int64_t address = 0;
  for (const Digit& digit : digits) {
    const std::int64_t value = coord[static_cast<std::size_t>(digit.axis)] / digit.weight % digit.radix;
    address += (digit.flipped ? digit.radix - 1 - value : value) * digit.stride;
  }
  return address;
}

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

/// The four descriptions of one layout say the same; every address holds one element or padding, every element not sliced away has one address.
void check_addresses(const Layout& layout) {
  RC_LOG() << layout.describe() << "\n";
  const std::vector<std::int64_t> gather = layout.gather();
  RC_ASSERT(static_cast<std::int64_t>(gather.size()) == layout.cosize());
  std::vector<bool> seen(static_cast<std::size_t>(layout.size()), false);
  std::int64_t held = 0;
  for (std::size_t a = 0; a < gather.size(); ++a) {
    const auto address = static_cast<std::int64_t>(a);
    const layout::Place place = layout.inverse(address);
    if (layout.is_padding(address) != (gather[a] < 0) || place.coord.has_value() == (gather[a] < 0))
      RC_FAIL("padding differs at " + std::to_string(a));
    if (!place.coord.has_value()) {
      if (code_of(place.content) != gather[a]) RC_FAIL("padding content differs at " + std::to_string(a));
      continue;
    }
    if (row_major(*place.coord, layout.logical()) != gather[a]) RC_FAIL("inverse and gather differ at " + std::to_string(a));
    if (layout.at(*place.coord) != address) RC_FAIL("at(inverse(a)) is not a at " + std::to_string(a));
    if (seen[static_cast<std::size_t>(gather[a])]) RC_FAIL("an element lies twice in memory, again at " + std::to_string(a));
    seen[static_cast<std::size_t>(gather[a])] = true;
    ++held;
  }
  std::int64_t dropped = 0;
  for (std::int64_t i = 0; i < layout.size(); ++i) dropped += layout.at(coord_of(i, layout.logical())).has_value() ? 0 : 1;
  RC_ASSERT(held + dropped == layout.size());
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

using RowFormula = std::int64_t (*)(std::int64_t r, std::int64_t rows);

/// A stage that moves rows only.
struct RowStage {
  std::string_view name;
  std::int64_t epilogue_tile_m;
  std::int64_t multiple;
  RowFormula source;
};

constexpr std::array<RowStage, 3> kRowStages{{
    {"trtllm.shuffle_matrix_a", 128, 32, [](std::int64_t r, std::int64_t) { return shuffled_row_128(r); }},
    {"trtllm.shuffle_matrix_a", 64, 16, [](std::int64_t r, std::int64_t) { return shuffled_row_64(r); }},
    {"trtllm.reorder_rows_for_gated_act_gemm", 128, 2, gated_row},
}};

layout::StageParams tile_of(const RowStage& stage) {
  return stage.name == "trtllm.shuffle_matrix_a" ? layout::StageParams{{"epilogue_tile_m", stage.epilogue_tile_m}} : layout::StageParams{};
}

void check_row_stage(const RowStage& stage) {
  const std::int64_t batch = pick(1, 3);
  const std::int64_t rows = stage.multiple * pick(1, 5);
  const std::int64_t cols = pick(1, 5);
  const std::vector<std::int64_t> gather = layout::stage_layout(stage.name, batch, rows, cols, 8, tile_of(stage)).gather();
  RC_ASSERT(static_cast<std::int64_t>(gather.size()) == batch * rows * cols);
  for (std::int64_t a = 0; a < batch * rows * cols; ++a) {
    const std::int64_t expected = (a / (rows * cols) * rows + stage.source(a / cols % rows, rows)) * cols + a % cols;
    if (gather[static_cast<std::size_t>(a)] != expected) RC_FAIL(std::string(stage.name) + " differs at " + std::to_string(a));
  }
  RC_ASSERT_THROWS_AS(layout::stage_layout(stage.name, batch, rows + 1, cols, 8, tile_of(stage)), Error);
}

/// The tile forward by scale_tile_offset, so that padding is what the formula never reaches.
void check_tile_stage(std::string_view name, std::int64_t rows, bool shuffles) {
  const std::int64_t batch = pick(1, 3);
  const std::int64_t cols = pick(1, 13);
  const std::int64_t padded_cols = (cols + 3) / 4 * 4;
  const std::int64_t per_batch = (rows + 127) / 128 * 128 * padded_cols;
  std::vector<std::int64_t> expected(static_cast<std::size_t>(batch * per_batch), Layout::kPadZero);
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t n = 0; n < rows; ++n) {
      for (std::int64_t g = 0; g < cols; ++g) {
        const std::int64_t source = shuffles ? shuffled_row_128(n) : n;
        expected[static_cast<std::size_t>(b * per_batch + scale_tile_offset(n, g, padded_cols))] = (b * rows + source) * cols + g;
      }
    }
  }
  RC_ASSERT(layout::stage_layout(name, batch, rows, cols, 8).gather() == expected);
}

/// The 8x4 tile forward by its source's formula.
void check_small_tile_stage() {
  const std::int64_t batch = pick(1, 3);
  const std::int64_t rows = pick(1, 40);
  const std::int64_t cols = pick(1, 13);
  const std::int64_t row_tiles = (rows + 7) / 8;
  const std::int64_t col_tiles = (cols + 3) / 4;
  std::vector<std::int64_t> expected(static_cast<std::size_t>(batch * row_tiles * col_tiles * 32), Layout::kPadZero);
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t m = 0; m < rows; ++m) {
      for (std::int64_t c = 0; c < cols; ++c) {
        const std::int64_t offset = b * row_tiles * col_tiles * 32 + m / 8 * col_tiles * 32 + c / 4 * 32 + m % 8 * 4 + c % 4;
        expected[static_cast<std::size_t>(offset)] = (b * rows + m) * cols + c;
      }
    }
  }
  RC_ASSERT(layout::stage_layout("sf_8x4", batch, rows, cols, 8).gather() == expected);
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
    if (!digits.has_value()) return;
    RC_ASSERT(layout::is_bijection(*digits));
    RC_ASSERT(layout.size() == layout.cosize());
    for (std::int64_t i = 0; i < layout.size(); ++i) {
      const Coord coord = coord_of(i, layout.logical());
      if (layout.at(coord) != address_by_digits(*digits, coord)) RC_FAIL("digits and interpreter differ at element " + std::to_string(i));
    }
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

Outcome law_stage_formulas(const Law& law) {
  return check_property(law, [] {
    for (const RowStage& stage : kRowStages) check_row_stage(stage);
    check_tile_stage("sf_128x4", pick(1, 300), false);
    check_tile_stage("sf_128x4.cutlass_atom", pick(1, 300), false);
    check_small_tile_stage();
    check_tile_stage("trtllm.shuffle_matrix_sf_a", 128 * pick(1, 2), true);
    const std::int64_t rows = pick(1, 3) * 128 + pick(1, 127);
    RC_ASSERT_THROWS_AS(layout::stage_layout("trtllm.shuffle_matrix_sf_a", 1, rows, 4, 8), Error);
  });
}

}  // namespace mx::props
