#include "model/layout/layout.hpp"

#include <algorithm>
#include <limits>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/layout/address_map.hpp"

namespace mx::layout {
namespace {

constexpr std::int64_t kMaxSize = std::int64_t{1} << 62;

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::usage, message, "layout"); }

/// Product of the extents; refuses what would not fit.
std::int64_t checked_size(const std::vector<Axis>& axes) {
  std::int64_t size = 1;
  for (const Axis& axis : axes) {
    if (axis.extent < 1) refuse("axis " + axis.name + " has extent " + std::to_string(axis.extent) + ", extents must be positive");
    if (axis.extent >= kMaxSize / size) refuse("the tensor has 2^62 units or more at axis " + axis.name);
    size *= axis.extent;
  }
  return size;
}

void check_names(const std::vector<Axis>& axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (axes[i].name == axes[j].name) refuse("two axes are named " + axes[i].name);
    }
  }
}

/// Row-major digits of an index.
Coord unflatten(std::int64_t index, const std::vector<Axis>& axes) {
  Coord coord(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    coord[i] = index % axes[i].extent;
    index /= axes[i].extent;
  }
  return coord;
}

std::int64_t flatten(const Coord& coord, const std::vector<Axis>& axes) {
  std::int64_t index = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) index = index * axes[i].extent + coord[i];
  return index;
}

std::string shape_text(const std::vector<Axis>& axes) {
  std::string text;
  for (const Axis& axis : axes) text += (text.empty() ? "" : ", ") + axis.name + " " + std::to_string(axis.extent);
  return "[" + text + "]";
}

std::size_t index_of(int axis) { return static_cast<std::size_t>(axis); }

/// Whether the first axis is the same one behind a step.
bool leaves_first_axis(const Step& step) {
  return std::visit(
      [](const auto& s) {
        using Kind = std::decay_t<decltype(s)>;
        if constexpr (std::is_same_v<Kind, Permute>) {
          return s.order.front() == 0;
        } else if constexpr (std::is_same_v<Kind, Split>) {
          return s.axis != 0 || s.inner == 1;
        } else if constexpr (std::is_same_v<Kind, Merge>) {
          return s.axis != 0 || s.count == 1;
        } else if constexpr (std::is_same_v<Kind, Explode> || std::is_same_v<Kind, Pack>) {
          return true;
        } else {
          return s.axis != 0;
        }
      },
      step);
}

}  // namespace

Layout::Layout(std::vector<Axis> logical, int unit_bits)
    : logical_(std::move(logical)), view_(logical_), views_{logical_}, unit_bits_(unit_bits), grain_bits_(unit_bits) {
  if (logical_.empty()) refuse("a tensor without axes");
  if (unit_bits < 1 || unit_bits > 64) refuse("units of " + std::to_string(unit_bits) + " bits, allowed are 1 to 64");
  check_names(logical_);
  checked_size(logical_);
}

int Layout::axis_named(std::string_view name, std::string_view step) const {
  const auto found = std::find_if(view_.begin(), view_.end(), [&](const Axis& axis) { return axis.name == name; });
  if (found == view_.end()) refuse(std::string(step) + ": no axis " + std::string(name) + " in " + shape_text(view_));
  return static_cast<int>(found - view_.begin());
}

Layout& Layout::append(Step step, std::vector<Axis> after) {
  check_names(after);
  std::vector<Axis> memory = after;
  const auto packed = views_.back().begin() + static_cast<std::ptrdiff_t>(view_.size());
  memory.insert(memory.end(), packed, views_.back().end());
  checked_size(memory);
  steps_.push_back(std::move(step));
  views_.push_back(std::move(memory));
  view_ = std::move(after);
  return *this;
}

Layout& Layout::split(std::string_view axis, std::int64_t inner, std::string outer_name, std::string inner_name) {
  const int position = axis_named(axis, "split");
  std::vector<Axis> after = view_;
  const auto old = after.begin() + position;
  if (inner < 1 || old->extent % inner != 0) {
    refuse("split: axis " + old->name + " of " + std::to_string(old->extent) + " is not a multiple of " + std::to_string(inner));
  }
  const Axis outer{std::move(outer_name), old->extent / inner};
  *old = Axis{std::move(inner_name), inner};
  after.insert(after.begin() + position, outer);
  return append(Split{position, inner}, std::move(after));
}

