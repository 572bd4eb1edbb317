// O1 a choice can do the work. O3 nothing better is skipped.

#include <rapidcheck.h>

#include <algorithm>
#include <array>

#include "model/audit/findings.hpp"
#include "model/audit/placement.hpp"
#include "props/engine/vllm/law_tools.hpp"
#include "support/findings_file.hpp"

namespace mx::props {
namespace {

using deployment::Deployment;
using engine::Decision;

RestatedAnswer answer_of(std::string_view oracle, const Decision& decision) {
  if (decision.refusal) return {.error_type = decision.refusal->error_type};
  const engine::Choice& choice = *decision.choice;
  const bool global_sf = engine::backend_named(engine::tables_of(deployment::kVllm2026_05, oracle), choice.backend).global_sf_supported;
  return {choice.backend, choice.kernel_class, "", choice.rounded_hidden, choice.rounded_intermediate, global_sf};
}

std::string text_of(const RestatedAnswer& answer) {
  if (!answer.error_type.empty()) return answer.error_type;
  return answer.backend + "/" + answer.kernel_class + " " + std::to_string(answer.hidden) + " x " + std::to_string(answer.intermediate) +
         (answer.global_sf ? " with" : " without") + " a global activation scale";
}

/// Some key that the search may have asked with lets the class take the layer: the caller's, the override's, the backend's own or none.
bool takes(std::string_view oracle, const Deployment& deployment, const engine::Choice& choice) {
  Facts facts(kSearched, deployment);
  const engine::OracleTables& tables = engine::tables_of(deployment::kVllm2026_05, oracle);
  if (tables.weight_key) facts.weight = deployment::name_of(*tables.weight_key);
  const std::string_view own = restated_backend(oracle, choice.backend)->own_key;
  for (std::string_view key : {std::string_view(deployment.activation_key), own, std::string_view("None"), std::string_view("kMxfp8Dynamic")}) {
    facts.activation = key;
    if (restated_verdict(choice.kernel_class, facts).empty()) return true;
  }
  const auto override_key = deployment::override_key_named(deployment.quantization_override);
  facts.activation = override_key ? deployment::name_of(*override_key) : facts.activation;
  return restated_verdict(choice.kernel_class, facts).empty();
}

}  // namespace

Outcome choice_takes_the_layer(const Law& law) {
  return on_random(law, {}, [](std::string_view oracle, const Deployment& deployment) {
    const Decided it = decided(oracle, deployment);
    if (!it.decision.choice || it.decision.choice->kernel_class.empty()) return;
    require(takes(oracle, deployment, *it.decision.choice), "the chosen class refuses the layer", it);
  });
}

Outcome choice_satisfies_needs(const Law& law) {
  return on_random(law, {.possible = true}, [](std::string_view oracle, const Deployment& deployment) {
    const Decided it = decided(oracle, deployment);
    const auto placement = audit::place(engine::tables_of(deployment::kVllm2026_05, oracle), deployment, it.decision);
    if (!placement) return;
    for (const families::KernelNeed* need : audit::needs_of(deployment::kVllm2026_05, oracle, placement->backend, placement->kernel_class)) {
      if (!families::is_broken(*need, *placement)) continue;
      require(audit::find_finding(support::known_findings(), *placement, *need) != nullptr,
              "breaks a need in a way that no finding covers: " + std::string(need->id) + ", " + std::string(need->statement), it);
    }
  });
}

Outcome audit_and_ledger_agree(const Law& law) {
  Exhaustive cases(law);
  for (std::string_view oracle : engine::oracle_names(mx::deployment::kVllm2026_05)) {
    const std::string_view one[] = {oracle};
    const audit::AuditReport report = audit::audit(deployment::kVllm2026_05, one);
    for (const audit::Violation& violation : report.violations) {
      cases.expect(violation.times > 0, [&] { return std::string(violation.need->id) + " is broken by nothing"; });
    }
    const std::vector<std::string> differences = audit::differences(report, one, support::known_findings());
    cases.expect(differences.empty(), [&] { return std::string(oracle) + ": " + differences.front(); });
  }
  return cases.outcome();
}

Outcome verdicts_are_as_restated(const Law& law) {
  return on_random(law, {}, [](std::string_view oracle, const Deployment& deployment) {
    const std::vector<engine::Candidate> support = engine::support(deployment::kVllm2026_05, oracle, deployment);
    const std::vector<RestatedVerdict> restated = restated_support(oracle, deployment);
    for (const RestatedVerdict& said : restated) {
      const auto found = std::find_if(support.begin(), support.end(), [&](const engine::Candidate& candidate) {
        return candidate.backend == said.backend && candidate.kernel_class == said.kernel_class;
      });
      const std::string name = std::string(said.backend) + "/" + std::string(said.kernel_class);
      require(found != support.end(), name + " is not asked", decided(oracle, deployment));
      require(found->verdict.code == said.code && found->verdict.supported == said.code.empty(),
              name + " answers '" + std::string(found->verdict.code) + "', restated '" + said.code + "'", decided(oracle, deployment));
    }
    require(support.size() == restated.size(), "other classes are asked than there are", decided(oracle, deployment));
  });
}

/// Each size up to some hundreds on each kind of platform, for each backend of each version.
Outcome sizes_round_up(const Law& law) {
  Exhaustive cases(law);
  using enum deployment::PlatformKind;
  constexpr std::array kKinds = {cuda, rocm, xpu, cpu};
  constexpr std::int64_t kSizes = 600;
  const auto compare = [&](const engine::OracleTables& tables, const engine::BackendRow& backend, const deployment::Deployment& deployment) {
    const Facts facts(tables.engine, deployment);
    for (std::int64_t size = 1; size <= kSizes; ++size) {
      const RestatedSizes given{size, kSizes + 1 - size};
      const engine::RoundedSizes sizes = engine::round_up(tables, backend.name, deployment, {given.first, given.second});
      cases.expect(RestatedSizes{sizes.hidden, sizes.intermediate} == restated_sizes(tables.name, backend.name, facts, given), [&] {
        return std::string(tables.name) + " " + std::string(backend.name) + " on " + std::string(deployment::name_of(deployment.hardware.platform)) +
               " rounds " + std::to_string(given.first) + " x " + std::to_string(given.second) + " to " + std::to_string(sizes.hidden) + " x " +
               std::to_string(sizes.intermediate);
      });
    }
  };
  for (const deployment::Engine engine : deployment::known_engines()) {
    for (std::string_view oracle : engine::oracle_names(engine)) {
      const engine::OracleTables& tables = engine::tables_of(engine, oracle);
      for (const engine::BackendRow& backend : tables.backends) {
        for (deployment::PlatformKind kind : kKinds) {
          deployment::Deployment deployment{};
          deployment.hardware.platform = kind;
          compare(tables, backend, deployment);
        }
      }
    }
  }
  return cases.outcome();
}

Outcome answer_is_as_restated(const Law& law) {
  return on_random(law, {}, [](std::string_view oracle, const Deployment& deployment) {
    const Decided it = decided(oracle, deployment);
    const RestatedAnswer restated = restated_answer(oracle, deployment);
    require(answer_of(oracle, it.decision) == restated, "the restatement answers " + text_of(restated), it);
  });
}

std::string order_difference(const engine::OracleTables& tables, const Deployment& deployment) {
  const Facts facts(kSearched, deployment);
  const auto key = [](const std::string& name) { return deployment::quant_key_named(name); };
  const deployment::Parallel parallel = deployment::derive(deployment.parallel, tables.engine);
  const std::vector<std::string_view> order = engine::priority_order(
      {tables.priority, tables.to_front}, {deployment.hardware, parallel, key(deployment.weight_key), key(deployment.activation_key),
                                           deployment::activation_named(deployment.layer.activation)});
  const std::vector<std::string_view> said = restated_order(tables.name, facts);
  const auto at = std::mismatch(order.begin(), order.end(), said.begin(), said.end());
  if (at.first == order.end() && at.second == said.end()) return {};
  const auto text = [](auto place, auto end) { return place == end ? std::string("nothing") : std::string(*place); };
  return text(at.first, order.end()) + " stands where the restatement has " + text(at.second, said.end());
}

Outcome order_is_as_restated(const Law& law) {
  return on_random(law, {}, [](std::string_view oracle, const Deployment& deployment) {
    // The DeepSeek-V4 path takes other lists on rocm, as steps of its search.
    if (oracle == "mxfp4_deepseek_v4" && deployment.hardware.platform == deployment::PlatformKind::rocm) return;
    const std::string difference = order_difference(engine::tables_of(deployment::kVllm2026_05, oracle), deployment);
    require(difference.empty(), difference, decided(oracle, deployment));
  });
}

namespace {

/// "BACKEND/Class" of the first class of the list that takes the deployment, each asked on its own; "" for none.
std::string first_supported(std::string_view oracle, const Deployment& deployment) {
  const std::vector<engine::Candidate> support = engine::support(deployment::kVllm2026_05, oracle, deployment);
  for (std::string_view backend : restated_order(oracle, Facts(kSearched, deployment))) {
    // The gpt-oss path keeps the backends of the key that is asked for; both it and the fp8 oracle drop what the caller does not allow.
    if (oracle == "mxfp4" && restated_backend(oracle, backend)->own_key != deployment.activation_key) continue;
    if (backend.ends_with("VLLM_CUTLASS") && oracle == "fp8" && !deployment.allow_vllm_cutlass) continue;
    for (const engine::Candidate& candidate : support) {
      if (candidate.backend == backend && candidate.verdict.supported) return candidate.backend + "/" + candidate.kernel_class;
    }
  }
  return {};
}

}  // namespace

Outcome nothing_better_is_skipped(const Law& law) {
  constexpr DeploymentKind kKind{.wishes = false, .override_switches = false, .key_override = false, .odd_texts = false};
  return on_random(law, kKind, [](std::string_view oracle, const Deployment& deployment) {
    // An exception of a check ends a walk before the list does: O3/answer has those.
    const auto has_no_text = [](std::string_view key) { return has_word("kInt4Static kInt8Static", key); };
    if (has_no_text(deployment.weight_key) || has_no_text(deployment.activation_key)) return;
    const Decided it = decided(oracle, deployment);
    const std::string best = first_supported(oracle, deployment);
    const bool has_class = it.decision.choice && !it.decision.choice->kernel_class.empty();
    const std::string got = has_class ? it.decision.choice->backend + "/" + it.decision.choice->kernel_class : "";
    const bool last_resort = oracle == "mxfp4" && best.empty() && (is_backend(it.decision, "XPU") || is_backend(it.decision, "CPU"));
    require(got == best || last_resort, "the first supported of the list is '" + best + "'", it);
  });
}

namespace {

std::size_t rank_of(std::string_view oracle, const Deployment& deployment, const Decision& decision) {
  const std::vector<std::string_view> order = restated_order(oracle, Facts(kSearched, deployment));
  if (!decision.choice) return order.size() + 1;
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), decision.choice->backend) - order.begin());
}

