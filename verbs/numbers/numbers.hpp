#pragma once
// Numbers as people type and read them: hex bits or a decimal value.

#include <cstdint>
#include <string>

#include "model/numerics/format.hpp"
#include "model/numerics/value.hpp"

namespace mx::verbs {

/// Code of `format` from text: "0x3f80" is the bits themselves; anything else is a decimal value ("1.5", "-inf", "nan"). A decimal is rounded to
/// nearest for f32; for every other format it must be exactly a value of it. Throws Error(usage) naming the text and the rule.
std::uint32_t parse_code(const std::string& text, const Format& format);

/// The same for a source of more bits than a code has, f64 or an integer: a decimal is rounded to nearest for f64; of an integer it must be one.
std::uint64_t parse_source(const std::string& text, const Format& from);

/// Only hex or plain decimal integers, in range for the format's width.
std::uint32_t parse_bits(const std::string& text, const Format& format);

/// "0x7e", as wide as the format.
std::string hex(std::uint64_t code, const Format& format);

/// Exact decimal value, or inf / nan with sign: "-0.015625".
std::string decimal(const Value& value);

}  // namespace mx::verbs
