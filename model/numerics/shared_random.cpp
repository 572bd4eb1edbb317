#include "model/numerics/shared_random.hpp"

#include <string>

#include "model/error.hpp"

namespace mx {
namespace {

constexpr int kBits = 16;

std::uint32_t reversed(std::uint32_t bits) {
  std::uint32_t turned = 0;
  for (int i = 0; i < kBits; ++i) turned |= (bits >> i & 1U) << (kBits - 1 - i);
  return turned;
}

}  // namespace

int numbers_of_word(const Format& to) {
  constexpr int kNarrow = 8;
  const bool floats = to.encoding == Encoding::floating && to.has_sign;
  if (floats && to.width <= kNarrow) return 4;
  if (floats && to.width == kBits) return 2;
  throw Error(ErrorCode::usage, "no instruction converts several numbers into " + std::string(to.name) + " with one random word");
}

std::uint32_t random_of_word(std::uint32_t word, int i, const Format& to) {
  constexpr std::uint32_t kByte = 0xFF, kHalf = 0xFFFF, kOfFp16 = 0x1FFF;
  const bool pairs = numbers_of_word(to) == 2;
  const int part = pairs ? i : i / 2;
  const std::uint32_t half = word >> (kBits * part) & kHalf;
  if (pairs) return to == kFp16 ? half & kOfFp16 : half;
  constexpr int kFp4 = 4, kByteBits = 8;
  const std::uint32_t low = word >> (kByteBits * part);
  const std::uint32_t bits = to.width == kFp4 ? (low & kByte) | (low >> kBits & kByte) << kByteBits : half;
  return i % 2 == 0 ? bits : reversed(bits);
}

}  // namespace mx
