// Codes back to numbers, one at a time: the table's pattern with the exponent moved.

#include "kernels/codec/plans.hpp"

namespace mx::kernels {
namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFU;
constexpr std::uint32_t kInfinity = 0x7F80U;

/// Zeros, infinities and NaNs have no exponent to move.
std::uint32_t scaled(std::uint32_t bf16, std::uint32_t moved) {
  const std::uint32_t magnitude = bf16 & kMagnitude;
  return magnitude == 0 || magnitude >= kInfinity ? bf16 : (bf16 + moved) & 0xFFFFU;
}

std::uint32_t code_at(const UnpackPlan& plan, const std::uint8_t* codes, std::size_t i) {
  return plan.width == 4 ? std::uint32_t{codes[i / 2]} >> (i % 2 * 4) & 0xFU : codes[i];
}

template <class Word, std::uint32_t kShift>
void run(const UnpackPlan& plan, const std::uint8_t* codes, const std::uint8_t* scales, std::size_t blocks, Word* numbers, std::uint64_t* irregular) {
  for (std::size_t b = 0; b < blocks; ++b) {
    if (scales[b] - plan.scale_from > plan.scale_span) {
      irregular[b / 64] |= std::uint64_t{1} << (b % 64);
      continue;
    }
    const std::uint32_t moved = (scales[b] - 127U) << 7;
    for (std::size_t i = b * plan.block; i < (b + 1) * plan.block; ++i) {
      numbers[i] = static_cast<Word>(scaled(plan.values[code_at(plan, codes, i)], moved) << kShift);
    }
  }
}

}  // namespace

void unpack_portable(const UnpackPlan& plan, const std::uint8_t* codes, const std::uint8_t* scales, std::size_t blocks, void* numbers,
                     std::uint64_t* irregular) {
  if (plan.target == ElementTarget::f32) return run<std::uint32_t, 16>(plan, codes, scales, blocks, static_cast<std::uint32_t*>(numbers), irregular);
  run<std::uint16_t, 0>(plan, codes, scales, blocks, static_cast<std::uint16_t*>(numbers), irregular);
}

}  // namespace mx::kernels
