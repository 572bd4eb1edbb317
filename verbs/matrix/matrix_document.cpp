#include "verbs/matrix/matrix_document.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "verbs/matrix/matrix_view.hpp"
#include "verbs/select/engine_notes.hpp"
#include "verbs/select/row_words.hpp"

namespace mx::verbs {
namespace {

using audit::CellState;
using verbs::Matrix;
using verbs::MatrixAnswer;
using verbs::MatrixGroup;
using verbs::MatrixSection;

struct Counts {
  std::size_t deployments = 0;
  std::size_t choices = 0;
  std::array<std::size_t, 3> cells{};  ///< by CellState
};

Counts& operator+=(Counts& sum, const Counts& more) {
  sum.deployments += more.deployments;
  sum.choices += more.choices;
  for (std::size_t i = 0; i < sum.cells.size(); ++i) sum.cells[i] += more.cells[i];
  return sum;
}

Counts count(const MatrixSection& section) {
  Counts counts{section.answers.size()};
  for (const MatrixAnswer& answer : section.answers) {
    if (answer.chosen) ++counts.choices;
    for (const verbs::MatrixCell& cell : answer.cells) ++counts.cells[static_cast<std::size_t>(cell.state)];
  }
  return counts;
}

Json counts_json(const Counts& counts) {
  return {{"deployments", counts.deployments}, {"choices", counts.choices},   {"refusals", counts.deployments - counts.choices},
          {"chosen", counts.cells[0]},         {"possible", counts.cells[1]}, {"refused", counts.cells[2]}};
}

/// What a backend's kernel makes of a token among others, at a place of the axes.
families::BatchWord batch_at(const Matrix& matrix, const MatrixSection& section, std::size_t spread, std::size_t platform, std::size_t backend) {
  deployment::Deployment deployment = deployment_at(matrix, section, *matrix.spreads[spread], *matrix.platforms[platform]);
  deployment.env = matrix.env;
  return batch_in(matrix.engine, *section.tables, deployment, section.tables->backends[backend].name);
}

/// Where the release that was asked differs from its version and touches a deployment of the matrix, its libraries, and variables that nothing reads.
void note_release(Document& document, const Matrix& matrix) {
  EngineNotes notes(document, {matrix.engine, matrix.release});
  notes.libraries();
  notes.variables(matrix.env);
  if (matrix.release.empty()) return;
  for (const MatrixSection& section : matrix.sections) {
    for (const Spread* spread : matrix.spreads) {
      for (const deployment::PlatformPreset* platform : matrix.platforms) {
        deployment::Deployment deployment = deployment_at(matrix, section, *spread, *platform);
        deployment.env = matrix.env;
        notes.about(section.scheme->oracle, deployment);
      }
    }
  }
}

/// Axes, variables and sums: what every document of a matrix begins with.
Document begun(const Matrix& matrix) {
  Document document{"matrix", std::string(deployment::name_of(matrix.engine))};
  const auto names = [&](const char* key, const auto& axis) {
    Table table{key, {in_json("name"), in_json("title")}};
    for (const auto* one : axis) table.add({one->name, one->title});
    document.value(key, table.json());
  };
  names("platforms", matrix.platforms);
  names("parallel", matrix.spreads);
  document.value("env", matrix.env);
  if (matrix.served) document.value("served", matrix.sections.front().model->source);
  Counts all;
  for (const MatrixSection& section : matrix.sections) all += count(section);
  document.value("counts", counts_json(all));
  note_release(document, matrix);
  return document;
}

Json backends_json(const Matrix& matrix, const MatrixSection& section, std::size_t spread, std::size_t platform, bool explain) {
  const MatrixAnswer& answer = matrix.answer(section, spread, platform);
  Table table{{}, {in_json("backend"), in_json("state"), in_json("kernel_class"), in_json("batch"), in_json("code"), in_json("text")}};
  for (std::size_t i = 0; i < answer.cells.size(); ++i) {
    const verbs::MatrixCell& cell = answer.cells[i];
    const bool runs = cell.state != CellState::refused;
    table.add({section.tables->backends[i].name, audit::name_of(cell.state), cell.kernel_class,
               runs ? Cell(families::text_of(batch_at(matrix, section, spread, platform, i))) : Cell::none(),
               cell.state == CellState::refused ? Cell(cell.code) : Cell::none(), explain && !cell.text.empty() ? Cell(cell.text) : Cell::none()});
  }
  return table.json_by_name();
}

Json section_json(const Matrix& matrix, const MatrixSection& section, bool explain) {
  Table deployments{{}, {in_json("parallel"), in_json("platform"), in_json("chosen"), in_json("refusal"), in_json("backends")}};
  for (std::size_t spread = 0; spread < matrix.spreads.size(); ++spread) {
    for (std::size_t platform = 0; platform < matrix.platforms.size(); ++platform) {
      const MatrixAnswer& answer = matrix.answer(section, spread, platform);
      deployments.add({matrix.spreads[spread]->name, matrix.platforms[platform]->name,
                       answer.chosen ? Json(section.tables->backends[*answer.chosen].name) : Json(),
                       answer.chosen ? Cell::none() : Cell(answer.refusal), backends_json(matrix, section, spread, platform, explain)});
    }
  }
  return {{"model", section.model->name},
          {"scheme", section.scheme->name},
          {"oracle", section.scheme->oracle},
          {"weight_key", section.scheme->weight_key},
          {"activation_key", section.scheme->activation_key},
          {"counts", counts_json(count(section))},
          {"deployments", deployments.json()}};
}

/// The platforms of each group above each other, then a line for each backend.
Table table_of(const Matrix& matrix, const MatrixSection& section, std::size_t spread, const std::vector<MatrixGroup>& platforms) {
  std::size_t height = 1;
  for (const MatrixGroup& group : platforms) height = std::max(height, group.members.size());
  Table table{{}, {in_text("")}};
  for (const MatrixGroup& group : platforms) table.columns.push_back(in_text(std::string(matrix.platforms[group.members.front()]->name)));
  for (std::size_t line = 1; line < height; ++line) {
    std::vector<Cell> row{""};
    for (const MatrixGroup& group : platforms)
      row.emplace_back(line < group.members.size() ? matrix.platforms[group.members[line]]->name : std::string_view());
    table.add(std::move(row));
  }
  for (const verbs::MatrixLine& line : verbs::lines_of(matrix, section, spread, platforms)) {
    std::vector<Cell> row{line.name};
    for (const verbs::MatrixWord& word : line.words) row.emplace_back(word.text);
    table.add(std::move(row));
  }
  return table;
}

void add_reasons(Document& document, const Matrix& matrix, const MatrixSection& section, std::size_t spread,
                 const std::vector<MatrixGroup>& platforms) {
  for (const MatrixGroup& group : platforms) {
    const MatrixAnswer& answer = matrix.answer(section, spread, group.members.front());
    const std::string_view platform = matrix.platforms[group.members.front()]->name;
    if (!answer.chosen) document.line(fmt::format("  {}: the engine raises {}", platform, answer.refusal));
    for (std::size_t i = 0; i < answer.cells.size(); ++i) {
      const verbs::MatrixCell& cell = answer.cells[i];
      if (cell.state != CellState::refused || cell.code.empty()) continue;
      document.line(fmt::format("  {} {} ({}): {}: {}", platform, section.tables->backends[i].name, cell.kernel_class, cell.code, cell.text));
    }
  }
}

void add_section(Document& document, const Matrix& matrix, const MatrixSection& section, bool explain) {
  document.line(fmt::format("{} in {}: oracle {}, {}; engine {}", section.model->name, section.scheme->name, section.scheme->oracle,
                            section.scheme->title, document.engine));
  for (const MatrixGroup& group : verbs::equal_spreads(matrix, section)) {
    const std::size_t spread = group.members.front();
    const std::vector<MatrixGroup> platforms = verbs::equal_platforms(matrix, section, spread);
    document.line("\n" + verbs::spread_names(matrix, group));
    document.table(table_of(matrix, section, spread, platforms));
    if (explain) add_reasons(document, matrix, section, spread, platforms);
  }
  document.line();
}

/// The words of backends that run, and where: as JSON says them cell by cell.
void add_batches(Document& document, const Matrix& matrix) {
  struct Said {
    std::string_view scheme, backend;
    std::string word;
    std::string platforms = {};
  };
  std::vector<Said> all;
  for (const MatrixSection& section : matrix.sections) {
    for (std::size_t backend = 0; backend < section.tables->backends.size(); ++backend) {
      for (std::size_t at = 0; at < section.answers.size(); ++at) {
        const std::size_t spread = at / matrix.platforms.size(), platform = at % matrix.platforms.size();
        if (section.answers[at].cells[backend].state == CellState::refused) continue;
        const families::BatchWord word = batch_at(matrix, section, spread, platform, backend);
        if (word.word == families::Batch::unknown) continue;
        const std::string_view name = section.tables->backends[backend].name;
        const std::string text = families::text_of(word);
        const auto same = [&](const Said& one) { return one.scheme == section.scheme->name && one.backend == name && one.word == text; };
        auto said = std::ranges::find_if(all, same);
        if (said == all.end()) said = all.insert(all.end(), {section.scheme->name, name, text});
        const std::string there = " " + std::string(matrix.platforms[platform]->name);
        if ((said->platforms + " ").find(there + " ") == std::string::npos) said->platforms += there;
      }
    }
  }
  document.line(fmt::format("a token's result and its batch: {}", all.empty() ? "unknown of all" : "unknown but for"));
  for (const Said& one : all) document.line(fmt::format("  {} in {} on{}: {}", one.backend, one.scheme, one.platforms, one.word));
}

}  // namespace

Document matrix_document(const Matrix& matrix, bool explain) {
  Document document = begun(matrix);
  Json sections = Json::array();
  for (const MatrixSection& section : matrix.sections) {
    sections.push_back(section_json(matrix, section, explain));
    add_section(document, matrix, section, explain);
  }
  document.value("sections", std::move(sections));
  add_batches(document, matrix);
  for (const verbs::LegendRow& row : verbs::legend_of(matrix)) document.line(fmt::format("{:<9}{}", row.word, row.meaning));
  return document;
}

Document matrix_counts_document(const Matrix& matrix) {
  Document document = begun(matrix);
  Table table{{},
              {in_text("oracle"), in_text("deployments"), in_text("a backend is chosen"), in_text("the engine raises"), in_text("cells possible"),
               in_text("cells refused")}};
  const auto add = [&](std::string_view name, const Counts& c) {
    table.add({name, c.deployments, c.choices, c.deployments - c.choices, c.cells[1], c.cells[2]});
  };
  Counts all;
  for (std::string_view name : engine::oracle_names()) {
    Counts one;
    for (const MatrixSection& section : matrix.sections) {
      if (section.tables->name == name) one += count(section);
    }
    if (one.deployments == 0) continue;
    add(name, one);
    all += one;
  }
  add("all", all);
  document.table(std::move(table));
  return document;
}

}  // namespace mx::verbs
