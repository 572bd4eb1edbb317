#pragma once
// What the tiers' ways of bf16-chain with NVFP4 agree on: e2m1's numbers are 6 or 4 over powers of two, so that two rounded products of a scale serve
// all of them: the one with 6, less what the other one differs by, less binades. For files of one tier alone, as tile.hpp.

#include <stddef.h>
#include <stdint.h>

namespace mx::kernels::moe {
namespace {

constexpr uint16_t kDifference = 0x7F;
constexpr uint16_t kBinade = 0x80;
constexpr uint16_t kSign = 0x8000;
constexpr uint16_t kKeepsBinades = 0x7F80;  // beside the bits of a difference

/// What a code takes off the product with 6: kDifference's bits where its number is 4 over a power of two, and so many binades, which of zero are
/// more than there are; with its sign. Where nothing is flushed, the sign of a zero weight decides no bit: sums are never -0.
constexpr uint16_t taken_off(size_t code) {
  constexpr uint16_t kBinades[8] = {0xFF, 3, 2, 2, 1, 1, 0, 0};
  const size_t magnitude = code % 8;
  const bool is_six = magnitude == 3 || magnitude == 5 || magnitude == 7;
  return static_cast<uint16_t>((is_six ? 0 : kDifference) | kBinades[magnitude] * kBinade | (code % 16 < 8 ? 0 : kSign));
}

}  // namespace
}  // namespace mx::kernels::moe
