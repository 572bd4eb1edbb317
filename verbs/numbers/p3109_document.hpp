#pragma once
// What `mxact formats --p3109` says.

#include <string>

#include "verbs/document/document.hpp"

namespace mx::verbs {

/// `asked`: formats of P3109 with commas between them: the declaration of conformance for them, whose text is YAML. Or the text of one
/// specialization: what it takes and gives. `version`: of the program. Throws Error(usage) for what is neither.
Document p3109_document(const std::string& asked, const std::string& version);

}  // namespace mx::verbs
