// N10: dot products under each contract, restated in 128-bit integers from facts typed in again.

#include <rapidcheck.h>

#include <algorithm>
#include <optional>

#include "model/numerics/dot.hpp"
#include "props/numerics/dyadic.hpp"
#include "props/numerics/grid.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

/// Fields of an element format: OFP8 1.0 table 1, IEEE 754, MX 1.0.
struct Fields {
  const Format* format;
  std::uint32_t mantissa_bits;
  int bias;
};
constexpr Fields kE4{&kE4m3fn, 3, 7};
constexpr Fields kE5{&kE5m2, 2, 15};
constexpr Fields kB16{&kBf16, 7, 127};
constexpr Fields kH16{&kFp16, 10, 15};

/// One element: its code, its number, and its exponent field.
struct Element {
  std::uint32_t code;
  Dyadic number;
  int nominal;
};

Element element_of(const Fields& fields, std::uint32_t magnitude, bool negative) {
  const Grid& grid = grid_of(fields.format->name);
  Dyadic number = from_f32(grid.values[magnitude]);
  number.negative = negative;
  const auto field = static_cast<int>(magnitude >> fields.mantissa_bits);
  return {signed_code(grid, magnitude, negative), number, std::max(field, 1) - fields.bias};
}

/// Finite codes with a magnitude from `low` to `high`.
std::vector<Element> pick_elements(const Fields& fields, std::size_t count, std::uint32_t low, std::uint32_t high) {
  std::vector<Element> elements;
  for (std::size_t i = 0; i < count; ++i) elements.push_back(element_of(fields, pick_uniform(low, high), pick_uniform(0, 1) == 1));
  return elements;
}

std::uint32_t top_of(const Fields& fields) { return static_cast<std::uint32_t>(grid_of(fields.format->name).values.size()) - 1; }

/// Any finite codes, but of bf16 only those from 2^-12 to 2^12, whose products 128-bit integers hold.
std::vector<Element> pick_elements(const Fields& fields, std::size_t count) {
  if (fields.format == &kBf16) return pick_elements(fields, count, 115U << 7, (140U << 7) - 1);
  return pick_elements(fields, count, 0, top_of(fields));
}

std::vector<Value> values_of(const Format& format, const std::vector<Element>& elements) {
  std::vector<Value> values;
  for (const Element& element : elements) values.push_back(decode(format, element.code));
  return values;
}

std::vector<Value> values_of(const std::vector<std::uint32_t>& f32) {
  std::vector<Value> values;
  for (std::uint32_t bits : f32) values.push_back(decode(kF32, bits));
  return values;
}

/// fp32 numbers of 12 bits in [1, 2), so that the order of their products shows.
std::vector<std::uint32_t> pick_scales(std::size_t count) {
  std::vector<std::uint32_t> scales;
  for (std::size_t i = 0; i < count; ++i) scales.push_back((127U << 23) | (pick_uniform(0, 0x7FF) << 12));
  return scales;
}

Dyadic fp32_sum(const Dyadic& a, const Dyadic& b) { return rounded_to_bits(sum(a, b), 24); }
Dyadic fp32_product(const Dyadic& a, const Dyadic& b) { return rounded_to_bits(product(a, b), 24); }
Dyadic fp32_fma(const Dyadic& a, const Dyadic& b, const Dyadic& c) { return rounded_to_bits(sum(product(a, b), c), 24); }

// Tensor cores.

enum class Scaling { none, total, each, both };

/// What numerics says of one instruction and how it is chained.
struct Hopper {
  std::string_view name;
  const Fields* operands;  ///< null: e4m3fn and e5m2 in any mix
  std::size_t group;
  int alignment, kept;
  std::size_t chain;  ///< products from zero; 0: all of them from C
  bool mma;           ///< two groups of 16 per 32, k mod 4 below 2 first
  Scaling scaling;    ///< none, one for all k, per 128 one after the other, per 128 as their product
};
constexpr Hopper kHopper[] = {
    {"hopper-fp8", nullptr, 32, 13, 14, 0, false, Scaling::total},
    {"hopper-fp8-promoted", nullptr, 32, 13, 14, 128, false, Scaling::total},
    {"hopper-fp8-block-1x128", nullptr, 32, 13, 14, 128, false, Scaling::each},
    {"hopper-fp8-block-128x128", nullptr, 32, 13, 14, 128, false, Scaling::both},
    {"hopper-bf16", &kB16, 16, 25, 24, 0, false, Scaling::none},
    {"hopper-fp16", &kH16, 16, 25, 24, 0, false, Scaling::none},
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
  const int unit = *largest - facts.alignment;
  Dyadic total = truncated_to_unit(c, unit);
  for (const Pair& pair : pairs) total = sum(total, truncated_to_unit(product(pair.a.number, pair.b.number), unit));
  if (total.magnitude == 0) return {};
  return truncated_to_bits(total, facts.kept);
}

