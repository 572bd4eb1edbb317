#pragma once
// Numbers as people type and read them: hex bits or a decimal value.

#include <cstdint>
#include <optional>
#include <string>

#include "model/numerics/format.hpp"
#include "model/numerics/value.hpp"

namespace mx::verbs {

/// Code of `format` from text: "0x3f80" is the bits themselves; anything else is a number: decimal ("1.5", "-inf", "nan") or a hexadecimal float
/// ("0x1.8p-3"). It is rounded to nearest for f32; for every other format it must be exactly a value of it. Throws Error(usage) naming the text and
/// the rule.
std::uint32_t parse_code(const std::string& text, const Format& format);

/// The same for a source of more bits than a code has, f64 or an integer: a decimal is rounded to nearest for f64; of an integer it must be one.
std::uint64_t parse_source(const std::string& text, const Format& from);

/// What was typed for a source format.
struct Typed {
  std::uint64_t code;          ///< of the format; the nearest where the number is none of it
  std::optional<Value> exact;  ///< the number itself where the format does not hold it: 64 bits, the last one odd where more follow
};
/// As parse_source; a number that f32 does not hold is kept, so that it is rounded once, into the target.
Typed parse_typed(const std::string& text, const Format& format);

/// Only hex or plain decimal integers, in range for the format's width.
std::uint32_t parse_bits(const std::string& text, const Format& format);

/// "0x7e", as wide as the format.
std::string hex(std::uint64_t code, const Format& format);

/// Exact value, or inf / nan with sign: "-0.015625"; hexadecimal, "0x1.8p-4095", where fp64 does not hold it.
std::string decimal(const Value& value);

}  // namespace mx::verbs
