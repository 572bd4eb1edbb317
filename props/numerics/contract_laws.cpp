// N11 to N13: what holds for every contract alike.

#include <rapidcheck.h>

#include "model/numerics/dot.hpp"
#include "props/numerics/grid.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

/// Codes that a contract takes, far enough below 1 that what is cut off or forgotten shows: magnitudes of a and b from low to high.
struct Palette {
  const Format* a;
  const Format* b;
  std::uint32_t a_low, a_high, b_low, b_high;
  std::uint32_t a_step;   ///< codes of a are multiples of it
  std::uint32_t largest;  ///< code of the largest number of b
};
constexpr Palette kWide{&kBf16, &kBf16, 90U << 7, 95U << 7, 80U << 7, 96U << 7, 1, 0x7F7F};
constexpr Palette kHalf{&kFp16, &kFp16, 4U << 10, 7U << 10, 1U << 10, 6U << 10, 1, 0x7BFF};
constexpr Palette kByte{&kE5m2, &kE5m2, 4U << 2, 7U << 2, 1U << 2, 6U << 2, 1, 0x7B};
constexpr Palette kInteger{&kMxint8, &kE2m1, 8, 127, 1, 7, 8, 7};

/// The first palette whose formats the contract takes.
const Palette& palette_of(const ContractRow& row) {
  if (row.name == "int8-block") return kInteger;
  if (row.name == "hopper-fp16") return kHalf;
  return row.name.starts_with("hopper") && !row.name.starts_with("hopper-bf16") ? kByte : kWide;
}

Value pick_value(const Format& format, std::uint32_t low, std::uint32_t high, std::uint32_t step) {
  const std::uint32_t code = pick_uniform(low / step, high / step) * step;
  return decode(format, signed_code(grid_of(format.name), code, pick_uniform(0, 1) == 1));
}

const ContractRow& pick_contract() {
  const std::span<const ContractRow> rows = all_contracts();
  const ContractRow& row = rows[pick_uniform(0, static_cast<std::uint32_t>(rows.size()) - 1)];
  RC_LOG(std::string(row.name));
  return row;
}

struct Case {
  std::vector<Value> a, b;
};

Case pick_case(const Palette& palette) {
  Case one;
  const std::uint32_t count = pick_uniform(1, 200);
  for (std::uint32_t k = 0; k < count; ++k) {
    one.a.push_back(pick_value(*palette.a, palette.a_low, palette.a_high, palette.a_step));
    one.b.push_back(pick_value(*palette.b, palette.b_low, palette.b_high, 1));
  }
  return one;
}

/// Scales of 1 for blocks of 32, where the contract's chains are the blocks of its scales.
std::vector<Value> unit_scales(const ContractRow& row, std::size_t count) {
  if (row.restart != kScaleBlock) return {};
  return std::vector<Value>((count + 31) / 32, Value{.significand = 1, .exponent = 0, .cls = ValueClass::finite, .negative = false});
}

std::uint32_t dot_of(const ContractRow& row, const Palette& palette, const Case& one) {
  const std::vector<Value> scales = unit_scales(row, one.b.size());
  return dot(row, {one.a, palette.a, {}, 0}, {one.b, palette.b, scales, 32}, {});
}

/// fp32 bits of a nonzero number times 2^exponent; the result is a normal number.
std::uint32_t shifted(std::uint32_t f32, int exponent) { return (f32 & 0x7FFFFFFFU) == 0 ? f32 : f32 + (static_cast<std::uint32_t>(exponent) << 23); }

}  // namespace

Outcome zero_products_do_not_count(const Law& law) {
  return check_property(law, [] {
    const ContractRow& row = pick_contract();
    const Palette& palette = palette_of(row);
    Case one = pick_case(palette);
    Case other = one;
    // The first product stays, so that the sum is no sum of zeros, whose signs count under `exact`.
    for (std::size_t k = 1; k < one.a.size(); k += pick_uniform(1, 40)) {
      one.a[k] = other.a[k] = other.b[k] = Value{};
      one.b[k] = decode(*palette.b, palette.largest);
    }
    RC_ASSERT(dot_of(row, palette, one) == dot_of(row, palette, other));
  });
}

Outcome powers_of_two_move_through(const Law& law) {
  return check_property(law, [] {
    const ContractRow& row = pick_contract();
    const Palette& palette = palette_of(row);
    const Case one = pick_case(palette);
    const int exponent = -static_cast<int>(pick_uniform(1, 3));
    Case smaller = one;
    for (Value& value : smaller.a) value.exponent += value.cls == ValueClass::finite ? exponent : 0;
    RC_ASSERT(dot_of(row, palette, smaller) == shifted(dot_of(row, palette, one), exponent));
  });
}

Outcome order_proof_sums_agree(const Law& law) {
  return check_property(law, [] {
    // a in quarters up to 7/4, b of e2m1: products are eighths, and 160 of them stay below 2^14, which every contract holds.
    constexpr std::int64_t kHalves[] = {0, 1, 2, 3, 4, 6, 8, 12};
    const std::uint32_t count = pick_uniform(1, 160);
    const bool one_sign = pick_uniform(0, 1) == 1;
    const auto exact = [](std::int64_t units, int exponent) {
      const ValueClass cls = units == 0 ? ValueClass::zero : ValueClass::finite;
      return Value{.significand = static_cast<std::uint64_t>(units < 0 ? -units : units), .exponent = exponent, .cls = cls, .negative = units < 0};
    };
    std::vector<Value> a;
    std::vector<Value> b;
    std::int64_t sum = pick_uniform(0, 1000);
    const std::uint32_t bias = f32_bits(static_cast<std::uint64_t>(sum), -3);
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::int64_t quarters = pick_uniform(one_sign ? 5 : 0, 7);
      const std::int64_t left = !one_sign && pick_uniform(0, 1) == 1 ? -quarters : quarters;
      const std::int64_t right = kHalves[pick_uniform(one_sign ? 6 : 0, 7)];
      a.push_back(exact(left, -2));
      b.push_back(exact(right, -1));
      sum += left * right;
    }
    const std::uint32_t expected = f32_bits(static_cast<std::uint64_t>(sum < 0 ? -sum : sum), -3) | (sum < 0 ? 0x80000000U : 0U);
    for (const ContractRow& row : all_contracts()) {
      RC_LOG(std::string(row.name));
      const bool integers = row.name == "int8-block";
      const bool bytes = !row.a_formats.empty();
      const Format* format_a = integers ? &kMxint8 : bytes ? &kE4m3fn : nullptr;
      const Format* format_b = integers ? &kE2m1 : bytes ? &kE4m3fn : nullptr;
      const std::vector<Value> scales = unit_scales(row, count);
      RC_ASSERT(dot(row, {a, format_a, {}, 0}, {b, format_b, scales, 32}, {.c = {}, .bias = bias}) == expected);
    }
  });
}

}  // namespace mx::props::numerics
