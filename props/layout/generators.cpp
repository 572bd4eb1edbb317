#include "props/layout/generators.hpp"

#include <array>
#include <numeric>
#include <random>
#include <string>

namespace mx::props {
namespace {

using layout::Axis;
using layout::Layout;
using layout::PadContent;

constexpr std::int64_t kMaxGrains = 20000;

std::size_t pick_index(std::size_t count) { return static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(count) - 1)); }

/// Axis names never repeat within a program: each new axis takes the next number.
std::string fresh_name(const Layout& layout) { return "a" + std::to_string(layout.steps().size()); }

void random_split(Layout& layout, const Axis& axis) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d <= axis.extent; ++d) {
    if (axis.extent % d == 0) divisors.push_back(d);
  }
  layout.split(axis.name, divisors[pick_index(divisors.size())], fresh_name(layout) + "o", fresh_name(layout) + "i");
}

void random_merge(Layout& layout, std::size_t first) {
  std::vector<std::string> names;
  const std::size_t count = 1 + pick_index(layout.view().size() - first);
  for (std::size_t i = 0; i < count; ++i) names.push_back(layout.view()[first + i].name);
  layout.merge(std::vector<std::string_view>(names.begin(), names.end()), fresh_name(layout));
}

void random_permute(Layout& layout) {
  std::vector<std::string> names;
  for (const Axis& axis : layout.view()) names.push_back(axis.name);
  for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[pick_index(i)]);
  layout.permute(std::vector<std::string_view>(names.begin(), names.end()));
}

void random_pad(Layout& layout, const Axis& axis) {
  const std::int64_t extent = axis.extent + pick(0, 3);
  if (layout.cosize() / axis.extent * extent >= kMaxGrains) return;
  std::vector<PadContent> contents{PadContent::zero, PadContent::unwritten};
  if (layout.grain_bits() == 8) contents.push_back(PadContent::neutral);
  layout.pad(axis.name, extent, contents[pick_index(contents.size())]);
}

void random_slice(Layout& layout, const Axis& axis) {
  const std::int64_t begin = pick(0, std::min<std::int64_t>(axis.extent - 1, 2));
  layout.slice(axis.name, begin, pick(std::max<std::int64_t>(1, axis.extent - begin - 2), axis.extent - begin));
}

void random_table(Layout& layout, const Axis& axis) {
  std::vector<std::int64_t> source(static_cast<std::size_t>(axis.extent));
  std::iota(source.begin(), source.end(), 0);
  for (std::size_t i = source.size(); i > 1; --i) std::swap(source[i - 1], source[pick_index(i)]);
  layout.table(axis.name, std::move(source));
}

/// Explode and pack exclude each other: the unit must be whole, and neutral padding speaks of bytes.
void random_explode(Layout& layout) {
  const bool packed = layout.axes_before(layout.steps().size()).size() != layout.view().size();
  const bool neutral = layout.describe().find("0x7F") != std::string::npos;
  if (packed || neutral || layout.grain_bits() == 1) return;
  layout.explode(layout.grain_bits() / 2, fresh_name(layout) + "x");
}

}  // namespace

std::int64_t pick(std::int64_t low, std::int64_t high) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high + 1)); }

void skip_draws(std::size_t rows) {
  for (std::size_t i = 0; i < rows; ++i) pick(0, 1);
}

void random_steps(Layout& layout, const ProgramKind& kind, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t position = pick_index(layout.view().size());
    const Axis axis = layout.view()[position];
    switch (pick(0, kind.carry_free ? 5 : kind.slices ? 8 : 7)) {
      case 0: random_split(layout, axis); break;
      case 1: random_merge(layout, position); break;
      case 2: random_permute(layout); break;
      case 3: layout.flip(axis.name); break;
      case 4: random_explode(layout); break;
      case 5:
        if (layout.view().size() > 1) layout.pack();
        break;
      case 6: random_pad(layout, axis); break;
      case 7: random_table(layout, axis); break;
      default: random_slice(layout, axis); break;
    }
  }
}

Layout random_program(const ProgramKind& kind) {
  std::vector<Axis> axes;
  const std::int64_t count = pick(1, 4);
  for (std::int64_t i = 0; i < count; ++i) {
    axes.push_back({std::string(1, static_cast<char>('p' + i)), kind.carry_free ? std::int64_t{1} << pick(0, 3) : pick(1, 7)});
  }
  constexpr std::array<int, 4> kUnits{1, 4, 8, 16};
  Layout layout(std::move(axes), kUnits[pick_index(kUnits.size())]);
  random_steps(layout, kind, pick(0, 8));
  return layout;
}

std::vector<std::uint8_t> random_bytes(std::int64_t count) {
  std::mt19937 engine(static_cast<std::uint32_t>(pick(0, 1000000)));
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(engine());
  return bytes;
}

layout::CanonicalLayer random_layer(const layout::Sizes& sizes, layout::SourceOrder order) {
  layout::CanonicalLayer layer{sizes, order, {}};
  for (layout::Role role : layout::kRoles) layer[role] = random_bytes(layout::canonical(role, sizes, order).bytes());
  return layer;
}

}  // namespace mx::props
