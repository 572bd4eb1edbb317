#include "model/layout/address_map.hpp"

#include <algorithm>
#include <numeric>

#include "model/error.hpp"
#include "model/fault.hpp"

namespace mx::layout {
namespace {

constexpr std::size_t kNoGroup = static_cast<std::size_t>(-1);

/// Tables of the axes that end memory may grow to this many entries to make runs long.
constexpr std::int64_t kLongestJoinedTable = 1024;

/// Which axes never meet: for the axes of memory and for the steps, the number of their group.
struct Groups {
  std::size_t count = 0;
  std::vector<std::size_t> memory;
  std::vector<std::size_t> steps;  // kNoGroup for steps that touch every axis alike
};

/// Follows every axis through the first `step_count` steps. Axes that a Merge joins become one group; the low part that a Split takes off an axis is
/// a group of its own when no earlier step needs it to know what becomes of the rest.
class GroupFinder {
 public:
  GroupFinder(const Layout& layout, std::size_t step_count) {
    for (std::size_t i = 0; i < layout.axes_before(0).size(); ++i) current_.push_back({fresh(), 0});
    for (std::size_t i = 0; i < step_count; ++i) {
      before_ = &layout.axes_before(i);
      steps_.push_back(std::visit(*this, layout.steps()[i]));
    }
  }

  std::size_t operator()(const Split& s) {
    Part& outer = part_at(s.axis);
    const bool parts = outer.free % s.inner == 0;
    const Part inner = parts ? Part{fresh(), 0} : Part{outer.group, std::gcd(outer.free, s.inner)};
    outer.free = parts ? outer.free / s.inner : 1;
    const std::size_t group = outer.group;
    current_.insert(current_.begin() + s.axis + 1, inner);
    return group;
  }
  std::size_t operator()(const Merge& s) {
    Part merged = part_at(s.axis + s.count - 1);
    if (s.count > 1) merged.free = std::gcd(merged.free, extent_at(s.axis + s.count - 1));
    for (int i = 0; i < s.count - 1; ++i) join(part_at(s.axis + i).group, merged.group);
    current_.erase(current_.begin() + s.axis + 1, current_.begin() + s.axis + s.count);
    part_at(s.axis) = merged;
    return merged.group;
  }
  std::size_t operator()(const Permute& s) {
    const std::vector<Part> old = current_;
    for (std::size_t i = 0; i < s.order.size(); ++i) current_[i] = old[static_cast<std::size_t>(s.order[i])];
    return kNoGroup;
  }
  std::size_t operator()(const Explode&) {
    current_.push_back({fresh(), 0});
    return kNoGroup;
  }
  std::size_t operator()(const Pack&) { return kNoGroup; }
  std::size_t operator()(const Pad& s) { return held(s.axis, extent_at(s.axis)); }
  std::size_t operator()(const Slice& s) { return held(s.axis, s.begin); }
  std::size_t operator()(const Flip& s) { return held(s.axis, 1); }
  std::size_t operator()(const Table& s) { return held(s.axis, 1); }
  std::size_t operator()(const Repeat& s) { return held(s.axis, 1); }

  /// Joins the groups of the last axes of memory while their table stays small.
  void join_last(const std::vector<Axis>& memory) {
    std::vector<std::int64_t> entries(parent_.size(), 1);
    for (std::size_t i = 0; i < memory.size(); ++i) entries[root(current_[i].group)] *= memory[i].extent;
    for (std::size_t i = memory.size(); i-- > 1;) {
      const std::size_t last = root(current_.back().group);
      const std::size_t next = root(current_[i - 1].group);
      if (next == last) continue;
      if (entries[next] > kLongestJoinedTable / entries[last]) return;
      entries[last] *= entries[next];
      join(next, last);
    }
  }

  Groups groups() {
    Groups out;
    std::vector<std::size_t> number(parent_.size(), kNoGroup);
    const auto numbered = [&](std::size_t id) {
      if (id == kNoGroup) return kNoGroup;
      std::size_t& n = number[root(id)];
      if (n == kNoGroup) n = out.count++;
      return n;
    };
    for (const Part& part : current_) out.memory.push_back(numbered(part.group));
    for (std::size_t id : steps_) out.steps.push_back(numbered(id));
    return out;
  }

 private:
  /// An axis on its way: indexes below `free` (0: all), and the remainder of any index by it, passed every step so far as they are.
  struct Part {
    std::size_t group;
    std::int64_t free;
  };

  std::size_t fresh() {
    parent_.push_back(parent_.size());
    return parent_.back();
  }
  std::size_t root(std::size_t id) const {
    while (parent_[id] != id) id = parent_[id];
    return id;
  }
  void join(std::size_t a, std::size_t b) { parent_[root(a)] = root(b); }
  Part& part_at(int axis) { return current_[static_cast<std::size_t>(axis)]; }
  std::int64_t extent_at(int axis) const { return (*before_)[static_cast<std::size_t>(axis)].extent; }
  /// A step after which only remainders by `free` are as before.
  std::size_t held(int axis, std::int64_t free) {
    part_at(axis).free = std::gcd(part_at(axis).free, free);
    return part_at(axis).group;
  }

