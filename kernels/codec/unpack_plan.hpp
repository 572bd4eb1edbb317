#pragma once
// Codes with a power-of-two scale back to numbers, as plain numbers for kernels of every instruction set. C headers only: see mxact_isa_sources.

#include <stddef.h>
#include <stdint.h>

namespace mx::kernels {

enum class ElementTarget : uint32_t { f32, bf16, fp16 };

/// How codes become numbers. Every element format is a subset of bf16; a scale moves the exponent.
struct UnpackPlan {
  alignas(64) uint16_t values[256];  ///< bf16 patterns of the codes under the scale 1; of fewer than 256 codes the first ones, repeated
  ElementTarget target;              ///< f32 or bf16
  uint32_t width;                    ///< bits of a code: 4 (two in a byte, the first one in the low nibble) or up to 8
  uint32_t block;                    ///< elements that share a scale: 32
  uint32_t scale_from;               ///< scale bytes below scale_from or more than scale_span above it are irregular: left to the model
  uint32_t scale_span;
  uint32_t streams;  ///< not 0: numbers go past the caches
};

/// Numbers of `blocks` blocks that stand one after the other, in words of the target. Sets bit b % 64 of irregular[b / 64] for an irregular block b,
/// whose output means nothing; leaves the other bits alone.
using Unpack = void(const UnpackPlan& plan, const uint8_t* codes, const uint8_t* scales, size_t blocks, void* numbers, uint64_t* irregular);

Unpack unpack_portable;
Unpack unpack_avx2;
Unpack unpack_avx512;
Unpack unpack_neon;

}  // namespace mx::kernels
