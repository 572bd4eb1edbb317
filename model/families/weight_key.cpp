#include "model/families/weight_key.hpp"

#include <algorithm>
#include <array>

namespace mx::layout {
namespace {

struct KeyFormat {
  std::string_view key;
  WeightFormat format;
};
constexpr std::array kFormats{
    KeyFormat{"kMxfp4Static", WeightFormat::mxfp4},
    KeyFormat{"kNvfp4Static", WeightFormat::nvfp4},
    KeyFormat{"kMxfp8Static", WeightFormat::mxfp8},
    KeyFormat{"kFp8StaticTensorSym", WeightFormat::fp8_tensor},
    KeyFormat{"kFp8StaticChannelSym", WeightFormat::fp8_channel},
    KeyFormat{"kFp8Static128BlockSym", WeightFormat::fp8_block},
    KeyFormat{"kInt4Static", WeightFormat::int4},
};

}  // namespace

std::optional<WeightFormat> format_of_key(std::string_view weight_key) {
  const auto* row = std::ranges::find(kFormats, weight_key, &KeyFormat::key);
  return row != kFormats.end() ? std::optional(row->format) : std::nullopt;
}

}  // namespace mx::layout
