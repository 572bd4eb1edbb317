#pragma once
// Changed tables tried one by one, each in a process of its own: who notices, and whether there is anything to notice.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/props/table_mutants.hpp"

namespace mx::tests {

class Records;

enum class Judgement {
  law,         ///< a law breaks
  restated,    ///< an exam of restated answers fails
  record,      ///< a recorded output of a real implementation differs
  equivalent,  ///< nobody notices, and no output of the exam changes
  survives,    ///< nobody notices, and some output changes
  crash,       ///< the process ended, or gave no answer
};
std::string_view name_of(Judgement judgement);
bool is_noticed(Judgement judgement);

struct MutantRun {
  const TableMutant* mutant;
  Judgement judgement;
  std::string text;  ///< the law, the entry, or the first input whose output changes
};

/// Tries every mutant, `jobs` processes at a time; `done` is told how many are finished. Laws first, then the restated answers; then the
/// exam, and of what changes an output `records`.
/// Throws Error(resource) when a process cannot be made.
std::vector<MutantRun> run_mutants(std::span<const TableMutant> mutants, const Records& records, int jobs, unsigned limit_seconds,
                                   const std::function<void(std::size_t)>& done);

}  // namespace mx::tests
