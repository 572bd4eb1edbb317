#pragma once
// Casts that move a source's bit fields instead of rounding its value: Triton's interpreter, VHDL's float_pkg. For convert.cpp; others call convert.

#include <cstdint>

#include "model/numerics/convert.hpp"

namespace mx {

/// Code in `to` of a code in `from` by a rounding that reads_source_bits.
/// Interpreter roundings: a mantissa is cut, or goes up by the first bit that is cut, and what carries out of it is or'ed into the exponent. There is
/// no NaN, no Inf and no saturation. Source: Triton 3.9.0 python/triton/runtime/interpreter.py _convert_float, run.
/// float_pkg_nearest: RESIZE of IEEE 1076-2008 float_generic_pkg (revision 1220), run under GHDL 2.0.0. The exponent is cut to two bits more than the
/// target's field has before the range is asked, so that far exponents come out as near ones; zero is +0; a NaN is the least signalling one,
/// positive. Throws Error(usage) for formats without exponent and sign; interpreter roundings also for formats of one width; float_pkg_nearest for
/// formats without the bias and the specials of IEEE 754, for a target with as many bits of mantissa as the source, and for a number that
/// has_no_answer.
std::uint32_t moved_bits(std::uint32_t code, const Format& from, const Format& to, Rounding rounding, Flags& flags);

/// Whether float_pkg_nearest ends the simulation instead of giving an answer: a far exponent folded to just below the target's range. False for other
/// roundings. Throws as moved_bits does for the formats.
bool has_no_answer(std::uint32_t code, const Format& from, const Format& to, Rounding rounding);

}  // namespace mx
