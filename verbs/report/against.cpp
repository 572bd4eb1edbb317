#include "verbs/report/against.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "model/error.hpp"
#include "support/html.hpp"
#include "verbs/report/answers.hpp"

namespace mx::verbs {
namespace {

/// An answer under the name that it has among all.
struct Named {
  std::string about;
  Answer answer;
};

/// Of all runs; of several that are about the same the later ones are numbered.
std::vector<Named> named_answers(std::span<const Run> runs, std::string_view side) {
  std::vector<Named> all;
  std::map<std::string, int> seen;
  for (const Run& run : runs) {
    for (Answer& answer : answers_of(run)) {
      std::string about = answer.group + ": " + answer.name;
      const int times = ++seen[about];
      if (times > 1) about += fmt::format(" (number {} of that name)", times);
      all.push_back({std::move(about), std::move(answer)});
    }
  }
  if (all.empty())
    throw Error(ErrorCode::usage, fmt::format("{} no single answers to compare; runs of verify, witness and matrix have", side), "--against");
  return all;
}

std::string or_dash(const std::optional<std::string>& word) { return word.value_or("\u2013"); }

}  // namespace

Comparison compare_runs(std::span<const Run> now, std::span<const Run> before) {
  Comparison comparison;
  for (const Run& run : before) comparison.before.push_back(run.name);
  std::map<std::string, Answer> earlier;
  for (Named& one : named_answers(before, "the earlier runs have")) earlier.emplace(std::move(one.about), std::move(one.answer));
  for (const auto& [about, answer] : named_answers(now, "the runs have")) {
    const auto was = earlier.find(about);
    if (was == earlier.end()) {
      comparison.changes.push_back({about, std::nullopt, answer.word, answer.why});
      continue;
    }
    if (was->second.word == answer.word) {
      ++comparison.same;
    } else {
      comparison.changes.push_back({about, was->second.word, answer.word, answer.why});
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
