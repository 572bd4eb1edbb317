// What else a device may make of the products of a dot product.

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "golden/vectors/dot_subject.hpp"
#include "model/numerics/exact_sum.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {
namespace {

using Products = std::vector<Value>;
using OperandC = std::optional<std::uint32_t>;

std::uint32_t exact(std::span<const Value> addends) {
  ExactSum sum;
  for (const Value& addend : addends) sum.add(addend);
  return sum.to_f32();
}

/// C as one more of the addends.
Products with(Products products, OperandC c) {
  if (c) products.push_back(decode(kF32, *c));
  return products;
}

/// A sum in fp32 and one more product, rounded once.
std::uint32_t added(std::uint32_t sum, const Value& product) { return exact(std::array{decode(kF32, sum), product}); }

std::uint32_t chain(std::span<const Value> products, OperandC c) {
  std::uint32_t sum = c.value_or(0);
  for (const Value& product : products) sum = added(sum, product);
  return sum;
}

/// C is added to the tree's sum.
std::uint32_t tree(const Products& products, OperandC c) {
  std::vector<std::uint32_t> sums;
  for (const Value& product : products) sums.push_back(to_f32(product));
  while (sums.size() > 1) {
    for (std::size_t i = 0; i < sums.size() / 2; ++i) sums[i] = f32::add(sums[2 * i], sums[2 * i + 1]);
    if (sums.size() % 2 == 1) sums[sums.size() / 2] = sums.back();
    sums.resize((sums.size() + 1) / 2);
  }
  const std::uint32_t sum = sums.empty() ? 0 : sums.front();
  return c ? f32::add(sum, *c) : sum;
}

std::uint32_t in_groups(std::span<const Value> products, OperandC c, std::size_t group) {
  std::uint32_t sum = c.value_or(0);
  for (std::size_t k = 0; k < products.size(); k += group) {
    const std::uint32_t part = exact(products.subspan(k, std::min(group, products.size() - k)));
    sum = k == 0 && !c ? part : f32::add(sum, part);
  }
  return sum;
}

/// Every addend cut off so many bits below the leading one of the largest.
std::uint32_t aligned(const Products& addends, int width) {
  int top = INT32_MIN;
  for (const Value& addend : addends) {
    if (addend.cls == ValueClass::finite) top = std::max(top, top_exponent(addend));
  }
  Products cut;
  for (Value addend : addends) {
    const int dropped = addend.cls == ValueClass::finite ? top - width - addend.exponent : 0;
    if (dropped > 0) addend.significand = dropped < 64 ? addend.significand >> dropped << dropped : 0;
    if (addend.significand != 0 || addend.cls == ValueClass::infinity || addend.cls == ValueClass::nan) cut.push_back(addend);
  }
  return exact(cut);
}

std::uint32_t cut_off(const Products& addends) {
  ExactSum sum;
  for (const Value& addend : addends) sum.add(addend);
  constexpr Conversion kCut{Rounding::toward_zero, Overflow::saturate, NanRule::fixed, 0, 0, 0, false};
  return sum.round(kF32, kCut);
}

/// Each product with so many bits, cut or rounded to nearest even.
Products shortened(Products products, int bits, bool rounded) {
  for (Value& product : products) {
    const int dropped = static_cast<int>(std::bit_width(product.significand)) - bits;
    if (product.cls != ValueClass::finite || dropped <= 0) continue;
    const std::uint64_t kept = product.significand >> dropped;
    const std::uint64_t below = product.significand - (kept << dropped);
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    const bool up = rounded && (below > half || (below == half && (kept & 1U) != 0));
    product.significand = kept + (up ? 1U : 0U);
    product.exponent += dropped;
  }
  return products;
}

Products reversed(Products products) {
  std::ranges::reverse(products);
  return products;
}

Products in_pairs_exchanged(Products products) {
  for (std::size_t k = 0; k + 1 < products.size(); k += 2) std::swap(products[k], products[k + 1]);
  return products;
}

/// Bits from the last place of the least product to the leading one of the largest; scales beside.
int span_of(const DotSubject& subject) {
  const auto bits = [](const Format& format) {
    const Value largest = decode(format, max_finite_code(format));
    const Value least = format.encoding == Encoding::floating ? decode(format, 1U) : Value{1, -format.mantissa_bits, ValueClass::finite, false};
    return std::pair{top_exponent(largest), top_exponent(least)};
  };
  const auto [top_a, low_a] = bits(*subject.a.element);
  const auto [top_b, low_b] = bits(*subject.b.element);
  return top_a + top_b + 1 - low_a - low_b;
}

/// Bits of the sum of a block of products and of what its scales multiply them by.
int block_bits(const DotSubject& subject, std::size_t block) {
  const auto of_scale = [](const SideFormat& side) {
    return side.scale == nullptr ? 0 : side.scale->mantissa_bits == 0 ? 0 : side.scale->mantissa_bits + 1;
  };
  return span_of(subject) + static_cast<int>(std::bit_width(block - 1)) + of_scale(subject.a) + of_scale(subject.b);
}

/// A rival that adds up whole blocks before it rounds.
bool is_whole_blocks(std::string_view rival, std::size_t block) {
  return rival == "a pairwise tree" || rival == fmt::format("groups of {}", block) || rival == fmt::format("groups of {}", 2 * block);
}

bool has_one_scale(const DotSubject& subject) { return subject.scales_of(subject.a) < 2 && subject.scales_of(subject.b) < 2; }

}  // namespace

