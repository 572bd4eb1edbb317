#include "golden/vectors/block_patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "golden/vectors/conversion_op.hpp"
#include "support/random.hpp"

namespace mx::golden {
namespace {

constexpr std::array<std::string_view, 8> kKinds{
    "ordinary", "all zero", "-0 only", "a NaN", "an infinity", "all equal", "largest value with both signs", "one element alone"};

using Block = std::vector<std::uint32_t>;
using Sink = std::function<void(std::span<const std::uint32_t>)>;

std::uint32_t sign_bit(const Format& format) { return 1U << (format.width - 1); }
std::uint32_t magnitude(std::uint32_t code, const Format& format) { return code & ~sign_bit(format); }

/// 2^exponent * (1 + eighths / 8); the nearest end of the range where the format has no such number.
std::uint32_t number(int exponent, std::uint32_t eighths, const Format& source) {
  const int field = std::clamp(exponent + source.bias, 0, static_cast<int>(max_finite_code(source) >> source.mantissa_bits));
  return (static_cast<std::uint32_t>(field) << source.mantissa_bits) | (eighths << (source.mantissa_bits - 3));
}

/// Elements that fall off to both sides of `place`, alternating in sign: no two lanes alike.
Block ramp(std::size_t size, std::size_t place, int exponent, const Format& source) {
  Block block(size);
  for (std::size_t i = 0; i < size; ++i) {
    const int down = 1 + static_cast<int>((i * 5 + 3) % 7);
    block[i] = number(exponent - down, static_cast<std::uint32_t>(i * 3 % 8), source) | (i % 3 == 1 ? sign_bit(source) : 0U);
  }
  block[place] = number(exponent, 4, source);
  return block;
}

std::vector<std::size_t> places_of(std::size_t size) { return {0, 1, size / 2 - 1, size / 2, size - 2, size - 1}; }

void places_and_exponents(std::size_t size, const Format& source, const Sink& sink) {
  const int low = -source.bias;
  const int high = source.bias;
  for (int exponent : {low, low + 1, low + 2, low + 3, low + 9, low + 16, -3, 0, 1, 4, 9, high - 9, high - 1, high}) {
    for (std::size_t place : places_of(size)) {
      sink(ramp(size, place, exponent, source));
      Block negative = ramp(size, place, exponent, source);
      negative[place] |= sign_bit(source);
      sink(negative);
    }
  }
}

void special_blocks(std::size_t size, const Format& source, const Sink& sink) {
  const std::uint32_t infinity = max_finite_code(source) + 1U;
  const std::uint32_t quiet = infinity | (1U << (source.mantissa_bits - 1));
  sink(Block(size, 0));
  sink(Block(size, sign_bit(source)));
  for (std::uint32_t code : {number(0, 0, source), number(1, 6, source), number(-5, 3, source), max_finite_code(source), 1U, infinity, quiet}) {
    sink(Block(size, code));
    sink(Block(size, code | sign_bit(source)));
  }
  for (std::size_t place : places_of(size)) {
    for (std::uint32_t code : {infinity, infinity | sign_bit(source), quiet, quiet | sign_bit(source), infinity + 1U}) {
      Block block = ramp(size, size / 3, 2, source);
      block[place] = code;
      sink(block);
    }
    Block alone(size, 0);
    alone[place] = number(3, 5, source) | sign_bit(source);
    sink(alone);
    Block both = ramp(size, place, 2, source);
    both[(place + 3) % size] = number(2, 4, source) | sign_bit(source);
    sink(both);
  }
  for (std::size_t filled = 1; filled <= size; ++filled) {
    Block block = ramp(size, 0, 1, source);
    block[filled - 1] = number(-1, 2, source);
    std::fill(block.begin() + static_cast<std::ptrdiff_t>(filled), block.end(), 0U);
    sink(block);
  }
}

/// Elements at every decision of the element format, beside a largest value that makes the scale 2^k under the rules that take exponents alone.
void ties(const BlockFormat& format, std::size_t size, const Format& source, const Sink& sink) {
  std::vector<std::uint32_t> codes;
  for (std::uint32_t code : directed_codes(source, *format.element)) {
    const Value value = decode(source, code);
    const Value largest = decode(*format.element, max_finite_code(*format.element));
    const std::uint32_t limit = magnitude(to_f32(largest), kF32);
    if (value.cls == ValueClass::finite && magnitude(to_f32(value), kF32) < limit && magnitude(to_f32(value), kF32) > limit - (13U << 23U))
      codes.push_back(code);
  }
  const std::optional<std::uint32_t> top = exact_code(decode(*format.element, max_finite_code(*format.element)), source);
  if (!top || size < 2) return;
  for (std::size_t at = 0; at < codes.size(); at += size - 1) {
    Block block(size, *top);
    for (std::size_t i = 1; i < size && at + i - 1 < codes.size(); ++i) block[i] = codes[at + i - 1];
    sink(block);
  }
}

/// Largest values at the decisions of scale rules, each beside elements of lesser size.
void largest_values(const BlockFormat& format, std::size_t size, const Format& source, const Sink& sink) {
  const std::optional<std::uint32_t> top = exact_code(decode(*format.element, max_finite_code(*format.element)), source);
  const std::uint32_t mantissas = 1U << source.mantissa_bits;
  for (std::uint32_t mantissa : {0U, 1U, mantissas / 2U - 1U, mantissas / 2U, mantissas / 4U * 3U, mantissas - 1U,
                                 top.value_or(0U) & (mantissas - 1U), (top.value_or(0U) + 1U) & (mantissas - 1U)}) {
    for (int exponent : {1 - source.bias, -7, 0, 6, source.bias}) {
      Block block = ramp(size, size / 4, exponent - 1, source);
      block[size / 4] = (static_cast<std::uint32_t>(exponent + source.bias) << source.mantissa_bits) | mantissa;
      sink(block);
    }
  }
}

/// Largest values whose power-of-two scale is one of the bytes that coverage tells apart, under the rules that take exponents alone.
void scale_bytes(const BlockFormat& format, std::size_t size, const Format& source, const Sink& sink) {
  if (format.scale->encoding != Encoding::exponent_only) return;
  const Value last = decode(*format.element, max_finite_code(*format.element));
  const int top = last.exponent + static_cast<int>(std::bit_width(last.significand)) - 1;
  for (int byte : {1, 2, 3, 126, 127, 128, 253, 254}) {
    const int exponent = byte - format.scale->bias + top;
    if (exponent < 1 - source.bias || exponent > source.bias) continue;
    for (std::uint32_t mantissa : {0U, 1U << (source.mantissa_bits - 1)}) {
      Block block = ramp(size, size / 4, exponent - 1, source);
      block[size / 4] = (static_cast<std::uint32_t>(exponent + source.bias) << source.mantissa_bits) | mantissa;
      sink(block);
    }
  }
}

}  // namespace

void directed_blocks(const BlockFormat& format, const Format& source, std::size_t size, const Sink& sink) {
  places_and_exponents(size, source, sink);
  special_blocks(size, source, sink);
  ties(format, size, source, sink);
  largest_values(format, size, source, sink);
  scale_bytes(format, size, source, sink);
}

std::vector<std::string> block_kinds() { return {kKinds.begin(), kKinds.end()}; }

std::uint8_t block_kind(std::span<const std::uint32_t> block, const Format& source) {
  const auto any = [&](ValueClass cls) { return std::ranges::any_of(block, [&](std::uint32_t code) { return decode(source, code).cls == cls; }); };
  const auto is = [&](std::size_t kind) { return static_cast<std::uint8_t>(kind + 1); };
  if (std::ranges::all_of(block, [&](std::uint32_t code) { return magnitude(code, source) == 0; })) {
    return std::ranges::all_of(block, [&](std::uint32_t code) { return code == sign_bit(source); }) ? is(2) : is(1);
  }
  if (any(ValueClass::nan)) return is(3);
  if (any(ValueClass::infinity)) return is(4);
  if (std::ranges::all_of(block, [&](std::uint32_t code) { return code == block[0]; })) return is(5);
  if (std::ranges::count_if(block, [&](std::uint32_t code) { return magnitude(code, source) != 0; }) == 1) return is(7);
  std::uint32_t largest = 0;
  for (std::uint32_t code : block) largest = std::max(largest, magnitude(code, source));
  const auto has = [&](std::uint32_t code) { return std::ranges::find(block, code) != block.end(); };
  return has(largest) && has(largest | sign_bit(source)) ? is(6) : is(0);
}

std::vector<std::string> largest_places(std::size_t size) {
  return {"lane 0",
          "in the first half",
          fmt::format("lane {}", size / 2 - 1),
          fmt::format("lane {}", size / 2),
          "in the second half",
          fmt::format("lane {}", size - 1)};
}

std::uint8_t largest_place(std::span<const std::uint32_t> block, const Format& source) {
  const auto largest = std::ranges::max_element(block, {}, [&](std::uint32_t code) { return magnitude(code, source); });
  const auto at = static_cast<std::size_t>(largest - block.begin());
  const std::size_t half = block.size() / 2;
  if (at == 0) return 1;
  if (at < half) return at + 1 == half ? 3 : 2;
  if (at + 1 == block.size()) return 6;
  return at == half ? 4 : 5;
}

std::vector<std::string> fills(std::size_t size) {
  std::vector<std::string> names;
  for (std::size_t filled = 1; filled <= size; ++filled) names.push_back(fmt::format("{} of {}", filled, size));
  return names;
}

std::uint8_t fill(std::span<const std::uint32_t> block, const Format& source) {
  std::size_t filled = block.size();
  while (filled > 0 && magnitude(block[filled - 1], source) == 0) --filled;
  return static_cast<std::uint8_t>(filled);
}

}  // namespace mx::golden
