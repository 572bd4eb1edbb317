#include "kernels/relayout/tile.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <limits>

namespace mx::kernels::relayout {
namespace {

constexpr std::size_t kMostForms = 256;

/// A digit of which the lowest `block` values are in the tile.
struct Part {
  SharedDigit digit;
  std::int64_t block = 1;
};

std::int64_t stride_of(const SharedDigit& digit, bool source) { return std::abs(source ? digit.source_stride : digit.target_stride); }

/// Cuts digits into those inside the tile and those outside.
class Cutter {
 public:
  explicit Cutter(const SharedDigits& digits) : outside_(digits.digits), limits_(digits.limits) {}

  /// Takes digits until `units` neighbours of one side are in the tile, or as many as there are without a gap. Where blocks do not
  /// fill a digit they may be smaller, down to `least` units, to waste less.
  void take_run(bool source, std::int64_t units, std::int64_t least) {
    std::int64_t have = 1;
    while (have < units) {
      const auto inside = find(inside_, source, have);
      if (inside != inside_.end()) {
        have *= inside->radix;
        continue;
      }
      const auto next = find(outside_, source, have);
      if (next == outside_.end()) return;
      const std::int64_t block = block_of(next->radix, units / have, std::max<std::int64_t>(1, least / have));
      if (block == 1) return;
      const bool whole = next->radix % block == 0;
      take(next, block);
      have *= block;
      if (!whole) return;
    }
  }

  /// Of digits that lie alike on both sides: neighbours of both that go together.
  void take_common_run(std::int64_t units) {
    std::int64_t have = 1;
    while (have < units) {
      const auto next = std::ranges::find_if(outside_, [&](const SharedDigit& d) { return d.source_stride == have && d.target_stride == have; });
      if (next == outside_.end()) return;
      const std::int64_t block = std::min(power_at_least(units / have), power_at_least(next->radix));
      const bool whole = next->radix % block == 0;
      take(next, block);
      have *= block;
      if (!whole) return;
    }
  }

  std::vector<SharedDigit>& inside() { return inside_; }
  std::vector<SharedDigit>& outside() { return outside_; }
  std::vector<Limit>& limits() { return limits_; }

 private:
  using Iterator = std::vector<SharedDigit>::iterator;

  static std::int64_t power_at_least(std::int64_t n) { return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n))); }

  /// The largest block up to `most` values of a digit that wastes at most an eighth, else the one that wastes least.
  static std::int64_t block_of(std::int64_t radix, std::int64_t most, std::int64_t least) {
    std::int64_t best = std::min(power_at_least(most), power_at_least(radix));
    const auto covered = [&](std::int64_t block) { return (radix + block - 1) / block * block; };
    for (std::int64_t block = best; block >= least && 8 * (covered(best) - radix) > radix; block /= 2) {
      if (covered(block) < covered(best)) best = block;
    }
    return best;
  }

  static Iterator find(std::vector<SharedDigit>& digits, bool source, std::int64_t stride) {
    return std::ranges::find_if(digits, [&](const SharedDigit& digit) { return stride_of(digit, source) == stride; });
  }

  /// Moves the lowest `block` values of a digit into the tile; what is left of it, if anything, stays outside.
  void take(Iterator digit, std::int64_t block) {
    const SharedDigit whole = *digit;
    SharedDigit low = whole;
    SharedDigit high = whole;
    low.radix = block;
    high.radix = (whole.radix + block - 1) / block;
    high.source_stride *= block;
    high.target_stride *= block;
    for (Share& share : high.shares) share.weight *= block;
    if (whole.radix % block != 0) {
      low.shares.push_back({limits_.size(), 1});
      high.shares.push_back({limits_.size(), block});
      limits_.push_back({whole.radix, true, 0});
    }
    outside_.erase(digit);
    inside_.push_back(std::move(low));
    if (high.radix > 1) outside_.push_back(std::move(high));
  }

  std::vector<SharedDigit> outside_;
  std::vector<SharedDigit> inside_;
  std::vector<Limit> limits_;
};

/// One element of a tile: its unit in the tile and its address on both sides, and what it adds to the limits' sums.
struct Element {
  std::int64_t source;
  std::int64_t target;
  std::int64_t source_place;
  std::int64_t target_place;
  std::vector<std::int64_t> sums;
};

