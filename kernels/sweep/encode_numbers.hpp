#pragma once
// Conversions from fp32 as plain numbers for loops without branches. The instruction sets' files see this header and C headers alone.

#include <stddef.h>
#include <stdint.h>

namespace mx::kernels::sweep {

constexpr uint32_t kF32MantissaBits = 23;
constexpr uint32_t kF32MinNormal = 0x00800000U;
/// Places below a unit that a subnormal result keeps before it is rounded; the last of them stands for all below it.
constexpr uint32_t kFinePlaces = 12;

/// A number for values with clear and with set sign.
struct BySign {
  uint32_t of[2];
};

/// Codes for what is not rounded.
struct SpecialCodes {
  BySign last_in_range;  ///< largest fp32 magnitude that does not overflow
  BySign overflow;
  BySign infinity;
  BySign nan;
  uint32_t payload_shift;  ///< a NaN's code takes the bits of `payload_mask` from the source, shifted down
  uint32_t payload_mask;
  uint32_t empty_payload;  ///< or'ed into the code of a NaN with none of them set
  uint32_t source_from;    ///< smaller source magnitudes become zero
};

/// fp32 magnitudes into a sign, exponent and mantissa format, or into two's complement: by an add and a shift.
struct FloatingPlan {
  uint32_t shift;       ///< dropped bits of a normal result
  uint32_t rebias;      ///< subtracted from the shifted magnitude
  uint32_t min_normal;  ///< fp32 bits of the smallest normal result
  uint32_t scale;       ///< fp32 bits of the factor that makes the subnormal grid's unit 2^kFinePlaces
  BySign addend;
  BySign fine_addend;
  uint32_t even;         ///< 1: ties go to the even neighbour
  uint32_t result_from;  ///< smaller codes become zero
  uint32_t sign_bit;
  uint32_t code_mask;
  bool twos_complement;
  bool one_zero;
  bool negative_is_nan;  ///< a format without a sign, as PowerPlan
  uint32_t negative_code;
  SpecialCodes special;
};

/// fp32 magnitudes into powers of two.
struct PowerPlan {
  BySign addend;          ///< rounds a normal magnitude by carrying into the exponent
  BySign subnormal_from;  ///< fp32 subnormals from here on give code 1 (2^-126), those below code 0 (2^-127)
  uint32_t zero_code;
  bool negative_is_nan;
  uint32_t negative_code;  ///< the NaN of a negative value, when it is one
  SpecialCodes special;
};

/// `count` codes of fp32 bit patterns; codes as wide as they may take the place of the inputs.
template <class Code>
struct LoopsInto {
  void (*floating)(const uint32_t* f32, size_t count, const FloatingPlan& plan, Code* codes);
  void (*powers)(const uint32_t* f32, size_t count, const PowerPlan& plan, Code* codes);
};

/// The loops (encode_loops.hpp) of one tier.
struct EncodeLoops {
  LoopsInto<uint32_t> words;
  LoopsInto<uint16_t> halves;
  LoopsInto<uint8_t> bytes;
  /// The sum over `count` inputs i of (code(i) + 1) * mix(i) mod 2^64, mix as recorded witness sets define it.
  uint64_t (*weigh)(const uint32_t* f32, const uint32_t* codes, size_t count);
};
extern const EncodeLoops kEncodePortable;
extern const EncodeLoops kEncodeAvx2;
extern const EncodeLoops kEncodeAvx512;

}  // namespace mx::kernels::sweep
