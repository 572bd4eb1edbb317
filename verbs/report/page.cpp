#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "model/error.hpp"
#include "model/names.hpp"
#include "support/html.hpp"
#include "support/svg.hpp"
#include "verbs/report/parts.hpp"
#include "verbs/report/report.hpp"

namespace mx::verbs {
namespace {

struct PartRow {
  std::string_view id;
  std::string_view title;
};
/// By Part.
constexpr std::array<PartRow, kParts> kTitles{{
    {"verdicts", "Verdicts"},
    {"conversions", "Checkpoints"},
    {"recorded", "Recorded outputs"},
    {"digests", "Digests of sweeps"},
    {"differences", "Where profiles part"},
    {"matrix", "Backend matrix"},
    {"constraints", "Constraint matrix"},
    {"layouts", "Layouts"},
    {"numbers", "Number formats"},
    {"errors", "Error heat map"},
    {"kernels", "Kernels"},
    {"faults", "Planted faults"},
    {"findings", "Findings"},
    {"other", "Other runs"},
    {"environment", "Environment"},
}};

struct StandingStyle {
  std::string_view style;
  std::string_view meaning;
};
/// By Standing.
constexpr std::array<StandingStyle, 6> kStandings{{
    {"shown", "Nothing here was checked: these runs show tables and pictures."},
    {"passed", "No check failed, and each of them could have."},
    {"mistrusted", "A run that should have checked something compared nothing. It proves nothing."},
    {"mistrusted", "Nothing differed, but the data could not have told right from wrong."},
    {"refused", "The engine itself chooses something that then cannot run."},
    {"failed", "A difference was found."},
}};

const StandingStyle& style_of(Standing standing) { return kStandings.at(static_cast<std::size_t>(standing)); }

std::string schema_of(const Run& run) { return fmt::format("{}/{}", run.kind->schema, run.kind->version); }

std::string summary(std::span<const Run> runs, std::span<const Outcome> outcomes) {
  const Standing standing = worst(outcomes);
  std::string html =
      fmt::format("<p class=\"verdict {}\"><b>{}</b> {}</p>\n", style_of(standing).style, word_of(standing), style_of(standing).meaning);
  std::vector<support::HtmlRow> rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    rows.push_back(
        {{runs[i].name},
         {std::string(word_of(outcomes[i].standing)), style_of(outcomes[i].standing).style, std::string(style_of(outcomes[i].standing).meaning)},
         {std::string(runs[i].kind->title), "text"},
         {outcomes[i].counted, "text"}});
  }
  return html + support::html_stack("runs", {"run", "verdict", "what", "counted"}, rows);
}

/// What one part says, run by run; empty when no run has anything for it.
std::string part_html(Part part, std::span<const Run> runs) {
  std::string html;
  for (const Run& run : runs) {
    for (const Contribution& contribution : run.kind->contributions) {
      if (contribution.part != part) continue;
      const std::string one = contribution.html(run);
      if (!one.empty()) html += support::html_paragraph(fmt::format("from {}", run.name), "soft") + one;
    }
  }
  return html;
}

/// Which mxact wrote each run.
std::string versions(std::span<const Run> runs) {
  std::vector<support::HtmlRow> rows;
  for (const Run& run : runs) {
    const std::optional<Node> mxact = run.root().find("mxact");
    rows.push_back(
        {{run.name}, {schema_of(run), "code"}, {mxact ? (*mxact)["version"].text() : "", "code"}, {mxact ? (*mxact)["commit"].text() : "", "code"}});
  }
  return support::html_table("versions", {"run", "schema", "mxact", "commit"}, rows);
}

/// The command that wrote a run, where the run says it.
std::string reproduce(std::span<const Run> runs) {
  std::string commands;
  for (const Run& run : runs) {
    const std::optional<Node> mxact = run.root().find("mxact");
    const std::optional<Node> command = mxact ? mxact->find("command") : std::nullopt;
    if (command) commands += support::escaped(command->text()) + "\n";
  }
  const std::string html =
      support::html_paragraph("Each run was written by one command. The same commit, inputs and seeds give the same bits on any machine.");
  return commands.empty() ? support::html_paragraph("These runs do not say which commands wrote them.") : html + "<pre>" + commands + "</pre>\n";
}

std::string heading(std::string_view id, std::string_view title) { return fmt::format("<h2 id=\"{}\">{}</h2>\n", id, title); }

/// Patterns that pictures fill with, once for the page; a hidden element would not lend them.
std::string patterns() { return fmt::format("<svg class=\"none\" aria-hidden=\"true\"><defs>{}</defs></svg>\n", kLayoutLook.patterns); }

std::string picture_style() {
  std::string style;
  for (const Look* look : {&kLayoutLook, &kChartLook}) style += css(look->rules, fmt::format("svg.{}", look->name));
  return style;
}

}  // namespace

