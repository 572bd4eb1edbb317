#include "verbs/engine/engine_document.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/deployment/sources.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/families/setting.hpp"

namespace mx::verbs {
namespace {

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text.empty() ? "-" : text;
}

}  // namespace

Document engine_list_document() {
  Document document{"engine-list"};
  Table table{"engines",
              {{"engine", "engine"},
               {"releases", "releases"},
               {"commits", "commits"},
               {"choices", "choices"},
               {"conversions", "conversions"},
               {"default", "default"}}};
  for (Engine engine : known_engines()) {
    const std::vector<std::string_view> releases = releases_of(engine);
    const std::vector<std::string_view> commits = commits_of(engine);
    const auto oracles = oracle::oracle_names(engine);
    const bool converts = std::ranges::find(layout::kConversionEngines, engine) != layout::kConversionEngines.end();
    table.add({name_of(engine), Cell(Json(releases), joined(releases)), Cell(Json(commits), joined(commits)),
               Cell(Json(oracles), fmt::format("{} oracles", oracles.size())), Cell(converts, converts ? "held" : "not known"),
               Cell(engine == kDefaultEngine, engine == kDefaultEngine ? "yes" : "")});
  }
  document.table(std::move(table));
  document.note("choices: every oracle named is held to recorded decisions, class verdicts and sizes of that version");
  return document;
}

namespace {

/// For continuous integration: a change is a case that fails, so that an upgrade is looked at; where nothing changes one passes.
void add_cases(Document& document, const sim::EngineDiff& diff) {
  const std::string replay = fmt::format("mxact engine diff {} {}", name_of(diff.before), name_of(diff.after));
  for (const sim::EngineChange& change : diff.changes) {
    document.cases.push_back({"mxact.engine." + change.oracle,
                              change.smallest,
                              sim::CheckEnd::failed,
                              fmt::format("{} became {}: {} ({} deployments)", change.before, change.after, change.cause, change.deployments),
                              {},
                              replay});
  }
  if (diff.changes.empty()) document.cases.push_back({"mxact.engine", "no decision changes", sim::CheckEnd::passed, {}, {}, replay});
}

}  // namespace

Document engine_diff_document(const sim::EngineDiff& diff) {
  Document document{"engine-diff"};
  document.field("from", "from", std::string(name_of(diff.before)));
  document.field("to", "to", std::string(name_of(diff.after)));
  document.field("deployments", "deployments", diff.deployments);
  Json counts = Json::object();
  for (const sim::ChangeKind kind : {sim::ChangeKind::choice, sim::ChangeKind::refusal, sim::ChangeKind::kernel, sim::ChangeKind::sizes}) {
    const std::string name(sim::name_of(kind));
    counts[name] = diff.count(kind);
    document.line(fmt::format("{} changed: {}", name, diff.count(kind)));
  }
  document.value("counts", std::move(counts));
  Table table{"changes",
              {{"deployments", "deployments"},
               {"oracle", "oracle"},
               {"kind", "kind"},
               {"before", "before"},
               {"after", "after"},
               {"cause", "cause"},
               {"smallest", "smallest deployment"}}};
  for (const sim::EngineChange& change : diff.changes) {
    table.add({change.deployments, change.oracle, sim::name_of(change.kind), change.before, change.after, change.cause, change.smallest});
  }
  document.line();
  document.table(std::move(table));
  add_cases(document, diff);
  return document;
}

}  // namespace mx::verbs
