// Elements under any fp32 factor, one at a time.

#include <algorithm>
#include <bit>

#include "kernels/codec/plans.hpp"
#include "kernels/codec/upper_half.hpp"

namespace mx::kernels {
namespace {

template <ElementSource kSource>
std::uint32_t largest(const void* elements, std::size_t count) {
  std::uint32_t amax = 0;
  for (std::size_t i = 0; i < count; ++i) amax = std::max(amax, f32_at<kSource>(elements, i) & 0x7FFFFFFFU);
  return amax;
}

template <ElementSource kSource, bool kDivides>
void run(const ScaledPlan& plan, const void* elements, std::size_t count, std::uint32_t factor_bits, std::uint8_t* codes) {
  const ElementRounding how = rounding_of(plan);
  const auto factor = std::bit_cast<float>(factor_bits);
  const auto code = [&](std::size_t i) {
    const auto x = std::bit_cast<float>(f32_at<kSource>(elements, i));
    return rounded_code(upper_half(std::bit_cast<std::uint32_t>(kDivides ? x / factor : x * factor)), plan.half_unit, how);
  };
  if (plan.width != 4) {
    for (std::size_t i = 0; i < count; ++i) codes[i] = static_cast<std::uint8_t>(code(i));
    return;
  }
  for (std::size_t i = 0; i < count / 2; ++i) codes[i] = static_cast<std::uint8_t>(code(2 * i) | code(2 * i + 1) << 4);
}

template <ElementSource kSource>
void run(const ScaledPlan& plan, const void* elements, std::size_t count, std::uint32_t factor, std::uint8_t* codes) {
  plan.divides != 0 ? run<kSource, true>(plan, elements, count, factor, codes) : run<kSource, false>(plan, elements, count, factor, codes);
}

}  // namespace

std::uint32_t largest_magnitude_portable(ElementSource source, const void* elements, std::size_t count) {
  switch (source) {
    case ElementSource::f32: return largest<ElementSource::f32>(elements, count);
    case ElementSource::bf16: return largest<ElementSource::bf16>(elements, count);
    case ElementSource::fp16: break;
  }
  return largest<ElementSource::fp16>(elements, count);
}

void scaled_encode_portable(const ScaledPlan& plan, const void* elements, std::size_t count, std::uint32_t factor, std::uint8_t* codes) {
  switch (plan.source) {
    case ElementSource::f32: return run<ElementSource::f32>(plan, elements, count, factor, codes);
    case ElementSource::bf16: return run<ElementSource::bf16>(plan, elements, count, factor, codes);
    case ElementSource::fp16: return run<ElementSource::fp16>(plan, elements, count, factor, codes);
  }
}

}  // namespace mx::kernels
