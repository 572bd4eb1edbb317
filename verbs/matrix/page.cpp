#include <fmt/core.h>

#include <array>
#include <string_view>
#include <vector>

#include "support/html.hpp"
#include "support/svg.hpp"
#include "verbs/matrix/matrix_view.hpp"
#include "verbs/matrix/picture.hpp"

namespace mx::verbs {
namespace {

constexpr std::array<std::string_view, 3> kClasses = {"chosen", "possible", "refused"};  // by verbs::CellState

std::string legend(const verbs::Matrix& matrix) {
  std::vector<std::pair<std::string, std::string>> terms;
  for (const verbs::LegendRow& row : verbs::legend_of(matrix)) terms.emplace_back(row.word, row.meaning);
  return support::html_terms(terms);
}

std::string head(const verbs::Matrix& matrix, const std::vector<verbs::MatrixGroup>& platforms) {
  std::string html = "<thead><tr><th></th>";
  for (const verbs::MatrixGroup& group : platforms) {
    std::string names;
    for (std::size_t platform : group.members) names += (names.empty() ? "" : "<br>") + support::escaped(matrix.platforms[platform]->name);
    html += fmt::format("<th scope=\"col\">{}</th>", names);
  }
  return html + "</tr></thead>\n";
}

/// Neighbours that say the same are one cell.
std::string line_of(const verbs::MatrixLine& line, support::HtmlReasons& reasons) {
  std::string html = fmt::format("<tr><th scope=\"row\">{}</th>", support::escaped(line.name));
  const auto same = [](const verbs::MatrixWord& a, const verbs::MatrixWord& b) {
    return a.text == b.text && a.state == b.state && a.hover == b.hover;
  };
  for (std::size_t first = 0, count = 1; first < line.words.size(); first += count, count = 1) {
    const verbs::MatrixWord& word = line.words[first];
    while (first + count < line.words.size() && same(word, line.words[first + count])) ++count;
    const std::string span = count == 1 ? "" : fmt::format(" colspan=\"{}\"", count);
    if (word.text.empty()) {
      html += fmt::format("<td class=\"empty\"{}></td>", span);
      continue;
    }
    const std::string_view style = word.state ? kClasses.at(static_cast<std::size_t>(*word.state)) : "raises";
    html += fmt::format("<td class=\"{}\"{} data-r=\"{}\">{}</td>", style, span, reasons.number_of(word.hover), support::escaped(word.text));
  }
  return html + "</tr>\n";
}

std::string table(const verbs::Matrix& matrix, const verbs::MatrixSection& section, const verbs::MatrixGroup& group, support::HtmlReasons& reasons) {
  const std::vector<verbs::MatrixGroup> platforms = verbs::equal_platforms(matrix, section, group.members.front());
  const std::string names = verbs::spread_names(matrix, group);
  std::string cells = "<table>\n" + head(matrix, platforms) + "<tbody>\n";
  for (const verbs::MatrixLine& line : verbs::lines_of(matrix, section, group.members.front(), platforms)) cells += line_of(line, reasons);
  return fmt::format("<h3>{}</h3>\n", support::escaped(names)) + support::html_wide(names, cells + "</tbody></table>\n");
}

/// The checkpoints of a group, each in its scheme, then their tables.
std::string details(const verbs::Matrix& matrix, const verbs::MatrixGroup& sections, bool open, support::HtmlReasons& reasons) {
  const verbs::MatrixSection& first = matrix.sections[sections.members.front()];
  std::vector<std::pair<std::string, std::string>> terms;
  std::string names;
  for (const std::size_t i : sections.members) {
    const verbs::MatrixSection& section = matrix.sections[i];
    const std::string name = fmt::format("{} in {}", section.model->name, section.scheme->name);
    names += (names.empty() ? "" : ", ") + name;
    terms.emplace_back(name, fmt::format("{}. Sizes of {}.", section.scheme->title, section.model->source));
  }
  std::string html = support::html_terms(terms);
  for (const verbs::MatrixGroup& group : verbs::equal_spreads(matrix, first)) html += table(matrix, first, group, reasons);
  return support::html_details(names, fmt::format("oracle {}", first.scheme->oracle), html, open);
}

/// What the names of platforms and parallelisms stand for.
std::string names_of_axes(const verbs::Matrix& matrix) {
  std::vector<std::pair<std::string, std::string>> terms;
  for (const verbs::Spread* spread : matrix.spreads) terms.emplace_back(spread->name, spread->title);
  for (const deployment::PlatformPreset* platform : matrix.platforms) terms.emplace_back(platform->name, platform->title);
  return support::html_details("Names", "of platforms and parallelisms", support::html_terms(terms), false);
}

}  // namespace

std::string matrix_part(const verbs::Matrix& matrix) {
  support::HtmlReasons reasons;
  const std::vector<verbs::MatrixGroup> groups = verbs::equal_sections(matrix);
  std::string html = support::html_paragraph(
      fmt::format("{} deployments: {} checkpoints on {} platforms in {} parallelisms. Checkpoints, parallelisms and platforms that look the same "
                  "share a part, a table or a column; a cell that is chosen says why.",
                  matrix.deployments(), matrix.sections.size(), matrix.platforms.size(), matrix.spreads.size()),
      "soft");
  html += legend(matrix) + names_of_axes(matrix);
  for (const verbs::MatrixGroup& group : groups) html += details(matrix, group, &group == &groups.front(), reasons);
  return support::html_reasoned(html, reasons);
}

std::string matrix_html(const verbs::Matrix& matrix) {
  return support::html_page("mxact matrix", {}, "<h1>Which backend serves which deployment</h1>\n" + matrix_part(matrix));
}

}  // namespace mx::verbs
