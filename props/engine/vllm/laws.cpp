// The laws of the oracles by name, and what they share.

#include <rapidcheck.h>

#include <array>
#include <vector>

#include "props/engine/vllm/law_tools.hpp"
#include "props/engine/vllm/version_laws.hpp"
#include "props/failure_file.hpp"

namespace mx::props {
namespace {

using deployment::Deployment;
using engine::Decision;

constexpr std::array kLaws = {
    Law{"O1/takes", "the class that is chosen takes the layer: each of its own conditions holds", choice_takes_the_layer},
    Law{"O1/needs", "what is chosen satisfies what its kernel needs, the listed findings aside", choice_satisfies_needs},
    Law{"O1/verdicts", "every class refuses what its restatement refuses, and for the same first reason", verdicts_are_as_restated},
    Law{"O1/sizes", "sizes go up to the next multiple and no further", sizes_round_up},
    Law{"O2/wish", "a wish is met or refused, whatever the variables say", wish_is_met_or_refused},
    Law{"O2/batched", "a batched exchange gets the batched member", batched_exchange_gets_batched_member},
    Law{"O2/environment", "a variable that is on decides, the first one asked first", variables_end_the_search},
    Law{"O2/key", "a requested activation key is honoured, from wherever it comes", requested_key_is_honoured},
    Law{"O3/answer", "the answer is that of the engine's search said a second time", answer_is_as_restated},
    Law{"O3/order", "the list of an unspecific request is in its order for the device, the keys and the ranks", order_is_as_restated},
    Law{"O3/priority", "the first supported class of the list is chosen", nothing_better_is_skipped},
    Law{"O3/monotone", "another package, or a newer device of the same family, never gives less", more_is_never_less},
    Law{"O4/total", "every deployment has a choice or a refusal with a reason, and a trace that leads there", every_deployment_has_an_answer},
    Law{"O5/tables", "every backend has its classes, key, needs and names, every class its kind", tables_are_complete},
    Law{"O5/layouts", "every backend of weights that are converted has a layout for them, and every layout a backend", choices_have_layouts},
    Law{"O6/visible", "a choice that is not the first of the list comes with the reason of each one before it", fallback_is_visible},
    Law{"O6/strict", "strict selection differs from the engine only where it says which need the engine's choice breaks",
        strict_says_what_it_skipped},
};
/// Last: the ledger notices most of what is wrong anywhere, and says only where it shows.
constexpr Law kLedger{"O1/findings", "the audit finds what the ledger lists, no more and no less", audit_and_ledger_agree};

}  // namespace

std::span<const Law> oracle_laws() {
  static const std::vector<Law> laws = [] {
    std::vector<Law> all(kLaws.begin(), kLaws.end());
    const std::span<const Law> of_versions = version_laws();
    all.insert(all.end(), of_versions.begin(), of_versions.end());
    all.push_back(kLedger);
    return all;
  }();
  return laws;
}

Decided decided(std::string_view oracle, const Deployment& deployment, engine::Detail detail) {
  return {oracle, deployment, engine::select(deployment::kVllm2026_05, oracle, deployment, detail)};
}

Outcome on_random(const Law& law, const DeploymentKind& kind, const std::function<void(std::string_view, const Deployment&)>& check) {
  return check_property(
      law,
      [&] {
        const Drawn drawn = random_case(kind);
        check(drawn.oracle, drawn.deployment);
      },
      kUsualCases);
}

Outcome on_random(const Law& law, std::string_view oracle, const DeploymentKind& kind, const std::function<void(const Deployment&)>& check) {
  return check_property(
      law, [&] { check(random_case(oracle, kind).deployment); }, kUsualCases);
}

void require(bool holds, const std::string& what, const Decided& decided) {
  if (holds) return;
  RC_FAIL(what + "\nchosen: " + describe(decided.decision) + deployment_lines(info_file(decided.oracle, decided.deployment)));
}

bool is_backend(const Decision& decision, std::string_view backend) { return decision.choice && decision.choice->backend == backend; }

bool same_answer(const Decision& a, const Decision& b) {
  if (a.choice.has_value() != b.choice.has_value()) return false;
  return a.choice ? a.choice->backend == b.choice->backend && a.choice->kernel_class == b.choice->kernel_class
                  : a.refusal && b.refusal && a.refusal->error_type == b.refusal->error_type;
}

}  // namespace mx::props
