#include "verbs/engine/engine_diff.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "model/audit/deployment_text.hpp"
#include "model/deployment/models.hpp"
#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/select.hpp"
#include "verbs/matrix/matrix.hpp"

namespace mx::verbs {
namespace {

using deployment::Deployment;
using engine::Decision;

constexpr std::array<std::string_view, 4> kKinds = {"choice", "refusal", "class", "sizes"};

/// A deployment in the words of a version, and its answer.
struct Asked {
  Deployment deployment;  ///< as a file says it
  Deployment placed;      ///< with the keys that the engine asks its oracle with
  Decision decision;
};

Asked asked(const ComparedEngine& version, std::string_view oracle, const Deployment& deployment) {
  Asked one{deployment, {}, {}};
  one.deployment.parallel.all2all_backend = deployment::all2all_of(version.engine, deployment.parallel.all2all_backend);
  one.placed = engine::as_asked(engine::tables_of(version.engine, oracle), one.deployment);
  one.decision = engine::select(version.engine, oracle, one.placed);
  return one;
}

std::optional<ChangeKind> change_of(const Decision& before, const Decision& after) {
  if (before.choice.has_value() != after.choice.has_value()) return ChangeKind::choice;
  if (!before.choice) return before.refusal->error_type == after.refusal->error_type ? std::nullopt : std::optional(ChangeKind::refusal);
  const engine::Choice& a = *before.choice;
  const engine::Choice& b = *after.choice;
  if (a.backend != b.backend) return ChangeKind::choice;
  if (a.kernel_class != b.kernel_class) return ChangeKind::kernel;
  if (a.rounded_hidden != b.rounded_hidden || a.rounded_intermediate != b.rounded_intermediate) return ChangeKind::sizes;
  return std::nullopt;
}

/// Sizes count only where they are what changed: else every model would be a change of its own.
std::string answer_text(const Decision& decision, ChangeKind kind) {
  if (decision.refusal) return decision.refusal->error_type + (decision.refusal->by_config ? " of the layer's configuration" : "");
  if (kind == ChangeKind::choice) return decision.choice->backend;
  return decision.choice->backend + " (" + decision.choice->kernel_class + ")";
}

/// What the newer search says of the backend that the older one chose: its first failing check, or that others come before it.
std::string cause_of(const Decision& before, const Decision& after, ChangeKind kind) {
  if (after.refusal && after.refusal->by_config) return after.refusal->text;
  if (kind == ChangeKind::sizes) return "sizes are rounded otherwise";
  if (!before.choice) return after.choice ? after.choice->backend + " takes it now" : "";
  std::string codes;
  for (const engine::Candidate& candidate : after.trace) {
    if (candidate.backend != before.choice->backend || candidate.verdict.supported) continue;
    if (kind == ChangeKind::kernel && candidate.kernel_class != before.choice->kernel_class) continue;
    codes = candidate.verdict.code;
  }
  if (!codes.empty()) return before.choice->backend + ": " + codes;
  if (kind == ChangeKind::kernel) return "the backend has other classes";
  return after.choice ? after.choice->backend + " comes before it, or it is not looked at" : "it is not looked at";
}

using Key = std::tuple<std::string, ChangeKind, std::string, std::string, std::string>;

/// Changes by what they have in common; the first deployment of each is its smallest, as the tables begin with fewest ranks.
class Changes {
 public:
  Changes(const ComparedEngine& before, const ComparedEngine& after) : before_(before), after_(after), arithmetic_(before.engine, after.engine) {}

  void add(std::string_view oracle, const Deployment& deployment) {
    const Asked before = asked(before_, oracle, deployment), after = asked(after_, oracle, deployment);
    ++compared_;
    add_decision(oracle, before, after);
    if (!before.decision.choice || !after.decision.choice) return;
    sim::WeightsMemory old = sim::weights_memory(before_.engine, oracle, before.placed, *before.decision.choice, before_.libraries);
    sim::WeightsMemory now = sim::weights_memory(after_.engine, oracle, after.placed, *after.decision.choice, after_.libraries);
    const auto text = [&] { return audit::info_text(after_.engine, oracle, after.deployment); };
    arithmetic_.add(oracle, after.deployment.hardware, old, now, text);
    memory_.add(oracle, std::move(old), std::move(now), text);
  }

  EngineDiff all() const { return {before_.engine, after_.engine, compared_, sorted(), memory_.all(), arithmetic_.all()}; }

 private:
  struct Found {
    std::size_t deployments = 0;
    std::string smallest;
  };

  void add_decision(std::string_view oracle, const Asked& before, const Asked& after) {
    const auto kind = change_of(before.decision, after.decision);
    if (!kind) return;
    const Key key{std::string(oracle), *kind, answer_text(before.decision, *kind), answer_text(after.decision, *kind),
                  cause_of(before.decision, after.decision, *kind)};
    auto [at, is_new] = found_.try_emplace(key);
    ++at->second.deployments;
    if (is_new) at->second.smallest = audit::info_text(after_.engine, oracle, after.deployment);
  }

  std::vector<EngineChange> sorted() const {
    std::vector<EngineChange> changes;
    for (const auto& [key, one] : found_) {
      const auto& [oracle, kind, before, after, cause] = key;
      changes.push_back({oracle, kind, before, after, cause, one.deployments, one.smallest});
    }
    std::ranges::stable_sort(changes, [](const EngineChange& a, const EngineChange& b) { return a.deployments > b.deployments; });
    return changes;
  }

  const ComparedEngine& before_;
  const ComparedEngine& after_;
  std::size_t compared_ = 0;
  std::map<Key, Found> found_;
  MemoryChanges memory_;
  ArithmeticChanges arithmetic_;
};

bool is_published(const deployment::Model& model, const deployment::Scheme& scheme) {
  return std::ranges::find(model.published, scheme.name) != model.published.end();
}

}  // namespace

std::string_view name_of(ChangeKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::size_t EngineDiff::count(ChangeKind kind) const {
  std::size_t sum = 0;
  for (const EngineChange& change : changes) sum += change.kind == kind ? change.deployments : 0;
  return sum;
}

EngineDiff engine_diff(const ComparedEngine& before, const ComparedEngine& after) {
  Changes changes(before, after);
  for (const verbs::Spread& spread : verbs::spreads()) {
    for (const deployment::Model& model : deployment::models()) {
      for (const deployment::Scheme& scheme : deployment::schemes()) {
        if (!is_published(model, scheme)) continue;
        for (const deployment::PlatformPreset& platform : deployment::all_platforms()) {
          changes.add(scheme.oracle, deployment::deployment_of(model, scheme, platform, spread.request));
        }
      }
    }
  }
  return changes.all();
}

EngineDiff engine_diff(const ComparedEngine& before, const ComparedEngine& after, std::string_view oracle, const Deployment& deployment) {
  Changes changes(before, after);
  changes.add(oracle, deployment);
  return changes.all();
}

}  // namespace mx::verbs
