#pragma once
// Classes of codes as coverage bins.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "golden/vectors/op.hpp"

namespace mx::golden {

/// "+ zero", "- zero", "+ subnormal", ...: the classes that a code can be in; the bin of a code counts from 1.
std::vector<std::string> number_classes();
std::uint8_t number_class(std::uint32_t code, const Format& format);
/// Why no code of the format is in the class (counted from 0); empty when one is.
std::string why_no_class(std::size_t cls, const Format& format);

/// Bins of a scale: its byte where that is an E8M0 code, else its class.
std::vector<std::string> scale_bins(const Format& scale);
std::uint8_t scale_bin(std::uint32_t code, const Format& scale);

/// Codes of the wide format at which scale rules decide: for every exponent the ends of the mantissa, the largest value of the element format, the
/// halves that rounding looks at, and the codes next to each; zeros, subnormals, infinities and NaNs. Positive ones first, then some negative.
std::vector<std::uint32_t> amax_codes(const Format& source, const Format& element);
/// Where the mantissa of an amax lies: bins of an axis.
std::vector<std::string> mantissa_bins(const Format& element);
std::uint8_t mantissa_bin(std::uint32_t code, const Format& source, const Format& element);

}  // namespace mx::golden
