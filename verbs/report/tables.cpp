// Runs that show the engine's choices and this machine; and any run as plain tables.

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "model/engine/vllm/select.hpp"
#include "model/error.hpp"
#include "support/html.hpp"
#include "verbs/matrix/matrix.hpp"
#include "verbs/matrix/matrix_view.hpp"
#include "verbs/matrix/picture.hpp"
#include "verbs/matrix/served.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

constexpr std::array<std::string_view, 3> kStates = {"chosen", "possible", "refused"};  // by verbs::CellState

/// Looks a name up in the model's tables; a name that they do not have is an error of the file.
template <class Row>
const Row* row_named(const Node& node, std::string_view what, std::span<const Row> rows) {
  std::vector<std::string_view> names;
  for (const Row& row : rows) names.push_back(row.name);
  return &rows[node.word_of(what, names)];
}

verbs::MatrixCell cell_of(const Node& node) {
  verbs::MatrixCell cell{static_cast<audit::CellState>(node["state"].word_of("state", kStates)), node["kernel_class"].text(), {}, {}};
  if (cell.state != audit::CellState::refused) return cell;
  const Node code = node["code"];
  cell.code = code.text();
  std::vector<std::string_view> known;
  for (const verbs::ReasonRow& row : verbs::reasons()) known.push_back(row.code);
  code.word_of("check", known);
  if (const std::optional<Node> text = node.find("text")) cell.text = text->text();
  return cell;
}

verbs::MatrixAnswer answer_of(const Node& node, const engine::OracleTables& tables) {
  verbs::MatrixAnswer answer;
  const Node backends = node["backends"];
  for (const engine::BackendRow& row : tables.backends) answer.cells.push_back(cell_of(backends[row.name]));
  if (const std::optional<Node> chosen = node.find("chosen")) {
    answer.chosen = static_cast<std::size_t>(row_named<engine::BackendRow>(*chosen, "backend", tables.backends) - tables.backends.data());
  } else {
    answer.refusal = node["refusal"].text();
  }
  return answer;
}

/// Of a model that was read from a configuration the run itself has the names.
verbs::MatrixSection& served_section(const Node& node, const std::string& file, verbs::Matrix& matrix) {
  const std::span<const std::string_view> oracles = engine::oracle_names(matrix.engine);
  return verbs::add_served(matrix, {.name = node["model"].text(),
                                    .file = file,
                                    .oracle = oracles[node["oracle"].word_of("oracle", oracles)],
                                    .weight_key = node["weight_key"].text(),
                                    .activation_key = node["activation_key"].text()});
}

verbs::MatrixSection& known_section(const Node& node, verbs::Matrix& matrix) {
  const auto* const scheme = row_named<deployment::Scheme>(node["scheme"], "scheme", deployment::schemes());
  matrix.sections.push_back(
      {row_named<deployment::Model>(node["model"], "model", deployment::models()), scheme, &engine::tables_of(matrix.engine, scheme->oracle), {}});
  return matrix.sections.back();
}

void add_answers(const Node& node, const verbs::Matrix& matrix, verbs::MatrixSection& section) {
  const std::vector<Node> deployments = node["deployments"].items();
  if (deployments.size() != matrix.spreads.size() * matrix.platforms.size()) {
    node["deployments"].fail(fmt::format("has {} elements, not one for each of {} parallelisms on {} platforms", deployments.size(),
                                         matrix.spreads.size(), matrix.platforms.size()));
  }
  for (std::size_t i = 0; i < deployments.size(); ++i) {
    const Node& one = deployments[i];
    const bool in_order = one["parallel"].text() == matrix.spreads[i / matrix.platforms.size()]->name &&
                          one["platform"].text() == matrix.platforms[i % matrix.platforms.size()]->name;
    if (!in_order) one.fail("is not the deployment that the order of parallelisms and platforms puts there");
    section.answers.push_back(answer_of(one, *section.tables));
  }
}

verbs::Matrix matrix_of(const Run& run) {
  verbs::Matrix matrix{};
  // Runs from before there were several versions name none: they are of the first.
  const std::optional<Node> engine = run.root().find("engine");
  matrix.engine = engine ? deployment::engine_named(engine->text()) : deployment::kVllm2026_05;
  for (const Node& one : run.root()["platforms"].items()) {
    matrix.platforms.push_back(row_named<deployment::PlatformPreset>(one["name"], "platform", deployment::all_platforms()));
  }
  for (const Node& one : run.root()["parallel"].items()) {
    const Node name = one["name"];
    try {
      matrix.spreads.push_back(&verbs::spread_named(name.text()));
    } catch (const Error& error) {
      name.fail(error.what());
    }
  }
  const std::optional<Node> served = run.root().find("served");
  for (const Node& one : run.root()["sections"].items())
    add_answers(one, matrix, served ? served_section(one, served->text(), matrix) : known_section(one, matrix));
  return matrix;
}

