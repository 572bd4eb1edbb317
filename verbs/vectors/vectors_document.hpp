#pragma once
// What `mxact vectors` says of the versioned set.

#include <string>
#include <vector>

#include "golden/vectors/files/vector_files.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// A part that was written below a directory.
Document written_set_document(const golden::SetId& set, std::size_t files, const std::string& directory);
/// A directory held against a part. The exit code: 1 where a file is missing, different or unknown, 5 where nothing of the set is there.
Document checked_set_document(const golden::SetId& set, const golden::SetCheck& found, const std::string& directory);
/// Bins that the part's tables hit. The exit code is 1 where a table misses a bin that it should hit.
Document set_coverage_document(const golden::SetId& set, const std::vector<golden::TableRecord>& records);
/// How many times v1's vectors each table has. The exit code is 1 where one has more than three times as many.
Document set_growth_document(const golden::SetId& set, const std::vector<golden::TableGrowth>& growth);

}  // namespace mx::verbs
