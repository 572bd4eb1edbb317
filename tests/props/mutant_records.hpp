#pragma once
// Recorded outputs as a judge of changed tables: the entries that speak of a row, read once.

#include <memory>
#include <string>

#include "tests/props/table_mutants.hpp"

namespace mx::tests {

class Records {
 public:
  Records();  ///< reads the manifests of golden/witness; throws Error(input)
  ~Records();

  /// The first entry about the mutant's row that the model, with the change in place, no longer equals; "" for none. Call it with the stand-in set.
  std::string noticed(const TableMutant& mutant) const;

 private:
  struct Sets;
  std::unique_ptr<Sets> sets_;
};

}  // namespace mx::tests
