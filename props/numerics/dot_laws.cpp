// N10: dot products under the contracts of devices, restated in 128-bit integers from facts typed in again.

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <optional>

#include "props/numerics/dot_cases.hpp"
#include "props/numerics/grid.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

// Tensor cores.

/// What these devices return for every NaN.
constexpr std::uint32_t kCudaNan = 0x7FFFFFFFU;

enum class Scaling { operand, total, each, exchanged, both };

/// What numerics says of one instruction and how it is chained.
struct Hopper {
  std::string_view name;
  const Fields* operands;  ///< null: e4m3fn and e5m2 in any mix
  std::size_t group;
  int alignment, kept;
  std::size_t chain;  ///< products from zero; 0: all of them from C
  bool mma;           ///< two groups of 16 per 32, k mod 4 below 2 first
  Scaling scaling;    ///< into the operands, one for all k, per block one after the other (exchanged: b first), per block as their product
  std::optional<int> least = {};  ///< no group is aligned to a lower exponent
};
constexpr Hopper kHopper[] = {
    {"hopper-fp8", nullptr, 32, 13, 14, 0, false, Scaling::total},
    {"hopper-fp8-promoted", nullptr, 32, 13, 14, 128, false, Scaling::total},
    {"hopper-fp8-block-1x128", nullptr, 32, 13, 14, 128, false, Scaling::each},
    {"hopper-fp8-block-128x128", nullptr, 32, 13, 14, 128, false, Scaling::both},
    {"hopper-fp8-block-exchanged", nullptr, 32, 13, 14, 128, false, Scaling::exchanged},
    {"hopper-fp8-as-fp16", nullptr, 16, 25, 24, 0, true, Scaling::total, -133},
    {"hopper-fp8-as-fp16-block", nullptr, 16, 25, 24, 128, true, Scaling::each, -133},
    {"ada-fp8-block-1x128", nullptr, 16, 13, 14, 128, false, Scaling::each, -132},
    {"ada-fp8-block-128x128", nullptr, 16, 13, 14, 128, false, Scaling::both, -132},
    {"blackwell-f8f6f4-block-1x128", nullptr, 32, 25, 24, 128, false, Scaling::each, -133},
    {"blackwell-f8f6f4-block-128x128", nullptr, 32, 25, 24, 128, false, Scaling::both, -133},
    {"hopper-bf16", &kB16, 16, 25, 24, 0, false, Scaling::operand, -133},
    {"hopper-bf16@v1", &kB16, 16, 25, 24, 0, false, Scaling::operand},
    {"hopper-fp16", &kH16, 16, 25, 24, 0, false, Scaling::operand},
    {"hopper-mma-fp8", nullptr, 16, 25, 24, 32, true, Scaling::total},
};

struct Pair {
  Element a, b;
};

/// c and the products, aligned to the largest, truncated, added, truncated.
Dyadic group_sum(const Hopper& facts, const std::vector<Pair>& pairs, const Dyadic& c) {
  std::optional<int> largest;
  const auto consider = [&](int exponent) { largest = std::max(largest.value_or(exponent), exponent); };
  if (c.magnitude != 0) {
    const Dyadic leading = truncated_to_bits(c, 1);
    consider(std::max(leading.exponent, -126));
  }
  for (const Pair& pair : pairs) {
    if (pair.a.number.magnitude != 0 && pair.b.number.magnitude != 0) consider(pair.a.nominal + pair.b.nominal);
  }
  if (!largest) return {};
  const int unit = std::max(*largest, facts.least.value_or(*largest)) - facts.alignment;
  Dyadic total = truncated_to_unit(c, unit);
  for (const Pair& pair : pairs) total = sum(total, truncated_to_unit(product(pair.a.number, pair.b.number), unit));
  if (total.magnitude == 0) return {};
  return truncated_to_bits(total, facts.kept);
}

Dyadic chain_of(const Hopper& facts, std::vector<Pair> pairs, Dyadic start) {
  // The emulated instruction takes elements 0, 1, 4, 5, ... of its 32 first: where missing ones stand does not matter, they are zero.
  if (facts.mma) {
    constexpr std::size_t kInstruction = 32;
    for (std::size_t i = 0; i < pairs.size(); i += kInstruction) {
      std::vector<Pair> first;
      std::vector<Pair> rest;
      for (std::size_t k = i; k < std::min(i + kInstruction, pairs.size()); ++k) (k % 4 < 2 ? first : rest).push_back(pairs[k]);
      start = group_sum(facts, rest, group_sum(facts, first, start));
    }
    return start;
  }
  for (std::size_t i = 0; i < pairs.size(); i += facts.group) {
    const auto begin = pairs.begin() + static_cast<std::ptrdiff_t>(i);
    const auto count = static_cast<std::ptrdiff_t>(std::min(facts.group, pairs.size() - i));
    start = group_sum(facts, {begin, begin + count}, start);
  }
  return start;
}