void through_word(const std::vector<std::int64_t>& word, std::int64_t& address, std::int64_t& place) {
  if (word.empty()) return;
  const auto size = static_cast<std::int64_t>(word.size());
  const std::int64_t low = place % size;
  const std::int64_t moved = word[static_cast<std::size_t>(low)] - low;
  address += moved;
  place += moved;
}

/// Places in the tile: the digits inside, those with the smallest strides lowest.
std::vector<std::int64_t> place_strides(const std::vector<SharedDigit>& inside, bool source) {
  std::vector<std::size_t> order(inside.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  // Where a digit has no stride on a side, only its lowest value is there.
  const auto key = [&](std::size_t i) {
    return stride_of(inside[i], source) == 0 ? std::numeric_limits<std::int64_t>::max() : stride_of(inside[i], source);
  };
  std::ranges::stable_sort(order, {}, key);
  std::vector<std::int64_t> strides(inside.size());
  std::int64_t stride = 1;
  for (std::size_t i : order) {
    strides[i] = stride;
    stride *= inside[i].radix;
  }
  return strides;
}

class Builder {
 public:
  Builder(const SharedDigits& digits, Cutter& cutter)
      : digits_(digits), inside_(cutter.inside()), outside_(cutter.outside()), limits_(cutter.limits()) {}

  std::optional<Tiles> build() {
    per_byte_ = 8 / digits_.unit_bits;
    if (!words_fit()) return std::nullopt;
    enumerate();
    if (static_cast<std::int64_t>(elements_.size()) % per_byte_ != 0 || !bytes_are_whole()) return std::nullopt;
    tiles_.bytes = static_cast<std::int32_t>(static_cast<std::int64_t>(elements_.size()) / per_byte_);
    if (!add_outer()) return std::nullopt;
    add_parts();
    add_limits();
    if (!add_forms()) return std::nullopt;
    return std::move(tiles_);
  }

 private:
  /// Words are moved whole: their units must all be in the tile, as the lowest places.
  bool words_fit() const {
    const auto fits = [&](const std::vector<std::int64_t>& word, bool source) {
      std::int64_t have = 1;
      const auto size = static_cast<std::int64_t>(word.size());
      while (have < size) {
        const auto digit = std::ranges::find_if(inside_, [&](const SharedDigit& d) { return (source ? d.source_stride : d.target_stride) == have; });
        if (digit == inside_.end() || size % have != 0) return false;
        have *= digit->radix;
      }
      return true;
    };
    return fits(digits_.source_word, true) && fits(digits_.target_word, false);
  }

  void enumerate() {
    const std::vector<std::int64_t> source_places = place_strides(inside_, true);
    const std::vector<std::int64_t> target_places = place_strides(inside_, false);
    std::vector<std::int64_t> values(inside_.size(), 0);
    std::size_t count = 1;
    for (const SharedDigit& digit : inside_) count *= static_cast<std::size_t>(digit.radix);
    for (std::size_t n = 0; n < count; ++n) {
      Element element{0, 0, 0, 0, std::vector<std::int64_t>(limits_.size(), 0)};
      for (std::size_t d = 0; d < inside_.size(); ++d) {
        const SharedDigit& digit = inside_[d];
        const std::int64_t value = values[d];
        element.source += value * digit.source_stride;
        element.target += value * digit.target_stride;
        element.source_place += source_places[d] * (digit.source_stride < 0 ? digit.radix - 1 - value : value);
        element.target_place += target_places[d] * (digit.target_stride < 0 ? digit.radix - 1 - value : value);
        for (const Share& share : digit.shares) element.sums[share.limit] += value * share.weight;
      }
      through_word(digits_.source_word, element.source, element.source_place);
      through_word(digits_.target_word, element.target, element.target_place);
      elements_.push_back(std::move(element));
      for (std::size_t d = 0; d < values.size(); ++d) {
        if (++values[d] < inside_[d].radix) break;
        values[d] = 0;
      }
    }
  }

  static std::int64_t rest(std::int64_t n, std::int64_t by) { return ((n % by) + by) % by; }

  /// Whether the units of every byte of the tile are those of one byte of memory, on both sides.
  bool bytes_are_whole() const {
    return std::ranges::all_of(elements_, [&](const Element& e) {
      return rest(e.source + digits_.source_base, per_byte_) == rest(e.source_place, per_byte_) &&
             rest(e.target + digits_.target_base, per_byte_) == rest(e.target_place, per_byte_);
    });
  }

  bool add_outer() {
    // A tile begins at the byte that holds unit 0 of the bases; elements count from there.
    source_rest_ = rest(digits_.source_base, per_byte_);
    target_rest_ = rest(digits_.target_base, per_byte_);
    tiles_.source_base = (digits_.source_base - source_rest_) / per_byte_;
    tiles_.target_base = (digits_.target_base - target_rest_) / per_byte_;
    for (const SharedDigit& digit : outside_) {
      if (digit.source_stride % per_byte_ != 0 || digit.target_stride % per_byte_ != 0) return false;
      OuterDigit outer{digit.radix, digit.source_stride / per_byte_, digit.target_stride / per_byte_, std::vector<std::int64_t>(limits_.size(), 0)};
      for (const Share& share : digit.shares) outer.weights[share.limit] += share.weight;
      tiles_.outer.push_back(std::move(outer));
    }
    return true;
  }

  void add_parts() {
    tiles_.is_copy = std::ranges::all_of(elements_, [](const Element& e) { return e.source_place == e.target_place; });
    if (tiles_.is_copy) return;
    tiles_.parts.resize(static_cast<std::size_t>(tiles_.bytes));
    const auto mask = static_cast<unsigned>((1 << digits_.unit_bits) - 1);
    for (const Element& e : elements_) {
      std::vector<BytePart>& parts = tiles_.parts[static_cast<std::size_t>(e.target_place / per_byte_)];
      const auto from = static_cast<std::int32_t>(e.source_place / per_byte_);
      auto part = std::ranges::find(parts, from, &BytePart::source);
      if (part == parts.end()) part = parts.insert(parts.end(), {from, {}});
      const int low_from = static_cast<int>(e.source_place % per_byte_) * digits_.unit_bits;
      const int low_to = static_cast<int>(e.target_place % per_byte_) * digits_.unit_bits;
      for (int bit = 0; bit < digits_.unit_bits; ++bit) {
        if ((mask >> bit & 1U) != 0) part->rows[static_cast<std::size_t>(low_to + bit)] |= static_cast<std::uint8_t>(1U << (low_from + bit));
      }
    }
  }

  void add_limits() {
    for (std::size_t l = 0; l < limits_.size(); ++l) {
      TileLimit limit{limits_[l].limit, 1, {}};
      for (const Element& e : elements_) limit.span = std::max(limit.span, e.sums[l] + 1);
      // Every sum that the outer digits can make.
      std::vector<std::int64_t> sums{0};
      for (const OuterDigit& digit : tiles_.outer) {
        if (digit.weights[l] == 0) continue;
        std::vector<std::int64_t> more;
        for (std::int64_t value = 0; value < digit.radix; ++value) {
          for (std::int64_t sum : sums) more.push_back(sum + value * digit.weights[l]);
        }
        sums = std::move(more);
      }
      for (std::int64_t sum : sums) limit.reaches.push_back(std::clamp<std::int64_t>(limit.limit - sum, 0, limit.span));
      limit.reaches.push_back(limit.span);
      std::ranges::sort(limit.reaches);
      limit.reaches.erase(std::unique(limit.reaches.begin(), limit.reaches.end()), limit.reaches.end());
      tiles_.limits.push_back(std::move(limit));
    }
  }

  bool add_forms() {
    std::size_t count = 1;
    for (const TileLimit& limit : tiles_.limits) {
      if (count > kMostForms / limit.reaches.size()) return false;
      count *= limit.reaches.size();
    }
    std::vector<std::int64_t> reaches(tiles_.limits.size());
    for (std::size_t n = 0; n < count; ++n) {
      std::size_t number = n;
      for (std::size_t l = tiles_.limits.size(); l-- > 0;) {
        const TileLimit& limit = tiles_.limits[l];
        reaches[l] = limit.reaches[number % limit.reaches.size()];
        number /= limit.reaches.size();
      }
      std::optional<TileForm> form = form_of(reaches);
      if (!form) return false;
      tiles_.forms.push_back(std::move(*form));
    }
    return true;
  }

  enum : std::int16_t { kThere = -1, kAbsent = -2 };

  /// Of an element in a tile with so much room below each limit: there, absent, or the content of padding.
  std::int16_t state(const Element& element, const std::vector<std::int64_t>& reaches) const {
    std::int16_t state = kThere;
    for (std::size_t l = 0; l < limits_.size(); ++l) {
      if (element.sums[l] < reaches[l]) continue;
      if (limits_[l].absent) return kAbsent;
      state = limits_[l].content;
    }
    return state;
  }

  /// None when the units of a byte are not all alike.
  std::optional<TileForm> form_of(const std::vector<std::int64_t>& reaches) const {
    const auto size = static_cast<std::size_t>(tiles_.bytes);
    std::vector<std::int16_t> read(size, kAbsent);
    std::vector<std::int16_t> written(size, kAbsent);
    std::vector<std::int64_t> from(size);
    std::vector<std::int64_t> to(size);
    std::vector<bool> seen_read(size);
    std::vector<bool> seen_written(size);
    for (const Element& e : elements_) {
      const auto in = static_cast<std::size_t>(e.source_place / per_byte_);
      const auto out = static_cast<std::size_t>(e.target_place / per_byte_);
      const std::int16_t what = state(e, reaches);
      const std::int16_t writes = what == kAbsent ? kAbsent : kThere;
      if ((seen_read[in] && read[in] != what) || (seen_written[out] && written[out] != writes)) return std::nullopt;
      seen_read[in] = true;
      seen_written[out] = true;
      read[in] = what;
      written[out] = writes;
      from[in] = (e.source + source_rest_ - rest(e.source_place, per_byte_)) / per_byte_;
      to[out] = (e.target + target_rest_ - rest(e.target_place, per_byte_)) / per_byte_;
    }
    TileForm form;
    for (std::int32_t i = 0; i < tiles_.bytes; ++i) {
      const auto b = static_cast<std::size_t>(i);
      if (read[b] == kThere) extend(form.loads, from[b], i);
      if (read[b] >= 0) extend(form.fills, i, static_cast<std::uint8_t>(read[b]));
      if (written[b] == kThere) extend(form.stores, to[b], i);
    }
    return form;
  }

  static void extend(std::vector<Piece>& pieces, std::int64_t offset, std::int32_t place) {
    if (!pieces.empty() && pieces.back().offset + pieces.back().length == offset && pieces.back().in_tile + pieces.back().length == place) {
      ++pieces.back().length;
    } else {
      pieces.push_back({offset, place, 1});
    }
  }

  static void extend(std::vector<Fill>& fills, std::int32_t place, std::uint8_t content) {
    if (!fills.empty() && fills.back().in_tile + fills.back().length == place && fills.back().content == content) {
      ++fills.back().length;
    } else {
      fills.push_back({place, 1, content});
    }
  }

  const SharedDigits& digits_;
  const std::vector<SharedDigit>& inside_;
  const std::vector<SharedDigit>& outside_;
  const std::vector<Limit>& limits_;
  std::int64_t per_byte_ = 1;
  std::int64_t source_rest_ = 0;
  std::int64_t target_rest_ = 0;
  std::vector<Element> elements_;
  Tiles tiles_;
};

/// Bytes of the longest run that lies alike on both sides.
std::int64_t common_run(const SharedDigits& digits) {
  std::int64_t units = 1;
  for (bool found = true; found;) {
    found = false;
    for (const SharedDigit& digit : digits.digits) {
      if (digit.radix == 1 || digit.source_stride != units || digit.target_stride != units) continue;
      units *= digit.radix;
      found = true;
    }
  }
  return units * digits.unit_bits / 8;
}

}  // namespace

std::optional<Tiles> tiles_of(const SharedDigits& digits, const TileGoals& goals) {
  const std::int64_t per_byte = 8 / digits.unit_bits;
  const bool words = !digits.source_word.empty() || !digits.target_word.empty();
  if (!words && common_run(digits) >= goals.shortest_copy) {
    Cutter cutter(digits);
    cutter.take_common_run(goals.copy_run * per_byte);
    return Builder(digits, cutter).build();
  }
  for (std::int64_t run = goals.target_run;; run *= 2) {
    Cutter cutter(digits);
    cutter.take_run(false, run * per_byte, run * per_byte);
    cutter.take_run(true, goals.source_run * per_byte, goals.shortest_source * per_byte);
    std::int64_t units = 1;
    for (const SharedDigit& digit : cutter.inside()) units *= digit.radix;
    if (units >= goals.tile * per_byte || run >= goals.longest_target_run) return Builder(digits, cutter).build();
  }
}

}  // namespace mx::kernels::relayout
