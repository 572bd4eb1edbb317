#pragma once
// Codes times one fp32 factor per block, as plain numbers for kernels of every instruction set. C headers only: see mxact_isa_sources.

#include <stddef.h>
#include <stdint.h>

#include "kernels/codec/unpack_plan.hpp"

namespace mx::kernels {

/// How codes become numbers: the code's value times the factor is one fp32 operation, its result is rounded into the target to nearest even.
struct ProductPlan {
  alignas(64) uint16_t values[256];  ///< bf16 patterns of the codes; of fewer than 256 codes the first ones, repeated
  ElementTarget target;
  uint32_t width;    ///< bits of a code: 4 (two in a byte, the first one in the low nibble) or up to 8
  uint32_t streams;  ///< not 0: numbers go past the caches
  uint32_t clamps;   ///< not 0: what is infinite in the target becomes `largest` with its sign, a NaN `nan`
  uint32_t largest;  ///< target pattern
  uint32_t nan;      ///< target pattern
};

/// Numbers of `blocks` blocks of `length` codes that stand one after the other, in words of the target. factors are finite fp32 patterns; 0 only
/// where no code is an infinity. An even length where codes share bytes.
using ProductUnpack = void(const ProductPlan& plan, const uint8_t* codes, const uint32_t* factors, size_t blocks, size_t length, void* numbers);

ProductUnpack product_unpack_portable;
ProductUnpack product_unpack_avx2;
ProductUnpack product_unpack_avx512;
ProductUnpack product_unpack_neon;

}  // namespace mx::kernels
