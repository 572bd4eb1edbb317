// Operands whose sums show the order, the groups and the width of a device's additions.

#include "golden/vectors/dot_patterns.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "support/random.hpp"

namespace mx::golden {
namespace {

/// Large, small, minus large, at every distance that parts the levels of a tree and the ends of groups.
void orders(DotPatterns& patterns) {
  const std::size_t n = patterns.length();
  std::vector<std::array<std::size_t, 3>> places{{0, n / 2, n - 1}, {n - 1, n / 2, 0}, {n / 2, 0, n - 1}, {0, n - 1, n / 2}};
  for (std::size_t step = 1; step < n; step *= 2) {
    const std::size_t next = std::min(2 * step, n - 1);
    places.push_back({0, step, next});
    places.push_back({0, next, step});
    places.push_back({n - 1, n - 1 - step, n - 1 - next});
    places.push_back({step, 0, next});
    if (step > 1) places.push_back({step - 1, step - 2, step});
  }
  bool negative = false;
  for (const auto& [large, small, minus] : places) {
    if (large == small || small == minus || large == minus) continue;
    patterns.clear();
    patterns.place(large, patterns.top(), negative);
    patterns.place(small, std::max(patterns.bottom(), patterns.top() - (negative ? 25 : 30)), false);
    patterns.place(minus, patterns.top(), !negative);
    patterns.give();
    negative = !negative;
  }
}

/// A product at every distance below two that cancel, alone and as the one that lifts a tie.
void widths(DotPatterns& patterns) {
  constexpr int kWidest = 40;
  const std::size_t n = patterns.length();
  for (int below = 22; below <= kWidest; ++below) {
    const int exponent = patterns.top() - below;
    if (exponent < patterns.bottom()) return;
    const auto at = static_cast<std::size_t>(below);
    patterns.clear();
    patterns.place(0, patterns.top(), false);
    patterns.place(1 % n, patterns.top(), true);
    patterns.place((2 + at) % n, exponent, at % 2 == 0);
    patterns.give();
    if (below < 25 || n < 4) continue;
    // 2^top + 2^(top - 24) lies half way; what lies below decides.
    const bool negative = at % 2 == 1;
    patterns.clear();
    patterns.place((at + 1) % n, patterns.top(), negative);
    patterns.place((at + 2) % n, patterns.top() - 24, negative);
    patterns.place((at + 3) % n, exponent, negative);
    patterns.give();
  }
}

/// The largest product, the least one, and the largest with the other sign.
void ends(DotPatterns& patterns) {
  for (const bool negative : {false, true}) {
    patterns.clear();
    for (const std::size_t k : {std::size_t{0}, patterns.length() - 1}) {
      patterns.a()[k] = max_finite_code(patterns.element(false));
      patterns.b()[k] = max_finite_code(patterns.element(true));
      const bool of_a = patterns.element(false).has_sign;
      std::uint32_t& code = of_a ? patterns.a()[k] : patterns.b()[k];
      if ((k == 0) == negative) code = negated(code, patterns.element(!of_a));
    }
    patterns.a()[patterns.length() / 2] = patterns.b()[patterns.length() / 2] = 1;
    patterns.give();
  }
}

/// Many of the largest product that cancel in the end, and the least one at some place among them.
void piles(DotPatterns& patterns) {
  const std::size_t n = patterns.length();
  for (const std::size_t stretch : {n / 2, n / 4}) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{1}, n / 4, n / 2 - 1, n / 2, n - 1}) {
      patterns.clear();
      for (std::size_t k = 0; k < n; ++k) {
        const bool negative = k / std::max<std::size_t>(stretch, 1) % 2 == 1;
        patterns.a()[k] = max_finite_code(patterns.element(false));
        patterns.b()[k] = max_finite_code(patterns.element(true));
        if (negative && patterns.element(false).has_sign) patterns.a()[k] = negated(patterns.a()[k], patterns.element(false));
        if (negative && !patterns.element(false).has_sign) patterns.b()[k] = negated(patterns.b()[k], patterns.element(true));
      }
      patterns.a()[at] = patterns.b()[at] = 1;
      patterns.give();
    }
  }
}

