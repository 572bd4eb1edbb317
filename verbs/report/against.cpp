#include "verbs/report/against.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "model/error.hpp"
#include "support/html.hpp"

namespace mx::verbs {
namespace {

std::string text_or_none(const Node& node, std::string_view key) {
  const std::optional<Node> found = node.find(key);
  return found ? found->text() : std::string();
}

std::vector<Answer> verify_answers(const Run& run) {
  std::vector<Answer> answers;
  for (const Node& cell : run.root()["cells"].items()) {
    const std::string backend = text_or_none(cell, "backend");
    answers.push_back({fmt::format("verify {} tp{}: {} ({})", cell["platform"].text(), cell["tp"].count(), backend.empty() ? "no backend" : backend,
                                   cell["request"].text()),
                       cell["verdict"].text(), text_or_none(cell, "detail")});
  }
  return answers;
}

std::vector<Answer> witness_answers(const Run& run) {
  std::vector<Answer> answers;
  if (run.root().find("ledger")) return answers;
  for (const Node& set : run.root()["sets"].items()) {
    for (const Node& entry : set["entries"].items()) {
      const std::int64_t differing = entry["differing"].count();
      answers.push_back(
          {fmt::format("witness {}: {}", set["set"].text(), entry["id"].text()), entry["status"].text(),
           differing == 0 ? text_or_none(entry, "reason") : fmt::format("{} of {} values differ", differing, entry["compared"].count())});
    }
  }
  return answers;
}

std::vector<Answer> matrix_answers(const Run& run) {
  std::vector<Answer> answers;
  for (const Node& section : run.root()["sections"].items()) {
    const std::string scheme = text_or_none(section, "scheme");
    for (const Node& one : section["deployments"].items()) {
      const std::string chosen = text_or_none(one, "chosen");
      Answer answer{fmt::format("matrix {}{} on {}, {}", section["model"].text(), scheme.empty() ? "" : " in " + scheme, one["platform"].text(),
                                one["parallel"].text()),
                    "raises",
                    {}};
      if (chosen.empty()) {
        answer.why = one["refusal"].text();
      } else {
        answer.word = fmt::format("{} ({})", chosen, one["backends"][chosen]["kernel_class"].text());
      }
      answers.push_back(std::move(answer));
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

/// Of all runs; of several that are about the same the later ones are numbered.
std::vector<Answer> answers_of(std::span<const Run> runs, std::string_view side) {
  std::vector<Answer> all;
  for (const Run& run : runs) {
    const auto row = std::ranges::find(kRows, run.kind->schema, &AnswersRow::schema);
    if (row == kRows.end()) continue;
    for (Answer& answer : row->answers(run)) all.push_back(std::move(answer));
  }
  if (all.empty())
    throw Error(ErrorCode::usage, fmt::format("{} no single answers to compare; runs of verify, witness and matrix have", side), "--against");
  std::map<std::string, int> seen;
  for (Answer& answer : all) {
    const int times = ++seen[answer.about];
    if (times > 1) answer.about += fmt::format(" (number {} of that name)", times);
  }
  return all;
}

std::string or_dash(const std::optional<std::string>& word) { return word.value_or("\u2013"); }

}  // namespace

Comparison compare_runs(std::span<const Run> now, std::span<const Run> before) {
  Comparison comparison;
  for (const Run& run : before) comparison.before.push_back(run.name);
  std::map<std::string, Answer> earlier;
  for (Answer& answer : answers_of(before, "the earlier runs have")) earlier.emplace(answer.about, answer);
  for (const Answer& answer : answers_of(now, "the runs have")) {
    const auto was = earlier.find(answer.about);
    if (was == earlier.end()) {
      comparison.changes.push_back({answer.about, std::nullopt, answer.word, answer.why});
      continue;
    }
    if (was->second.word == answer.word) {
      ++comparison.same;
    } else {
      comparison.changes.push_back({answer.about, was->second.word, answer.word, answer.why});
    }
    earlier.erase(was);
  }
  for (const auto& [about, answer] : earlier) comparison.changes.push_back({about, answer.word, std::nullopt, answer.why});
  return comparison;
}

std::string counted(const Comparison& comparison) {
  const auto gone = std::ranges::count_if(comparison.changes, [](const Change& change) { return !change.is; });
  const auto is_new = std::ranges::count_if(comparison.changes, [](const Change& change) { return !change.was; });
  return fmt::format("{} answers are the same, {} others, {} gone, {} new", comparison.same, std::ssize(comparison.changes) - gone - is_new, gone,
                     is_new);
}

std::string comparison_html(const Comparison& comparison) {
  constexpr std::size_t kMostRows = 1000;
  std::string names;
  for (const std::string& name : comparison.before) names += (names.empty() ? "" : ", ") + name;
  std::string html = support::html_paragraph(fmt::format("Against {}: {}.", names, counted(comparison)));
  if (comparison.changes.empty()) return html;
  std::vector<support::HtmlRow> rows;
  for (const Change& change : comparison.changes) {
    if (rows.size() == kMostRows) break;
    rows.push_back({{change.about}, {or_dash(change.was)}, {or_dash(change.is)}, {change.why, "text"}});
  }
  if (rows.size() < comparison.changes.size())
    html += support::html_paragraph(fmt::format("The first {} of {} changes; --json has them all.", rows.size(), comparison.changes.size()), "soft");
  return html + support::html_table("changes", {"", "was", "is", "why"}, rows);
}

}  // namespace mx::verbs
