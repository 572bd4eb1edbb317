#include "model/audit/audit.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "model/audit/audit_space.hpp"
#include "model/audit/needs.hpp"
#include "model/audit/placement.hpp"
#include "model/audit/shrink.hpp"
#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/error.hpp"

namespace mx::audit {
namespace {

constexpr families::KernelNeed kNoNeedlessRefusal{"refused",
                                                  {},
                                                  {},
                                                  families::NeedOf::kernel_class,
                                                  families::Effect::slow,
                                                  Grounds::read,
                                                  "a device that the kernel takes is not refused",
                                                  "the class is refused as for another device, and a slower backend or none is taken",
                                                  nullptr,
                                                  "vllm E/: device predicates by family",
                                                  "vllm issue 43906"};
constexpr std::string_view kDeviceNeed = "device";
constexpr std::string_view kUnknownDevices = "architectures";

/// A (backend, class) of an oracle with its needs. Names point into tables, so the pointers tell them apart.
using Pair = std::pair<const char*, const char*>;
/// What a violation is about.
struct Subject {
  std::string_view backend;
  std::string_view kernel_class;
  const families::KernelNeed* need;
};
struct Found {
  const families::KernelNeed* need;
  std::size_t rank;  ///< lower is plainer: whether a method alters the choice, needs that the deployment breaks, whether it wishes for a backend
  deployment::Deployment deployment;
  std::uint64_t times;
};
struct Entry {
  std::string_view backend;
  std::string_view kernel_class;
  std::vector<const families::KernelNeed*> needs;
  std::map<const families::KernelNeed*, Found> found;
};

std::vector<const families::KernelNeed*> broken_of(const std::vector<const families::KernelNeed*>& needs, const families::Placement& placement) {
  std::vector<const families::KernelNeed*> broken;
  for (const families::KernelNeed* need : needs) {
    if (families::is_broken(*need, placement)) broken.push_back(need);
  }
  return broken;
}

/// Everything that the engine installs there and nothing switched: a refusal of the device is about the hardware.
bool is_plain_cuda(const deployment::Deployment& deployment) {
  return deployment.hardware.platform == deployment::PlatformKind::cuda && deployment.env.empty() &&
         deployment.software == deployment::software_on(deployment::PlatformKind::cuda);
}

bool knows_devices(const std::vector<const families::KernelNeed*>& needs) {
  const auto has = [&](std::string_view id) {
    return std::any_of(needs.begin(), needs.end(), [&](const families::KernelNeed* need) { return need->id == id; });
  };
  return has(kDeviceNeed) && !has(kUnknownDevices);
}

/// One oracle's part of the audit.
class Auditor {
 public:
  explicit Auditor(const engine::OracleTables& tables) : tables_(tables) {}

  void run(AuditReport& report) {
    for_each_deployment(tables_, [&](const deployment::Deployment& deployment) {
      ++report.deployments;
      look_at_choice(deployment, report);
      if (is_plain_cuda(deployment)) look_at_refusals(deployment);
    });
    add_violations(report);
  }

  /// The needs that the answer to the deployment breaks for one pair; nothing when another pair is chosen.
  std::vector<const families::KernelNeed*> broken_by(const Subject& violation, const deployment::Deployment& deployment) {
    if (violation.need == &kNoNeedlessRefusal) {
      const bool refused = is_plain_cuda(deployment) && refuses_needlessly(violation.backend, violation.kernel_class, deployment);
      return refused ? std::vector<const families::KernelNeed*>{&kNoNeedlessRefusal} : std::vector<const families::KernelNeed*>{};
    }
    const auto placement = place(tables_, deployment, engine::select(tables_, deployment));
    if (!placement) return {};
    const bool chosen = placement->backend == violation.backend && placement->kernel_class == violation.kernel_class;
    if (!chosen && violation.backend != kAnyBackend) return {};
    return broken_of(entry(*placement).needs, *placement);
  }

