#include "verbs/report/report_document.hpp"

#include <fmt/core.h>

namespace mx::verbs {

Document report_document(std::span<const Run> runs, std::span<const Outcome> outcomes, const std::string& file, std::size_t bytes) {
  Document document{"report"};
  document.value("file", file);
  document.value("bytes", bytes);
  Table table{"runs", {{"file", "run"}, in_json("schema"), {"verdict", "verdict"}, {"counted", "counted"}}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    table.add({runs[i].name, fmt::format("{}/{}", runs[i].kind->schema, runs[i].kind->version), word_of(outcomes[i].standing), outcomes[i].counted});
  }
  document.table(std::move(table));
  const Standing worst = verbs::worst(outcomes);
  document.verdict = word_of(worst);
  document.exit_code = exit_code(worst);
  document.line(fmt::format("{}: {}", file, document.verdict));
  return document;
}

}  // namespace mx::verbs