/// The element as the adder gets it: times its scale, in its own format again; of the emulated instruction as an fp16 number.
Element folded(const Hopper& facts, const Element& element, const std::vector<std::uint32_t>& scales, std::size_t block, std::size_t k) {
  const bool scaling = facts.scaling == Scaling::operand && !scales.empty();
  if (!scaling && !facts.mma) return element;
  const Fields& fields = facts.mma ? kH16 : *facts.operands;
  const Dyadic number = scaling ? rounded_into(fields, scaled(element, scales, block, k)) : element.number;
  const int leading = number.magnitude == 0 ? 1 - fields.bias : truncated_to_bits(number, 1).exponent;
  return {0, number, std::max(leading, 1 - fields.bias)};
}

/// A scale of a chain that begins at k; 1 where there are none.
Dyadic scale_at(const std::vector<std::uint32_t>& scales, std::size_t block, std::size_t k) {
  return from_f32(scales.empty() ? 0x3F800000U : scales[k / block]);
}

bool has_blocks(const Hopper& facts) {
  return facts.scaling == Scaling::each || facts.scaling == Scaling::exchanged || facts.scaling == Scaling::both;
}

std::uint32_t restated(const Hopper& facts, const Case& one) {
  std::vector<Pair> pairs;
  for (std::size_t k = 0; k < one.a.size(); ++k)
    pairs.push_back({folded(facts, one.a[k], one.scales_a, one.block, k), folded(facts, one.b[k], one.scales_b, one.block, k)});
  const Dyadic c = from_f32(one.c.value_or(0));
  Dyadic total = facts.chain == 0 ? chain_of(facts, pairs, c) : c;
  for (std::size_t i = 0; facts.chain != 0 && i < pairs.size(); i += facts.chain) {
    const auto begin = pairs.begin() + static_cast<std::ptrdiff_t>(i);
    const auto count = static_cast<std::ptrdiff_t>(std::min(facts.chain, pairs.size() - i));
    const Dyadic part = chain_of(facts, {begin, begin + count}, {});
    const bool blocks = has_blocks(facts);
    const Dyadic scale_a = blocks ? scale_at(one.scales_a, one.block, i) : scale_at({}, 1, 0);
    const Dyadic scale_b = blocks ? scale_at(one.scales_b, one.block, i) : scale_at({}, 1, 0);
    if (facts.scaling == Scaling::each) {
      total = fp32_fma(fp32_product(part, scale_a), scale_b, total);
    } else if (facts.scaling == Scaling::exchanged) {
      total = fp32_fma(fp32_product(part, scale_b), scale_a, total);
    } else {
      total = fp32_fma(part, fp32_product(scale_a, scale_b), total);
    }
  }
  if (facts.scaling == Scaling::total)
    total = fp32_product(total, fp32_product(scale_at(one.scales_a, one.block, 0), scale_at(one.scales_b, one.block, 0)));
  if (one.bias) total = fp32_sum(total, from_f32(*one.bias));
  return f32_of(total);
}

/// Any codes; of `a` the lowest and of `b` the highest, where what fp32 and the format call small differs; or of `a` subnormals alone, whose exponent
/// field says more than their number.
void pick_operands(Case& one, std::size_t count) {
  const auto code = [](const Fields& fields, int field) { return static_cast<std::uint32_t>(field) << static_cast<unsigned>(fields.mantissa_bits); };
  const Fields& a = *one.a_fields;
  const Fields& b = *one.b_fields;
  switch (pick_uniform(0, 3)) {
    case 0:
      one.a = pick_elements(a, count, 0, code(a, 2));
      one.b = pick_elements(b, count, code(b, 2 * b.bias - 3), code(b, 2 * b.bias));
      return;
    case 1:
      one.a = pick_elements(a, count, 0, code(a, 1) - 1);
      one.b = &b == &kB16 ? pick_elements(b, count, code(b, 2 * b.bias - 20), code(b, 2 * b.bias)) : pick_elements(b, count);
      return;
    default: break;
  }
  one.a = pick_elements(a, count);
  one.b = pick_elements(b, count);
}