 private:
  Entry& entry(const families::Placement& placement) {
    Entry& entry = entries_[{placement.backend.data(), placement.kernel_class.data()}];
    if (entry.backend.empty()) {
      entry = {placement.backend, placement.kernel_class, needs_of(tables_.engine, tables_.name, placement.backend, placement.kernel_class), {}};
    }
    return entry;
  }

  /// Of the deployments that break a need the first of the lowest rank is kept.
  static void note(Entry& entry, const families::KernelNeed* need, std::size_t broken, const deployment::Deployment& deployment) {
    constexpr std::size_t kOtherMethod = 1000;
    const std::size_t rank = (deployment.quant_method == "own" ? 0 : kOtherMethod) + 2 * broken + (deployment.layer.moe_backend == "auto" ? 0 : 1);
    const auto [at, is_new] = entry.found.try_emplace(need, Found{need, rank, deployment, 0});
    Found& found = at->second;
    ++found.times;
    if (is_new || rank >= found.rank) return;
    found.rank = rank;
    found.deployment = deployment;
  }

  void look_at_choice(const deployment::Deployment& deployment, AuditReport& report) {
    const auto placement = place(tables_, deployment, engine::select(tables_, deployment));
    if (!placement) return;
    ++report.choices;
    Entry& pair = entry(*placement);
    report.checks += pair.needs.size();
    const std::vector<const families::KernelNeed*> broken = broken_of(pair.needs, *placement);
    for (const families::KernelNeed* need : broken) note(pair, need, broken.size(), deployment);
  }

  /// Refused for its device although every need holds.
  bool refuses_needlessly(std::string_view backend, std::string_view kernel_class, const deployment::Deployment& deployment) {
    const families::Placement placement = place(tables_, deployment, backend, kernel_class);
    Entry& pair = entry(placement);
    if (!knows_devices(pair.needs) || !broken_of(pair.needs, placement).empty()) return false;
    const std::vector<engine::Candidate> verdicts = engine::support(tables_, deployment);
    return std::any_of(verdicts.begin(), verdicts.end(), [&](const engine::Candidate& candidate) {
      return candidate.backend == backend && candidate.kernel_class == kernel_class && candidate.verdict.code == "device";
    });
  }

  void look_at_refusals(const deployment::Deployment& deployment) {
    // Devices do not depend on the rest: one rank and no wish are enough.
    if (deployment.layer.moe_backend != "auto" || deployment.parallel.tp * deployment.parallel.dp != 1) return;
    for (const engine::BackendRow& row : tables_.backends) {
      for (std::string_view kernel_class : row.classes) {
        if (!refuses_needlessly(row.name, kernel_class, deployment)) continue;
        note(entry(place(tables_, deployment, row.name, kernel_class)), &kNoNeedlessRefusal, 1, deployment);
      }
    }
  }

  void add_violations(AuditReport& report) {
    std::vector<std::pair<Violation, std::size_t>> all;
    for (const auto& [names, pair] : entries_) {
      for (const auto& [need, found] : pair.found) {
        all.push_back({{tables_.name, pair.backend, pair.kernel_class, need, found.times, found.deployment}, found.rank});
      }
    }
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return order_of(a.first) < order_of(b.first); });
    std::map<const families::KernelNeed*, std::pair<std::size_t, std::size_t>> around;  // where it is in the report, rank there
    for (auto& [violation, rank] : all) {
      if (!is_around(*violation.need)) {
        violation.smallest = smallest(violation);
        report.violations.push_back(std::move(violation));
        continue;
      }
      violation.backend = kAnyBackend;
      violation.kernel_class = {};
      const auto [at, is_new] = around.try_emplace(violation.need, report.violations.size(), rank);
      if (is_new) {
        report.violations.push_back(std::move(violation));
        continue;
      }
      Violation& first = report.violations[at->second.first];
      first.times += violation.times;
      if (rank < at->second.second) first.smallest = violation.smallest;
      at->second.second = std::min(at->second.second, rank);
    }
    for (const auto& [need, at] : around) report.violations[at.first].smallest = smallest(report.violations[at.first]);
  }