/// Blocks of unlike scale: what lies in the later ones is far smaller, at every distance; drawn codes of both signs.
void unlike_scales(DotPatterns& patterns) {
  constexpr std::uint32_t kFarthest = 34;
  support::SplitMix64 random(16);
  const bool any = patterns.scales(false).size() > 1 || patterns.scales(true).size() > 1;
  // Two vectors for each distance.
  for (std::uint32_t step = 2 * 8; any && step < 2 * (kFarthest + 1); ++step) {
    const std::uint32_t below = step / 2;
    patterns.clear();
    for (const bool of_b : {false, true}) {
      const Format& format = patterns.element(of_b);
      for (std::uint32_t& code : of_b ? patterns.b() : patterns.a()) {
        const std::uint64_t word = random.next();
        code = 1U + static_cast<std::uint32_t>(word >> 32U) % max_finite_code(format);
        if ((word & 1U) != 0) code = negated(code, format);
      }
    }
    // In every other vector the first block cancels: then more of the others is seen.
    const std::size_t first = patterns.length() / std::max(patterns.scales(false).size(), patterns.scales(true).size());
    for (std::size_t k = 0; step % 2 == 1 && k < first / 2; ++k) {
      patterns.a()[first / 2 + k] = negated(patterns.a()[k], patterns.element(false));
      patterns.b()[first / 2 + k] = patterns.b()[k];
    }
    // The distance is shared by both sides, since eight bits of a scale may not reach.
    const bool both = patterns.scales(false).size() > 1 && patterns.scales(true).size() > 1;
    for (const bool of_b : {false, true}) {
      const MutableLanes scales = patterns.scales(of_b);
      const Format* format = patterns.scale(of_b);
      if (format == nullptr || scales.size() < 2) continue;
      const int own = static_cast<int>(!both ? below : of_b ? below / 2 : below - below / 2);
      const auto high = static_cast<std::uint32_t>(format->bias + (own + 1) / 2) << format->mantissa_bits;
      for (std::size_t i = 0; i < scales.size(); ++i) {
        const int field = format->bias + (own + 1) / 2 - (i == 0 ? 0 : own);
        scales[i] = i == 0 ? high : field > 0 ? static_cast<std::uint32_t>(field) << format->mantissa_bits : 1U;
        scales[i] |= static_cast<std::uint32_t>(random.next()) & ((1U << format->mantissa_bits) - 1U);
        scales[i] = std::min(scales[i], max_finite_code(*format));
      }
    }
    patterns.give();
  }
}

/// Drawn codes under scales so small that products lie about the last place of fp32's subnormals: there short sums are rounded, too.
void tiny_scales(DotPatterns& patterns) {
  constexpr int kLastPlace = -149;
  const auto has_powers = [&](bool of_b) { return patterns.scale(of_b) != nullptr && patterns.scale(of_b)->encoding == Encoding::exponent_only; };
  if (!has_powers(false) || !has_powers(true)) return;
  support::SplitMix64 random(126);
  for (int above = -1; above <= 10; ++above) {
    patterns.clear();
    const int both = kLastPlace + above - patterns.top();
    for (const bool of_b : {false, true}) {
      const Format& format = patterns.element(of_b);
      std::ranges::fill(patterns.scales(of_b), static_cast<std::uint32_t>(patterns.scale(of_b)->bias + (of_b ? both / 2 : both - both / 2)));
      for (std::uint32_t& code : of_b ? patterns.b() : patterns.a()) {
        const std::uint64_t word = random.next();
        code = static_cast<std::uint32_t>(word >> 32U) % (max_finite_code(format) + 1U);
        if ((word & 1U) != 0) code = negated(code, format);
      }
    }
    patterns.give();
  }
}

