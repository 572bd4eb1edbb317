#pragma once
// Random bits that neighbours share: an instruction converts several numbers with one word of 32 bits.

#include <cstdint>

#include "model/numerics/format.hpp"

namespace mx {

/// How many numbers PTX's cvt.rs converts into the format with one word: 4 into formats of up to 8 bits, 2 into those of 16. Throws Error(usage) for
/// others.
int numbers_of_word(const Format& to);

/// The random number that number `i` of them takes, counted from the lowest bits of the result on: 16 bits, 13 into fp16. Into formats of 6 and 8
/// bits numbers 0 and 1 have the word's low half, 2 and 3 the high one; into those of 4 bits 0 and 1 have the low bytes of both halves, 2 and 3 the
/// high ones; the odd ones have the bits in reverse. Into 16 bits each has a half. Errors as numbers_of_word. Source: PTX ISA 9.1 cvt; the reverse
/// order: outputs of SM100 that others recorded, vkuzo/quant_cast_bench experiments/nvidia_rs_bit_probe.
std::uint32_t random_of_word(std::uint32_t word, int i, const Format& to);

}  // namespace mx
