#pragma once
// What `mxact gen` says of operations and of a set, without its vectors.

#include "golden/vectors/vector_set.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// Every operation, by family.
Document operations_document();

/// The set's facts and columns; `with_expected`: those of a file that has the right answers too.
Document set_document(const golden::VectorOp& op, const golden::VectorSet& set, bool with_expected);

}  // namespace mx::verbs
