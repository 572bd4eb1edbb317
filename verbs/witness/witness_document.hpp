#pragma once
// What `mxact witness` says of recorded sets, and of the ledger.

#include <span>

#include "golden/witness/witness.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// Sets with their entries; a case for each entry. `verbose`: the text has every entry, otherwise only those that are not equal.
Document witness_document(std::span<const golden::SetResult> sets, bool allow_unmodelled, bool verbose);

/// Which recorded values are excused, and why.
Document ledger_document();

}  // namespace mx::verbs
