#include "model/numerics/wide_source.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/error.hpp"
#include "model/numerics/rows.hpp"
#include "model/numerics/wide.hpp"

namespace mx {
namespace {

constexpr std::array kWideSources{kF64, kI64, kI32};

Value integer(std::uint64_t bits, int width) {
  if (bits == 0) return {};
  const bool negative = (bits >> (width - 1) & 1U) != 0;
  const std::uint64_t beyond = width == 64 ? 0U : std::uint64_t{1} << width;
  return {.significand = negative ? beyond - bits : bits, .exponent = 0, .cls = ValueClass::finite, .negative = negative};
}

}  // namespace

std::span<const Format> wide_sources() { return kWideSources; }

bool is_wide_source(const Format& format) { return std::ranges::find(kWideSources, format) != kWideSources.end(); }

const Format& source_named(std::string_view name) {
  const auto row = std::ranges::find_if(kWideSources, [&](const Format& format) { return same_name(format.name, name); });
  return row == kWideSources.end() ? format_named(name) : *row;
}

Value decode_source(const Format& from, std::uint64_t bits) {
  if (from == kF64) {
    // Arithmetic knows one NaN; a conversion may look at its sign.
    Value value = wide::from_f64(bits);
    value.negative = bits >> 63 != 0;
    return value;
  }
  if (from == kI64 || from == kI32) return integer(bits, from.width);
  return decode(from, static_cast<std::uint32_t>(bits));
}

std::uint32_t convert_source(std::uint64_t bits, const Format& from, const Format& to, const Conversion& how, Flags& flags, Random random) {
  if (!is_wide_source(from)) return convert(static_cast<std::uint32_t>(bits), from, to, how, flags, random);
  const bool carries_payload = how.nan_rule == NanRule::keep_payload || how.nan_rule == NanRule::quiet_payload;
  if (carries_payload) throw Error(ErrorCode::usage, "a NaN with payload is not defined from " + std::string(from.name));
  return encode(decode_source(from, bits), to, how, flags, random);
}

}  // namespace mx
