#pragma once
// What the laws of the oracles have in common.

#include <functional>
#include <string>
#include <string_view>

#include "model/engine/vllm/select.hpp"
#include "props/engine/vllm/generators.hpp"
#include "props/engine/vllm/restated.hpp"
#include "props/law.hpp"

namespace mx::props {

/// A deployment and what one oracle says of it.
struct Decided {
  std::string_view oracle;
  const deployment::Deployment& deployment;
  engine::Decision decision;
};
Decided decided(std::string_view oracle, const deployment::Deployment& deployment, engine::Detail detail = engine::Detail::codes);

/// Cases of a law where RC_PARAMS names no number.
inline constexpr int kUsualCases = 3000;

/// Random deployments of random oracles.
Outcome on_random(const Law& law, const DeploymentKind& kind, const std::function<void(std::string_view, const deployment::Deployment&)>& check);
/// The same for one oracle.
Outcome on_random(const Law& law, std::string_view oracle, const DeploymentKind& kind,
                  const std::function<void(const deployment::Deployment&)>& check);

/// Fails the case with the deployment as a file that `mxact select` reads.
void require(bool holds, const std::string& what, const Decided& decided);

/// Where the rows of an oracle differ from the restatement's, one line each: backends, their classes, keys and scales, names, order.
std::vector<std::string> table_differences(const engine::OracleTables& tables);

/// Where the list that an unspecific request walks differs from the restatement's, "" where it does not.
std::string order_difference(const engine::OracleTables& tables, const deployment::Deployment& deployment);

bool is_backend(const engine::Decision& decision, std::string_view backend);
/// The same backend and class, or the same type of exception.
bool same_answer(const engine::Decision& a, const engine::Decision& b);

// O1 and O3: choice_laws.cpp.
Outcome choice_takes_the_layer(const Law& law);
Outcome choice_satisfies_needs(const Law& law);
Outcome audit_and_ledger_agree(const Law& law);
Outcome verdicts_are_as_restated(const Law& law);
Outcome sizes_round_up(const Law& law);
Outcome answer_is_as_restated(const Law& law);
Outcome order_is_as_restated(const Law& law);
Outcome nothing_better_is_skipped(const Law& law);
Outcome more_is_never_less(const Law& law);
// O2: wish_laws.cpp.
Outcome wish_is_met_or_refused(const Law& law);
Outcome batched_exchange_gets_batched_member(const Law& law);
Outcome variables_end_the_search(const Law& law);
Outcome requested_key_is_honoured(const Law& law);
// O4 and O6: trace_laws.cpp.
Outcome every_deployment_has_an_answer(const Law& law);
Outcome fallback_is_visible(const Law& law);
Outcome strict_says_what_it_skipped(const Law& law);
// O5: table_laws.cpp.
Outcome tables_are_complete(const Law& law);
Outcome choices_have_layouts(const Law& law);

}  // namespace mx::props
