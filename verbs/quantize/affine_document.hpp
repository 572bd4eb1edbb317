#pragma once
// What `mxact quantize` says of integers with a scale and a zero point.

#include <cstdint>
#include <span>
#include <string>

#include "verbs/document/document.hpp"

namespace mx::verbs {

/// Blocks with their scales, zero points and codes, and what these stand for. `rules`: as affine.hpp has them; `words`: fp32 values as people type
/// them, this many rows of equal length. Throws Error(usage) for values that are no whole rows of whole blocks, and as quantize does.
Document affine_document(const std::string& rules, std::int64_t rows, std::span<const std::string> words);

}  // namespace mx::verbs
