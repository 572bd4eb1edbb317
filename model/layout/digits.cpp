#include <algorithm>

#include "model/fault.hpp"
#include "model/layout/layout.hpp"

namespace mx::layout {
namespace {

/// The digits of one axis of a view, most significant first; strides are set at the end.
using DigitList = std::vector<Digit>;
/// A view as digits, axis by axis.
using DigitView = std::vector<DigitList>;

/// Cuts the digits of an axis in two such that the lower part counts to `inner`; false when the cut falls across a digit.
bool cut(const DigitList& digits, std::int64_t inner, DigitList& high, DigitList& low) {
  high = digits;
  low.clear();
  while (inner > 1) {
    Digit digit = high.back();
    if (inner % digit.radix == 0) {
      inner /= digit.radix;
      high.pop_back();
    } else if (digit.radix % inner == 0) {
      high.back().radix /= inner;
      high.back().weight *= inner;
      digit.radix = inner;
      inner = 1;
    } else {
      return false;
    }
    low.insert(low.begin(), digit);
  }
  return true;
}

DigitList whole_axis(int axis, std::int64_t extent) {
  if (extent == 1) return {};
  return {Digit{axis, extent, 1, 0, false}};
}

/// Runs the program on digits instead of numbers; a step returns false when its result is not made of digits.
struct Symbolic {
  const std::vector<Axis>& before;
  const std::vector<Axis>& logical;
  int& logical_axes;  // how many axes of `logical` the view holds so far
  DigitView& view;

  DigitList& at(int axis) const { return view[static_cast<std::size_t>(axis)]; }
  std::int64_t extent(int axis) const { return before[static_cast<std::size_t>(axis)].extent; }

  bool operator()(const Split& s) const {
    DigitList high;
    DigitList low;
    if (!cut(at(s.axis), s.inner, high, low)) return false;
    at(s.axis) = std::move(low);
    view.insert(view.begin() + s.axis, std::move(high));
    return true;
  }
  bool operator()(const Merge& s) const {
    for (int i = 1; i < s.count; ++i) at(s.axis).insert(at(s.axis).end(), at(s.axis + i).begin(), at(s.axis + i).end());
    view.erase(view.begin() + s.axis + 1, view.begin() + s.axis + s.count);
    return true;
  }
  bool operator()(const Permute& s) const {
    const DigitView old = view;
    for (std::size_t i = 0; i < s.order.size(); ++i) view[i] = old[static_cast<std::size_t>(s.order[i])];
    return true;
  }
  bool operator()(const Flip& s) const {
    if (fault::planted(fault::Fault::digit_flip_lost)) return true;
    for (Digit& digit : at(s.axis)) digit.flipped = !digit.flipped;
    return true;
  }
  bool operator()(const Pad& s) const { return s.extent == extent(s.axis); }
  bool operator()(const Slice& s) const { return s.length == extent(s.axis); }
  bool operator()(const Explode&) const {
    view.push_back(whole_axis(logical_axes, logical[static_cast<std::size_t>(logical_axes)].extent));
    ++logical_axes;
    return true;
  }
  bool operator()(const Pack&) const { return true; }
  bool operator()(const Table& s) const { return std::is_sorted(s.source.begin(), s.source.end()); }
  bool operator()(const Repeat& s) const { return s.times == 1; }
};

}  // namespace

std::optional<std::vector<Digit>> Layout::digits() const {
  DigitView view;
  int logical_axes = 0;
  for (const Axis& axis : views_.front()) view.push_back(whole_axis(logical_axes++, axis.extent));
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (!std::visit(Symbolic{views_[i], logical_, logical_axes, view}, steps_[i])) return std::nullopt;
  }
  std::vector<Digit> out;
  std::int64_t stride = 1;
  for (std::size_t a = view.size(); a-- > 0;) {
    for (std::size_t d = view[a].size(); d-- > 0;) {
      Digit digit = view[a][d];
      digit.stride = stride;
      stride *= digit.radix;
      // Neighbours in memory that are neighbours in their axis are one digit: so equal layouts have equal digits.
      if (!out.empty() && out.back().axis == digit.axis && out.back().flipped == digit.flipped &&
          out.back().weight * out.back().radix == digit.weight) {
        out.back().radix *= digit.radix;
      } else {
        out.push_back(digit);
      }
    }
  }
  return out;
}

bool is_bijection(std::span<const Digit> digits) {
  std::vector<Digit> sorted;
  std::copy_if(digits.begin(), digits.end(), std::back_inserter(sorted), [](const Digit& digit) { return digit.radix != 1; });
  std::sort(sorted.begin(), sorted.end(), [](const Digit& a, const Digit& b) { return a.stride < b.stride; });
  std::int64_t stride = 1;
  for (const Digit& digit : sorted) {
    const bool gap = digit.stride > stride && !fault::planted(fault::Fault::bijection_accepts_gap);
    if (digit.radix < 1 || digit.stride < stride || gap) return false;
    stride = digit.stride * digit.radix;
  }
  std::sort(sorted.begin(), sorted.end(), [](const Digit& a, const Digit& b) { return a.axis != b.axis ? a.axis < b.axis : a.weight < b.weight; });
  std::int64_t weight = 1;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || sorted[i].axis != sorted[i - 1].axis) weight = 1;
    if (sorted[i].weight != weight) return false;
    weight *= sorted[i].radix;
  }
  return true;
}

}  // namespace mx::layout
