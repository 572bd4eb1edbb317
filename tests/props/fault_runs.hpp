#pragma once
// Planted faults tried one by one, each in a process of its own: a fault that makes a law crash or loop costs that process alone.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "props/faults.hpp"
#include "props/law.hpp"

namespace mx::tests {

/// How a law fared under a fault.
enum class Fate {
  held,
  broken,  ///< by what it asserts
  error,   ///< the model threw: noticed, but not by the law
  crash,   ///< the process ended
  hang,    ///< no answer within the limit
};
std::string_view name_of(Fate fate);

struct LawFate {
  std::string_view law;
  Fate fate;
  std::string first_line;  ///< of the failure's message
};

struct FaultRun {
  const props::FaultRow* fault;
  std::vector<LawFate> fates;  ///< in the order in which the laws were run

  bool killed() const;           ///< a law is broken by what it asserts
  const LawFate* first() const;  ///< the first that did not hold; null when all did
};

enum class Extent {
  named,  ///< the laws that the fault's row names
  first,  ///< all laws, until one is broken
  all,
};

/// Runs every fault against the laws; `jobs` processes at a time; `done` is told after each fault how many are finished. A law gets
/// `limit_seconds`. Throws Error(resource) when a process cannot be made.
std::vector<FaultRun> run_faults(std::span<const props::FaultRow> faults, std::span<const props::Law> laws, Extent extent, int jobs,
                                 unsigned limit_seconds, const std::function<void(std::size_t)>& done);

/// The part of the house in which the fault's place lies: "numerics", "kernels", "layouts", "moe", "oracle" or "simulator".
std::string_view area_of(const props::FaultRow& row);
std::span<const std::string_view> areas();

}  // namespace mx::tests
