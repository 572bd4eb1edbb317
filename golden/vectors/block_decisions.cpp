#include "golden/vectors/block_decisions.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "golden/vectors/depth.hpp"
#include "support/random.hpp"

namespace mx::golden {
namespace {

using Codes = std::vector<std::uint32_t>;
using ScaleOf = std::function<std::uint32_t(std::uint32_t amax)>;

constexpr std::size_t kAtEveryDepth = 4;

/// The last code of a range before a scale that differs from the first one's; the scale of the range's last code differs.
std::uint32_t last_before_change(std::uint32_t first, std::uint32_t last, const ScaleOf& scale_of) {
  const std::uint32_t scale = scale_of(first);
  while (last - first > 1) {
    const std::uint32_t middle = first + (last - first) / 2;
    (scale_of(middle) == scale ? first : last) = middle;
  }
  return first;
}

/// For each binade in which the scale changes, the code before the first change and before the last one. A scale that follows every code has none.
Codes before_changes(const Format& source, const ScaleOf& scale_of) {
  Codes before;
  const std::uint32_t mantissas = 1U << source.mantissa_bits;
  const std::uint32_t last = max_finite_code(source);
  for (std::uint32_t first = 0; first < last; first += mantissas) {
    const std::uint32_t end = std::min(first + mantissas, last);
    if (scale_of(first) == scale_of(end)) continue;
    const std::uint32_t one = last_before_change(first, end, scale_of);
    before.push_back(one);
    if (scale_of(one + 1) == scale_of(end)) continue;
    // From the other side.
    std::uint32_t low = one + 1;
    std::uint32_t high = end;
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      (scale_of(middle) == scale_of(end) ? high : low) = middle;
    }
    before.push_back(low);
  }
  return before;
}

/// Up to `count` of them, from the first to the last.
Codes spread(const Codes& codes, std::size_t count) {
  if (codes.size() <= count) return codes;
  Codes some;
  for (std::size_t i = 0; i < count; ++i) some.push_back(codes[i * (codes.size() - 1) / (count - 1)]);
  return some;
}

/// The least code from `code` on, or the greatest up to it, whose last set bit is that one; 0 where the next multiple has another.
std::uint32_t with_last_bit(std::uint32_t code, int bit, bool up) {
  const std::uint32_t step = 1U << bit;
  const std::uint32_t multiple = (up ? code + step - 1U : code) / step * step;
  return (multiple & step) != 0 ? multiple : 0U;
}

/// A quantizer beside one largest magnitude.
class Elements {
 public:
  Elements(const BlockFormat& format, const Format& source, std::size_t size, std::uint32_t amax,
           const std::function<QuantizedBlock(Lanes block)>& quantize)
      : element_(format.element), sign_(1U << (source.width - 1)), amax_(amax), block_(size), quantize_(&quantize) {}

  /// Of each code of the element that is reached, the least magnitude of the source that becomes it or more.
  Codes first_of_each_code() {
    const std::uint32_t reached = codes_of({amax_}).front();
    Codes low(reached, 0);
    Codes high(reached, amax_);
    for (bool more = reached > 0; more;) {
      more = false;
      Codes middles;
      for (std::size_t j = 0; j < low.size(); ++j) middles.push_back(low[j] + (high[j] - low[j]) / 2);
      const Codes codes = codes_of(middles);
      for (std::size_t j = 0; j < low.size(); ++j) {
        if (high[j] - low[j] <= 1) continue;
        (codes[j] > j ? high[j] : low[j]) = middles[j];
        more = more || high[j] - low[j] > 1;
      }
    }
    std::ranges::sort(high);
    high.erase(std::unique(high.begin(), high.end()), high.end());
    return high;
  }

  /// Blocks of these magnitudes beside the largest, with both signs; the last block is filled up from the beginning.
  void blocks_of(const Codes& magnitudes, std::size_t most, const std::function<void(Lanes block)>& sink) {
    const std::size_t others = block_.size() - 1;
    for (std::size_t at = 0; at < magnitudes.size() && most > 0; at += others, --most) {
      place_ = (place_ + 5) % block_.size();
      for (std::size_t i = 0, lane = 0; lane < block_.size(); ++lane) {
        if (lane == place_) continue;
        const std::size_t from = (at + i++) % magnitudes.size();
        block_[lane] = magnitudes[from] | ((from / 2 + at / others) % 2 == 0 ? 0U : sign_);
      }
      block_[place_] = amax_ | (place_ % 2 == 0 ? 0U : sign_);
      sink(block_);
    }
  }

