#include "props/numerics/dot_cases.hpp"

#include <algorithm>

#include "props/numerics/grid.hpp"

namespace mx::props::numerics {
namespace {

Element element_of(const Fields& fields, std::uint32_t magnitude, bool negative) {
  const bool single = fields.format == &kF32;
  Dyadic number = from_f32(single ? magnitude : grid_of(fields.format->name).values[magnitude]);
  number.negative = negative;
  const std::uint32_t code = single ? magnitude | (negative ? 0x80000000U : 0U) : signed_code(grid_of(fields.format->name), magnitude, negative);
  const auto field = static_cast<int>(magnitude >> static_cast<unsigned>(fields.mantissa_bits));
  return {code, number, std::max(field, 1) - fields.bias};
}

std::uint32_t top_of(const Fields& fields) { return static_cast<std::uint32_t>(grid_of(fields.format->name).values.size()) - 1; }

std::vector<Value> values_of(const Format& format, const std::vector<Element>& elements) {
  std::vector<Value> values;
  for (const Element& element : elements) values.push_back(decode(format, element.code));
  return values;
}

}  // namespace

Element negated(const Fields& fields, Element element) {
  element.code ^= 1U << (fields.format->width - 1);
  element.number.negative = !element.number.negative;
  return element;
}

std::vector<Value> values_of(const std::vector<std::uint32_t>& f32) {
  std::vector<Value> values;
  for (std::uint32_t bits : f32) values.push_back(decode(kF32, bits));
  return values;
}

std::vector<Element> pick_elements(const Fields& fields, std::size_t count, std::uint32_t low, std::uint32_t high) {
  std::vector<Element> elements;
  for (std::size_t i = 0; i < count; ++i) elements.push_back(element_of(fields, pick_uniform(low, high), pick_uniform(0, 1) == 1));
  return elements;
}

std::vector<Element> pick_elements(const Fields& fields, std::size_t count) {
  if (fields.format == &kBf16) return pick_elements(fields, count, 115U << 7, (140U << 7) - 1);
  return pick_elements(fields, count, 0, top_of(fields));
}

std::vector<std::uint32_t> pick_scales(std::size_t count) {
  std::vector<std::uint32_t> scales;
  for (std::size_t i = 0; i < count; ++i) scales.push_back((127U << 23) | (pick_uniform(0, 0x7FF) << 12));
  return scales;
}

void pick_block_scales(Case& one, std::size_t block) {
  one.block = block;
  const std::size_t count = (one.a.size() + block - 1) / block;
  const std::uint32_t sides = pick_uniform(0, 2);
  if (sides != 1) one.scales_a = pick_scales(count);
  if (sides != 2) one.scales_b = pick_scales(count);
}

std::uint32_t pick_f32(std::uint32_t low_field, std::uint32_t high_field) {
  return (pick_uniform(0, 1) << 31) | (pick_uniform(low_field, high_field) << 23) | pick_uniform(0, 0x7FFFFF);
}

std::uint32_t pick_nan() { return (pick_uniform(0, 1) << 31) | 0x7F800000U | pick_uniform(1, 0x7FFFFF); }

std::uint32_t modelled(std::string_view contract, const Case& one) {
  const std::vector<Value> a = values_of(*one.a_fields->format, one.a);
  const std::vector<Value> b = values_of(*one.b_fields->format, one.b);
  const std::vector<Value> scales_a = values_of(one.scales_a);
  const std::vector<Value> scales_b = values_of(one.scales_b);
  const auto block = static_cast<int>(one.block);
  return dot(row_of(contract_named(contract)), {a, one.a_fields->format, scales_a, block}, {b, one.b_fields->format, scales_b, block},
             {one.c, one.bias});
}

std::uint32_t modelled_with_nan(std::string_view contract, Case one) {
  (pick_uniform(0, 1) == 1 ? one.c : one.bias) = pick_nan();
  return modelled(contract, one);
}

Dyadic scaled(const Element& element, const std::vector<std::uint32_t>& scales, std::size_t block, std::size_t k) {
  return scales.empty() ? element.number : product(element.number, from_f32(scales[k / block]));
}

Dyadic rounded_into(const Fields& fields, const Dyadic& number) {
  if (number.magnitude == 0) return number;
  const int leading = truncated_to_bits(number, 1).exponent;
  return rounded_to_unit(number, std::max(leading, 1 - fields.bias) - fields.mantissa_bits);
}

Dyadic fp32_sum(const Dyadic& a, const Dyadic& b) { return rounded_to_bits(sum(a, b), 24); }
Dyadic fp32_product(const Dyadic& a, const Dyadic& b) { return rounded_to_bits(product(a, b), 24); }
Dyadic fp32_fma(const Dyadic& a, const Dyadic& b, const Dyadic& c) { return rounded_to_bits(sum(product(a, b), c), 24); }

}  // namespace mx::props::numerics
