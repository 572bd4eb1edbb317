#include "kernels/relayout/side.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <variant>

namespace mx::kernels::relayout {
namespace {

using layout::Axis;
using layout::Digit;
using layout::Layout;
using layout::Step;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Appends a step of another program to a copy of it whose axes may be longer; false when the step has no place before the digits.
struct Append {
  Layout& copy;
  const std::vector<Axis>& before;
  const std::vector<Axis>& after;

  const std::string& name(int axis) const { return before[at(axis)].name; }
  std::int64_t extent(int axis) const { return before[at(axis)].extent; }

  /// False on a longer axis that holds no whole number of its parts.
  bool operator()(const layout::Split& s) const {
    if (copy.axes_before(copy.steps().size())[at(s.axis)].extent % s.inner != 0) return false;
    copy.split(name(s.axis), s.inner, after[at(s.axis)].name, after[at(s.axis) + 1].name);
    return true;
  }
  bool operator()(const layout::Merge& s) const {
    std::vector<std::string_view> names;
    for (int i = 0; i < s.count; ++i) names.push_back(name(s.axis + i));
    copy.merge(names, after[at(s.axis)].name);
    return true;
  }
  bool operator()(const layout::Permute& s) const {
    std::vector<std::string_view> names;
    for (int axis : s.order) names.push_back(name(axis));
    copy.permute(names);
    return true;
  }
  bool operator()(const layout::Flip& s) const {
    copy.flip(name(s.axis));
    return true;
  }
  bool operator()(const layout::Explode& s) const {
    copy.explode(s.bits, after.back().name);
    return true;
  }
  bool operator()(const layout::Pack&) const {
    copy.pack();
    return true;
  }
  bool operator()(const layout::Pad&) const { return true; }
  bool operator()(const layout::Slice& s) const { return s.length == extent(s.axis); }
  bool operator()(const layout::Table& s) const { return std::is_sorted(s.source.begin(), s.source.end()); }
  bool operator()(const layout::Repeat& s) const { return s.times == 1; }
};

/// The first `count` steps of a program on longer axes, without its padding and without a table at its end.
std::optional<Layout> unpadded(const Layout& layout, std::vector<Axis> axes, std::size_t count, std::size_t table_step) {
  Layout copy(std::move(axes), layout.unit_bits());
  for (std::size_t i = 0; i < count; ++i) {
    if (i == table_step) continue;
    if (!std::visit(Append{copy, layout.axes_before(i), layout.axes_before(i + 1)}, layout.steps()[i])) return std::nullopt;
  }
  return copy;
}

/// The step that permutes words, when it is a table of the last axis after which nothing moves; else the number of steps.
std::size_t word_table(const Layout& layout) {
  const std::vector<Step>& steps = layout.steps();
  for (std::size_t i = steps.size(); i-- > 0;) {
    if (const auto* table = std::get_if<layout::Table>(&steps[i])) {
      const bool last = at(table->axis) + 1 == layout.axes_before(i).size();
      return last && !std::is_sorted(table->source.begin(), table->source.end()) ? i : steps.size();
    }
    const bool moves = !std::holds_alternative<layout::Split>(steps[i]) && !std::holds_alternative<layout::Merge>(steps[i]) &&
                       !std::holds_alternative<layout::Pack>(steps[i]);
    if (moves) break;
  }
  return steps.size();
}

std::int64_t address_of(const std::vector<Axis>& view, std::span<const std::int64_t> coordinate) {
  std::int64_t address = 0;
  for (std::size_t i = 0; i < view.size(); ++i) address = address * view[i].extent + coordinate[i];
  return address;
}

/// The corners of the shorter view hold the same elements in the longer one.
bool same_corners(const Layout& shorter, const Layout& longer) {
  const std::vector<Axis>& view = shorter.axes_before(shorter.steps().size());
  const std::vector<Axis>& wide = longer.axes_before(longer.steps().size());
  std::vector<std::int64_t> corner(view.size());
  for (std::uint32_t ends = 0; ends < 1U << view.size(); ++ends) {
    for (std::size_t i = 0; i < view.size(); ++i) corner[i] = (ends >> i & 1U) != 0 ? view[i].extent - 1 : 0;
    if (shorter.inverse(address_of(view, corner)).coord != longer.inverse(address_of(wide, corner)).coord) return false;
  }
  return true;
}

/// The logical axis that becomes longer, and its extent, when the axis of a view before step `count` is padded to `extent`: the one whose index
/// runs on where the view's axis does. Null when there is no such axis.
Axis* grown(const Layout& layout, std::vector<Axis>& axes, std::size_t count, const layout::Pad& pad) {
  const std::optional<Layout> prefix = unpadded(layout, axes, count, layout.steps().size());
  if (!prefix) return nullptr;
  const std::vector<Axis>& view = prefix->axes_before(prefix->steps().size());
  const std::int64_t old = view[at(pad.axis)].extent;
  // Axes so long that their multiples are no numbers stay as they are.
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (old > kMost / 2) return nullptr;
  std::int64_t stride = 1;
  for (std::size_t i = at(pad.axis) + 1; i < view.size(); ++i) stride *= view[i].extent;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].extent > kMost / std::max<std::int64_t>(pad.extent, 2)) continue;
    std::vector<Axis> longer = axes;
    longer[a].extent *= 2;
    const std::optional<Layout> twice = unpadded(layout, longer, count, layout.steps().size());
    if (!twice || twice->axes_before(twice->steps().size())[at(pad.axis)].extent != 2 * old) continue;
    layout::Coord next(twice->logical().size(), 0);
    next[a] = axes[a].extent;
    // Only the slowest of several merged axes runs on; below a flipped one memory would run back.
    if (twice->inverse(stride * old).coord != next || axes[a].extent * pad.extent % old != 0) continue;
    longer[a].extent = axes[a].extent * pad.extent / old;
    const std::optional<Layout> padded = unpadded(layout, longer, count, layout.steps().size());
    if (!padded || !same_corners(*prefix, *padded)) continue;
    axes[a].extent = longer[a].extent;
    return &axes[a];
  }
  return nullptr;
}

}  // namespace

