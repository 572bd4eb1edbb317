#pragma once
// The table of what is proven, in Markdown, from the merged states of one build.

#include <string>
#include <vector>

#include "tests/proof/work.hpp"

namespace mx::tests {

struct ProofTable {
  std::string text;
  int proven = 0;      ///< rows with all 2^32 inputs checked and none wrong
  int incomplete = 0;  ///< rows with chunks missing
  int wrong = 0;       ///< rows with a wrong answer, complete or not
};

/// Kinds of rows that a table shows; none named: all of them.
using Kinds = std::vector<std::string>;

/// Every row of these kinds, also those without a result. Throws Error(input) when the state holds a row that does not exist.
ProofTable proof_table(const std::vector<ProofRow>& rows, const State& state, const Kinds& kinds = {});

/// Puts the text between the marks of a document, the lines "<!-- mxact_proof table -->", with the kinds, if any, before the arrow, and
/// "<!-- end of the table -->". Throws Error(input) when they are missing or out of order, Error(resource) when the file cannot be read or replaced.
void write_into_document(const std::string& path, const std::string& text, const Kinds& kinds = {});

}  // namespace mx::tests
