#include "verbs/numbers/numbers.hpp"

#include <fmt/core.h>

#include <bit>
#include <cctype>
#include <cerrno>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "model/error.hpp"
#include "model/numerics/wide_source.hpp"
#include "support/quote.hpp"

namespace mx::verbs {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& rule) {
  throw Error(ErrorCode::usage, fmt::format("{} {}", support::in_quotes(text), rule));
}

std::optional<std::uint64_t> whole_number(const std::string& text, int base) {
  if (text.empty() || std::isalnum(static_cast<unsigned char>(text[0])) == 0) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(text.c_str(), &end, base);
  if (end != text.c_str() + text.size() || errno != 0) return std::nullopt;
  return value;
}

/// Bits, not a hexadecimal float.
bool is_hex(const std::string& text) {
  return text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && text.find_first_of(".pP") == std::string::npos;
}

/// The number that a finite text stands for, rounded to odd at 64 bits: whatever is rounded to fewer bits afterwards is as if it were rounded once.
Value exact_value(const std::string& text) {
  const int was = std::fegetround();
  std::fesetround(FE_TOWARDZERO);
  const long double toward_zero = std::strtold(text.c_str(), nullptr);
  std::fesetround(FE_UPWARD);
  const long double up = std::strtold(text.c_str(), nullptr);
  std::fesetround(FE_DOWNWARD);
  const long double down = std::strtold(text.c_str(), nullptr);
  std::fesetround(was);
  int exponent = 0;
  const long double fraction = std::frexp(std::fabs(toward_zero), &exponent);
  const long double scaled = std::ldexp(fraction, 64);
  const auto significand = static_cast<std::uint64_t>(scaled);
  const bool more = up != down || static_cast<long double>(significand) != scaled;
  return {significand | (more ? 1U : 0U), exponent - 64, significand == 0 ? ValueClass::zero : ValueClass::finite, std::signbit(toward_zero)};
}

/// "0x1.8p-4095", as %a prints it: of a number that fp64 does not hold.
std::string hexadecimal(const Value& value) {
  const int zeros = std::countl_zero(value.significand);
  std::string fraction = fmt::format("{:016x}", value.significand << zeros << 1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return fmt::format("0x1{}{}p{:+}", fraction.empty() ? "" : ".", fraction, value.exponent + 63 - zeros);
}

}  // namespace

std::uint32_t parse_bits(const std::string& text, const Format& format) {
  const std::optional<std::uint64_t> value = whole_number(text, is_hex(text) ? 16 : 10);
  if (!value) refuse(text, "is not a code: give bits as 0x.. or a whole number");
  if (*value >> format.width != 0) refuse(text, fmt::format("does not fit the {} bits of {}", format.width, format.name));
  return static_cast<std::uint32_t>(*value);
}

std::uint64_t parse_source(const std::string& text, const Format& from) {
  if (!is_wide_source(from)) return parse_code(text, from);
  if (is_hex(text)) {
    const std::optional<std::uint64_t> bits = whole_number(text, 16);
    if (!bits || (from.width < 64 && *bits >> from.width != 0))
      refuse(text, fmt::format("is no pattern of the {} bits of {}", from.width, from.name));
    return *bits;
  }
  char* end = nullptr;
  errno = 0;
  if (from == kF64) {
    const double number = std::strtod(text.c_str(), &end);
    if (text.empty() || end != text.c_str() + text.size() || std::isspace(static_cast<unsigned char>(text[0])) != 0) {
      refuse(text, "is not a number: give bits as 0x.. or a decimal value");
    }
    if (errno == ERANGE && (number == 0 || std::isinf(number))) refuse(text, "is out of the range of f64: give bits as 0x..");
    return std::bit_cast<std::uint64_t>(number);
  }
  const long long number = std::strtoll(text.c_str(), &end, 10);
  const long long most = from.width == 64 ? std::numeric_limits<long long>::max() : std::numeric_limits<std::int32_t>::max();
  const bool whole = !text.empty() && end == text.c_str() + text.size() && std::isspace(static_cast<unsigned char>(text[0])) == 0;
  if (!whole || errno == ERANGE || number > most || number < -most - 1) refuse(text, fmt::format("is no integer of {}", from.name));
  return static_cast<std::uint64_t>(number) & (from.width == 64 ? ~std::uint64_t{0} : 0xFFFFFFFFU);
}

std::uint32_t parse_code(const std::string& text, const Format& format) { return static_cast<std::uint32_t>(parse_typed(text, format).code); }

Typed parse_typed(const std::string& text, const Format& format) {
  if (is_wide_source(format)) return {parse_source(text, format), std::nullopt};
  if (is_hex(text)) return {parse_bits(text, format), std::nullopt};
  char* end = nullptr;
  errno = 0;
  const float nearest = std::strtof(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size() || std::isspace(static_cast<unsigned char>(text[0])) != 0) {
    refuse(text, "is not a number: give bits as 0x.. or a decimal value");
  }
  // Silently taking 1e400 for Inf, or 1e-400 for 0, would show flags of another value.
  if (errno == ERANGE && (nearest == 0 || std::isinf(nearest))) refuse(text, "is out of the range of f32: give bits as 0x..");
  if (format.name == kF32.name) {
    const auto code = std::bit_cast<std::uint32_t>(nearest);
    if (!std::isfinite(nearest)) return {code, std::nullopt};
    const Value exact = exact_value(text);
    return {code, canonical(exact) == canonical(decode(kF32, code)) ? std::nullopt : std::optional(exact)};
  }
  // Rounding here would hide one from the user: the value must be on the source grid already.
  const Value exact = std::isfinite(nearest) ? canonical(exact_value(text)) : decode(kF32, std::bit_cast<std::uint32_t>(nearest));
  for (std::uint32_t code = 0; code >> format.width == 0; ++code) {
    const Value value = canonical(decode(format, code));
    if (exact.cls == ValueClass::nan ? value.cls == ValueClass::nan : value == exact) return {code, std::nullopt};
  }
  refuse(text, fmt::format("is not a value of {}: give its bits as 0x..", format.name));
}

std::string hex(std::uint64_t code, const Format& format) { return fmt::format("0x{:0{}x}", code, (format.width + 3) / 4); }

std::string decimal(const Value& value) {
  const std::string sign = value.negative ? "-" : "";
  switch (value.cls) {
    case ValueClass::zero: return sign + "0";
    case ValueClass::infinity: return sign + "inf";
    case ValueClass::nan: return sign + "nan";
    case ValueClass::finite: break;
  }
  const double magnitude = std::ldexp(static_cast<double>(value.significand), value.exponent);
  const bool holds = std::isfinite(magnitude) && std::ldexp(magnitude, -value.exponent) == static_cast<double>(value.significand);
  return sign + (holds ? fmt::format("{}", magnitude) : hexadecimal(value));
}

}  // namespace mx::verbs