std::vector<Outcome> outcomes_of(std::span<const Run> runs) {
  std::vector<Outcome> outcomes;
  for (const Run& run : runs) outcomes.push_back(run.kind->outcome(run));
  return outcomes;
}

Standing worst(std::span<const Outcome> outcomes) {
  const auto last = std::ranges::max_element(outcomes, {}, &Outcome::standing);
  return last == outcomes.end() ? Standing::nothing : last->standing;
}

std::string report_html(std::span<const Run> runs, const std::optional<Comparison>& comparison) {
  const std::vector<Outcome> outcomes = outcomes_of(runs);
  std::string links = "<nav aria-label=\"parts\"><a href=\"#summary\">Summary</a>";
  std::string parts;
  const auto add = [&](std::string_view id, std::string_view title, const std::string& html) {
    links += fmt::format("<a href=\"#{}\">{}</a>", id, title);
    parts += heading(id, title) + html;
  };
  if (comparison) add("changes", "What changed", comparison_html(*comparison));
  for (std::size_t i = 0; i < kParts; ++i) {
    std::string html = part_html(static_cast<Part>(i), runs);
    if (static_cast<Part>(i) == Part::environment) html = versions(runs) + html;
    if (!html.empty()) add(kTitles.at(i).id, kTitles.at(i).title, html);
  }
  add("reproduce", "How to reproduce", reproduce(runs));
  const std::string body =
      patterns() + "<h1>mxact report</h1>\n" + links + "</nav>\n<h2 id=\"summary\">Summary</h2>\n" + summary(runs, outcomes) + parts;
  return support::html_page(fmt::format("mxact report: {}", word_of(worst(outcomes))), picture_style(), body);
}

namespace {

/// Pictures besides the first one of a kind.
struct PictureRow {
  std::string_view schema;
  std::string_view name;
  Figure (*figure)(const Run&);
};
constexpr std::array kFurtherPictures{PictureRow{"google-benchmark", "speed", speed_figure}};

Figure further_picture(const Run& run, std::string_view name) {
  std::vector<std::string_view> known;
  for (const PictureRow& row : kFurtherPictures) {
    if (row.schema != run.kind->schema) continue;
    if (row.name == name) return row.figure(run);
    known.push_back(row.name);
  }
  if (known.empty()) throw Error(ErrorCode::usage, fmt::format("a run of {} has one picture at most, none by name", schema_of(run)), run.name);
  throw Error(ErrorCode::usage, unknown_name("picture", name, known), run.name);
}

}  // namespace

Figure picture_of(const Run& run, std::string_view name) {
  if (!name.empty()) return further_picture(run, name);
  if (run.kind->figure != nullptr) return run.kind->figure(run);
  std::string known;
  for (const Kind& kind : kinds()) {
    if (kind.figure != nullptr) known += " " + std::string(kind.schema);
  }
  throw Error(ErrorCode::usage, fmt::format("a run of {} has no picture of its own (these have:{})", schema_of(run), known), run.name);
}

}  // namespace mx::verbs
