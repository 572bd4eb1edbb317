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
    std::string names, titles;
    for (std::size_t platform : group.members) {
      names += (names.empty() ? "" : "<br>") + support::escaped(matrix.platforms[platform]->name);
      titles += (titles.empty() ? "" : "; ") + support::escaped(matrix.platforms[platform]->title);
    }
    html += fmt::format("<th scope=\"col\" title=\"{}\">{}</th>", titles, names);
  }
  return html + "</tr></thead>\n";
}

std::string line_of(const verbs::MatrixLine& line) {
  std::string html = fmt::format("<tr><th scope=\"row\">{}</th>", support::escaped(line.name));
  for (const verbs::MatrixWord& word : line.words) {
    if (word.text.empty()) {
      html += "<td class=\"empty\"></td>";
      continue;
    }
    const std::string_view style = word.state ? kClasses.at(static_cast<std::size_t>(*word.state)) : "raises";
    html += fmt::format("<td class=\"{}\" title=\"{}\">{}</td>", style, support::escaped(word.hover), support::escaped(word.text));
  }
  return html + "</tr>\n";
}

std::string table(const verbs::Matrix& matrix, const verbs::MatrixSection& section, const verbs::MatrixGroup& group) {
  const std::vector<verbs::MatrixGroup> platforms = verbs::equal_platforms(matrix, section, group.members.front());
  std::string html = "<h3>";
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    const verbs::Spread& spread = *matrix.spreads[group.members[i]];
    html += fmt::format("{}<span title=\"{}\">{}</span>", i == 0 ? "" : " &middot; ", support::escaped(spread.title), support::escaped(spread.name));
  }
  std::string cells = "<table>\n" + head(matrix, platforms) + "<tbody>\n";
  for (const verbs::MatrixLine& line : verbs::lines_of(matrix, section, group.members.front(), platforms)) cells += line_of(line);
  return html + "</h3>\n" + support::html_wide(verbs::spread_names(matrix, group), cells + "</tbody></table>\n");
}

std::string details(const verbs::Matrix& matrix, const verbs::MatrixSection& section, bool open) {
  std::string html = support::html_paragraph(fmt::format("{}. Sizes of {}.", section.scheme->title, section.model->source), "soft");
  for (const verbs::MatrixGroup& group : verbs::equal_spreads(matrix, section)) html += table(matrix, section, group);
  return support::html_details(section.model->name, fmt::format("in {}, oracle {}", section.scheme->name, section.scheme->oracle), html, open);
}

}  // namespace

std::string matrix_part(const verbs::Matrix& matrix) {
  std::string html = support::html_paragraph(
      fmt::format("{} deployments: {} checkpoints on {} platforms in {} parallelisms. Platforms and parallelisms that look the same share a "
                  "column or a table; a cell says more when it is pointed at.",
                  matrix.deployments(), matrix.sections.size(), matrix.platforms.size(), matrix.spreads.size()),
      "soft");
  html += legend(matrix);
  for (const verbs::MatrixSection& section : matrix.sections) html += details(matrix, section, &section == &matrix.sections.front());
  return html;
}

std::string matrix_html(const verbs::Matrix& matrix) {
  return support::html_page("mxact matrix", {}, "<h1>Which backend serves which deployment</h1>\n" + matrix_part(matrix));
}

}  // namespace mx::verbs
