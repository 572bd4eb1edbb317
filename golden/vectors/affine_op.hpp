#pragma once
// Integers with a scale and a zero point as vectors: "quantize_awq,block=32", "dequantize_awq,block=32_to_f32".

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "golden/vectors/op.hpp"
#include "golden/vectors/options.hpp"

namespace mx::golden {

std::vector<std::string> affine_names();
/// Null for another name. Throws Error(usage) for rules that are none, and blocks longer than kLongestBlock.
std::unique_ptr<VectorOp> make_affine(std::string_view name, const OpOptions& options);

}  // namespace mx::golden