Layout& Layout::merge(std::span<const std::string_view> axes, std::string name) {
  if (axes.empty()) refuse("merge: no axes");
  const int first = axis_named(axes[0], "merge");
  std::int64_t extent = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int position = axis_named(axes[i], "merge");
    if (position != first + static_cast<int>(i)) {
      refuse("merge: axis " + std::string(axes[i]) + " does not follow its neighbour in " + shape_text(view_));
    }
    extent *= view_[index_of(position)].extent;
  }
  std::vector<Axis> after = view_;
  after[index_of(first)] = Axis{std::move(name), extent};
  after.erase(after.begin() + first + 1, after.begin() + first + static_cast<std::ptrdiff_t>(axes.size()));
  return append(Merge{first, static_cast<int>(axes.size())}, std::move(after));
}

Layout& Layout::merge(std::initializer_list<std::string_view> axes, std::string name) {
  return merge(std::span<const std::string_view>(axes.begin(), axes.size()), std::move(name));
}

Layout& Layout::permute(std::span<const std::string_view> axes) {
  if (axes.size() != view_.size()) {
    refuse("permute: names " + std::to_string(axes.size()) + " of the axes " + shape_text(view_));
  }
  Permute step;
  std::vector<Axis> after;
  for (std::string_view axis : axes) {
    step.order.push_back(axis_named(axis, "permute"));
    after.push_back(view_[index_of(step.order.back())]);
  }
  return append(std::move(step), std::move(after));
}

Layout& Layout::permute(std::initializer_list<std::string_view> axes) {
  return permute(std::span<const std::string_view>(axes.begin(), axes.size()));
}

Layout& Layout::flip(std::string_view axis) { return append(Flip{axis_named(axis, "flip")}, view_); }

Layout& Layout::pad(std::string_view axis, std::int64_t extent, PadContent content) {
  const int position = axis_named(axis, "pad");
  std::vector<Axis> after = view_;
  Axis& padded = after[index_of(position)];
  if (extent < padded.extent) {
    refuse("pad: axis " + padded.name + " of " + std::to_string(padded.extent) + " cannot become " + std::to_string(extent));
  }
  if (content == PadContent::neutral && grain_bits_ != 8) {
    refuse("pad: the neutral byte 0x7F needs units of 8 bits, not " + std::to_string(grain_bits_));
  }
  padded.extent = extent;
  return append(Pad{position, extent, content}, std::move(after));
}

Layout& Layout::slice(std::string_view axis, std::int64_t begin, std::int64_t length) {
  const int position = axis_named(axis, "slice");
  std::vector<Axis> after = view_;
  Axis& sliced = after[index_of(position)];
  if (begin < 0 || length < 1 || begin > sliced.extent || length > sliced.extent - begin) {
    refuse("slice: axis " + sliced.name + " of " + std::to_string(sliced.extent) + " has no " + std::to_string(length) + " positions from " +
           std::to_string(begin));
  }
  sliced.extent = length;
  return append(Slice{position, begin, length}, std::move(after));
}

Layout& Layout::explode(int bits, std::string axis_name) {
  if (bits < 1 || grain_bits_ % bits != 0) {
    refuse("explode: " + std::to_string(bits) + " bits do not divide the unit of " + std::to_string(grain_bits_));
  }
  if (views_.back().size() != view_.size()) refuse("explode: the unit is packed already");
  for (const Step& step : steps_) {
    const Pad* pad = std::get_if<Pad>(&step);
    if (pad != nullptr && pad->content == PadContent::neutral) refuse("explode: neutral padding is a whole byte");
  }
  const Axis parts{std::move(axis_name), grain_bits_ / bits};
  std::vector<Axis> logical = logical_;
  logical.push_back(parts);
  check_names(logical);
  checked_size(logical);
  std::vector<Axis> after = view_;
  after.push_back(parts);
  append(Explode{bits}, std::move(after));
  logical_ = std::move(logical);
  grain_bits_ = bits;
  return *this;
}

Layout& Layout::pack() {
  if (view_.size() < 2) refuse("pack: the view " + shape_text(view_) + " has no axis to spare");
  steps_.push_back(Pack{});
  views_.push_back(views_.back());
  view_.pop_back();
  return *this;
}

Layout& Layout::table(std::string_view axis, std::vector<std::int64_t> source) {
  const int position = axis_named(axis, "table");
  const Axis& old = view_[index_of(position)];
  if (static_cast<std::int64_t>(source.size()) != old.extent) {
    refuse("table: " + std::to_string(source.size()) + " entries for axis " + old.name + " of " + std::to_string(old.extent));
  }
  std::vector<std::int64_t> target(source.size(), -1);
  for (std::size_t j = 0; j < source.size(); ++j) {
    if (source[j] < 0 || source[j] >= old.extent || target[static_cast<std::size_t>(source[j])] >= 0) {
      refuse("table: entry " + std::to_string(source[j]) + " at " + std::to_string(j) + " is out of range or repeated");
    }
    target[static_cast<std::size_t>(source[j])] = static_cast<std::int64_t>(j);
  }
  return append(Table{position, std::move(source), std::move(target)}, view_);
}

