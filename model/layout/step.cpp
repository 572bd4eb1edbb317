#include "model/layout/step.hpp"

#include <algorithm>

#include "model/fault.hpp"

namespace mx::layout {
namespace {

std::size_t at(int axis) { return static_cast<std::size_t>(axis); }

using Coords = std::vector<std::int64_t>;

void join(Coords& coord, std::size_t axis, std::int64_t inner) {
  coord[axis] = coord[axis] * inner + coord[axis + 1];
  coord.erase(coord.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
}

void cut(Coords& coord, std::size_t axis, std::int64_t inner) {
  coord.insert(coord.begin() + static_cast<std::ptrdiff_t>(axis) + 1, coord[axis] % inner);
  coord[axis] /= inner;
}

struct Forward {
  const std::vector<Axis>& before;
  Coords& coord;
  const std::int64_t*& exploded;

  bool operator()(const Split& s) const {
    if (fault::planted(fault::Fault::split_by_outer_extent)) {
      // Wrong, but still an index of the new axes, whose extents later steps rely on.
      const std::int64_t parts = before[at(s.axis)].extent / s.inner;
      cut(coord, at(s.axis), parts);
      coord[at(s.axis)] %= parts;
      coord[at(s.axis) + 1] %= s.inner;
    } else {
      cut(coord, at(s.axis), s.inner);
    }
    return true;
  }
  bool operator()(const Merge& s) const {
    for (int i = 1; i < s.count; ++i) join(coord, at(s.axis), before[at(s.axis + i)].extent);
    return true;
  }
  bool operator()(const Permute& s) const {
    const Coords old = coord;
    for (std::size_t i = 0; i < s.order.size(); ++i) coord[i] = old[at(s.order[i])];
    return true;
  }
  bool operator()(const Flip& s) const {
    coord[at(s.axis)] = before[at(s.axis)].extent - 1 - coord[at(s.axis)];
    return true;
  }
  bool operator()(const Pad&) const { return true; }
  bool operator()(const Slice& s) const {
    coord[at(s.axis)] -= s.begin;
    return coord[at(s.axis)] >= 0 && coord[at(s.axis)] < s.length;
  }
  bool operator()(const Explode&) const {
    coord.push_back(*exploded++);
    return true;
  }
  bool operator()(const Pack&) const { return true; }
  bool operator()(const Table& s) const {
    coord[at(s.axis)] = s.target[static_cast<std::size_t>(coord[at(s.axis)])];
    return true;
  }
  bool operator()(const Repeat& s) const {
    coord[at(s.axis)] *= s.times;
    return true;
  }
};

struct Backward {
  const std::vector<Axis>& before;
  Coords& coord;
  Coords& exploded;

  bool operator()(const Split& s) const {
    join(coord, at(s.axis), s.inner);
    return true;
  }
  bool operator()(const Merge& s) const {
    for (int i = s.count - 1; i > 0; --i) cut(coord, at(s.axis), before[at(s.axis + i)].extent);
    return true;
  }
  bool operator()(const Permute& s) const {
    const Coords old = coord;
    for (std::size_t i = 0; i < s.order.size(); ++i) coord[at(s.order[i])] = old[i];
    return true;
  }
  bool operator()(const Flip& s) const {
    coord[at(s.axis)] = before[at(s.axis)].extent - 1 - coord[at(s.axis)];
    return true;
  }
  bool operator()(const Pad& s) const {
    const std::int64_t extent = before[at(s.axis)].extent;
    if (fault::planted(fault::Fault::inverse_ignores_padding)) coord[at(s.axis)] %= extent;
    return coord[at(s.axis)] < extent;
  }
  bool operator()(const Slice& s) const {
    coord[at(s.axis)] += s.begin;
    return true;
  }
  bool operator()(const Explode&) const {
    exploded.push_back(coord.back());
    coord.pop_back();
    return true;
  }
  bool operator()(const Pack&) const { return true; }
  bool operator()(const Table& s) const {
    coord[at(s.axis)] = s.source[static_cast<std::size_t>(coord[at(s.axis)])];
    return true;
  }
  bool operator()(const Repeat& s) const {
    coord[at(s.axis)] /= s.times;
    return true;
  }
};

std::string_view content_name(PadContent content) {
  switch (content) {
    case PadContent::zero: return "zero";
    case PadContent::neutral: return "0x7F";
    case PadContent::unwritten: break;
  }
  return "unwritten";
}

struct Describe {
  const std::vector<Axis>& before;

  const std::string& name(int axis) const { return before[at(axis)].name; }
  std::string names(const std::vector<int>& axes) const {
    std::string text;
    for (int axis : axes) text += (text.empty() ? "" : " ") + name(axis);
    return text;
  }

  std::string operator()(const Split& s) const { return "split " + name(s.axis) + " by " + std::to_string(s.inner); }
  std::string operator()(const Merge& s) const {
    std::vector<int> axes;
    for (int i = 0; i < s.count; ++i) axes.push_back(s.axis + i);
    return "merge " + names(axes);
  }
  std::string operator()(const Permute& s) const { return "permute to " + names(s.order); }
  std::string operator()(const Flip& s) const { return "flip " + name(s.axis); }
  std::string operator()(const Pad& s) const {
    return "pad " + name(s.axis) + " from " + std::to_string(before[at(s.axis)].extent) + " to " + std::to_string(s.extent) + " with " +
           std::string(content_name(s.content));
  }
  std::string operator()(const Slice& s) const {
    return "slice " + name(s.axis) + " to " + std::to_string(s.begin) + ".." + std::to_string(s.begin + s.length - 1);
  }
  std::string operator()(const Explode& s) const { return "explode into units of " + std::to_string(s.bits) + " bits"; }
  std::string operator()(const Pack&) const { return "pack the last axis into the unit"; }
  std::string operator()(const Table& s) const { return "table of " + std::to_string(s.source.size()) + " indexes on " + name(s.axis); }
  std::string operator()(const Repeat& s) const { return "repeat each index of " + name(s.axis) + " " + std::to_string(s.times) + " times"; }
};

}  // namespace

bool forward(const Step& step, const std::vector<Axis>& before, Coords& coord, const std::int64_t*& exploded) {
  return std::visit(Forward{before, coord, exploded}, step);
}

bool backward(const Step& step, const std::vector<Axis>& before, Coords& coord, Coords& exploded) {
  return std::visit(Backward{before, coord, exploded}, step);
}

std::string describe(const Step& step, const std::vector<Axis>& before) { return std::visit(Describe{before}, step); }

}  // namespace mx::layout