 private:
  /// Magnitudes of the elements' codes beside the largest one.
  Codes codes_of(const Codes& magnitudes) {
    Codes codes;
    const std::uint32_t mask = (element_->has_sign ? 1U << (element_->width - 1) : 1U << element_->width) - 1U;
    const std::size_t others = block_.size() - 1;
    for (std::size_t at = 0; at < magnitudes.size(); at += others) {
      const std::size_t count = std::min(others, magnitudes.size() - at);
      std::ranges::fill(block_, 0U);
      block_[0] = amax_;
      std::copy_n(magnitudes.begin() + static_cast<std::ptrdiff_t>(at), count, block_.begin() + 1);
      const QuantizedBlock answer = (*quantize_)(block_);
      for (std::size_t i = 0; i < count; ++i) codes.push_back(answer.codes[1 + i] & mask);
    }
    return codes;
  }

  const Format* element_;
  std::uint32_t sign_;
  std::uint32_t amax_;
  Codes block_;
  const std::function<QuantizedBlock(Lanes block)>* quantize_;
  std::size_t place_ = 0;
};

/// Largest magnitudes of the blocks: at some decisions of the scale, and one between them in the same binade.
Codes amaxes_of_blocks(const BlockFormat& format, const Format& source, const ScaleOf& scale_of) {
  constexpr std::size_t kDecisions = 8;
  Codes chosen;
  if (format.scale->width <= 8) chosen = spread(before_changes(source, scale_of), kDecisions);
  // A scale that follows every code: numbers spread over the range.
  for (int exponent = 1 - source.bias; chosen.size() < kDecisions && format.scale->width > 8;
       exponent += 2 * source.bias / static_cast<int>(kDecisions))
    chosen.push_back((static_cast<std::uint32_t>(exponent + source.bias) << source.mantissa_bits) | 1U);
  Codes amaxes;
  for (std::uint32_t code : chosen) {
    const std::uint32_t first = code >> source.mantissa_bits << source.mantissa_bits;
    const auto drawn = static_cast<std::uint32_t>(support::SplitMix64(code).next() & ((1U << source.mantissa_bits) - 1U));
    for (std::uint32_t amax : {code, code + 1U, first | drawn}) {
      if (amax > 0 && amax <= max_finite_code(source)) amaxes.push_back(amax);
    }
  }
  return amaxes;
}

}  // namespace

std::vector<std::uint32_t> deciding_amaxes(const Format& source, const ScaleOf& scale_of) {
  const Codes before = before_changes(source, scale_of);
  Codes codes;
  for (std::uint32_t code : before) {
    codes.push_back(code);
    codes.push_back(code + 1U);
  }
  for (int bit = 1; bit < source.mantissa_bits; ++bit) {
    std::array<std::size_t, 2> found{};
    // From the middle of the range on, where no rule clamps.
    for (std::size_t i = 0; i < before.size(); ++i) {
      const std::uint32_t code = before[(before.size() / 2 + i) % before.size()];
      for (const bool up : {true, false}) {
        const std::uint32_t other = with_last_bit(up ? code + 1U : code, bit, up);
        if (other == 0 || other > max_finite_code(source) || found[up ? 1 : 0] == kAtEveryDepth) continue;
        ++found[up ? 1 : 0];
        codes.push_back(other);
      }
    }
  }
  return codes;
}

void deciding_blocks(const BlockFormat& format, const Format& source, std::size_t size, const std::function<QuantizedBlock(Lanes block)>& quantize,
                     const std::function<void(Lanes block)>& sink) {
  const auto scale_of = [&](std::uint32_t amax) {
    Codes block(size);
    block[0] = amax;
    return quantize(block).scale;
  };
  std::vector<std::array<std::size_t, 2>> found(static_cast<std::size_t>(source.mantissa_bits));
  for (std::uint32_t amax : amaxes_of_blocks(format, source, scale_of)) {
    Elements elements(format, source, size, amax, quantize);
    const Codes firsts = elements.first_of_each_code();
    Codes both;
    for (std::uint32_t code : firsts) {
      both.push_back(code - 1U);
      both.push_back(code);
    }
    elements.blocks_of(both, both.size(), sink);
    for (int bit = 1; bit < source.mantissa_bits; ++bit) {
      for (const bool up : {true, false}) {
        std::size_t& count = found[static_cast<std::size_t>(bit)][up ? 1 : 0];
        if (count == kAtEveryDepth) continue;
        Codes others;
        for (std::uint32_t code : firsts) {
          const std::uint32_t other = with_last_bit(up ? code : code - 1U, bit, up);
          if (other != 0 && other + (1U << bit) <= amax && other < amax) others.push_back(other);
        }
        if (others.empty()) continue;
        ++count;
        elements.blocks_of(others, 1, sink);
      }
    }
  }
}

}  // namespace mx::golden
