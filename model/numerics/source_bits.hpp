#pragma once
// Casts that move a source's bit fields instead of rounding its value: Triton's interpreter. For convert.cpp; others call convert.

#include <cstdint>

#include "model/numerics/convert.hpp"

namespace mx {

/// Code in `to` of a code in `from` by an interpreter rounding: a mantissa is cut, or goes up by the first bit that is cut, and what carries out of
/// it is or'ed into the exponent. There is no NaN, no Inf and no saturation. Throws Error(usage) for formats without exponent and sign, and of one
/// width. Source: Triton 3.9.0 python/triton/runtime/interpreter.py _convert_float, run.
std::uint32_t moved_bits(std::uint32_t code, const Format& from, const Format& to, Rounding rounding, Flags& flags);

}  // namespace mx
