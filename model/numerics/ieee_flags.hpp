#pragma once
// The flags that a unit of IEEE 754 raises: five, of which a conversion raises four. What else happened is in Flags (convert.hpp).

#include <cstdint>

#include "model/numerics/convert.hpp"

namespace mx {

/// The flags of IEEE 754 section 7.
struct IeeeFlags {
  bool inexact = false;
  bool underflow = false;  ///< tiny and inexact; Conversion::fine says which results are tiny
  bool overflow = false;
  bool divide_by_zero = false;  ///< of operations alone (operation.hpp)
  bool invalid = false;         ///< a signalling NaN was converted; of operations also what has no answer

  friend bool operator==(const IeeeFlags&, const IeeeFlags&) = default;
};

/// Bit 0 inexact, 1 underflow, 2 overflow, 3 divide by zero, 4 invalid: as RISC-V's fflags and TestFloat have them.
std::uint32_t flag_bits(const IeeeFlags& flags);

/// encode with the flags of IEEE 754 in the place of Flags. A zero that loses its sign, and an Inf that becomes something else, are inexact (LLVM's
/// APFloat says so). Source: IEEE 754-2019 sections 7.4, 7.5.
std::uint32_t encode_ieee(const Value& value, const Format& format, const Conversion& how, IeeeFlags& flags, Random random = {});

/// convert_source with them, of any source, wide or not; a signalling NaN (IEEE 754 section 6.2.1: its top mantissa bit is 0) is invalid.
std::uint32_t convert_ieee(std::uint64_t bits, const Format& from, const Format& to, const Conversion& how, IeeeFlags& flags, Random random = {});

/// Whether a code is a NaN whose top mantissa bit is 0. NaNs of formats that have one NaN are quiet.
bool is_signalling(std::uint64_t bits, const Format& format);

}  // namespace mx