  /// Needs around the kernel come first; then positions of backend, class and need in their tables, what is in none last.
  std::array<std::size_t, 4> order_of(const Violation& violation) {
    std::size_t backend = 0, kernel_class = 0;
    while (backend < tables_.backends.size() && tables_.backends[backend].name != violation.backend) ++backend;
    if (backend < tables_.backends.size()) {
      const auto classes = tables_.backends[backend].classes;
      kernel_class = static_cast<std::size_t>(std::find(classes.begin(), classes.end(), violation.kernel_class) - classes.begin());
    }
    const auto& needs = entries_[{violation.backend.data(), violation.kernel_class.data()}].needs;
    return {is_around(*violation.need) ? 0U : 1U, backend, kernel_class,
            static_cast<std::size_t>(std::find(needs.begin(), needs.end(), violation.need) - needs.begin())};
  }

  /// Shrinks as long as the need is broken and none that was not broken at the start.
  deployment::Deployment smallest(const Violation& violation) {
    const Subject subject{violation.backend, violation.kernel_class, violation.need};
    const std::vector<const families::KernelNeed*> at_start = broken_by(subject, violation.smallest);
    const std::set<const families::KernelNeed*> allowed(at_start.begin(), at_start.end());
    return shrink(tables_, violation.smallest, [&](const deployment::Deployment& deployment) {
      const std::vector<const families::KernelNeed*> broken = broken_by(subject, deployment);
      return std::find(broken.begin(), broken.end(), violation.need) != broken.end() &&
             std::all_of(broken.begin(), broken.end(), [&](const families::KernelNeed* need) { return allowed.contains(need); });
    });
  }

  const engine::OracleTables& tables_;
  std::map<Pair, Entry> entries_;
};

}  // namespace

const families::KernelNeed& no_needless_refusal() { return kNoNeedlessRefusal; }

AuditReport audit(deployment::Engine engine, std::span<const std::string_view> oracles) {
  AuditReport report{engine, 0, 0, 0, {}};
  for (std::string_view oracle : oracles) Auditor(engine::tables_of(engine, oracle)).run(report);
  return report;
}

std::string_view name_of(AnswerThere answer) {
  constexpr std::array<std::string_view, 4> kNames = {"shown", "mended", "another choice", "refused"};
  return kNames[static_cast<std::size_t>(answer)];
}

std::optional<AnswerThere> answer_at(deployment::Engine later, const Violation& violation) {
  const engine::OracleTables* tables = engine::find_tables(later, violation.oracle);
  if (tables == nullptr || violation.need == &kNoNeedlessRefusal) return std::nullopt;
  deployment::Deployment deployment = violation.smallest;
  deployment.parallel.all2all_backend = deployment::all2all_of(later, deployment.parallel.all2all_backend);
  try {
    const auto placement = place(*tables, deployment, engine::select(*tables, deployment));
    if (!placement) return AnswerThere::refused;
    const std::vector<const families::KernelNeed*> broken = broken_needs(*placement);
    if (std::ranges::any_of(broken, [&](const families::KernelNeed* need) { return need->id == violation.need->id; })) return AnswerThere::shown;
    const bool same =
        violation.backend == kAnyBackend || (placement->backend == violation.backend && placement->kernel_class == violation.kernel_class);
    return same ? AnswerThere::mended : AnswerThere::other_choice;
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool shows(deployment::Engine engine, std::string_view oracle, std::string_view backend, std::string_view kernel_class,
           const families::KernelNeed& need, const deployment::Deployment& deployment) {
  const std::vector<const families::KernelNeed*> broken =
      Auditor(engine::tables_of(engine, oracle)).broken_by({backend, kernel_class, &need}, deployment);
  return std::find(broken.begin(), broken.end(), &need) != broken.end();
}

}  // namespace mx::audit
