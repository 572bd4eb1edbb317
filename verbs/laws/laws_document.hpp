#pragma once
// What `mxact laws` says of what the package for Python answers (python/mxact/testing/_command.py): whether somebody else's program held the laws.

#include "verbs/document/document.hpp"

namespace mx::verbs {

/// The exit code: 1 the program broke a law, 5 it answered nothing at all.
Document laws_document(const Json& run);

}  // namespace mx::verbs
