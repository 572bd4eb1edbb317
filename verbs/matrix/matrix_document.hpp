#pragma once
// What `mxact matrix` says.

#include "verbs/document/document.hpp"
#include "verbs/matrix/matrix.hpp"

namespace mx::verbs {

/// Every cell, as tables in which what looks the same is shown once. `explain`: with what was asked and what the class takes, for every refusal.
Document matrix_document(const verbs::Matrix& matrix, bool explain);

/// How many deployments, choices and refusals; in the text by oracle.
Document matrix_counts_document(const verbs::Matrix& matrix);

}  // namespace mx::verbs