Case pick_hopper(const Hopper& facts) {
  Case one;
  const auto fields = [&] { return facts.operands != nullptr ? facts.operands : pick_uniform(0, 1) == 0 ? &kE4 : &kE5; };
  one.a_fields = fields();
  one.b_fields = fields();
  const std::size_t count = pick_uniform(1, pick_uniform(0, 3) == 0 ? 400 : 64);
  pick_operands(one, count);
  if (facts.scaling == Scaling::total) pick_block_scales(one, count);
  if (has_blocks(facts)) pick_block_scales(one, std::size_t{128} * pick_uniform(1, 2));
  if (facts.scaling == Scaling::operand && pick_uniform(0, 1) == 1) pick_block_scales(one, 32);
  if (facts.scaling == Scaling::operand) {
    // From 1/2 to 1: the largest fp16 number would overflow.
    for (std::vector<std::uint32_t>* scales : {&one.scales_a, &one.scales_b}) {
      for (std::uint32_t& scale : *scales) scale -= 1U << 23;
    }
  }
  if (pick_uniform(0, 1) == 1) one.c = pick_f32(107, 147);
  if (pick_uniform(0, 1) == 1) one.bias = pick_f32(107, 147);
  return one;
}

// The chain of VDPBF16PS.

Dyadic flushed(const Dyadic& number) {
  const bool subnormal = number.magnitude != 0 && truncated_to_bits(number, 1).exponent < -126;
  return subnormal ? Dyadic{0, 0, number.negative} : number;
}

/// The operands of the chain, from `first` on `count` of them where there are so many; `start` is what it begins with.
Dyadic flushed_chain(const std::vector<Dyadic>& a, const std::vector<Dyadic>& b, std::size_t first, std::size_t count, Dyadic start) {
  const std::size_t end = std::min(first + count, a.size());
  const auto step = [&](std::size_t k) {
    if (k < end) start = flushed(fp32_fma(flushed(a[k]), flushed(b[k]), flushed(start)));
    if (k >= end) start = sum(start, {});
  };
  for (std::size_t k = first; k < end; k += 2) {
    step(k + 1);
    step(k);
  }
  return start;
}

/// bf16 operands whose products are near 1, or near 2^-126, where they and their sums are flushed.
Case pick_bf16(std::size_t count, bool tiny) {
  const std::uint32_t center = tiny ? 64 : 127;
  Case one;
  one.a_fields = one.b_fields = &kB16;
  one.a = pick_elements(kB16, count, (center - 5) << 7, (center + 5) << 7);
  one.b = pick_elements(kB16, count, (center - 5) << 7, (center + 5) << 7);
  one.c = tiny ? pick_f32(0, 3) : pick_f32(117, 137);
  one.bias = tiny ? pick_f32(1, 3) : pick_f32(117, 137);
  return one;
}

/// Times their scales, as bf16 numbers.
std::vector<Dyadic> bf16_numbers(const std::vector<Element>& elements, const std::vector<std::uint32_t>& scales, std::size_t block) {
  std::vector<Dyadic> numbers;
  for (std::size_t k = 0; k < elements.size(); ++k) numbers.push_back(rounded_into(kB16, scaled(elements[k], scales, block, k)));
  return numbers;
}

}  // namespace

Outcome hopper_is_restated(const Law& law) {
  // What a subnormal's exponent field does to 24 bits shows in one case of a hundred.
  constexpr int kCases = 500;
  // A law of sums with scales for blocks is that of every unit's.
  const std::string_view subject = subject_of(law);
  const std::size_t blocks = subject.find("-block-");
  std::vector<const Hopper*> held;
  for (const Hopper& row : kHopper) {
    if (row.name == subject || (blocks != std::string_view::npos && row.name.ends_with(subject.substr(blocks)))) held.push_back(&row);
  }
  return check_property(
      law,
      [&] {
        const Hopper& facts = *held[pick_uniform(0, static_cast<std::uint32_t>(held.size()) - 1)];
        RC_LOG(std::string(facts.name));
        const Case one = pick_hopper(facts);
        RC_ASSERT(modelled(facts.name, one) == restated(facts, one));
        RC_ASSERT(modelled_with_nan(facts.name, one) == kCudaNan);
      },
      kCases * static_cast<int>(held.size()));
}

Outcome bf16_chain_is_restated(const Law& law) {
  return check_property(law, [] {
    Case one = pick_bf16(pick_uniform(1, 40), pick_uniform(0, 1) == 0);
    if (pick_uniform(0, 1) == 1) pick_block_scales(one, pick_uniform(1, 32));
    const std::vector<Dyadic> a = bf16_numbers(one.a, one.scales_a, one.block);
    const std::vector<Dyadic> b = bf16_numbers(one.b, one.scales_b, one.block);
    const Dyadic chain = flushed_chain(a, b, 0, a.size(), from_f32(*one.c));
    RC_ASSERT(modelled("bf16-chain", one) == f32_of(fp32_sum(chain, from_f32(*one.bias))));
    RC_ASSERT(modelled_with_nan("bf16-chain", one) == kQuietNan);
    one.bias.reset();
    RC_ASSERT(modelled("bf16-chain", one) == f32_of(chain));
  });
}

