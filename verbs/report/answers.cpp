#include "verbs/report/answers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace mx::verbs {
namespace {

std::string text_or(const Node& node, std::string_view key, const std::string& otherwise) {
  const std::optional<Node> found = node.find(key);
  return found && !found->text().empty() ? found->text() : otherwise;
}

std::vector<Answer> verify_answers(const Run& run) {
  const std::vector<Node> conversions = run.root()["conversions"].items();
  std::vector<Answer> answers;
  for (const Node& cell : run.root()["cells"].items()) {
    const std::string verdict = cell["verdict"].text();
    const std::optional<Node> index = cell.find("conversion");
    std::string why = text_or(cell, "detail", verdict);
    if (index && static_cast<std::size_t>(index->count()) < conversions.size())
      why = text_or(conversions[static_cast<std::size_t>(index->count())], "detail", why);
    answers.push_back({fmt::format("verify.{}.tp{}", cell["platform"].text(), cell["tp"].count()),
                       fmt::format("{} ({})", text_or(cell, "backend", "no backend"), cell["request"].text()), verdict, std::move(why)});
  }
  return answers;
}

std::vector<Answer> witness_answers(const Run& run) {
  std::vector<Answer> answers;
  if (run.root().find("ledger")) return answers;
  for (const Node& set : run.root()["sets"].items()) {
    for (const Node& entry : set["entries"].items()) {
      answers.push_back({"witness." + set["set"].text(), entry["id"].text(), entry["status"].text(),
                         fmt::format("{} of {} values differ; {}", entry["differing"].count(), entry["compared"].count(),
                                     text_or(entry, "reason", set["path"].text()))});
    }
  }
  return answers;
}

std::vector<Answer> matrix_answers(const Run& run) {
  std::vector<Answer> answers;
  for (const Node& section : run.root()["sections"].items()) {
    const std::string scheme = text_or(section, "scheme", "");
    const std::string group = fmt::format("matrix.{}{}", section["model"].text(), scheme.empty() ? "" : "." + scheme);
    for (const Node& one : section["deployments"].items()) {
      const std::string chosen = text_or(one, "chosen", "");
      const std::string name = fmt::format("{}, {}", one["platform"].text(), one["parallel"].text());
      if (chosen.empty()) {
        answers.push_back({group, name, "raises", one["refusal"].text(), false});
      } else {
        answers.push_back({group, name, fmt::format("{} ({})", chosen, one["backends"][chosen]["kernel_class"].text()), {}, false});
      }
    }
  }
  return answers;
}

struct AnswersRow {
  std::string_view schema;
  std::vector<Answer> (*answers)(const Run&);
};
constexpr std::array kRows{AnswersRow{"mxact-verify", verify_answers}, AnswersRow{"mxact-witness", witness_answers},
                           AnswersRow{"mxact-matrix", matrix_answers}};

}  // namespace

std::vector<Answer> answers_of(const Run& run) {
  const auto row = std::ranges::find(kRows, run.kind->schema, &AnswersRow::schema);
  return row == kRows.end() ? std::vector<Answer>() : row->answers(run);
}

}  // namespace mx::verbs
