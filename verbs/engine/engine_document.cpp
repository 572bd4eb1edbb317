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
  for (deployment::Engine engine : deployment::known_engines()) {
    const std::vector<std::string_view> releases = deployment::releases_of(engine);
    const std::vector<std::string_view> commits = deployment::commits_of(engine);
    const auto oracles = engine::oracle_names(engine);
    const bool converts = std::ranges::find(families::kConversionEngines, engine) != families::kConversionEngines.end();
    table.add({deployment::name_of(engine), Cell(Json(releases), joined(releases)), Cell(Json(commits), joined(commits)),
               Cell(Json(oracles), fmt::format("{} oracles", oracles.size())), Cell(converts, converts ? "held" : "not held"),
               Cell(engine == deployment::kDefaultEngine, engine == deployment::kDefaultEngine ? "yes" : "")});
  }
  document.table(std::move(table));
  document.note("choices: every oracle named is held to recorded decisions, class verdicts and sizes of that version");
  return document;
}

namespace {

/// For continuous integration: a change is a case that fails, so that an upgrade is looked at; where nothing changes one passes.
void add_cases(Document& document, const EngineDiff& diff) {
  const std::string replay = fmt::format("mxact engine diff {} {}", deployment::name_of(diff.before), deployment::name_of(diff.after));
  for (const EngineChange& change : diff.changes) {
    document.cases.push_back({"mxact.engine." + change.oracle,
                              change.smallest,
                              support::CheckEnd::failed,
                              fmt::format("{} became {}: {} ({} deployments)", change.before, change.after, change.cause, change.deployments),
                              {},
                              replay});
  }
  for (const MemoryChange& change : diff.memory.changes) {
    const support::CheckEnd end = change.is_known() ? support::CheckEnd::failed : support::CheckEnd::skipped;
    document.cases.push_back(
        {"mxact.engine.memory." + change.oracle,
         change.smallest,
         end,
         fmt::format("{} became {}: {} ({} deployments)", layout_text(change.before), layout_text(change.after), change.cause, change.deployments),
         {},
         replay});
  }
  for (const ArithmeticChange& change : diff.arithmetic) {
    document.cases.push_back({"mxact.engine.arithmetic." + change.oracle,
                              change.smallest,
                              support::CheckEnd::failed,
                              fmt::format("{} computes otherwise: {} ({} deployments)", change.backend, change.where, change.deployments),
                              {},
                              replay});
  }
  if (diff.changes.empty() && diff.memory.changes.empty() && diff.arithmetic.empty())
    document.cases.push_back({"mxact.engine", "no decision changes", support::CheckEnd::passed, {}, {}, replay});
}

}  // namespace

