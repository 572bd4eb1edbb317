#pragma once
// What `mxact quantize` says.

#include <span>
#include <string>
#include <vector>

#include "verbs/document/document.hpp"
#include "verbs/quantize/quantize.hpp"

namespace mx::verbs {

/// Blocks with their scales and codes, what these stand for, and the scales as they lie in `layout`. `values` are codes of the request's source.
/// Throws as quantize_matrix does.
Document quantize_document(const golden::QuantizeRequest& request, std::span<const std::uint32_t> values, const golden::ScaleLayout& layout);

}  // namespace mx::verbs
