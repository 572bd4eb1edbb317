#include "model/layout/element_map.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

namespace mx::layout {
namespace {

using Numbers = std::vector<std::int64_t>;

std::int64_t largest(const Numbers& table) { return *std::ranges::max_element(table); }

/// What one logical axis adds to the index of an axis of the view.
struct Term {
  std::size_t axis;
  Numbers table;
};
/// The index of an axis of the view: the sum of its terms, of which there is one at least.
using Sum = std::vector<Term>;

/// An upper bound of the sum, which some element reaches unless a slice dropped it.
std::int64_t largest(const Sum& sum) {
  std::int64_t most = 0;
  for (const Term& term : sum) most += largest(term.table);
  return most;
}

/// The sums of every axis behind each step, as long as they stay sums.
class Follower {
 public:
  explicit Follower(const Layout& layout) : layout_(layout) {
    for (const Axis& axis : layout.axes_before(0)) add_axis(axis.extent);
  }

  /// For each logical axis its table, or none when a step carries.
  std::optional<std::vector<Numbers>> tables() {
    for (std::size_t i = 0; i < layout_.steps().size(); ++i) {
      before_ = &layout_.axes_before(i);
      if (!std::visit(*this, layout_.steps()[i])) return std::nullopt;
    }
    Sum address = joined(sums_, layout_.axes_before(layout_.steps().size()));
    std::vector<Numbers> tables(dropped_.size());
    for (std::size_t axis = 0; axis < dropped_.size(); ++axis) tables[axis].assign(dropped_[axis].size(), 0);
    for (Term& term : address) tables[term.axis] = std::move(term.table);
    for (std::size_t axis = 0; axis < dropped_.size(); ++axis) {
      for (std::size_t i = 0; i < dropped_[axis].size(); ++i) {
        if (dropped_[axis][i]) tables[axis][i] = ElementMap::kDropped;
      }
    }
    return tables;
  }

  bool operator()(const Split& s) {
    Sum& outer = sum_at(s.axis);
    std::int64_t rest = 0;
    for (const Term& term : outer) {
      std::int64_t most = 0;
      for (std::int64_t number : term.table) most = std::max(most, number % s.inner);
      rest += most;
    }
    if (rest >= s.inner) return false;
    Sum inner = outer;
    each(inner, [&](std::int64_t number) { return number % s.inner; });
    each(outer, [&](std::int64_t number) { return number / s.inner; });
    simplify(inner);
    simplify(outer);
    sums_.insert(sums_.begin() + s.axis + 1, std::move(inner));
    return true;
  }
  bool operator()(const Merge& s) {
    const auto first = sums_.begin() + s.axis;
    const auto axis = before_->begin() + s.axis;
    Sum merged = joined({first, first + s.count}, {axis, axis + s.count});
    sums_.erase(first + 1, first + s.count);
    sum_at(s.axis) = std::move(merged);
    return true;
  }
  bool operator()(const Permute& s) {
    const std::vector<Sum> old = sums_;
    for (std::size_t i = 0; i < s.order.size(); ++i) sums_[i] = old[static_cast<std::size_t>(s.order[i])];
    return true;
  }
  bool operator()(const Flip& s) {
    Sum& sum = sum_at(s.axis);
    std::int64_t rest = extent_at(s.axis) - 1 - largest(sum);
    if (sum.size() > 1 && rest != 0) return false;
    for (Term& term : sum) {
      const std::int64_t most = largest(term.table) + std::exchange(rest, 0);
      for (std::int64_t& number : term.table) number = most - number;
    }
    return true;
  }
  bool operator()(const Pad&) { return true; }
  bool operator()(const Slice& s) {
    Sum& sum = sum_at(s.axis);
    if (s.begin == 0 && largest(sum) < s.length) return true;
    if (sum.size() > 1) return false;
    Term& term = sum.front();
    for (std::size_t i = 0; i < term.table.size(); ++i) {
      std::int64_t& number = term.table[i];
      const bool stays = number >= s.begin && number < s.begin + s.length;
      if (!stays) dropped_[term.axis][i] = true;
      number = stays ? number - s.begin : 0;
    }
    return true;
  }
  bool operator()(const Explode&) {
    add_axis(layout_.logical()[dropped_.size()].extent);
    return true;
  }
  bool operator()(const Pack&) { return true; }
  bool operator()(const Table& s) {
    Sum& sum = sum_at(s.axis);
    if (sum.size() > 1) return false;
    each(sum, [&](std::int64_t number) { return s.target[static_cast<std::size_t>(number)]; });
    return true;
  }
  bool operator()(const Repeat& s) {
    each(sum_at(s.axis), [&](std::int64_t number) { return number * s.times; });
    return true;
  }

 private:
  void add_axis(std::int64_t extent) {
    Numbers all(static_cast<std::size_t>(extent));
    std::iota(all.begin(), all.end(), 0);
    sums_.push_back({{dropped_.size(), std::move(all)}});
    dropped_.emplace_back(static_cast<std::size_t>(extent), false);
  }
  Sum& sum_at(int axis) { return sums_[static_cast<std::size_t>(axis)]; }
  std::int64_t extent_at(int axis) const { return (*before_)[static_cast<std::size_t>(axis)].extent; }

  template <class Change>
  static void each(Sum& sum, Change change) {
    for (Term& term : sum) {
      for (std::int64_t& number : term.table) number = change(number);
    }
  }
  /// Without the terms that are 0 everywhere, but for a last one.
  static void simplify(Sum& sum) {
    const auto is_zero = [](const Term& term) { return largest(term.table) == 0; };
    const Term first = sum.front();
    std::erase_if(sum, is_zero);
    if (sum.empty()) sum.push_back(first);
  }
  /// The row-major index of several axes.
  static Sum joined(const std::vector<Sum>& sums, const std::vector<Axis>& axes) {
    Sum all;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      each(all, [&](std::int64_t number) { return number * axes[i].extent; });
      for (const Term& term : sums[i]) {
        const auto same = std::ranges::find(all, term.axis, &Term::axis);
        if (same == all.end()) {
          all.push_back(term);
        } else {
          std::ranges::transform(same->table, term.table, same->table.begin(), std::plus<>());
        }
      }
    }
    return all;
  }

  const Layout& layout_;
  const std::vector<Axis>* before_ = nullptr;
  std::vector<Sum> sums_;                   // by axis of the view, the packed ones last
  std::vector<std::vector<bool>> dropped_;  // by logical axis
};

}  // namespace

ElementMap::ElementMap(Layout layout) : layout_(std::move(layout)) {
  if (std::optional<std::vector<Numbers>> tables = Follower(layout_).tables()) tables_ = std::move(*tables);
}

std::int64_t ElementMap::at(std::span<const std::int64_t> coord) const {
  if (tables_.size() != coord.size()) return layout_.at(coord).value_or(kDropped);
  std::int64_t address = 0;
  for (std::size_t axis = 0; axis < coord.size(); ++axis) {
    const Numbers& table = tables_[axis];
    // What is out of range or dropped, the layout itself says.
    if (coord[axis] < 0 || coord[axis] >= static_cast<std::int64_t>(table.size())) return layout_.at(coord).value_or(kDropped);
    const std::int64_t part = table[static_cast<std::size_t>(coord[axis])];
    if (part == kDropped) return layout_.at(coord).value_or(kDropped);
    address += part;
  }
  return address;
}

}  // namespace mx::layout
