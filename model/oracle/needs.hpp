#pragma once
// What each kernel and converter needs, stated from their own sources and not from the oracle: the other half of the law that a chosen backend must
// be able to run. Shares no table and no predicate with select; where the two disagree is a finding (findings.hpp).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/oracle/deployment.hpp"

namespace mx::oracle {

/// A choice in its surroundings.
struct Placement {
  const Deployment& deployment;
  std::string_view backend;
  std::string_view kernel_class;
  std::int64_t hidden;        ///< after rounding
  std::int64_t intermediate;  ///< per partition, after rounding
};

/// One precondition. Only what a deployment determines is here: memory, token counts, library versions, whether a CPU has AMX, and limits that no
/// public text states are not.
struct KernelNeed {
  std::string_view id;                         ///< "sizes", "device", "dtype", ...; unique for a backend
  std::span<const std::string_view> backends;  ///< empty: every backend
  std::string_view statement;
  bool (*holds)(const Placement& placement);
  std::string_view source;
};

/// The engine's expert classes by what the needs ask of a class; each is in one list.
struct ClassList {
  std::string_view kind;  ///< "monolithic": routes by itself; "batched": takes [E, T, H]; "plain": neither
  std::span<const std::string_view> classes;
};
std::span<const ClassList> class_lists();

/// Every need of the mxfp4 backends.
std::span<const KernelNeed> kernel_needs_mxfp4();

/// True when the need concerns the backend.
bool concerns(const KernelNeed& need, std::string_view backend);

/// The first need that a placement breaks, in the table's order, or null.
const KernelNeed* first_broken_need(const Placement& placement);

}  // namespace mx::oracle