  std::vector<std::size_t> parent_;
  std::vector<Part> current_;
  std::vector<std::size_t> steps_;
  const std::vector<Axis>* before_ = nullptr;
};

/// Splits, merges and packs at the end leave the order of memory alone.
std::size_t steps_that_move(const Layout& layout) {
  std::size_t count = layout.steps().size();
  while (count > 0) {
    const Step& last = layout.steps()[count - 1];
    if (!std::holds_alternative<Split>(last) && !std::holds_alternative<Merge>(last) && !std::holds_alternative<Pack>(last)) break;
    --count;
  }
  return count;
}

/// One group's part of the logical index at a position of memory where the other groups' indexes are 0, or -1-i for padding of step i.
std::int64_t group_part(const Layout& layout, const Groups& groups, std::size_t group, std::size_t step_count, Coord coord) {
  Coord exploded;
  for (std::size_t i = step_count; i-- > 0;) {
    const Step& step = layout.steps()[i];
    const bool moves_axes = std::holds_alternative<Split>(step) || std::holds_alternative<Merge>(step);
    if (groups.steps[i] != group && groups.steps[i] != kNoGroup && !moves_axes) continue;
    if (!backward(step, layout.axes_before(i), coord, exploded)) return -1 - static_cast<std::int64_t>(i);
  }
  coord.insert(coord.end(), exploded.rbegin(), exploded.rend());
  std::int64_t part = 0;
  std::int64_t stride = 1;
  for (std::size_t i = coord.size(); i-- > 0;) {
    part += coord[i] * stride;
    stride *= layout.logical()[i].extent;
  }
  return part;
}

/// Advances the chosen indexes of a coordinate like an odometer, the last fastest.
void advance(Coord& coord, const std::vector<std::size_t>& positions, const std::vector<Axis>& axes) {
  for (std::size_t i = positions.size(); i-- > 0;) {
    std::int64_t& index = coord[positions[i]];
    if (++index < axes[positions[i]].extent) return;
    index = 0;
  }
}

std::int64_t pad_code(const Step& step) {
  const Pad* pad = std::get_if<Pad>(&step);
  if (pad == nullptr) return 0;
  switch (pad->content) {
    case PadContent::neutral: return Layout::kPadNeutral;
    case PadContent::unwritten: return Layout::kPadUnwritten;
    case PadContent::zero: break;
  }
  return Layout::kPadZero;
}

}  // namespace

AddressMap::AddressMap(const Layout& layout) : size_(layout.cosize()) {
  const std::size_t step_count = steps_that_move(layout);
  const std::vector<Axis>& memory = layout.axes_before(step_count);
  GroupFinder finder(layout, step_count);
  finder.join_last(memory);
  const Groups groups = finder.groups();
  groups_.resize(groups.count);
  axes_.resize(memory.size());
  for (std::size_t g = 0; g < groups.count; ++g) {
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (groups.memory[i] == g) positions.push_back(i);
    }
    std::int64_t entries = 1;
    for (std::size_t i = positions.size(); i-- > 0;) {
      axes_[positions[i]] = {memory[positions[i]].extent, g, entries};
      entries *= memory[positions[i]].extent;
    }
    Coord coord(memory.size(), 0);
    groups_[g].table.reserve(static_cast<std::size_t>(entries));
    for (std::int64_t entry = 0; entry < entries; ++entry, advance(coord, positions, memory)) {
      groups_[g].table.push_back(group_part(layout, groups, g, step_count, coord));
      groups_[g].pads |= groups_[g].table.back() < 0;
    }
  }
  for (const Step& step : layout.steps()) pad_codes_.push_back(pad_code(step));

  std::erase_if(axes_, [](const MemoryAxis& axis) { return axis.extent == 1; });
  outer_axes_ = axes_.size();
  run_length_ = 1;
  run_group_ = axes_.empty() ? 0 : axes_.back().group;
  while (outer_axes_ > 0 && axes_[outer_axes_ - 1].group == run_group_) run_length_ *= axes_[--outer_axes_].extent;
}

void AddressMap::read_run(std::span<const std::int64_t> entries, std::int64_t begin, std::span<std::int64_t> out) const {
  std::int64_t base = 0;
  std::int64_t last_pad = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (g == run_group_) continue;
    const std::int64_t part = groups_[g].table[static_cast<std::size_t>(entries[g])];
    if (part < 0) last_pad = std::min(last_pad, part);
    base += part;
  }
  const Group& group = groups_[run_group_];
  const std::int64_t* parts = group.table.data() + entries[run_group_] + begin;
  if (last_pad == 0 && !group.pads) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = base + parts[i];
    return;
  }
  // Of several steps that pad a position the last one decides what it holds.
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t pad = std::min(last_pad, parts[i]);
    out[i] = pad < 0 ? pad_codes_[static_cast<std::size_t>(-1 - pad)] : base + parts[i];
  }
}

void AddressMap::read(std::int64_t first, std::span<std::int64_t> out) const {
  if (first < 0 || static_cast<std::int64_t>(out.size()) > size_ - first) {
    throw Error(ErrorCode::usage,
                "addresses " + std::to_string(first) + " and " + std::to_string(out.size()) + " in all are not in 0.." + std::to_string(size_ - 1),
                "layout");
  }
  Coord index(outer_axes_);
  std::vector<std::int64_t> entries(groups_.size(), 0);
  std::int64_t run = first / run_length_;
  for (std::size_t i = outer_axes_; i-- > 0;) {
    index[i] = run % axes_[i].extent;
    run /= axes_[i].extent;
    entries[axes_[i].group] += index[i] * axes_[i].stride;
  }
  std::int64_t begin = fault::planted(fault::Fault::map_read_from_run_start) ? 0 : first % run_length_;
  while (!out.empty()) {
    const auto length = std::min(out.size(), static_cast<std::size_t>(run_length_ - begin));
    read_run(entries, begin, out.first(length));
    out = out.subspan(length);
    begin = 0;
    for (std::size_t i = outer_axes_; i-- > 0;) {
      entries[axes_[i].group] += axes_[i].stride;
      if (++index[i] < axes_[i].extent) break;
      entries[axes_[i].group] -= axes_[i].extent * axes_[i].stride;
      index[i] = 0;
    }
  }
}

}  // namespace mx::layout