Dyadic chain_of(const Hopper& facts, std::vector<Pair> pairs, Dyadic start) {
  // The emulated instruction takes elements 0, 1, 4, 5, ... of its 32 first: where missing ones stand does not matter, they are zero.
  if (facts.mma) {
    std::vector<Pair> first;
    std::vector<Pair> rest;
    for (std::size_t k = 0; k < pairs.size(); ++k) (k % 4 < 2 ? first : rest).push_back(pairs[k]);
    return group_sum(facts, rest, group_sum(facts, first, start));
  }
  for (std::size_t i = 0; i < pairs.size(); i += facts.group) {
    const auto begin = pairs.begin() + static_cast<std::ptrdiff_t>(i);
    const auto count = static_cast<std::ptrdiff_t>(std::min(facts.group, pairs.size() - i));
    start = group_sum(facts, {begin, begin + count}, start);
  }
  return start;
}

/// Everything that one dot product takes.
struct Case {
  std::vector<Element> a, b;
  const Fields* a_fields;
  const Fields* b_fields;
  std::vector<std::uint32_t> scales_a, scales_b;
  std::optional<std::uint32_t> c, bias;
};

std::uint32_t restated(const Hopper& facts, const Case& one) {
  std::vector<Pair> pairs;
  for (std::size_t k = 0; k < one.a.size(); ++k) pairs.push_back({one.a[k], one.b[k]});
  const Dyadic c = from_f32(one.c.value_or(0));
  Dyadic total = facts.chain == 0 ? chain_of(facts, pairs, c) : c;
  for (std::size_t i = 0; facts.chain != 0 && i < pairs.size(); i += facts.chain) {
    const auto begin = pairs.begin() + static_cast<std::ptrdiff_t>(i);
    const auto count = static_cast<std::ptrdiff_t>(std::min(facts.chain, pairs.size() - i));
    const Dyadic part = chain_of(facts, {begin, begin + count}, {});
    const bool blocks = facts.scaling == Scaling::each || facts.scaling == Scaling::both;
    const Dyadic scale_a = from_f32(blocks ? one.scales_a[i / 128] : 0x3F800000U);
    const Dyadic scale_b = from_f32(blocks ? one.scales_b[i / 128] : 0x3F800000U);
    if (facts.scaling == Scaling::each) {
      total = fp32_fma(fp32_product(part, scale_a), scale_b, total);
    } else {
      total = fp32_fma(part, fp32_product(scale_a, scale_b), total);
    }
  }
  if (facts.scaling == Scaling::total) total = fp32_product(total, fp32_product(from_f32(one.scales_a[0]), from_f32(one.scales_b[0])));
  if (one.bias) total = fp32_sum(total, from_f32(*one.bias));
  return f32_of(total);
}

std::uint32_t modelled(std::string_view name, const Case& one, int block) {
  const std::vector<Value> a = values_of(*one.a_fields->format, one.a);
  const std::vector<Value> b = values_of(*one.b_fields->format, one.b);
  const std::vector<Value> scales_a = values_of(one.scales_a);
  const std::vector<Value> scales_b = values_of(one.scales_b);
  return dot(row_of(contract_named(name)), {a, one.a_fields->format, scales_a, block}, {b, one.b_fields->format, scales_b, block}, {one.c, one.bias});
}

std::uint32_t pick_f32(std::uint32_t low_field, std::uint32_t high_field) {
  return (pick_uniform(0, 1) << 31) | (pick_uniform(low_field, high_field) << 23) | pick_uniform(0, 0x7FFFFF);
}

Case pick_hopper(const Hopper& facts) {
  Case one;
  const auto fields = [&] { return facts.operands != nullptr ? facts.operands : pick_uniform(0, 1) == 0 ? &kE4 : &kE5; };
  one.a_fields = fields();
  one.b_fields = fields();
  const std::size_t count = pick_uniform(1, pick_uniform(0, 3) == 0 ? 400 : 64);
  one.a = pick_elements(*one.a_fields, count);
  one.b = pick_elements(*one.b_fields, count);
  const std::size_t scales = facts.scaling == Scaling::none ? 0 : facts.scaling == Scaling::total ? 1 : (count + 127) / 128;
  one.scales_a = pick_scales(scales);
  one.scales_b = pick_scales(scales);
  if (pick_uniform(0, 1) == 1) one.c = pick_f32(107, 147);
  if (pick_uniform(0, 1) == 1) one.bias = pick_f32(107, 147);
  return one;
}