namespace {

using mx::verbs::MemoryChange;
using sim::TensorMemory;
using sim::WeightsMemory;

/// One side of a change of memory.
Cell memory_cell(const WeightsMemory& memory) {
  Table tensors{{}, {in_json("tensor"), in_json("dtype"), in_json("shape"), in_json("bytes")}};
  for (const TensorMemory& tensor : memory.tensors) tensors.add({tensor.tensor, tensor.dtype, tensor.shape, tensor.bytes});
  Json json = {{"backend", memory.backend},
               {"layout", memory.conversion.row == nullptr ? Json() : Json(layout_text(memory))},
               {"missing", memory.is_known() ? Json() : Json(memory.missing)},
               {"source", memory.conversion.source.empty() ? Json() : Json(memory.conversion.source)},
               {"bytes", memory.is_known() ? Json(memory.bytes()) : Json()},
               {"tensors", tensors.json()}};
  const std::string layout = layout_text(memory);
  std::string text = layout.starts_with(memory.backend + " ") ? layout : memory.backend + ": " + layout;
  if (memory.is_known()) text += fmt::format(", {} bytes", memory.bytes());
  return {std::move(json), std::move(text)};
}

/// Tensor by tensor what differs; nothing where one side is not known.
Cell differences_cell(const MemoryChange& change) {
  Table table{{}, {in_json("tensor"), in_json("differs"), in_json("before"), in_json("after")}};
  std::string text;
  const auto add = [&](std::string_view name, std::string_view what, const TensorMemory* before, const TensorMemory* after) {
    const auto shown = [](const TensorMemory* tensor) { return tensor == nullptr ? std::string("-") : tensor_text(*tensor); };
    table.add({name, what, before == nullptr ? Json() : Json(shown(before)), after == nullptr ? Json() : Json(shown(after))});
    text += (text.empty() ? "" : "; ") + std::string(name);
    text += shown(before) == shown(after) ? fmt::format(" {}, other steps", shown(after)) : fmt::format(" {} -> {}", shown(before), shown(after));
  };
  if (change.is_known()) {
    for (const TensorMemory& tensor : change.before.tensors) {
      const TensorMemory* const other = find_tensor(change.after, tensor.tensor);
      const std::string_view what = other == nullptr ? "gone" : difference_of(tensor, *other);
      if (!what.empty()) add(tensor.tensor, what, &tensor, other);
    }
    for (const TensorMemory& tensor : change.after.tensors) {
      if (find_tensor(change.before, tensor.tensor) == nullptr) add(tensor.tensor, "new", nullptr, &tensor);
    }
  }
  return {table.json(), std::move(text)};
}

/// Where the weights of one layer lie otherwise on a rank, bytes those of the smallest deployment.
void add_memory(Document& document, const MemoryDiff& memory) {
  document.value("memory_counts", {{"compared", memory.compared}, {"differing", memory.differing}, {"unknown", memory.unknown}});
  document.line(fmt::format("memory of the weights: {} deployment{} chosen for by both, {} differ, {} not known", memory.compared,
                            memory.compared == 1 ? "" : "s", memory.differing, memory.unknown));
  Table table{"memory",
              {{"deployments", "deployments"},
               {"oracle", "oracle"},
               {"before", "before"},
               {"after", "after"},
               {"cause", "cause"},
               {"tensors", "tensors"},
               {"smallest", "smallest deployment"}}};
  for (const MemoryChange& change : memory.changes) {
    table.add({change.deployments, change.oracle, memory_cell(change.before), memory_cell(change.after), change.cause, differences_cell(change),
               change.smallest});
  }
  document.table(std::move(table));
}

/// Where the same backend computes otherwise. It is a remark: outputs change, and nothing has to be done.
void add_arithmetic(Document& document, const std::vector<ArithmeticChange>& changes) {
  Table table{"arithmetic",
              {{"deployments", "deployments"},
               {"oracle", "oracle"},
               {"backend", "backend"},
               {"where", "computes otherwise"},
               {"source", "seen in"},
               {"smallest", "smallest deployment"}}};
  for (const ArithmeticChange& change : changes)
    table.add({change.deployments, change.oracle, change.backend, change.where, change.source, change.smallest});
  if (!changes.empty()) document.line();
  document.table(std::move(table));
}

}  // namespace

Document engine_diff_document(const EngineDiff& diff) {
  Document document{"engine-diff"};
  document.field("from", "from", std::string(deployment::name_of(diff.before)));
  document.field("to", "to", std::string(deployment::name_of(diff.after)));
  document.field("deployments", "deployments", diff.deployments);
  Json counts = Json::object();
  for (const ChangeKind kind : {ChangeKind::choice, ChangeKind::refusal, ChangeKind::kernel, ChangeKind::sizes}) {
    const std::string name(name_of(kind));
    counts[name] = diff.count(kind);
    document.line(fmt::format("{} changed: {}", name, diff.count(kind)));
  }
  document.value("counts", std::move(counts));
  if (diff.changes.empty() && diff.memory.changes.empty() && diff.arithmetic.empty())
    document.line(fmt::format("nothing changes from {} to {}: {} the same choice, the same memory of weights and the same arithmetic",
                              deployment::name_of(diff.before), deployment::name_of(diff.after),
                              diff.deployments == 1 ? "the deployment has" : fmt::format("{} deployments have", diff.deployments)));
  Table table{"changes",
              {{"deployments", "deployments"},
               {"oracle", "oracle"},
               {"kind", "kind"},
               {"before", "before"},
               {"after", "after"},
               {"cause", "cause"},
               {"smallest", "smallest deployment"}}};
  for (const EngineChange& change : diff.changes) {
    table.add({change.deployments, change.oracle, name_of(change.kind), change.before, change.after, change.cause, change.smallest});
  }
  document.line();
  document.table(std::move(table));
  document.line();
  add_memory(document, diff.memory);
  add_arithmetic(document, diff.arithmetic);
  add_cases(document, diff);
  return document;
}

}  // namespace mx::verbs
