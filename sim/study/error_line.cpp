#include "sim/study/error_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/error.hpp"
#include "model/numerics/convert.hpp"

namespace mx::sim {
namespace {

constexpr int kWidest = 8;

/// No NaN comes in, so that none goes out.
constexpr Conversion kNearest{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0, 0, 0, false};

bool is_drawn(const Format& format) { return format.encoding == Encoding::floating && format.has_sign && format.width <= kWidest; }

double value_of(std::uint32_t code, const Format& format) {
  const Value value = decode(format, code);
  return std::ldexp(static_cast<double>(value.significand), value.exponent);
}

/// fp32 bits of 2^power * (1 + part / parts).
std::uint32_t f32_of(int power, std::uint32_t part, std::uint32_t parts) {
  const std::uint64_t mantissa = (std::uint64_t{part} << 23U) / parts;
  return static_cast<std::uint32_t>(power + kF32.bias) << 23U | static_cast<std::uint32_t>(mantissa);
}

double worst_of(const Format& format, int power, std::uint32_t bin) {
  constexpr std::uint32_t kParts = std::uint32_t{kErrorLineBins} * kErrorLineSamples;
  double worst = 0;
  for (std::uint32_t sample = 0; sample < kErrorLineSamples; ++sample) {
    const std::uint32_t x = f32_of(power, bin * kErrorLineSamples + sample, kParts);
    const double exact = value_of(x, kF32);
    worst = std::max(worst, std::abs(value_of(convert(x, kF32, format, kNearest), format) - exact) / exact);
  }
  return worst;
}

ErrorLine line_of(const Format& format) {
  ErrorLine line{std::string(format.name), {}};
  for (int power = kErrorLineLowest; power < kErrorLineHighest; ++power) {
    for (std::uint32_t bin = 0; bin < kErrorLineBins; ++bin) line.worst.push_back(worst_of(format, power, bin));
  }
  return line;
}

}  // namespace

std::vector<ErrorLine> error_lines(const std::vector<std::string>& formats) {
  std::vector<ErrorLine> lines;
  for (const std::string& name : formats) {
    const Format& format = format_named(name);
    if (!is_drawn(format)) {
      throw Error(ErrorCode::usage, fmt::format("{} is no floating-point format with a sign and up to {} bits", format.name, kWidest), "--format");
    }
    lines.push_back(line_of(format));
  }
  if (!formats.empty()) return lines;
  for (const Format& format : all_formats()) {
    if (is_drawn(format)) lines.push_back(line_of(format));
  }
  return lines;
}

}  // namespace mx::sim