// The chain of VDPBF16PS.

Dyadic flushed(const Dyadic& number) {
  const bool subnormal = number.magnitude != 0 && truncated_to_bits(number, 1).exponent < -126;
  return subnormal ? Dyadic{0, 0, number.negative} : number;
}

Dyadic flushed_chain(const std::vector<Element>& a, const std::vector<Element>& b, Dyadic start) {
  const auto step = [&](std::size_t k) {
    if (k < a.size()) start = flushed(fp32_fma(flushed(a[k].number), flushed(b[k].number), flushed(start)));
    if (k >= a.size()) start = sum(start, {});
  };
  for (std::size_t k = 0; k < a.size(); k += 2) {
    step(k + 1);
    step(k);
  }
  return start;
}

/// Products near 1, or near 2^-126, where they and their sums are flushed.
Case pick_bf16(std::size_t count) {
  const bool tiny = pick_uniform(0, 1) == 0;
  const std::uint32_t center = tiny ? 64 : 127;
  Case one;
  one.a_fields = one.b_fields = &kB16;
  one.a = pick_elements(kB16, count, (center - 5) << 7, (center + 5) << 7);
  one.b = pick_elements(kB16, count, (center - 5) << 7, (center + 5) << 7);
  one.c = tiny ? pick_f32(0, 3) : pick_f32(117, 137);
  one.bias = tiny ? pick_f32(1, 3) : pick_f32(117, 137);
  return one;
}

std::vector<Element> part_of(const std::vector<Element>& elements, std::size_t first, std::size_t count) {
  const auto begin = elements.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(std::min(count, elements.size() - first))};
}

}  // namespace

Outcome hopper_is_restated(const Law& law) {
  const Hopper& facts = *std::ranges::find(kHopper, subject_of(law), &Hopper::name);
  return check_property(law, [&] {
    const Case one = pick_hopper(facts);
    RC_ASSERT(modelled(facts.name, one, one.scales_a.size() == 1 ? static_cast<int>(one.a.size()) : 128) == restated(facts, one));
  });
}

Outcome bf16_chain_is_restated(const Law& law) {
  return check_property(law, [] {
    const Case one = pick_bf16(pick_uniform(1, 40));
    const Dyadic chain = flushed_chain(one.a, one.b, from_f32(*one.c));
    RC_ASSERT(modelled("bf16-chain", one, 0) == f32_of(fp32_sum(chain, from_f32(*one.bias))));
    Case plain = one;
    plain.bias.reset();
    RC_ASSERT(modelled("bf16-chain", plain, 0) == f32_of(chain));
  });
}

Outcome bf16_block_is_restated(const Law& law) {
  return check_property(law, [] {
    const std::size_t block = 2 * pick_uniform(1, 16);
    Case one = pick_bf16(pick_uniform(1, 100));
    one.scales_b = pick_scales((one.a.size() + block - 1) / block);
    // Whatever the blocks sum to is far above where fp32 itself would round it to a subnormal number.
    for (std::uint32_t& scale : one.scales_b) scale += 40U << 23;
    Dyadic total;
    for (std::size_t first = 0; first < one.a.size(); first += block) {
      const Dyadic part = flushed_chain(part_of(one.a, first, block), part_of(one.b, first, block), {});
      total = fp32_fma(part, from_f32(one.scales_b[first / block]), total);
    }
    const std::vector<Value> a = values_of(kBf16, one.a);
    const std::vector<Value> b = values_of(kBf16, one.b);
    const std::vector<Value> scales = values_of(one.scales_b);
    const ContractRow& row = row_of(Contract::bf16_block);
    RC_ASSERT(dot(row, {a, &kBf16, {}, 0}, {b, &kBf16, scales, static_cast<int>(block)}, {}) == f32_of(total));
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
    Dyadic total;
    for (std::size_t i = 0; i < sums.size(); ++i) total = fp32_fma(sums[i], fp32_product(from_f32(scales_a[i]), from_f32(scales_b[i])), total);
    const std::vector<Value> left = values_of(scales_a);
    const std::vector<Value> right = values_of(scales_b);
    RC_ASSERT(dot(row_of(Contract::int8_block), {a, &kMxint8, left, block}, {b, &weight, right, block}, {}) == f32_of(total));
  });
}

}  // namespace mx::props::numerics