Layout& Layout::repeat(std::string_view axis, std::int64_t times) {
  const int position = axis_named(axis, "repeat");
  std::vector<Axis> after = view_;
  if (times < 1) refuse("repeat: axis " + after[index_of(position)].name + " cannot be there " + std::to_string(times) + " times");
  checked_size({after[index_of(position)], Axis{"times", times}});
  after[index_of(position)].extent *= times;
  return append(Repeat{position, times}, std::move(after));
}

const std::vector<Axis>& Layout::logical() const { return logical_; }
const std::vector<Axis>& Layout::view() const { return view_; }
const std::vector<Step>& Layout::steps() const { return steps_; }
const std::vector<Axis>& Layout::axes_before(std::size_t index) const { return views_.at(index); }
int Layout::unit_bits() const { return unit_bits_; }
int Layout::grain_bits() const { return grain_bits_; }

std::int64_t Layout::size() const { return checked_size(logical_); }
std::int64_t Layout::cosize() const { return checked_size(views_.back()); }

std::int64_t Layout::bytes() const {
  const std::int64_t grains = cosize();
  if (grains > std::numeric_limits<std::int64_t>::max() / grain_bits_) refuse("the memory has 2^60 bytes or more");
  const std::int64_t bits = grains * grain_bits_;
  if (bits % 8 != 0) refuse("the memory has " + std::to_string(bits) + " bits, not whole bytes");
  return fault::planted(fault::Fault::bytes_count_elements) ? grains : bits / 8;
}

std::optional<std::int64_t> Layout::at(std::span<const std::int64_t> coord) const {
  if (coord.size() != logical_.size()) {
    refuse("a coordinate of " + std::to_string(coord.size()) + " indexes for the tensor " + shape_text(logical_));
  }
  for (std::size_t i = 0; i < coord.size(); ++i) {
    if (coord[i] < 0 || coord[i] >= logical_[i].extent) {
      refuse("index " + std::to_string(coord[i]) + " of axis " + logical_[i].name + " is not in 0.." + std::to_string(logical_[i].extent - 1));
    }
  }
  Coord current(coord.begin(), coord.begin() + static_cast<std::ptrdiff_t>(views_.front().size()));
  const std::int64_t* exploded = coord.data() + current.size();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (!forward(steps_[i], views_[i], current, exploded)) return std::nullopt;
  }
  return flatten(current, views_.back());
}

Place Layout::inverse(std::int64_t address) const {
  if (address < 0 || address >= cosize()) {
    refuse("address " + std::to_string(address) + " is not in 0.." + std::to_string(cosize() - 1));
  }
  Coord coord = unflatten(address, views_.back());
  Coord exploded;
  for (std::size_t i = steps_.size(); i-- > 0;) {
    if (!backward(steps_[i], views_[i], coord, exploded)) return {std::nullopt, std::get<Pad>(steps_[i]).content};
  }
  coord.insert(coord.end(), exploded.rbegin(), exploded.rend());
  return {std::move(coord), PadContent::zero};
}

bool Layout::is_padding(std::int64_t address) const { return !inverse(address).coord.has_value(); }

bool Layout::repeats() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const Step& step) { return std::holds_alternative<Repeat>(step); });
}

std::optional<Layout> Layout::part_of_stack(std::int64_t length) const {
  const std::int64_t whole = logical_.front().extent;
  if (length < 1 || whole % length != 0)
    refuse("a part of " + std::to_string(length) + " does not divide axis " + logical_.front().name + " of " + std::to_string(whole));
  if (!std::ranges::all_of(steps_, leaves_first_axis)) return std::nullopt;
  Layout part = *this;
  part.logical_.front().extent = length;
  part.view_.front().extent = length;
  for (std::vector<Axis>& view : part.views_) view.front().extent = length;
  if (part.cosize() * grain_bits_ % 8 != 0) return std::nullopt;
  return part;
}

std::string Layout::describe() const {
  std::string text = "tensor " + shape_text(views_.front()) + " of " + std::to_string(unit_bits_) + "-bit units\n";
  for (std::size_t i = 0; i < steps_.size(); ++i) text += mx::layout::describe(steps_[i], views_[i]) + "\n";
  return text + "memory " + shape_text(views_.back()) + " of " + std::to_string(grain_bits_) + "-bit units";
}

std::vector<std::int64_t> Layout::gather() const {
  const AddressMap map(*this);
  std::vector<std::int64_t> out(static_cast<std::size_t>(map.size()));
  map.read(0, out);
  return out;
}

}  // namespace mx::layout
