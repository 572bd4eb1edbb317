#include "golden/vectors/depth.hpp"

#include <fmt/format.h>

#include <bit>

namespace mx::golden {
namespace {

std::uint32_t mantissa_of(std::uint32_t code, const Format& source) { return code & ((1U << source.mantissa_bits) - 1U); }
std::uint32_t magnitude_of(std::uint32_t code, const Format& source) { return code & ~(source.has_sign ? 1U << (source.width - 1) : 0U); }

}  // namespace

bool has_depth(const Format& source) { return source.encoding == Encoding::floating && source.mantissa_bits > 0; }

std::vector<std::string> depth_bins(const Format& source) {
  std::vector<std::string> names;
  for (int bit = 0; bit < source.mantissa_bits; ++bit) names.push_back(fmt::format("bit {}", bit));
  return names;
}

std::uint8_t depth_bin(std::uint32_t code, const Format& source) {
  const std::uint32_t mantissa = mantissa_of(code, source);
  return mantissa == 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(std::countr_zero(mantissa) + 1);
}

std::optional<std::uint32_t> stepped(std::uint32_t code, const Format& source, bool up) {
  const std::uint32_t magnitude = magnitude_of(code, source);
  const std::uint32_t mantissa = mantissa_of(code, source);
  if (mantissa == 0 || magnitude > max_finite_code(source)) return std::nullopt;
  const std::uint32_t step = mantissa & (0U - mantissa);
  if (up ? magnitude + step > max_finite_code(source) : magnitude == step) return std::nullopt;
  return up ? code + step : code - step;
}

}  // namespace mx::golden
