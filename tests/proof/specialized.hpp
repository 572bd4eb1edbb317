#pragma once
// The model's conversion from fp32, compiled once more for each target format: the library's sources, in a quarter of its time. Nothing of the
// model is included here, since specialized.cpp compiles it under another name.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mx::tests {

/// mx::Conversion and mx::Random in plain words; enumerators by their value.
struct PlainConversion {
  int rounding;
  int overflow;
  int nan_rule;
  int flush;
  std::uint32_t nan_positive;
  std::uint32_t nan_negative;
  std::uint32_t zero_code;
  bool negative_is_nan;
  int random_bits;
  std::optional<std::uint32_t> random;
};

/// fp32 patterns in, as many codes out.
using SpecializedConvert = void (*)(const PlainConversion&, std::span<const std::uint32_t>, std::span<std::uint32_t>);

/// The conversion into the format of that name; null where there is none.
SpecializedConvert specialized_convert(std::string_view format);

}  // namespace mx::tests
