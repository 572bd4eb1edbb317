#pragma once
// Words for the choices of operations, and numbers in words.

#include <string>
#include <string_view>

#include "golden/vectors/op.hpp"
#include "model/numerics/convert.hpp"

namespace mx::golden {

/// "none", "source", "target", "both"
std::string_view flush_word(Flush flush);
/// Throws Error(usage) with the nearest word.
Flush flush_named(std::string_view name);
/// "0x7f,0xff": what becomes of a NaN with clear and with set sign; or the payload rule.
std::string nan_words(const Conversion& how, const Format& to);
/// True for the word `yes`, false for `no`. Throws Error(usage) naming the choice and both words for any other.
bool yes_or_no(std::string_view key, std::string_view word, std::string_view yes, std::string_view no);

/// "0 0111 000": sign, exponent and mantissa of a code; of whole numbers the bits.
std::string fields_text(std::uint32_t code, const Format& format);
/// "1.5", "-inf", "nan"
std::string value_text(std::uint32_t code, const Format& format);
/// "0x38 = 0 0111 000 = 1": one lane of a column.
std::string lane_text(std::uint32_t lane, const Column& column);

}  // namespace mx::golden
