// Codes times one fp32 factor, one at a time.

#include <algorithm>
#include <bit>

#include "kernels/codec/plans.hpp"

namespace mx::kernels {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kF32Infinity = 0x7F800000U;
constexpr std::uint32_t kFp16Infinity = 0x7C00U;

/// The bf16 pattern nearest to an fp32 pattern; a NaN must be the one without payload.
std::uint32_t to_bf16(std::uint32_t f32) { return (f32 + 0x7FFFU + (f32 >> 16 & 1U)) >> 16; }

/// The fp16 pattern nearest to an fp32 pattern.
std::uint32_t to_fp16(std::uint32_t f32) {
  constexpr std::uint32_t kSmallestNormal = 0x38800000U;  // 2^-14
  constexpr std::uint32_t kBeyond = 0x47800000U;          // 2^16
  const std::uint32_t sign = f32 >> 16 & 0x8000U;
  const std::uint32_t magnitude = f32 & ~kSign;
  if (magnitude > kF32Infinity) return sign | 0x7E00U;
  if (magnitude >= kBeyond) return sign | kFp16Infinity;
  // Added to 1/2 a number is rounded to units of 2^-24, those of fp16's subnormals.
  if (magnitude < kSmallestNormal) {
    return sign | (std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F));
  }
  const std::uint32_t rebiased = magnitude - (112U << 23);
  return sign | std::min((rebiased + 0xFFFU + (rebiased >> 13 & 1U)) >> 13, kFp16Infinity);
}

struct F32 {
  using Word = std::uint32_t;
  static constexpr std::uint32_t kInfinity = kF32Infinity;
  static std::uint32_t of(std::uint32_t f32) { return f32; }
};
struct Bf16 {
  using Word = std::uint16_t;
  static constexpr std::uint32_t kInfinity = kF32Infinity >> 16;
  static std::uint32_t of(std::uint32_t f32) { return to_bf16(f32); }
};
struct Fp16 {
  using Word = std::uint16_t;
  static constexpr std::uint32_t kInfinity = kFp16Infinity;
  static std::uint32_t of(std::uint32_t f32) { return to_fp16(f32); }
};

std::uint32_t code_at(const ProductPlan& plan, const std::uint8_t* codes, std::size_t i) {
  return plan.width == 4 ? std::uint32_t{codes[i / 2]} >> (i % 2 * 4) & 0xFU : codes[i];
}

template <class Target>
std::uint32_t clamped(std::uint32_t number, const ProductPlan& plan) {
  constexpr std::uint32_t kTargetSign = std::uint32_t{1} << (8 * sizeof(typename Target::Word) - 1);
  const std::uint32_t magnitude = number & ~kTargetSign;
  if (magnitude < Target::kInfinity) return number;
  return magnitude == Target::kInfinity ? (number & kTargetSign) | plan.largest : plan.nan;
}

template <class Target>
void run(const ProductPlan& plan, const std::uint8_t* codes, const std::uint32_t* factors, std::size_t blocks, std::size_t length, void* numbers) {
  auto* const to = static_cast<typename Target::Word*>(numbers);
  for (std::size_t b = 0; b < blocks; ++b) {
    const auto factor = std::bit_cast<float>(factors[b]);
    for (std::size_t i = b * length; i < (b + 1) * length; ++i) {
      const auto value = std::bit_cast<float>(std::uint32_t{plan.values[code_at(plan, codes, i)]} << 16);
      const std::uint32_t number = Target::of(std::bit_cast<std::uint32_t>(value * factor));
      to[i] = static_cast<typename Target::Word>(plan.clamps != 0 ? clamped<Target>(number, plan) : number);
    }
  }
}

}  // namespace

void product_unpack_portable(const ProductPlan& plan, const std::uint8_t* codes, const std::uint32_t* factors, std::size_t blocks, std::size_t length,
                             void* numbers) {
  switch (plan.target) {
    case ElementTarget::f32: return run<F32>(plan, codes, factors, blocks, length, numbers);
    case ElementTarget::bf16: return run<Bf16>(plan, codes, factors, blocks, length, numbers);
    case ElementTarget::fp16: return run<Fp16>(plan, codes, factors, blocks, length, numbers);
  }
}

}  // namespace mx::kernels
