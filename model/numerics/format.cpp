#include "model/numerics/format.hpp"

#include <algorithm>
#include <array>

#include "model/numerics/further_formats.hpp"
#include "model/numerics/rows.hpp"
#include "model/numerics/rules.hpp"

namespace mx {
namespace {

constexpr std::array kFormats{kE4m3fn, kE5m2, kE4m3fnuz, kE5m2fnuz, kE2m3, kE3m2, kE2m1, kE8m0, kUe4m3, kMxint8, kBf16, kFp16, kF32, kUe5m3};

struct Alias {
  std::string_view alias;
  std::string_view name;
};

// OFP8 calls its E4M3 "E4M3"; the "fn" (finite, NaN) is the name that LLVM, ml_dtypes and torch gave it.
constexpr std::array kAliases{Alias{"fp32", "f32"}, Alias{"e4m3", "e4m3fn"}};

}  // namespace

std::span<const Format> all_formats() { return kFormats; }

bool fits_f32(const Format& format) {
  if (format.encoding == Encoding::fixed_point) return true;
  constexpr int kLeast = -149, kMost = 127;
  const int least = format.encoding == Encoding::exponent_only ? -format.bias : 1 - format.bias - format.mantissa_bits;
  return least >= kLeast && max_exponent(format) <= kMost;
}

const Format& any_format_named(std::string_view name) { return is_rules(name) ? any_format_of_text(name) : format_named(name); }

const Format& format_named(std::string_view name) {
  for (const Alias& alias : kAliases) {
    if (same_name(alias.alias, name)) name = alias.name;
  }
  if (is_rules(name)) return format_of_text(name);
  const auto further = std::ranges::find_if(further_formats(), [&](const Format& format) { return same_name(format.name, name); });
  return further != further_formats().end() ? *further : rows::named(kFormats, "format", name);
}

int max_exponent(const Format& format) {
  const std::uint32_t top = max_finite_code(format);
  // A fixed-point format's largest value lies just below 2^(integer bits).
  if (format.encoding == Encoding::fixed_point) return format.width - 2 - format.mantissa_bits;
  return static_cast<int>(top >> format.mantissa_bits) - format.bias;
}

}  // namespace mx
