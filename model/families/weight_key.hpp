#pragma once
// Which format of weights a quantization key of the engine stands for.

#include <optional>
#include <string_view>

#include "model/layout/tensor.hpp"

namespace mx::layout {

/// Of "kMxfp4Static", "kFp8Static128BlockSym", ...; nothing for a key whose weights no converter is modelled for.
std::optional<WeightFormat> format_of_key(std::string_view weight_key);

}  // namespace mx::layout
