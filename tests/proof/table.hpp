#pragma once
// The table of what is proven, as Markdown and as JSON, from the merged states of one build.

#include <string>
#include <utility>
#include <vector>

#include "tests/proof/work.hpp"

namespace mx::tests {

struct ProofTable {
  std::string text;                                              ///< in Markdown
  std::vector<std::pair<std::string, std::string>> documents{};  ///< each table's name, the kinds of its rows, and the table as docs/measured/ has it
  int proven = 0;                                                ///< rows with all 2^32 inputs checked and none wrong
  int incomplete = 0;                                            ///< rows with chunks missing
  int wrong = 0;                                                 ///< rows with a wrong answer, complete or not
};

/// Kinds of rows that a table shows; none named: all of them.
using Kinds = std::vector<std::string>;

/// Every row of these kinds, also those without a result. Throws Error(input) when the state holds a row that does not exist.
ProofTable proof_table(const std::vector<ProofRow>& rows, const State& state, const Kinds& kinds = {});

/// Puts the tables into a document of docs/measured/, each in the place of the one of its name. Throws Error(input) when one is missing,
/// Error(resource) when the file cannot be read or replaced.
void write_into_document(const std::string& path, const ProofTable& table);

}  // namespace mx::tests
