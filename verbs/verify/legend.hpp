#pragma once
// What the words of verify mean, below its table.

#include "sim/verify/verify.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// The words of the legend that the report uses, and each place where a real kernel differs with the backends that it is true of: a screen of lines.
void add_legend(Document& document, const sim::VerifyReport& report);

}  // namespace mx::verbs
