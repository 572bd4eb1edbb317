// `cast_pair` and `atomic_add`: what compilers make of two casts in a row, and additions in memory. Words: FORMAT-LIBRARIES.md.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "golden/witness/numbers.hpp"
#include "model/numerics/exact_sum.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {

namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;
constexpr std::uint32_t kSmallestNormal = 0x00800000U;

/// Subnormals are zero with their sign.
std::uint32_t flushed(std::uint32_t f32) { return (f32 & kMagnitude) < kSmallestNormal ? f32 & f32::kSign : f32; }

/// Where an addition is made. Source: outputs of an H100; in global memory fp32 flushes, in shared memory it does not.
constexpr std::array<std::string_view, 2> kSpaces{"global", "shared"};

/// The exact sum of two numbers of the format, rounded once, nearest even.
std::uint32_t sum_in(const Format& format, std::uint32_t a, std::uint32_t b) {
  ExactSum sum;
  sum.add(decode(format, a));
  sum.add(decode(format, b));
  const std::uint32_t nan = (max_finite_code(format) + 1U) | (1U << static_cast<unsigned>(format.mantissa_bits - 1));
  return sum.round(format, {Rounding::nearest_even, Overflow::ieee, NanRule::fixed, nan, nan, 0, false});
}

ModelOutputs output(const std::string& name, Tensor values) {
  ModelOutputs outputs;
  outputs.emplace(name, ModelOutput{std::move(values), nullptr, false, {}});
  return outputs;
}

}  // namespace

ModelOutputs evaluate_cast_pair(const OpContext& context) {
  Fields params = params_of(context.entry);
  const Format& middle = format_word(params, "mid");
  const bool removed = params.integer("removed", 0, 1) == 1;
  Conversion how{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0, 0, 0, false};
  if (params.has("overflow")) {
    how.overflow = overflow_word(params, middle);
  } else if (!removed) {
    throw Unmodelled("params has no 'overflow'");
  }
  params.finish();
  const Tensor x = context.input("x");
  require_dtype(x, "f32", "x", context.entry.where);
  Tensor y = x;
  if (removed) return output("y", std::move(y));
  if (middle.specials == Specials::none || !middle.has_sign) throw Unmodelled("a pair of casts through " + std::string(middle.name));
  const std::uint32_t largest =
      nan_is_negative_zero(middle) ? 1U << static_cast<unsigned>(middle.width - 1) : (1U << static_cast<unsigned>(middle.width - 1)) - 1U;
  how.nan_positive = how.nan_negative = largest;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    Flags flags;
    const std::uint32_t code = encode(decode(kF32, static_cast<std::uint32_t>(x.word(i))), middle, how, flags);
    y.set_word(i, to_f32(code, middle));
  }
  return output("y", std::move(y));
}

ModelOutputs evaluate_atomic_add(const OpContext& context) {
  Fields params = params_of(context.entry);
  const Format& format = wide_format_word(params, "format");
  const std::string space = params.text("space");
  if (std::ranges::find(kSpaces, space) == kSpaces.end()) throw Unmodelled("unknown space '" + space + "'");
  const bool flushes = params.integer("flush_subnormals", 0, 1) == 1;
  if (flushes && format != kF32) throw Unmodelled("flushed additions in " + std::string(format.name));
  params.finish();
  const Tensor old = context.input("old");
  require_dtype(old, format.name, "old", context.entry.where);
  const Tensor x = input_of(context, "x", format.name, old.shape);
  Tensor values = old;
  for (std::int64_t i = 0; i < old.size(); ++i) {
    const auto a = static_cast<std::uint32_t>(old.word(i));
    const auto b = static_cast<std::uint32_t>(x.word(i));
    values.set_word(i, flushes ? flushed(f32::add(flushed(a), flushed(b))) : sum_in(format, a, b));
  }
  return output("new", std::move(values));
}

}  // namespace mx::golden