std::vector<DotRival> dot_rivals(const DotSubject& subject) {
  const auto is_wide = [](const SideFormat& side) { return side.scale != nullptr && side.scale->width > 8; };
  const bool is_exact = subject.contract == Contract::exact;
  if ((!is_exact && subject.contract != Contract::f32_sequential) || is_wide(subject.a) || is_wide(subject.b)) return {};
  std::vector<DotRival> rivals;
  if (is_exact) {
    rivals.push_back({"a chain of fp32", 0, [](const Products& products, OperandC c) { return chain(products, c); }});
    rivals.push_back({"a sum that is cut off at the end", 0, [](const Products& products, OperandC c) { return cut_off(with(products, c)); }});
  } else {
    rivals.push_back({"an exact sum", 0, [](const Products& products, OperandC c) { return exact(with(products, c)); }});
    rivals.push_back({"k in descending order", 0, [](const Products& products, OperandC c) { return chain(reversed(products), c); }});
    rivals.push_back({"k in pairs exchanged", 0, [](const Products& products, OperandC c) { return chain(in_pairs_exchanged(products), c); }});
  }
  rivals.push_back({"a pairwise tree", 0, tree});
  for (std::size_t group : {4U, 8U, 16U, 32U})
    rivals.push_back(
        {fmt::format("groups of {}", group), 0, [group](const Products& products, OperandC c) { return in_groups(products, c, group); }});
  for (int width = 24; width <= 36; ++width)
    rivals.push_back({fmt::format("an alignment of {} bits", width), width,
                      [width](const Products& products, OperandC c) { return aligned(with(products, c), width); }});
  return rivals;
}

std::vector<DotRival> short_product_rivals(const DotSubject& subject) {
  const bool is_exact = subject.contract == Contract::exact;
  if (!is_exact && subject.contract != Contract::f32_sequential) return {};
  std::vector<DotRival> rivals;
  for (const auto& [way, rounded] : {std::pair{"cut", false}, std::pair{"rounded", true}}) {
    // Those of bf16, and of fp16 and tf32.
    for (const int bits : {8, 11}) {
      rivals.push_back({fmt::format("each product is {} to {} significant bits first", way, bits), 0, [=](const Products& products, OperandC c) {
                          const Products shorter = shortened(products, bits, rounded);
                          return is_exact ? exact(with(shorter, c)) : chain(shorter, c);
                        }});
    }
  }
  return rivals;
}

std::string why_short(const DotSubject& subject) {
  const int carries = static_cast<int>(std::bit_width(subject.length - 1));
  if (!has_one_scale(subject) || span_of(subject) + carries > 24) return {};
  return fmt::format("sums of {} products of {} and {} under one scale stay within 24 bits", subject.length, subject.a.element->name,
                     subject.b.element->name);
}

std::string why_same_sum(const DotSubject& subject, const DotRival& rival) {
  const bool is_exact = subject.contract == Contract::exact;
  const std::size_t block = std::max<std::size_t>(1, static_cast<std::size_t>(std::max(subject.a.block, subject.b.block)));
  const std::string why = why_short(subject);
  if (subject.has_c) return is_exact && !why.empty() && is_whole_blocks(rival.name, subject.length) ? why + ", and C is added once" : "";
  if (!why.empty()) return why + ": two blocks of unlike scale can tell";
  if (is_exact && subject.length == 2 * block && is_whole_blocks(rival.name, block) && block_bits(subject, block) <= 24)
    return "sums of a block stay within 24 bits, and two of them are added once";
  const int span = span_of(subject);
  if (rival.width > 0 && has_one_scale(subject) && span <= rival.width)
    return fmt::format("products of {} and {} reach over {} bits", subject.a.element->name, subject.b.element->name, span);
  if (is_exact && rival.name == fmt::format("groups of {}", subject.length)) return "one group holds the whole sum";
  return {};
}

}  // namespace mx::golden
