#pragma once
// How implementations turn codes and scales back into numbers: what they do with scale bytes 0, 254 and 255, and with products out of range.

#include <cstdint>
#include <string_view>

#include "model/numerics/block.hpp"

namespace mx {

/// How a scale code becomes a number.
enum class ScaleReading {
  value,  ///< as its format says: E8M0 byte 0 is 2^-127 and byte 255 NaN
  power,  ///< 2^(byte - 127) for every E8M0 byte: 255 is 2^128, which no target holds
  field,  ///< the E8M0 byte put into an exponent field: byte 0 is +0, byte 255 Inf
};

/// What becomes of a product whose magnitude is above the target's largest finite number.
enum class ProductRange {
  infinite,          ///< Inf
  clamped,           ///< the largest finite number; a NaN stays (torch.clamp)
  clamped_with_nan,  ///< the largest finite number; a NaN becomes it, positive (fmin, fmax)
};

/// How the scale of the whole tensor enters, in one fp32 operation.
enum class TensorUse {
  none,
  divides_scale,     ///< scale / g: TensorScale::encode
  multiplies_scale,  ///< scale * d: TensorScale::decode
};

/// One implementation, block format and target. Every rounding is nearest even.
struct Dequantizer {
  const BlockFormat* format;
  const Format* target;  ///< fp32, bf16 or fp16
  ScaleReading reading;
  const Format* arithmetic;  ///< scale and product are rounded to it (Inf above it); null: the product is exact until it is rounded to the target
  ProductRange range;
  bool nan_scale_wins;  ///< a NaN scale code gives NaN whatever the arithmetic made of it
  TensorUse tensor;
  std::string_view source;
  bool drops_zero_sign = false;  ///< the code of -0 is +0
};

/// Target code of one element as the implementation computes it; a NaN is the positive quiet one without payload. `tensor` is the scale of
/// two-level formats. Throws Error(usage) for a tensor scale that is missing or not taken.
std::uint32_t dequantize(std::uint32_t code, std::uint32_t scale, const Dequantizer& how, const TensorScale& tensor = {});

}  // namespace mx
