#include "kernels/relayout/tile.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "kernels/relayout/cutter.hpp"

namespace mx::kernels::relayout {
namespace {

constexpr std::size_t kMostForms = 256;
constexpr std::int64_t kLine = 64;

/// One element of a tile: its unit in the tile and its address on both sides, and what it adds to the limits' sums.
struct Element {
  std::int64_t source;
  std::int64_t target;
  std::int64_t source_place;
  std::int64_t target_place;
  std::int64_t stage;
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

/// Places in the tile: of the target the digits with the smallest strides lowest. Of the source those of its run, and then as in the target:
/// registers of a few runs then serve as few lines of the target as they can.
std::vector<std::int64_t> place_strides(const std::vector<SharedDigit>& inside, bool source) {
  std::vector<std::size_t> order(inside.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  // Where a digit has no stride on a side, only its lowest value is there.
  const auto by = [&](bool side) {
    return [&inside, side](std::size_t i) {
      return stride_of(inside[i], side) == 0 ? std::numeric_limits<std::int64_t>::max() : stride_of(inside[i], side);
    };
  };
  std::ranges::stable_sort(order, {}, by(source));
  std::vector<std::int64_t> strides(inside.size());
  std::int64_t stride = 1;
  auto place = order.begin();
  const auto put = [&] {
    strides[*place] = stride;
    stride *= inside[*place].radix;
    ++place;
  };
  while (source && place != order.end() && stride_of(inside[*place], true) == stride) put();
  std::ranges::stable_sort(place, order.end(), {}, by(false));
  while (place != order.end()) put();
  return strides;
}

class Builder {
 public:
  /// `run`: units of a run of the stage, 0 when there is none.
  Builder(const SharedDigits& digits, const Cutter& cutter, std::int64_t run)
      : digits_(digits),
        inside_(cutter.inside()),
        staged_(cutter.staged()),
        outside_(cutter.outside()),
        limits_(cutter.limits()),
        run_(run),
        inside_steps_(inside_.size(), 0),
        staged_steps_(staged_.size(), 0) {}

  std::optional<Tiles> build() {
    per_byte_ = 8 / digits_.unit_bits;
    if (!words_fit()) return std::nullopt;
    if (run_ != 0 && !add_block_subject()) return std::nullopt;
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
      Element element{0, 0, 0, 0, 0, std::vector<std::int64_t>(limits_.size(), 0)};
      for (std::size_t d = 0; d < inside_.size(); ++d) {
        const SharedDigit& digit = inside_[d];
        const std::int64_t value = values[d];
        element.source += value * digit.source_stride;
        element.target += value * digit.target_stride;
        element.stage += value * inside_steps_[d];
        element.source_place += source_places[d] * (digit.source_stride < 0 ? digit.radix - 1 - value : value);
        element.target_place += target_places[d] * (digit.target_stride < 0 ? digit.radix - 1 - value : value);
        for (const Share& share : digit.shares) element.sums[share.limit] += value * share.weight;
      }
      through_word(digits_.source_word, element.source, element.source_place);
      element.stage -= element.target;
      through_word(digits_.target_word, element.target, element.target_place);
      element.stage += element.target;
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

  /// Addresses in the stage: in a run those of the target; of other digits the runs stand one behind the other. False where runs would not do:
  /// memory runs against a digit, or elements of single runs are absent.
  bool add_block_subject() {
    const std::int64_t line = kLine * per_byte_;
    std::int64_t next = (run_ + line - 1) / line * line;
    tiles_.stage.run = run_ / per_byte_;
    tiles_.stage.runs.push_back({0, 0});
    const auto add = [&](const std::vector<SharedDigit>& digits, std::vector<std::int64_t>& steps) {
      for (std::size_t d = 0; d < digits.size(); ++d) {
        const SharedDigit& digit = digits[d];
        if (digit.radix == 1) continue;
        const bool in_run = stride_of(digit, false) < run_;
        const bool may_miss = std::ranges::any_of(digit.shares, [&](const Share& share) { return limits_[share.limit].absent; });
        const bool fits = in_run ? digit.target_stride > 0 : digit.target_stride % per_byte_ == 0 && !may_miss;
        if (!fits || digit.target_stride == 0) return false;
        steps[d] = in_run ? digit.target_stride : next;
        if (in_run) continue;
        const std::vector<Stage::Run> known = tiles_.stage.runs;
        for (std::int64_t value = 1; value < digit.radix; ++value) {
          for (const Stage::Run& run : known) {
            tiles_.stage.runs.push_back({run.target + value * digit.target_stride / per_byte_, run.place + value * next / per_byte_});
          }
        }
        next *= digit.radix;
      }
      return true;
    };
    if (run_ % per_byte_ != 0 || !add(inside_, inside_steps_) || !add(staged_, staged_steps_)) return false;
    tiles_.stage.bytes = next / per_byte_;
    return true;
  }

  bool add_outer() {
    // A tile begins at the byte that holds unit 0 of the bases; elements count from there.
    source_rest_ = rest(digits_.source_base, per_byte_);
    target_rest_ = rest(digits_.target_base, per_byte_);
    tiles_.source_base = (digits_.source_base - source_rest_) / per_byte_;
    tiles_.target_base = (digits_.target_base - target_rest_) / per_byte_;
    for (const SharedDigit& digit : outside_) {
      if (!add_outer(digit, false, 0)) return false;
    }
    for (std::size_t d = 0; d < staged_.size(); ++d) {
      if (!add_outer(staged_[d], true, staged_steps_[d])) return false;
    }
    return true;
  }

  bool add_outer(const SharedDigit& digit, bool is_staged, std::int64_t stage_stride) {
    if (digit.source_stride % per_byte_ != 0 || digit.target_stride % per_byte_ != 0) return false;
    OuterDigit outer{digit.radix, digit.source_stride / per_byte_, digit.target_stride / per_byte_,
                     is_staged,   stage_stride / per_byte_,        std::vector<std::int64_t>(limits_.size(), 0)};
    for (const Share& share : digit.shares) outer.weights[share.limit] += share.weight;
    tiles_.outer.push_back(std::move(outer));
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
      const auto low_from = static_cast<unsigned>(e.source_place % per_byte_ * digits_.unit_bits);
      const auto low_to = static_cast<unsigned>(e.target_place % per_byte_ * digits_.unit_bits);
      for (unsigned bit = 0; bit < static_cast<unsigned>(digits_.unit_bits); ++bit) {
        if ((mask >> bit & 1U) != 0) part->rows[low_to + bit] |= static_cast<std::uint8_t>(1U << (low_from + bit));
      }
    }
  }

  void add_limits() {
    for (std::size_t l = 0; l < limits_.size(); ++l) {
      TileLimit limit{limits_[l].limit, 1, {}, 0};
      for (const Element& e : elements_) limit.span = std::max(limit.span, e.sums[l] + 1);
      const bool varies = std::ranges::any_of(tiles_.outer, [&](const OuterDigit& digit) { return !digit.is_staged && digit.weights[l] != 0; });
      if (limits_[l].absent && varies) {
        limit.stage_span = limit.span;
        for (const OuterDigit& digit : tiles_.outer) limit.stage_span += digit.is_staged ? (digit.radix - 1) * digit.weights[l] : 0;
      }
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
    std::vector<std::int64_t> to_stage(size);
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
      to_stage[out] = (e.stage + target_rest_ - rest(e.target_place, per_byte_)) / per_byte_;
    }
    TileForm form;
    for (std::int32_t i = 0; i < tiles_.bytes; ++i) {
      const auto b = static_cast<std::size_t>(i);
      if (read[b] == kThere) extend(form.loads, from[b], i);
      if (read[b] >= 0) extend(form.fills, i, static_cast<std::uint8_t>(read[b]));
      if (written[b] == kThere) extend(form.stores, to[b], i);
      if (written[b] == kThere && tiles_.stage.bytes != 0) extend(form.staged, to_stage[b], i);
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
  const std::vector<SharedDigit>& staged_;
  const std::vector<SharedDigit>& outside_;
  const std::vector<Limit>& limits_;
  std::int64_t run_;
  std::vector<std::int64_t> inside_steps_;  // of each digit in the stage, in units
  std::vector<std::int64_t> staged_steps_;
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

/// A tile whose run is doubled until the tile has so many units, or until it would have much more beyond the tensor's edges. `cut` takes the runs.
template <class Cut>
Cutter grown_tile(const SharedDigits& digits, const TileGoals& goals, std::int64_t enough, std::int64_t run, Cut cut) {
  Cutter tile(digits);
  cut(tile, run);
  std::int64_t least = tile.all_units();
  while (tile.tile_units() < enough && run < goals.longest_run) {
    run *= 2;
    Cutter larger(digits);
    cut(larger, run);
    if (8 * larger.all_units() > 9 * least) break;
    least = std::min(least, larger.all_units());
    tile = std::move(larger);
  }
  return tile;
}

/// Tiles that fill stages; none where that cannot be or does not pay.
std::optional<Tiles> staged_tiles(const SharedDigits& digits, const TileGoals& goals) {
  const std::int64_t per_byte = 8 / digits.unit_bits;
  if (digits.target_base % (kLine * per_byte) != 0) return std::nullopt;
  Cutter cutter = grown_tile(digits, goals, goals.staged_tile * per_byte, goals.staged_source_run, [&](Cutter& tile, std::int64_t length) {
    tile.take_run(false, goals.source_run * per_byte, goals.shortest_source * per_byte);
    tile.take_run(true, length * per_byte, goals.shortest_source * per_byte);
  });
  const std::int64_t run = cutter.take_stage(goals.staged_run * per_byte, goals.stage * per_byte, digits.target_units);
  return run == 0 ? std::nullopt : Builder(digits, cutter, run).build();
}

}  // namespace

std::optional<Tiles> tiles_of(const SharedDigits& digits, const TileGoals& goals) {
  const std::int64_t per_byte = 8 / digits.unit_bits;
  const bool words = !digits.source_word.empty() || !digits.target_word.empty();
  if (!words && common_run(digits) >= goals.shortest_copy) {
    Cutter cutter(digits);
    cutter.take_common_run(goals.copy_run * per_byte);
    return Builder(digits, cutter, 0).build();
  }
  const Cutter cutter = grown_tile(digits, goals, goals.tile * per_byte, goals.target_run, [&](Cutter& tile, std::int64_t length) {
    tile.take_run(false, length * per_byte, length * per_byte);
    tile.take_run(true, goals.source_run * per_byte, goals.shortest_source * per_byte);
  });
  if (!cutter.writes_lines()) {
    if (std::optional<Tiles> staged = staged_tiles(digits, goals)) return staged;
  }
  return Builder(digits, cutter, 0).build();
}

}  // namespace mx::kernels::relayout
