#include "model/layout/cast.hpp"

#include <algorithm>

namespace mx::layout {

const Cast kKeep{"keep", 0, 0, [](std::uint64_t unit) { return unit; }, "bits as they are"};

Uncast::Uncast(const Cast& cast) : cast_(cast) {
  if (cast.keeps()) return;
  const std::uint64_t units = std::uint64_t{1} << cast.from_bits;
  entries_.reserve(static_cast<std::size_t>(units));
  for (std::uint64_t unit = 0; unit < units; ++unit) entries_.push_back({cast.make(unit), unit});
  std::ranges::sort(entries_, [](const Entry& a, const Entry& b) { return a.value != b.value ? a.value < b.value : a.unit < b.unit; });
}

std::size_t Uncast::first_at_or_above(std::uint64_t value) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(entries_, value, {}, &Entry::value) - entries_.begin());
}

std::optional<std::uint64_t> Uncast::operator()(std::uint64_t value) const {
  if (cast_.keeps()) return value;
  const std::size_t first = first_at_or_above(value);
  if (first == entries_.size() || entries_[first].value != value) return std::nullopt;
  return entries_[first].unit;
}

bool Uncast::is_recoverable(std::uint64_t unit) const {
  if (cast_.keeps()) return true;
  const std::uint64_t value = cast_.make(unit);
  const std::size_t second = first_at_or_above(value) + 1;
  return second >= entries_.size() || entries_[second].value != value;
}

bool Uncast::is_lossless() const { return std::ranges::adjacent_find(entries_, {}, &Entry::value) == entries_.end(); }

}  // namespace mx::layout
