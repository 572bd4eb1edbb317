#pragma once
// e4m3 codes as bf16, exactly: for tables of every tier's files.

#include <stdint.h>

namespace mx::kernels::moe {
namespace {

/// The bf16 code of an e4m3fn magnitude (7 bits). Source: OFP8 1.0: bias 7, 0x7F is the only NaN.
constexpr uint16_t bf16_of_e4m3(unsigned magnitude) {
  const unsigned field = magnitude >> 3;
  unsigned fraction = magnitude & 7;
  if (magnitude == 0x7F) return 0x7FC0;
  if (magnitude == 0) return 0;
  if (field != 0) return static_cast<uint16_t>((field + 120) << 7 | fraction << 4);
  // Subnormal: fraction * 2^-9.
  unsigned exponent = 121;
  for (; fraction < 8; fraction *= 2) --exponent;
  return static_cast<uint16_t>(exponent << 7 | (fraction & 7) << 4);
}

}  // namespace
}  // namespace mx::kernels::moe
