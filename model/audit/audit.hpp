#pragma once
// The audit: every choice of the oracles over a product of deployments, held against the needs of what was chosen.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/audit/needs.hpp"
#include "model/deployment/deployment.hpp"

namespace mx::audit {

inline constexpr std::string_view kAnyBackend = "any";

/// One class of violations: the oracle may choose this (backend, class) for a deployment that breaks this need.
struct Violation {
  std::string_view oracle;
  std::string_view backend;       ///< kAnyBackend for a need around the kernel
  std::string_view kernel_class;  ///< empty then
  const families::KernelNeed* need;
  std::uint64_t times;  ///< deployments of the product that show it
  deployment::Deployment smallest;
};

struct AuditReport {
  deployment::Engine engine;
  std::uint64_t deployments;
  std::uint64_t choices;
  std::uint64_t checks;               ///< of a need of a choice
  std::vector<Violation> violations;  ///< in the order of the tables: oracle, backend, class, need
};

/// The other direction, as a need of every class: a device that the kernel takes is not refused. Checked on cuda with everything installed and no
/// variable set, for classes whose devices are known.
const families::KernelNeed& no_needless_refusal();

/// Every violation class of these oracles, each with its smallest deployment. Throws as tables_of does.
AuditReport audit(deployment::Engine engine, std::span<const std::string_view> oracles);

/// What a later version makes of a finding's deployment.
enum class AnswerThere : std::uint8_t {
  shown,         ///< its choice breaks the same need
  mended,        ///< the same backend is chosen, and the need holds
  other_choice,  ///< another backend is chosen, or the class has another name, and the need holds
  refused,
};
std::string_view name_of(AnswerThere answer);  ///< "shown", "mended", "another choice", "refused"

/// Nothing for a version without tables of the oracle, for one that lacks a word of the deployment, and for devices that are refused needlessly.
std::optional<AnswerThere> answer_at(deployment::Engine later, const Violation& violation);

/// True when the oracle's answer to the deployment is this (backend, class) and breaks this need; with kAnyBackend, whatever the answer is.
bool shows(deployment::Engine engine, std::string_view oracle, std::string_view backend, std::string_view kernel_class,
           const families::KernelNeed& need, const deployment::Deployment& deployment);

}  // namespace mx::audit
