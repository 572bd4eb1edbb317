// Layouts as pictures: those that a run names, and those of the backends that a run went through.

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "model/error.hpp"
#include "support/html.hpp"
#include "verbs/draw/picture.hpp"
#include "verbs/layout/subject.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

/// Small layers, of which the first that a converter takes is drawn.
constexpr std::array<std::string_view, 4> kShapes = {"64x64", "128x128", "256x256", "512x512"};
constexpr std::int64_t kMostCells = 4096;  // a picture of more has no labels and weighs more than the rest of the page

/// The layout of a spec on a small layer instead of the run's own; none when its converter takes none of them.
std::optional<Subject> small_subject(const Node& spec) {
  LayoutQuery query;
  try {
    query = query_from(spec.text(), {});
  } catch (const Error& error) {
    spec.fail(error.what());
  }
  std::erase_if(query.fields, [](const KeyValue& field) { return field.key == "shape" || field.key == "padded"; });
  for (std::string_view shape : kShapes) {
    LayoutQuery small = query;
    small.fields.push_back({"shape", std::string(shape)});
    try {
      const Subject subject = resolve(small);
      if (std::max(subject.layout.size(), subject.layout.cosize()) <= kMostCells) return subject;
    } catch (const Error&) {
      continue;  // the converter refuses such a layer: the next larger one
    }
  }
  return std::nullopt;
}

std::string part_of(const Subject& subject) {
  const std::string name = name_of(subject.choice);
  return support::html_details(name, choices_of(subject.choice), support::html_wide(name, as_part(draw(subject, {}))), false);
}

}  // namespace

Figure layout_figure(const Run& run) {
  const Node spec = run.root()["layout"];
  try {
    return draw(resolve(query_from(spec.text(), {})), {});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::input) throw;
    spec.fail(error.what());  // a name or a size that the model refuses is an error of the file
  }
}

std::string layout_html(const Run& run) {
  const Figure figure = layout_figure(run);
  return support::html_wide(figure.title, as_part(figure));
}

Figure diff_figure(const Run& run) {
  const Node root = run.root();
  const auto resolved = [](const Node& spec) {
    try {
      return resolve(query_from(spec.text(), {}));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::input) throw;
      spec.fail(error.what());
    }
  };
  const Subject a = resolved(root["a"]), b = resolved(root["b"]);
  try {
    return draw_difference(a, b);
  } catch (const Error& error) {
    root["b"].fail(error.what());
  }
}

Outcome diff_outcome(const Run& run) {
  const Node root = run.root();
  const std::string names =
      fmt::format("{} and {}", root["a"].text().substr(0, root["a"].text().find(',')), root["b"].text().substr(0, root["b"].text().find(',')));
  if (root["equal"].flag()) return {Standing::shown, names + " hold the same everywhere"};
  if (root.find("values")) return {Standing::shown, names + " change values differently"};
  return {Standing::shown, fmt::format("{} differ at {} of {} addresses", names, root["differing"].count(), root["addresses"].count())};
}

std::string diff_html(const Run& run) {
  const Node root = run.root();
  constexpr std::int64_t kMostDrawn = 1 << 16;  // one cell each, in two pictures of memory
  if (root.find("values") || root["addresses"].count() > kMostDrawn) return any_html(run);
  const Figure figure = diff_figure(run);
  std::vector<support::HtmlRow> rows;
  for (const Node& one : root["first"].items()) {
    rows.push_back({{std::to_string(one["address"].count())},
                    {std::to_string(one["count"].count()), "number"},
                    {one["a"].text(), "text"},
                    {one["b"].text(), "text"}});
  }
  const std::string first =
      rows.empty() ? std::string() : support::html_table("the first addresses that differ", {"address", "count", "a", "b"}, rows);
  return support::html_wide(figure.title, as_part(figure)) + first;
}

std::string verify_layouts(const Run& run) {
  const std::vector<Node> conversions = run.root()["conversions"].items();
  std::vector<std::string> seen;
  std::string html;
  for (const Node& cell : run.root()["cells"].items()) {
    const std::optional<Node> index = cell.find("conversion");
    if (!index || cell["request"].text() != "auto") continue;
    const Node& conversion = conversions.at(static_cast<std::size_t>(index->count()));
    const std::optional<Node> spec = conversion.find("layout");
    if (!spec || std::ranges::find(seen, conversion["backend"].text()) != seen.end()) continue;
    seen.push_back(conversion["backend"].text());
    if (const std::optional<Subject> subject = small_subject(*spec)) html += part_of(*subject);
  }
  if (html.empty()) return html;
  return support::html_paragraph("Where the scales of w2 go, for each backend that the engine chooses, on a layer small enough to be seen.") + html;
}

}  // namespace mx::verbs
