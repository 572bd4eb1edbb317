#pragma once
// Conversions from fp32 as plain numbers for loops without branches. For .cpp files of this folder.

#include <array>
#include <cstdint>
#include <variant>

#include "model/numerics/convert.hpp"

namespace mx::kernels::sweep {

inline constexpr std::uint32_t kF32MantissaBits = 23;
inline constexpr std::uint32_t kF32MinNormal = 0x00800000U;
/// Places below a unit that a subnormal result keeps before it is rounded; the last of them stands for all below it.
inline constexpr std::uint32_t kFinePlaces = 12;

/// A number for values with clear and with set sign.
using BySign = std::array<std::uint32_t, 2>;

/// Codes for what is not rounded.
struct SpecialCodes {
  BySign last_in_range;  ///< largest fp32 magnitude that does not overflow
  BySign overflow;
  BySign infinity;
  BySign nan;
  std::uint32_t payload_shift;  ///< a NaN's code takes the bits of `payload_mask` from the source, shifted down
  std::uint32_t payload_mask;
  std::uint32_t empty_payload;  ///< or'ed into the code of a NaN with none of them set
  std::uint32_t source_from;    ///< smaller source magnitudes become zero
};

/// fp32 magnitudes into a sign, exponent and mantissa format, or into two's complement: by an add and a shift.
struct FloatingPlan {
  std::uint32_t shift;       ///< dropped bits of a normal result
  std::uint32_t rebias;      ///< subtracted from the shifted magnitude
  std::uint32_t min_normal;  ///< fp32 bits of the smallest normal result
  std::uint32_t scale;       ///< fp32 bits of the factor that makes the subnormal grid's unit 2^kFinePlaces
  BySign addend;
  BySign fine_addend;
  std::uint32_t even;         ///< 1: ties go to the even neighbour
  std::uint32_t result_from;  ///< smaller codes become zero
  std::uint32_t sign_bit;
  std::uint32_t code_mask;
  bool twos_complement;
  bool one_zero;
  bool negative_is_nan;  ///< a format without a sign, as PowerPlan
  std::uint32_t negative_code;
  SpecialCodes special;
};

/// fp32 magnitudes into powers of two.
struct PowerPlan {
  BySign addend;          ///< rounds a normal magnitude by carrying into the exponent
  BySign subnormal_from;  ///< fp32 subnormals from here on give code 1 (2^-126), those below code 0 (2^-127)
  std::uint32_t zero_code;
  bool negative_is_nan;
  std::uint32_t negative_code;  ///< the NaN of a negative value, when it is one
  SpecialCodes special;
};

/// No fast way: the model has to do it.
using Plan = std::variant<std::monostate, FloatingPlan, PowerPlan>;

/// The plan of a conversion from fp32; std::monostate where there is no fast way.
Plan plan_for(const Format& to, const Conversion& how);

}  // namespace mx::kernels::sweep