std::optional<Side> side_of(const Layout& layout) {
  const std::size_t table_step = word_table(layout);
  Side side{layout.axes_before(0), {}, {}, {}, layout.grain_bits()};
  for (std::size_t i = 0; i < layout.steps().size(); ++i) {
    const auto* pad = std::get_if<layout::Pad>(&layout.steps()[i]);
    if (pad == nullptr || pad->extent == layout.axes_before(i)[at(pad->axis)].extent) continue;
    const std::vector<Axis> before = side.axes;
    const Axis* axis = grown(layout, side.axes, i, *pad);
    if (axis == nullptr) return std::nullopt;
    const auto index = static_cast<std::size_t>(axis - side.axes.data());
    side.pads.push_back({static_cast<int>(index), before[index].extent, pad->content});
  }
  const std::optional<Layout> whole = unpadded(layout, side.axes, layout.steps().size(), table_step);
  if (!whole) return std::nullopt;
  std::optional<std::vector<Digit>> digits = whole->digits();
  if (!digits) return std::nullopt;
  side.axes = whole->logical();
  side.digits = std::move(*digits);
  if (table_step < layout.steps().size()) side.word = std::get<layout::Table>(layout.steps()[table_step]).target;
  return side;
}

std::optional<Layout> exploded_like(const Layout& layout, const Layout& like) {
  Layout copy = layout;
  for (std::size_t i = 0; i < like.steps().size(); ++i) {
    const auto* explode = std::get_if<layout::Explode>(&like.steps()[i]);
    if (explode == nullptr) continue;
    if (explode->bits >= copy.grain_bits()) continue;
    const bool packed = copy.view().size() != copy.axes_before(copy.steps().size()).size();
    const bool neutral = std::ranges::any_of(copy.steps(), [](const Step& step) {
      const auto* pad = std::get_if<layout::Pad>(&step);
      return pad != nullptr && pad->content == layout::PadContent::neutral;
    });
    if (packed || neutral || copy.grain_bits() % explode->bits != 0) return std::nullopt;
    copy.explode(explode->bits, like.axes_before(i + 1).back().name);
  }
  if (copy.logical() != like.logical() || copy.grain_bits() != like.grain_bits()) return std::nullopt;
  return copy;
}

}  // namespace mx::kernels::relayout
