#include "tests/proof/thresholds.hpp"

#include <algorithm>

#include "tests/proof/exact.hpp"

namespace mx::test {
namespace {

constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kSign = 0x80000000U;

/// The first fp32 magnitude at (or only above) a point of the number line: the infinity when no finite one is there.
std::uint32_t first_pattern(mpfr_srcptr point, bool at_point, std::uint32_t from) {
  MpfrNumber value(kExactBits);
  std::uint32_t low = from;
  std::uint32_t high = kInfinity;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    set_f32(value.get(), middle);
    const int order = mpfr_cmp(value.get(), point);
    const bool reached = at_point ? order >= 0 : order > 0;
    (reached ? high : low) = reached ? middle : middle + 1;
  }
  return low;
}

/// Where a magnitude stops rounding down to one grid point and goes on to the next one up.
enum class Turn { at_next, at_midpoint, above_midpoint, above_this };

class Half {
 public:
  Half(const FormatFacts& facts, const Mode& mode, bool negative) : facts_(facts), mode_(mode), negative_(negative) {}

  /// Steps of the patterns with this sign, the sign bit included.
  std::vector<Step> steps() {
    const bool refused = negative_ && !facts_.has_sign && mode_.negative_is_nan;
    add(0, has_zero() ? signed_code(facts_, 0, negative_) : mode_.zero_code);
    if (refused) {
      add(1, overflow_nan_by_facts(facts_, true));
    } else {
      add_finite();
      add(kInfinity, infinite_code());
    }
    add(kInfinity + 1, negative_ ? mode_.nan_negative : mode_.nan_positive);
    return steps_;
  }

 private:
  bool has_zero() const { return facts_.name != "e8m0"; }

  void add_finite() {
    MpfrNumber here(kExactBits);
    MpfrNumber next(kExactBits);
    MpfrNumber middle(kExactBits);
    // Without a zero, whatever lies below the smallest value becomes it.
    if (!has_zero()) add(1, 0);
    std::uint32_t from = 1;
    for (std::uint32_t code = 0; code <= facts_.max_code; ++code) {
      set_magnitude(here.get(), facts_, code);
      set_magnitude(next.get(), facts_, code + 1);
      set_midpoint(middle.get(), here.get(), next.get());
      const bool top = code == facts_.max_code;
      const Turn turn = top && mode_.before_rounding ? Turn::above_this : turn_after(code);
      const mpfr_srcptr point = turn == Turn::at_next ? next.get() : turn == Turn::above_this ? here.get() : middle.get();
      from = first_pattern(point, turn == Turn::at_next || turn == Turn::at_midpoint, from);
      add(from, top ? excess_code() : signed_code(facts_, code + 1, negative_));
    }
  }

  Turn turn_after(std::uint32_t code) const {
    const bool powers = facts_.name == "e8m0";
    switch (mode_.direction) {
      // The significand of a power of two is odd, so its tie to even goes up (IEEE 754-2019 section 4.3.1, precision 1).
      case Direction::nearest_even: return powers || code % 2 == 1 ? Turn::at_midpoint : Turn::above_midpoint;
      case Direction::nearest_away: return Turn::at_midpoint;
      case Direction::nearest_toward_zero: return Turn::above_midpoint;
      case Direction::toward_zero: return Turn::at_next;
      case Direction::toward_positive: return negative_ ? Turn::at_next : Turn::above_this;
      case Direction::toward_negative: return negative_ ? Turn::above_this : Turn::at_next;
      case Direction::magnitude_up: return Turn::above_this;
      case Direction::nearest_up: break;
    }
    return code == 0 ? Turn::above_this : Turn::at_midpoint;
  }

  std::uint32_t excess_code() const {
    if (mode_.excess != Excess::ieee) return infinite_code();
    const bool inward =
        mode_.direction == Direction::toward_zero || mode_.direction == (negative_ ? Direction::toward_positive : Direction::toward_negative);
    return inward ? signed_code(facts_, facts_.max_code, negative_) : infinite_code();
  }

  std::uint32_t infinite_code() const {
    switch (mode_.excess) {
      case Excess::saturate: return signed_code(facts_, facts_.max_code, negative_);
      case Excess::nan: return overflow_nan_by_facts(facts_, negative_);
      case Excess::inf:
      case Excess::ieee: break;
    }
    return signed_code(facts_, facts_.max_code + 1, negative_);
  }

  void add(std::uint32_t magnitude, std::uint32_t code) { steps_.push_back({magnitude | (negative_ ? kSign : 0U), code}); }

  const FormatFacts& facts_;
  const Mode& mode_;
  const bool negative_;
  std::vector<Step> steps_;
};

/// Steps that start at one pattern count as the last of them; a step that changes nothing is none.
std::vector<Step> changes_only(const std::vector<Step>& steps) {
  std::vector<Step> out;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i + 1 < steps.size() && steps[i + 1].first == steps[i].first) continue;
    if (out.empty() || out.back().code != steps[i].code) out.push_back(steps[i]);
  }
  return out;
}

}  // namespace

std::vector<Step> thresholds(const FormatFacts& facts, const Mode& mode) {
  std::vector<Step> steps = Half(facts, mode, false).steps();
  const std::vector<Step> negative = Half(facts, mode, true).steps();
  steps.insert(steps.end(), negative.begin(), negative.end());
  return changes_only(steps);
}

std::uint32_t code_at(std::span<const Step> steps, std::uint32_t pattern) {
  const auto after = std::ranges::upper_bound(steps, pattern, {}, &Step::first);
  return (after - 1)->code;
}

}  // namespace mx::test