Outcome bf16_pair_is_restated(const Law& law) {
  return check_property(law, [] {
    constexpr std::size_t kBlock = 32;
    Case one = pick_bf16(pick_uniform(1, 100), pick_uniform(0, 1) == 0);
    if (pick_uniform(0, 1) == 1) pick_block_scales(one, pick_uniform(1, 32));
    const std::vector<Dyadic> a = bf16_numbers(one.a, one.scales_a, one.block);
    const std::vector<Dyadic> b = bf16_numbers(one.b, one.scales_b, one.block);
    Dyadic total = flushed(from_f32(*one.c));
    for (std::size_t first = 0; first < a.size(); first += kBlock) {
      std::array<Dyadic, 2> halves{};
      for (std::size_t k = first; k < std::min(first + kBlock, a.size()); ++k)
        halves[k % 2] = flushed(fp32_fma(flushed(a[k]), flushed(b[k]), halves[k % 2]));
      // The last pair of an odd length has a product +0.
      if (first + kBlock > a.size() && a.size() % 2 == 1) halves[1] = sum(halves[1], {});
      total = flushed(fp32_sum(total, flushed(fp32_sum(halves[0], halves[1]))));
    }
    RC_ASSERT(modelled("bf16-pair", one) == f32_of(fp32_sum(total, from_f32(*one.bias))));
    RC_ASSERT(modelled_with_nan("bf16-pair", one) == kQuietNan);
    one.bias.reset();
    RC_ASSERT(modelled("bf16-pair", one) == f32_of(total));
  });
}

Outcome bf16_block_is_restated(const Law& law) {
  return check_property(law, [] {
    const bool tiny = pick_uniform(0, 1) == 0;
    Case one = pick_bf16(pick_uniform(1, 100), tiny);
    pick_block_scales(one, std::size_t{2} * pick_uniform(1, 16));
    if (tiny) {
      // Whatever the blocks sum to is far above where fp32 itself would round it to a subnormal number.
      for (std::uint32_t& scale : one.scales_a.empty() ? one.scales_b : one.scales_a) scale += 40U << 23;
      one.c = pick_f32(30, 50);
      one.bias = pick_f32(30, 50);
    }
    const std::vector<Dyadic> a = bf16_numbers(one.a, {}, 0);
    const std::vector<Dyadic> b = bf16_numbers(one.b, {}, 0);
    Dyadic total = from_f32(*one.c);
    for (std::size_t first = 0; first < a.size(); first += one.block) {
      const Dyadic part = flushed_chain(a, b, first, one.block, {});
      total = fp32_fma(part, fp32_product(scale_at(one.scales_a, one.block, first), scale_at(one.scales_b, one.block, first)), total);
    }
    RC_ASSERT(modelled("bf16-block", one) == f32_of(fp32_sum(total, from_f32(*one.bias))));
    RC_ASSERT(modelled_with_nan("bf16-block", one) == kQuietNan);
  });
}

Outcome int8_block_is_restated(const Law& law) {
  return check_property(law, [] {
    constexpr std::size_t block = 32;
    const Format& weight = pick_uniform(0, 1) == 0 ? kE2m1 : kMxint8;
    const Grid& weights = grid_of(weight.name);
    const std::size_t count = pick_uniform(1, 100);
    const std::vector<std::uint32_t> scales_a = pick_scales((count + block - 1) / block);
    const std::vector<std::uint32_t> scales_b = pick_scales(scales_a.size());
    const std::uint32_t c = pick_f32(117, 137);
    const std::uint32_t bias = pick_f32(117, 137);
    std::vector<Value> a;
    std::vector<Value> b;
    std::vector<Dyadic> sums(scales_a.size());
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint32_t left = pick_uniform(0, 255);
      const std::uint32_t right = pick_uniform(0, static_cast<std::uint32_t>(weights.values.size()) - 1);
      a.push_back(decode(kMxint8, left));
      b.push_back(decode(weight, right));
      const Dyadic number{left < 128 ? left : 256 - left, -6, left >= 128};
      sums[k / block] = sum(sums[k / block], product(number, from_f32(weights.values[right])));
    }
    Dyadic total = from_f32(c);
    for (std::size_t i = 0; i < sums.size(); ++i) total = fp32_fma(sums[i], fp32_product(from_f32(scales_a[i]), from_f32(scales_b[i])), total);
    const std::vector<Value> left = values_of(scales_a);
    const std::vector<Value> right = values_of(scales_b);
    const auto modelled = [&](const Addends& addends) {
      return dot(row_of(contract_named("int8-block")), {a, &kMxint8, left, block}, {b, &weight, right, block}, addends);
    };
    RC_ASSERT(modelled({.c = c, .bias = bias}) == f32_of(fp32_sum(total, from_f32(bias))));
    RC_ASSERT(modelled({.c = pick_nan(), .bias = bias}) == kQuietNan);
  });
}

}  // namespace mx::props::numerics
