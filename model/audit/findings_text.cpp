#include "model/audit/findings_text.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "model/audit/deployment_text.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::audit {
namespace {

constexpr std::array kEffects = {families::Effect::silent, families::Effect::error, families::Effect::slow};

std::string text(std::string_view part) { return std::string(part); }

std::string subject(const Finding& finding) {
  if (finding.backend == kAnyBackend) return "every backend";
  return text(finding.backend) + " (" + text(finding.kernel_class) + ")";
}

/// A need and the findings about it, in the order of the ledger.
struct Group {
  const families::KernelNeed* need;
  std::vector<const Finding*> findings;
};

/// Families state some needs in the same words: one group.
bool says_the_same(const families::KernelNeed& a, const families::KernelNeed& b) {
  return a.id == b.id && a.of == b.of && a.effect == b.effect && a.grounds == b.grounds && a.statement == b.statement &&
         a.consequence == b.consequence && a.source == b.source && a.reference == b.reference && a.versions.until == b.versions.until;
}

std::vector<Group> groups(std::span<const Finding> ledger) {
  std::vector<Group> all;
  for (const Finding& finding : ledger) {
    const families::KernelNeed* need = &need_of(finding);
    auto group = std::find_if(all.begin(), all.end(), [&](const Group& g) { return says_the_same(*g.need, *need); });
    if (group == all.end()) group = all.insert(all.end(), {need, {}});
    group->findings.push_back(&finding);
  }
  return all;
}

/// The smallest deployment of the group whose text is the shortest.
std::string plainest(const Group& group) {
  std::string shortest;
  for (const Finding* finding : group.findings) {
    std::string deployment = info_text(kLedgerEngine, finding->oracle, finding->smallest);
    if (shortest.empty() || deployment.size() < shortest.size()) shortest = std::move(deployment);
  }
  return shortest;
}

std::string group_text(const Group& group) {
  const families::KernelNeed& need = *group.need;
  std::string out = "* **" + text(need.id) + "**: " + text(need.statement) + ". Otherwise: " + text(need.consequence) + ". ";
  out += "Grounds: " + text(name_of(need.grounds)) + ", " + families::source_text(need) + ".\n";
  std::string_view oracle;
  for (const Finding* finding : group.findings) {
    out += finding->oracle == oracle ? ", " : (oracle.empty() ? "" : ".\n") + ("    * " + text(finding->oracle) + ": ");
    out += subject(*finding);
    oracle = finding->oracle;
  }
  return out + ".\n    * smallest deployment: `" + plainest(group) + "`\n";
}

std::string place_text(const KnownPlace& place) {
  std::string where(place.why_unseen);
  for (const FindingId& shown : place.shown) {
    where += where.empty() ? "" : "; ";
    const bool any = shown.backend == kAnyBackend;
    where += text(shown.oracle) + " " + text(shown.backend) + (any ? "" : " (" + text(shown.kernel_class) + ")") + ": " + text(shown.need);
  }
  return "| " + std::to_string(place.number) + " | " + text(place.what) + " | " + (place.shown.empty() ? "not shown" : "shown") + " | " + where +
         " |\n";
}

/// Needs that are stated and not judged: not known, or not determined by a deployment.
std::string unjudged_text(bool unknown) {
  std::string out;
  std::set<std::pair<std::string_view, std::string_view>> said;
  for (const families::NeedTable& table : need_tables()) {
    for (const families::KernelNeed& need : table.rows) {
      if (need.holds != nullptr || (need.grounds == Grounds::assumed) != unknown) continue;
      const std::vector<std::string_view> classes = classes_of(need);
      const std::string_view of = classes.empty() ? std::string_view("every class") : classes.front();
      if (!said.insert({of, need.statement}).second) continue;
      out += "* " + text(of) + (classes.size() > 1 ? " and others: " : ": ") + text(need.statement) + " (" + text(need.source) + ").\n";
    }
  }
  return out;
}

}  // namespace

std::string findings_markdown(std::span<const Finding> ledger, std::span<const KnownPlace> places) {
  std::string out = "`mxact audit` finds what follows: choices of the engine's oracles that break a need of what they choose. " +
                    std::to_string(ledger.size()) + " findings, one for each (oracle, backend, class, need), grouped by the need.\n";
  const std::vector<Group> all = groups(ledger);
  for (families::Effect effect : kEffects) {
    out += "\n## " +
           std::string(effect == families::Effect::silent  ? "Silent corruption"
                       : effect == families::Effect::error ? "Errors"
                                                           : "Slow paths") +
           "\n\n";
    for (const Group& group : all) {
      if (group.need->effect == effect) out += group_text(group);
    }
  }
  out += "\n## Places known beforehand\n\nFrom reading the engine and its issues, before there was an audit.\n\n";
  out += "| # | place | | finding, or why it is not seen |\n| --- | --- | --- | --- |\n";
  for (const KnownPlace& place : places) out += place_text(place);
  out += "\n## Not known\n\nNo public text says these; nothing is judged by them.\n\n" + unjudged_text(true);
  out += "\n## Not judged\n\nKnown, but not determined by what a deployment says.\n\n" + unjudged_text(false);
  return out;
}

}  // namespace mx::audit
