#pragma once
// What `mxact study` says, with data and without.

#include <string>
#include <vector>

#include "sim/study/study.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

Document study_document(const sim::Study& study);

/// Where scale rules part, of block formats with E8M0 scales: schema mxact-scale-rules/1. Throws as sim::scale_steps does.
Document scale_rules_document(const std::vector<std::string>& formats);

/// The error of element formats along the real line, schema mxact-error-line/1; in the text the largest of each power of two. Throws as
/// sim::error_lines does.
Document error_line_document(const std::vector<std::string>& formats);

}  // namespace mx::verbs
