#pragma once
// Selection that keeps the needs: the engine's own search over tables from which every (backend, class) that cannot do the work is struck.

#include <string>
#include <string_view>
#include <vector>

#include "model/audit/needs.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::audit {

/// What the engine would have taken, and the need that this breaks.
struct Skipped {
  std::string_view backend;
  std::string_view kernel_class;
  const families::KernelNeed* need;
};

struct StrictDecision {
  engine::Decision decision;     ///< of the last search; a refusal when nothing is left, which then says what was skipped first
  deployment::Deployment asked;  ///< what that search was for: as given, but for a method or a name whose own choice was skipped
  std::vector<Skipped> skipped;  ///< in the order in which they were chosen and struck
  /// How a user gets to the class that was found where the engine would take another: "moe_backend marlin"; empty where the engine takes it, or
  /// where no name leads there.
  std::string reached_by;

  bool is_reachable() const { return skipped.empty() || !reached_by.empty(); }
};

/// The engine's choice where it satisfies every need of its kernel, else what the engine would choose without it, and so on. A wish for one backend
/// that cannot do the work, or a variable that forces it, ends in a refusal: nothing else is taken instead. Throws as select does.
StrictDecision select_strict(deployment::Engine engine, std::string_view oracle, const deployment::Deployment& deployment,
                             engine::Detail detail = engine::Detail::codes);

}  // namespace mx::audit
