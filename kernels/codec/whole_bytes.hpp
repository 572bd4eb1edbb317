#pragma once
// quantize and dequantize with a byte for every code, also of 4 bits: as most tensor libraries hold them.

#include "kernels/codec/codec.hpp"

namespace mx::kernels {

/// Bytes of codes: one for each element. Scales are row-major.
QuantizedSizes whole_byte_sizes(const Shape& shape, const BlockFormat& format);

/// kernels::quantize, but a code of any width has a byte of its own, in its low bits. Same errors.
void quantize_whole_bytes(const ElementBits& elements, const Shape& shape, const Recipe& recipe, const TensorScale& tensor, const QuantizedRoom& out,
                          const Workers& workers);

/// kernels::dequantize of such codes. Same errors; while it runs, Error(usage) for a byte that is no code of the format: what has been written then
/// says nothing.
void dequantize_whole_bytes(const QuantizedBits& blocks, const Shape& shape, const Dequantizer& how, const TensorScale& tensor,
                            const ElementRoom& out, const Workers& workers);

/// Both with what was worked out once: for callers of many small matrices.
void quantize_whole_bytes(std::span<const std::byte> elements, const Shape& shape, const Quantizing& how, const QuantizedRoom& out,
                          const Workers& workers);
void dequantize_whole_bytes(const QuantizedBits& blocks, const Shape& shape, const Dequantizing& how, std::span<std::byte> out,
                            const Workers& workers);

}  // namespace mx::kernels