/// Finite codes of all kinds; in every other vector the second half is the first with the other sign but for its last bits, so that much cancels.
void drawn(DotPatterns& patterns) {
  constexpr int kVectors = 24;
  support::SplitMix64 random(7);
  for (int i = 0; i < kVectors; ++i) {
    patterns.clear();
    for (const bool of_b : {false, true}) {
      const Format& format = patterns.element(of_b);
      for (std::uint32_t& code : of_b ? patterns.b() : patterns.a()) {
        const std::uint64_t word = random.next();
        code = static_cast<std::uint32_t>(word >> 32U) % (max_finite_code(format) + 1U);
        // Of wide formats within 32 binades around 1: farther apart all but one product are lost.
        if (format.width > 8) {
          const auto field = static_cast<std::uint32_t>(format.bias - 16) + static_cast<std::uint32_t>(word >> 8U) % 32U;
          code = (code & ((1U << format.mantissa_bits) - 1U)) | std::min(field, max_finite_code(format) >> format.mantissa_bits)
                                                                    << format.mantissa_bits;
          code = std::min(code, max_finite_code(format));
        }
        if ((word & 1U) != 0) code = negated(code, format);
      }
    }
    const std::size_t half = patterns.length() / 2;
    for (std::size_t k = 0; i % 2 == 1 && k < half; ++k) {
      patterns.a()[half + k] = negated(patterns.a()[k], patterns.element(false));
      patterns.b()[half + k] = patterns.b()[k] ^ (k % 5 == 0 ? 1U : 0U);
    }
    for (const bool of_b : {false, true}) {
      for (std::uint32_t& code : of_b ? patterns.b() : patterns.a()) {
        if (is_nan_code(patterns.element(of_b), code) || is_inf_code(patterns.element(of_b), code)) code = 0;
      }
    }
    patterns.give();
  }
}

/// The first code that is a NaN, or an infinity.
std::optional<std::uint32_t> first_code(const Format& format, bool infinite) {
  for (std::uint32_t code = max_finite_code(format); code >> format.width == 0; ++code) {
    if (infinite ? is_inf_code(format, code) : is_nan_code(format, code)) return code;
  }
  return std::nullopt;
}

/// A NaN, an infinity, and an infinity by zero, in every place.
void specials(DotPatterns& patterns) {
  for (std::size_t k = 0; k < patterns.length(); ++k) {
    for (const bool infinite : {false, true}) {
      const bool of_b = k % 2 == 1;
      const std::optional<std::uint32_t> code = first_code(patterns.element(of_b), infinite);
      if (!code) continue;
      patterns.clear();
      for (std::size_t i = 0; i < patterns.length(); ++i) patterns.place(i, 0, i % 3 == 2);
      (of_b ? patterns.b() : patterns.a())[k] = infinite && k % 4 > 1 ? negated(*code, patterns.element(of_b)) : *code;
      if (infinite && k % 8 > 5) (of_b ? patterns.a() : patterns.b())[k] = 0;
      patterns.give();
    }
  }
}

/// bf16: products about the last place of fp32's subnormals, where an alignment has its lower end.
void tiny(DotPatterns& patterns) {
  constexpr int kVectors = 16;
  support::SplitMix64 random(149);
  for (int i = 0; i < kVectors; ++i) {
    patterns.clear();
    for (std::size_t k = 0; k < patterns.length(); ++k) {
      const std::uint64_t word = random.next();
      const auto field = 20U + static_cast<std::uint32_t>(word % 40U);
      // The exponents of a product add up to one of -153 to -142.
      const std::uint32_t other = 112U - field - static_cast<std::uint32_t>((word >> 16U) % 12U);
      patterns.a()[k] = (field << 7U) | (static_cast<std::uint32_t>(word >> 24U) & 0x807FU);
      patterns.b()[k] = (other << 7U) | (static_cast<std::uint32_t>(word >> 40U) & 0x807FU);
    }
    patterns.give();
  }
}

}  // namespace

void deciding_dots(const DotSubject& subject, const std::function<void(Lanes operands)>& sink) {
  DotPatterns patterns(subject, sink);
  if (subject.length > 2 && (subject.a.element->has_sign || subject.b.element->has_sign)) {
    orders(patterns);
    widths(patterns);
    ends(patterns);
    piles(patterns);
    unlike_scales(patterns);
    tiny_scales(patterns);
    drawn(patterns);
  }
  specials(patterns);
  if (*subject.a.element == kBf16 && *subject.b.element == kBf16) tiny(patterns);
}

}  // namespace mx::golden
