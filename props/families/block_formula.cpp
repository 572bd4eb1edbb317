#include "props/families/block_formula.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/error.hpp"
#include "props/families/family.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {

std::int64_t round_up(std::int64_t size, std::int64_t multiple) { return (size + multiple - 1) / multiple * multiple; }

const BlockFormula& block_formula(std::string_view block) {
  for (const FamilyFormulas* family : all_family_formulas()) {
    if (family->blocks == nullptr) continue;
    const auto found = std::ranges::find(*family->blocks, block, &BlockFormula::block);
    if (found != family->blocks->end()) return *found;
  }
  throw Error(ErrorCode::usage, "no formula for " + std::string(block), "props/families");
}

std::int64_t pick_near(std::int64_t step, std::int64_t tile) {
  const std::int64_t size = tile * (tile < 128 ? pick(1, 6) : pick(1, 3)) + step * pick(-2, 2);
  return std::max(size / step * step, step);
}

std::int64_t pick_of(std::initializer_list<std::int64_t> numbers) { return numbers.begin()[pick(0, static_cast<std::int64_t>(numbers.size()) - 1)]; }

namespace {

/// For each of the low 16 bits of the word the bit of the 4 bytes, from where the bits 0 to 3 of each byte's low nibble go.
constexpr std::array<std::int64_t, 16> scattered_bits() {
  constexpr std::array<std::array<std::size_t, 4>, 4> kTargets{{{6, 7, 8, 15}, {3, 4, 5, 12}, {0, 1, 2, 9}, {13, 10, 11, 14}}};
  std::array<std::int64_t, 16> sources{};
  for (std::size_t byte = 0; byte < 4; ++byte) {
    for (std::size_t bit = 0; bit < 4; ++bit) sources[kTargets[byte][bit]] = static_cast<std::int64_t>(8 * byte + bit);
  }
  return sources;
}
constexpr std::array<std::int64_t, 16> kScatteredBits = scattered_bits();

}  // namespace

std::int64_t scattered_bit(std::int64_t word_bit) {
  // High nibbles have the same pattern, 16 bits further.
  return kScatteredBits[static_cast<std::size_t>(word_bit % 16)] + (word_bit < 16 ? 0 : 4);
}

std::int64_t block_of_64(std::int64_t p) { return p / 64 * 64 + p % 64 / 8 + 8 * (p % 8); }

std::int64_t block_of_32(std::int64_t p) {
  constexpr std::array<std::int64_t, 8> kOffsets{0, 1, 8, 9, 16, 17, 24, 25};
  return p / 32 * 32 + 2 * (p % 32 / 8) + kOffsets[static_cast<std::size_t>(p % 8)];
}

}  // namespace mx::props
