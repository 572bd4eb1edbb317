#pragma once
// What `mxact quantize` says.

#include <span>
#include <string>
#include <vector>

#include "verbs/document/document.hpp"
#include "verbs/quantize/quantize.hpp"

namespace mx::verbs {

/// Blocks with their scales and codes, what these stand for, and the scales as they lie in `layout`. `words` are values as people type them; how many
/// were rounded into the source first is a note. Throws as parse_typed and quantize_matrix do.
Document quantize_document(const QuantizeRequest& request, std::span<const std::string> words, const ScaleLayout& layout);

}  // namespace mx::verbs
