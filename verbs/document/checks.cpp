// A document for continuous integration: JUnit's XML and Markdown.

#include <algorithm>
#include <sstream>

#include "verbs/document/document.hpp"

namespace mx::verbs {
namespace {

using support::CheckEnd;
using support::JunitCase;

/// The cases with their times. Those that were checked along with others, like the bins of one stream, share equally what the run took besides the
/// cases that were timed alone.
std::vector<JunitCase> timed_cases(const Document& document, const Head& head) {
  std::vector<JunitCase> cases = document.cases;
  double rest = head.seconds;
  for (const JunitCase& one : cases) rest -= one.seconds.value_or(0);
  const auto untimed = std::ranges::count_if(cases, [](const JunitCase& one) { return !one.seconds; });
  for (JunitCase& one : cases) {
    if (!one.seconds) one.seconds = std::max(rest, 0.0) / static_cast<double>(untimed);
  }
  return cases;
}

/// The cases, and the run as a whole unless it passed.
std::vector<JunitCase> all_cases(const Document& document, const Head& head) {
  std::vector<JunitCase> cases = timed_cases(document, head);
  if (document.exit_code != 0) {
    const std::string why = "exit status " + std::to_string(document.exit_code);
    constexpr int kMistrusted = 5;
    cases.push_back({"mxact." + document.verb,
                     "the run",
                     document.exit_code == kMistrusted ? CheckEnd::mistrusted : CheckEnd::failed,
                     document.verdict.empty() ? why : document.verdict + ": " + why,
                     {},
                     head.command,
                     {},
                     head.seconds});
  }
  return cases;
}

/// Whether a terminal takes the character for a command: C0 but the tabulator and the end of a line, DEL, C1.
bool is_control(std::string_view character) {
  if (character.size() == 2) return character[0] == '\xC2' && static_cast<unsigned char>(character[1]) < 0xA0;
  return character == "\x7F";
}

/// One cell of a table, or a line of text, without what Markdown or HTML would read as its own; controls and bytes that are no UTF-8 as U+FFFD.
std::string plain(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const std::size_t length = support::xml_character(text);
    const std::string_view character = text.substr(0, length);
    switch (length == 1 ? text.front() : '\0') {
      case '<': escaped += "&lt;"; break;
      case '&': escaped += "&amp;"; break;
      case '\n': escaped += "<br>"; break;
      case '|':
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case '~':
      case '#': escaped += "\\" + std::string(character); break;
      default: escaped += length == 0 || is_control(character) ? std::string_view("\xEF\xBF\xBD") : character;
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return escaped;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + plain(cell) + " |";
  return line + "\n";
}

std::string markdown_table(const std::vector<std::vector<std::string>>& rows) {
  std::string text = markdown_row(rows.front()) + "|";
  for (std::size_t i = 0; i < rows.front().size(); ++i) text += " --- |";
  text += "\n";
  for (std::size_t i = 1; i < rows.size(); ++i) text += markdown_row(rows[i]);
  return text + "\n";
}

std::string_view word_of(CheckEnd end) {
  switch (end) {
    case CheckEnd::passed: return "passed";
    case CheckEnd::skipped: return "skipped";
    case CheckEnd::mistrusted: return "mistrusted";
    case CheckEnd::failed: break;
  }
  return "failed";
}

std::string cases_markdown(const std::vector<JunitCase>& cases) {
  if (cases.empty()) return "";
  std::vector<std::string> head, counts;
  for (const CheckEnd end : {CheckEnd::failed, CheckEnd::mistrusted, CheckEnd::skipped, CheckEnd::passed}) {
    head.emplace_back(word_of(end));
    counts.push_back(std::to_string(std::ranges::count(cases, end, &JunitCase::end)));
  }
  // What ended as others do and has a word of its own stands beside them.
  std::vector<std::string> words;
  for (const JunitCase& one : cases) {
    if (!one.word.empty() && std::ranges::find(words, one.word) == words.end()) words.push_back(one.word);
  }
  for (const std::string& word : words) {
    head.push_back("of these " + word);
    counts.push_back(std::to_string(std::ranges::count(cases, word, &JunitCase::word)));
  }
  std::string text = markdown_table({head, counts});
  std::vector<std::vector<std::string>> rows{{"", "case", "why", "place", "again"}};
  for (const JunitCase& one : cases) {
    if (one.end == CheckEnd::failed || one.end == CheckEnd::mistrusted)
      rows.push_back({std::string(word_of(one.end)), one.group + " " + one.name, one.message, one.place, one.replay});
  }
  return rows.size() > 1 ? text + markdown_table(rows) : text;
}

}  // namespace

std::string to_junit(const Document& document, const Head& head) {
  support::JunitRun run{"mxact " + document.verb, head.started, head.seconds, {}};
  run.properties = {{"version", head.version}, {"commit", head.commit}, {"command", head.command}, {"processor", head.processor}};
  if (!document.engine.empty()) run.properties.emplace_back("engine", document.engine);
  if (!document.verdict.empty()) run.properties.emplace_back("verdict", document.verdict);
  return support::junit_xml(run, all_cases(document, head));
}

std::string to_markdown(const Document& document, const Head& head) {
  std::string text = "### mxact " + document.verb;
  if (!document.verdict.empty()) text += ": " + plain(document.verdict);
  text += "\n\n" + plain(head.command) + "\n\n" + cases_markdown(document.cases);
  bool in_lines = false;
  const auto add_line = [&](const std::string& lines) {
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);) {
      text += plain(line) + (line.empty() ? "\n" : "  \n");
      in_lines = !line.empty();
    }
  };
  for (const Entry& entry : document.entries) {
    if (const auto* line = std::get_if<Line>(&entry)) add_line(line->text);
    if (const auto* note = std::get_if<Note>(&entry)) add_line(note->text);
    if (const auto* field = std::get_if<Field>(&entry)) add_line(field->label + ": " + field->text);
    const auto* table = std::get_if<Table>(&entry);
    if (table == nullptr || table->rows.empty()) continue;
    text += (in_lines ? "\n" : "") + markdown_table(table->text());
    in_lines = false;
  }
  return text;
}

}  // namespace mx::verbs
