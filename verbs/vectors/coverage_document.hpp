#pragma once
// What `mxact coverage merge` says.

#include <string>
#include <vector>

#include "golden/vectors/files/coverage_file.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// Bins that several runs hit together. The exit code is 1 where a reachable bin is missed or an answer was wrong, 5 where a run is not to be
/// trusted.
Document merged_coverage_document(const golden::CoverageRecord& record, const std::vector<std::string>& files);
/// The same as a page.
std::string merged_coverage_page(const golden::CoverageRecord& record);

}  // namespace mx::verbs