/// Everything that `less` may use `more` may use, and its choice stands no lower in the list.
void require_no_less(std::string_view oracle, const Deployment& less, const Deployment& more, const std::string& step) {
  const std::vector<engine::Candidate> before = engine::support(deployment::kVllm2026_05, oracle, less);
  const std::vector<engine::Candidate> after = engine::support(deployment::kVllm2026_05, oracle, more);
  const Decided it = decided(oracle, more);
  for (const engine::Candidate& candidate : before) {
    if (!candidate.verdict.supported) continue;
    const bool kept = std::any_of(after.begin(), after.end(), [&](const engine::Candidate& other) {
      return other.backend == candidate.backend && other.kernel_class == candidate.kernel_class && other.verdict.supported;
    });
    require(kept, step + " takes away " + candidate.backend + "/" + candidate.kernel_class, it);
  }
  const Decision first = engine::select(deployment::kVllm2026_05, oracle, less);
  require(rank_of(oracle, more, it.decision) <= rank_of(oracle, less, first), step + " gives less than before: " + describe(first), it);
}

/// A device and a newer one of its major version, or of Ampere's.
struct Upgrade {
  int from;
  int to;
};

}  // namespace

Outcome more_is_never_less(const Law& law) {
  return on_random(law, {.wishes = false, .override_switches = false, .key_override = false, .odd_texts = false},
                   [](std::string_view oracle, const Deployment& drawn) {
                     // A check that raises ends a walk, and whether it is asked depends on what stands before it.
                     if (has_word("kInt4Static kInt8Static", drawn.weight_key) || has_word("kInt4Static kInt8Static", drawn.activation_key)) return;
                     for (const deployment::SoftwareRow& row : deployment::software_rows(mx::deployment::kVllm2026_05)) {
                       Deployment less = drawn, more = drawn;
                       less.software.*row.answer = false;
                       more.software.*row.answer = true;
                       require_no_less(oracle, less, more, std::string(row.name));
                     }
                     constexpr std::array<Upgrade, 6> kUpgrades = {{{75, 80}, {80, 86}, {86, 89}, {100, 103}, {120, 121}, {103, 109}}};
                     for (const Upgrade& step : kUpgrades) {
                       Deployment less = drawn, more = drawn;
                       less.hardware = {deployment::PlatformKind::cuda, step.from, ""};
                       more.hardware = {deployment::PlatformKind::cuda, step.to, ""};
                       require_no_less(oracle, less, more, "capability " + std::to_string(step.to));
                     }
                   });
}

}  // namespace mx::props
