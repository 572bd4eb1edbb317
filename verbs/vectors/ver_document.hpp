#pragma once
// What `mxact ver` says of a device's answers.

#include <string>

#include "golden/vectors/checker.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// `again` are the options that gen and ver take for the same vectors; `all_bins`: the text names missed and unreachable bins. A case for the answers
/// as a whole, and one for each bin that can be met.
Document ver_document(const golden::VectorOp& op, const golden::CheckReport& report, const std::string& again, bool all_bins);

}  // namespace mx::verbs
