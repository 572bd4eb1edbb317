#include "tests/proof/thresholds.hpp"

#include <algorithm>

#include "tests/proof/exact.hpp"

namespace mx::tests {
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

/// Where, on the way from one value of the format (0) to the next (1), magnitudes stop rounding down: numerator / 2^bits.
struct Turn {
  std::uint64_t numerator;
  int bits;
  bool included;  ///< the point itself goes up
};

constexpr Turn kAboveThis{0, 0, false};
constexpr Turn kAtNext{1, 0, true};
constexpr Turn kAtMidpoint{1, 1, true};
constexpr Turn kAboveMidpoint{1, 1, false};

class Half {
 public:
  Half(const FormatFacts& facts, const Mode& mode, bool negative) : facts_(facts), mode_(mode), negative_(negative) {}

  /// Steps of the patterns with this sign, the sign bit included.
  std::vector<Step> steps() {
    const bool refused = negative_ && !facts_.has_sign && mode_.negative_is_nan;
    add(0, zero_code());
    if (refused) {
      add(first_nonzero(), overflow_nan_by_facts(facts_, true));
    } else {
      add_finite();
      add(kInfinity, infinite_code());
    }
    add_nans();
    return steps_;
  }

 private:
  bool has_zero() const { return facts_.name != "e8m0"; }
  std::uint32_t zero_code() const { return has_zero() ? signed_code(facts_, 0, negative_) : mode_.zero_code; }
  std::uint32_t first_nonzero() const { return mode_.flush_source ? 0x00800000U : 1U; }

  void add_finite() {
    MpfrNumber here(kExactBits);
    MpfrNumber next(kExactBits);
    MpfrNumber point(kExactBits);
    // Without a zero, whatever lies below the smallest value becomes it.
    if (!has_zero()) add(first_nonzero(), 0);
    std::uint32_t from = first_nonzero();
    for (std::uint32_t code = 0; code <= facts_.max_code; ++code) {
      set_magnitude(here.get(), facts_, code);
      set_magnitude(next.get(), facts_, code + 1);
      const bool top = code == facts_.max_code;
      const Turn turn = top && mode_.before_rounding ? kAboveThis : turn_after(code);
      set_between(point.get(), here.get(), next.get(), turn.numerator, turn.bits);
      from = first_pattern(point.get(), turn.included, from);
      const bool flushed = mode_.flush_target && mpfr_cmp_d(next.get(), facts_.min_normal) < 0;
      add(from, top ? excess_code() : flushed ? zero_code() : signed_code(facts_, code + 1, negative_));
    }
  }

  void add_nans() {
    if (mode_.nan == NanCode::given) return add(kInfinity + 1, negative_ ? mode_.nan_negative : mode_.nan_positive);
    const std::uint32_t infinity = signed_code(facts_, facts_.max_code + 1, negative_);
    const std::uint32_t places = 1U << facts_.mantissa_bits;
    for (std::uint32_t top = 0; top < places; ++top) {
      // The significand's top bits all zero: a NaN has some other bit set.
      const std::uint32_t first = top == 0 ? 1U : top * (0x800000U / places);
      const std::uint32_t kept = top == 0 ? 1U : top;
      const std::uint32_t quiet = top < places / 2 ? top + places / 2 : top;
      add(kInfinity + first, infinity + (mode_.nan == NanCode::kept ? kept : quiet));
    }
  }

  Turn turn_after(std::uint32_t code) const {
    const bool powers = facts_.name == "e8m0";
    switch (mode_.direction) {
      // The significand of a power of two is odd, so its tie to even goes up (IEEE 754-2019 section 4.3.1, precision 1).
      case Direction::nearest_even: return powers || code % 2 == 1 ? kAtMidpoint : kAboveMidpoint;
      case Direction::nearest_away: return kAtMidpoint;
      case Direction::nearest_toward_zero: return kAboveMidpoint;
      case Direction::toward_zero: return kAtNext;
      case Direction::toward_positive: return negative_ ? kAtNext : kAboveThis;
      case Direction::toward_negative: return negative_ ? kAboveThis : kAtNext;
      case Direction::magnitude_up: return kAboveThis;
      case Direction::nearest_up: return code == 0 ? kAboveThis : kAtMidpoint;
      default: break;
    }
    return random_turn();
  }

  /// floor(f * 2^n) reaches a whole number k where f reaches k / 2^n.
  Turn random_turn() const {
    const std::uint64_t units = (std::uint64_t{1} << mode_.random_bits) - mode_.random;
    const int aligned = 23 - facts_.mantissa_bits;
    switch (mode_.direction) {
      case Direction::stochastic_odd: return {2 * units - 1, mode_.random_bits + 1, true};
      // Rounded to nearest even, f * 2^n reaches k half a unit earlier, and at the half itself when k is even.
      case Direction::stochastic_nearest: return {2 * units - 1, mode_.random_bits + 1, units % 2 == 0};
      case Direction::stochastic_add: return {(std::uint64_t{1} << aligned) - mode_.random, aligned, true};
      default: break;
    }
    return {units, mode_.random_bits, true};
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

}  // namespace mx::tests
