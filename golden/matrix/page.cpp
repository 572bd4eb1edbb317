#include <fmt/core.h>

#include <array>
#include <string_view>
#include <vector>

#include "golden/draw/svg.hpp"
#include "golden/matrix/picture.hpp"
#include "sim/matrix_view.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--chosen:#1a7f37;--on-chosen:#fff;--possible:#b6dcf7;
--on-possible:#0a3069;--refused:#eef1f4;--on-refused:#57606a;--raises:#f9c5c1;--on-raises:#82071e}
@media (prefers-color-scheme:dark){:root{--paper:#0d1117;--ink:#e6edf3;--soft:#9198a1;--line:#30363d;--chosen:#238636;--on-chosen:#fff;
--possible:#0c3a66;--on-possible:#a5d6ff;--refused:#1c2128;--on-refused:#9198a1;--raises:#67201f;--on-raises:#ffdcd7}}
body{margin:0 auto;padding:1rem;max-width:100rem;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,'DejaVu Sans',sans-serif}
h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:.95rem;margin:1.1rem 0 .3rem}summary{cursor:pointer;padding:.5rem 0;font-weight:600}
details{border-top:1px solid var(--line)}.soft{color:var(--soft);font-weight:400}p{margin:.3rem 0}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(24rem,1fr));gap:.15rem 1.5rem;margin:.8rem 0}dl div{display:flex;gap:.6rem}
dt{flex:0 0 5.2rem;font-weight:600}dd{margin:0;color:var(--soft)}
.wide{overflow-x:auto;-webkit-overflow-scrolling:touch}table{border-collapse:separate;border-spacing:2px;font-size:.78rem;line-height:1.25}
th{font-weight:500;text-align:left;white-space:nowrap;padding:.15rem .4rem}thead th{text-align:center;vertical-align:bottom}
tbody th,thead th:first-child{position:sticky;left:0;background:var(--paper);font-family:ui-monospace,'DejaVu Sans Mono',monospace;font-size:.72rem}
td{text-align:center;padding:.2rem .4rem;min-width:3.6rem;border-radius:3px}
.chosen{background:var(--chosen);color:var(--on-chosen);font-weight:700}.possible{background:var(--possible);color:var(--on-possible)}
.refused{background:var(--refused);color:var(--on-refused)}.raises{background:var(--raises);color:var(--on-raises)}
@media (max-width:40rem){body{padding:.6rem}tbody th{min-width:7rem;max-width:7rem;white-space:normal;overflow-wrap:anywhere}dl{grid-template-columns:1fr}}
)";

constexpr std::array<std::string_view, 3> kClasses = {"chosen", "possible", "refused"};  // by sim::CellState

std::string legend(const sim::Matrix& matrix) {
  std::string html = "<dl>\n";
  for (const sim::LegendRow& row : sim::legend_of(matrix)) {
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(row.word), escaped(row.meaning));
  }
  return html + "</dl>\n";
}

std::string head(const sim::Matrix& matrix, const std::vector<sim::MatrixGroup>& platforms) {
  std::string html = "<thead><tr><th></th>";
  for (const sim::MatrixGroup& group : platforms) {
    std::string names, titles;
    for (std::size_t platform : group.members) {
      names += (names.empty() ? "" : "<br>") + escaped(matrix.platforms[platform]->name);
      titles += (titles.empty() ? "" : "; ") + escaped(matrix.platforms[platform]->title);
    }
    html += fmt::format("<th scope=\"col\" title=\"{}\">{}</th>", titles, names);
  }
  return html + "</tr></thead>\n";
}

std::string line_of(const sim::MatrixLine& line) {
  std::string html = fmt::format("<tr><th scope=\"row\">{}</th>", escaped(line.name));
  for (const sim::MatrixWord& word : line.words) {
    if (word.text.empty()) {
      html += "<td></td>";
      continue;
    }
    const std::string_view style = word.state ? kClasses.at(static_cast<std::size_t>(*word.state)) : "raises";
    html += fmt::format("<td class=\"{}\" title=\"{}\">{}</td>", style, escaped(word.hover), escaped(word.text));
  }
  return html + "</tr>\n";
}

std::string table(const sim::Matrix& matrix, const sim::MatrixSection& section, const sim::MatrixGroup& group) {
  const std::vector<sim::MatrixGroup> platforms = sim::equal_platforms(matrix, section, group.members.front());
  std::string html = "<h2>";
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    const sim::Spread& spread = *matrix.spreads[group.members[i]];
    html += fmt::format("{}<span title=\"{}\">{}</span>", i == 0 ? "" : " &middot; ", escaped(spread.title), escaped(spread.name));
  }
  html += "</h2>\n<div class=\"wide\"><table>\n" + head(matrix, platforms) + "<tbody>\n";
  for (const sim::MatrixLine& line : sim::lines_of(matrix, section, group.members.front(), platforms)) html += line_of(line);
  return html + "</tbody></table></div>\n";
}

std::string details(const sim::Matrix& matrix, const sim::MatrixSection& section, bool open) {
  std::string html = fmt::format("<details{}><summary>{} <span class=\"soft\">in {}, oracle {}</span></summary>\n", open ? " open" : "",
                                 escaped(section.model->name), escaped(section.scheme->name), escaped(section.scheme->oracle));
  html += fmt::format("<p class=\"soft\">{}. Sizes of {}.</p>\n", escaped(section.scheme->title), escaped(section.model->source));
  for (const sim::MatrixGroup& group : sim::equal_spreads(matrix, section)) html += table(matrix, section, group);
  return html + "</details>\n";
}

}  // namespace

std::string matrix_html(const sim::Matrix& matrix) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n"
      "<title>mxact matrix</title>\n<style>{}</style>\n</head>\n<body>\n<h1>Which backend serves which deployment</h1>\n"
      "<p class=\"soft\">{} deployments: {} checkpoints on {} platforms in {} parallelisms. Platforms and parallelisms that look the same share a "
      "column or a table; a cell says more when it is pointed at.</p>\n",
      kStyle, matrix.deployments(), matrix.sections.size(), matrix.platforms.size(), matrix.spreads.size());
  html += legend(matrix);
  for (const sim::MatrixSection& section : matrix.sections) html += details(matrix, section, &section == &matrix.sections.front());
  return html + "</body>\n</html>\n";
}

}  // namespace mx::golden
