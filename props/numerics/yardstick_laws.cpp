// N10: the two contracts that others are measured with, restated in 128-bit integers.

#include <rapidcheck.h>

#include <algorithm>
#include <array>

#include "props/numerics/dot_cases.hpp"
#include "props/numerics/grid.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

/// Codes of narrow formats and of bf16 with scales that bf16 and fp16 would round, and addends near their sum.
Case pick_narrow() {
  constexpr std::array kNarrow{&kE2, &kE4, &kE5, &kB16};
  Case one;
  one.a_fields = kNarrow[pick_uniform(0, 3)];
  one.b_fields = kNarrow[pick_uniform(0, 3)];
  const std::size_t count = pick_uniform(1, 100);
  one.a = pick_elements(*one.a_fields, count);
  one.b = pick_elements(*one.b_fields, count);
  if (pick_uniform(0, 2) > 0) pick_block_scales(one, pick_uniform(1, 40));
  if (pick_uniform(0, 1) == 1) one.c = pick_f32(107, 147);
  if (pick_uniform(0, 1) == 1) one.bias = pick_f32(107, 147);
  // In some cases all cancels but for the addends.
  if (pick_uniform(0, 3) == 0 && one.scales_a.empty() && one.scales_b.empty()) {
    for (std::size_t k = 0; k < count; ++k) {
      one.a.push_back(one.a[k]);
      one.b.push_back(negated(*one.b_fields, one.b[k]));
    }
  }
  return one;
}

/// fp32 numbers whose products are near 1; near the smallest normal number; or subnormal themselves.
Case pick_single() {
  const std::uint32_t kind = pick_uniform(0, 2);
  const std::uint32_t center_a = kind == 0 ? 127 : kind == 1 ? 64 : 2;
  const std::uint32_t center_b = kind == 1 ? 64 : 127;
  Case one;
  one.a_fields = one.b_fields = &kSingle;
  const std::size_t count = pick_uniform(1, 60);
  one.a = pick_elements(kSingle, count, (center_a - 2) << 23, (center_a + 5) << 23);
  one.b = pick_elements(kSingle, count, (center_b - 5) << 23, (center_b + 5) << 23);
  if (pick_uniform(0, 1) == 1) pick_block_scales(one, pick_uniform(1, 40));
  if (pick_uniform(0, 1) == 1) one.c = kind == 0 ? pick_f32(117, 137) : pick_f32(0, 6);
  if (pick_uniform(0, 1) == 1) one.bias = kind == 0 ? pick_f32(117, 137) : pick_f32(0, 6);
  return one;
}

/// To fp32, subnormals too.
Dyadic in_fp32(const Dyadic& number) { return rounded_into(kSingle, number); }

std::uint32_t exact_sum_of(const Case& one) {
  std::optional<Dyadic> total;
  const auto add = [&](const Dyadic& term) { total = total ? sum(*total, term) : term; };
  for (std::size_t k = 0; k < one.a.size(); ++k)
    add(product(scaled(one.a[k], one.scales_a, one.block, k), scaled(one.b[k], one.scales_b, one.block, k)));
  if (one.c) add(from_f32(*one.c));
  if (one.bias) add(from_f32(*one.bias));
  return f32_of(in_fp32(*total));
}

std::uint32_t sequential_sum_of(const Case& one) {
  Dyadic total = from_f32(one.c.value_or(0));
  for (std::size_t k = 0; k < one.a.size(); ++k) {
    const Dyadic a = in_fp32(scaled(one.a[k], one.scales_a, one.block, k));
    const Dyadic b = in_fp32(scaled(one.b[k], one.scales_b, one.block, k));
    total = in_fp32(sum(product(a, b), total));
  }
  return f32_of(one.bias ? in_fp32(sum(total, from_f32(*one.bias))) : total);
}

}  // namespace

Outcome exact_is_restated(const Law& law) {
  return check_property(law, [] {
    const Case one = pick_narrow();
    RC_ASSERT(modelled("exact", one) == exact_sum_of(one));
    RC_ASSERT(modelled_with_nan("exact", one) == kQuietNan);
  });
}

Outcome f32_sequential_is_restated(const Law& law) {
  return check_property(law, [] {
    const Case one = pick_uniform(0, 2) == 0 ? pick_narrow() : pick_single();
    RC_ASSERT(modelled("f32-sequential", one) == sequential_sum_of(one));
    RC_ASSERT(modelled_with_nan("f32-sequential", one) == kQuietNan);
  });
}

}  // namespace mx::props::numerics
