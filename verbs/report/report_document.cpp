#include "verbs/report/report_document.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace mx::verbs {
namespace {

/// As many as a screen shows.
constexpr std::size_t kFirstChanges = 20;

Json word_or_null(const std::optional<std::string>& word) { return word ? Json(*word) : Json(); }

}  // namespace

Document report_document(std::span<const Run> runs, std::span<const Outcome> outcomes, const std::optional<Comparison>& comparison,
                         const std::string& file, std::size_t bytes) {
  Document document{"report"};
  document.value("file", file);
  document.value("bytes", bytes);
  Table table{"runs", {{"file", "run"}, in_json("schema"), {"verdict", "verdict"}, {"counted", "counted"}}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    table.add({runs[i].name, fmt::format("{}/{}", runs[i].kind->schema, runs[i].kind->version), word_of(outcomes[i].standing), outcomes[i].counted});
  }
  document.table(std::move(table));
  if (comparison) {
    Table changes{"changes", {{"about", "changed"}, {"was", "was"}, {"is", "is"}, in_json("why")}};
    for (const Change& change : comparison->changes) changes.add({change.about, word_or_null(change.was), word_or_null(change.is), change.why});
    document.value("same", comparison->same);
    document.value("changes", changes.json());
    const std::size_t more = changes.rows.size() - std::min(changes.rows.size(), kFirstChanges);
    changes.rows.resize(changes.rows.size() - more);
    if (!changes.rows.empty()) document.table(text_alone(std::move(changes)));
    if (more > 0) document.line(fmt::format("and {} more changes: on the page, and by --json", more));
    document.line(counted(*comparison));
  }
  const Standing worst = verbs::worst(outcomes);
  document.verdict = word_of(worst);
  document.exit_code = exit_code(worst);
  document.line(fmt::format("{}: {}", file, document.verdict));
  return document;
}

}  // namespace mx::verbs