std::string scalar_text(const Json& json) { return json.is_string() ? json.get<std::string>() : json.is_null() ? "\u2013" : json.dump(); }

/// "a.b" and its scalars, arrays of scalars in one line; tables are left to tables_of.
void add_terms(std::vector<std::pair<std::string, std::string>>& terms, const std::string& name, const Json& json) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) add_terms(terms, name.empty() ? key : name + "." + key, value);
    return;
  }
  if (!json.is_array()) {
    terms.emplace_back(name, scalar_text(json));
    return;
  }
  if (std::ranges::any_of(json, [](const Json& one) { return one.is_structured(); })) return;
  std::string text;
  for (const Json& one : json) text += (text.empty() ? "" : ", ") + scalar_text(one);
  terms.emplace_back(name, text.empty() ? "none" : text);
}

std::string table_of(const std::string& name, const Json& array) {
  constexpr std::size_t kMostRows = 1000;
  std::vector<std::string> heads{""};
  std::vector<support::HtmlRow> rows;
  for (const Json& one : array) {
    if (rows.size() == kMostRows) break;
    std::vector<std::pair<std::string, std::string>> terms;
    add_terms(terms, "", one);
    support::HtmlRow row(heads.size());
    row[0].text = std::to_string(rows.size());
    for (auto& [key, text] : terms) {
      auto head = std::find(heads.begin() + 1, heads.end(), key);
      if (head == heads.end()) head = heads.insert(head, key);
      row.resize(std::max(row.size(), heads.size()));
      row[static_cast<std::size_t>(head - heads.begin())] = {text, text.size() > 24 ? "text" : ""};
    }
    rows.push_back(std::move(row));
  }
  for (support::HtmlRow& row : rows) row.resize(heads.size());
  const std::string note = rows.size() < array.size() ? fmt::format("the first {} of {}", rows.size(), array.size()) : std::to_string(array.size());
  return support::html_details(name, note, support::html_table(name, heads, rows), array.size() <= 16);
}

std::string tables_of(const std::string& name, const Json& json) {
  std::string html;
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) html += tables_of(name.empty() ? key : name + "." + key, value);
  } else if (json.is_array() && std::ranges::any_of(json, [](const Json& one) { return one.is_structured(); })) {
    html = table_of(name, json);
  }
  return html;
}

}  // namespace

std::string any_html(const Run& run) {
  Json rest = run.json;
  for (const char* known : {"schema", "mxact"}) rest.erase(known);
  std::vector<std::pair<std::string, std::string>> terms;
  add_terms(terms, "", rest);
  std::vector<support::HtmlRow> rows;
  for (auto& [key, text] : terms) rows.push_back({{key}, {std::move(text), "text"}});
  return (rows.empty() ? std::string() : support::html_table("values", {"", ""}, rows)) + tables_of("", rest);
}

Outcome matrix_outcome(const Run& run) {
  const Node counts = run.root()["counts"];
  return {Standing::shown, fmt::format("{} deployments: the engine chooses in {} and raises in {}; nothing to check", counts["deployments"].count(),
                                       counts["choices"].count(), counts["refusals"].count())};
}

std::string matrix_run_html(const Run& run) { return run.root().find("sections") ? matrix_part(matrix_of(run)) : any_html(run); }

Outcome doctor_outcome(const Run& run) {
  const std::vector<Node> checks = run.root()["checks"].items();
  const auto failed = std::ranges::count_if(checks, [](const Node& check) { return !check["passed"].flag(); });
  const std::string counted = fmt::format("{} of {} checks of floating point passed", std::ssize(checks) - failed, checks.size());
  if (checks.empty()) return {Standing::nothing, counted};
  return {failed == 0 ? Standing::passed : Standing::failed, counted};
}

std::string doctor_html(const Run& run) {
  const Node root = run.root();
  std::string isa;
  for (const Node& word : root["isa"].items()) isa += (isa.empty() ? "" : " ") + word.text();
  std::vector<support::HtmlRow> rows;
  for (const Node& check : root["checks"].items()) {
    const bool passed = check["passed"].flag();
    rows.push_back({{check["name"].text()}, {passed ? "\u2713" : "\u2717 BROKEN", passed ? "passed" : "failed"}, {check["detail"].text(), "text"}});
  }
  return support::html_terms({{"compiler", root["compiler"].text()},
                              {"flags", root["flags"].text()},
                              {"isa", isa},
                              {"threads", std::to_string(root["threads"].count())},
                              {"memory", fmt::format("{:.1f} GiB", root["memory_gib"].number())}}) +
         support::html_table("checks of floating point", {"check", "", "detail"}, rows);
}

}  // namespace mx::verbs
