// mxact matrix: what the engine's oracles answer over models, schemes, platforms and parallelisms.

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/engine_option.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "support/file.hpp"
#include "verbs/matrix/matrix_view.hpp"
#include "verbs/matrix/picture.hpp"

namespace mx::cli {
namespace {

struct MatrixOptions {
  sim::MatrixRequest request;
  std::string engine;
  std::vector<std::string> variables;
  std::string output;
  bool explain = false;
  bool count = false;
  bool json = false;
  bool force = false;
};

/// NAME=VALUE of --env.
std::map<std::string, std::string> variables_of(const std::vector<std::string>& settings) {
  std::map<std::string, std::string> env;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) throw Error(ErrorCode::usage, fmt::format("--env takes NAME=VALUE, not '{}'", setting));
    if (!env.emplace(setting.substr(0, equals), setting.substr(equals + 1)).second) {
      throw Error(ErrorCode::usage, fmt::format("--env {} is given twice", setting.substr(0, equals)));
    }
  }
  return env;
}

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

Counts count(const sim::MatrixSection& section) {
  Counts counts{section.answers.size()};
  for (const sim::MatrixAnswer& answer : section.answers) {
    if (answer.chosen) ++counts.choices;
    for (const sim::MatrixCell& cell : answer.cells) ++counts.cells[static_cast<std::size_t>(cell.state)];
  }
  return counts;
}

Json counts_json(const Counts& counts) {
  return {{"deployments", counts.deployments}, {"choices", counts.choices},   {"refusals", counts.deployments - counts.choices},
          {"chosen", counts.cells[0]},         {"possible", counts.cells[1]}, {"refused", counts.cells[2]}};
}

void print_counts(const sim::Matrix& matrix) {
  std::vector<std::vector<std::string>> rows{
      {"oracle", "deployments", "a backend is chosen", "the engine raises", "cells possible", "cells refused"}};
  const auto add = [&](std::string_view name, const Counts& c) {
    rows.push_back({std::string(name), std::to_string(c.deployments), std::to_string(c.choices), std::to_string(c.deployments - c.choices),
                    std::to_string(c.cells[1]), std::to_string(c.cells[2])});
  };
  Counts all;
  for (std::string_view name : oracle::oracle_names()) {
    Counts one;
    for (const sim::MatrixSection& section : matrix.sections) {
      if (section.tables->name == name) one += count(section);
    }
    if (one.deployments == 0) continue;
    add(name, one);
    all += one;
  }
  add("all", all);
  print_table(rows);
}

Json cell_json(const sim::MatrixCell& cell, bool explain) {
  Json json = {{"state", sim::name_of(cell.state)}, {"kernel_class", cell.kernel_class}};
  if (cell.state == sim::CellState::refused) json["code"] = cell.code;
  if (explain && !cell.text.empty()) json["text"] = cell.text;
  return json;
}

Json section_json(const sim::Matrix& matrix, const sim::MatrixSection& section, bool explain) {
  Json json = {{"model", section.model->name},
               {"scheme", section.scheme->name},
               {"oracle", section.scheme->oracle},
               {"weight_key", section.scheme->weight_key},
               {"activation_key", section.scheme->activation_key},
               {"counts", counts_json(count(section))}};
  json["deployments"] = Json::array();
  for (std::size_t spread = 0; spread < matrix.spreads.size(); ++spread) {
    for (std::size_t platform = 0; platform < matrix.platforms.size(); ++platform) {
      const sim::MatrixAnswer& answer = matrix.answer(section, spread, platform);
      Json one = {{"parallel", matrix.spreads[spread]->name}, {"platform", matrix.platforms[platform]->name}};
      one["chosen"] = answer.chosen ? Json(section.tables->backends[*answer.chosen].name) : Json();
      if (!answer.chosen) one["refusal"] = answer.refusal;
      for (std::size_t i = 0; i < answer.cells.size(); ++i) {
        one["backends"][std::string(section.tables->backends[i].name)] = cell_json(answer.cells[i], explain);
      }
      json["deployments"].push_back(std::move(one));
    }
  }
  return json;
}

Json as_json(const sim::Matrix& matrix, const MatrixOptions& options) {
  Json json = json_head("matrix");
  json["engine"] = name_of(matrix.engine);
  json["platforms"] = Json::array();
  for (const oracle::PlatformPreset* platform : matrix.platforms) json["platforms"].push_back({{"name", platform->name}, {"title", platform->title}});
  json["parallel"] = Json::array();
  for (const sim::Spread* spread : matrix.spreads) json["parallel"].push_back({{"name", spread->name}, {"title", spread->title}});
  json["env"] = options.request.env;
  Counts all;
  for (const sim::MatrixSection& section : matrix.sections) all += count(section);
  json["counts"] = counts_json(all);
  if (options.count) return json;
  json["sections"] = Json::array();
  for (const sim::MatrixSection& section : matrix.sections) json["sections"].push_back(section_json(matrix, section, options.explain));
  return json;
}

/// The head of a table: names of equal platforms above each other.
void add_head(std::vector<std::vector<std::string>>& rows, const sim::Matrix& matrix, const std::vector<sim::MatrixGroup>& groups) {
  std::size_t height = 0;
  for (const sim::MatrixGroup& group : groups) height = std::max(height, group.members.size());
  for (std::size_t line = 0; line < height; ++line) {
    std::vector<std::string> row{""};
    for (const sim::MatrixGroup& group : groups) row.emplace_back(line < group.members.size() ? matrix.platforms[group.members[line]]->name : "");
    rows.push_back(std::move(row));
  }
}

void print_reasons(const sim::Matrix& matrix, const sim::MatrixSection& section, std::size_t spread, const std::vector<sim::MatrixGroup>& platforms) {
  for (const sim::MatrixGroup& group : platforms) {
    const sim::MatrixAnswer& answer = matrix.answer(section, spread, group.members.front());
    const std::string_view platform = matrix.platforms[group.members.front()]->name;
    if (!answer.chosen) fmt::print("  {}: the engine raises {}\n", platform, answer.refusal);
    for (std::size_t i = 0; i < answer.cells.size(); ++i) {
      const sim::MatrixCell& cell = answer.cells[i];
      if (cell.state != sim::CellState::refused || cell.code.empty()) continue;
      fmt::print("  {} {} ({}): {}: {}\n", platform, section.tables->backends[i].name, cell.kernel_class, cell.code, cell.text);
    }
  }
}

void print_spread(const sim::Matrix& matrix, const sim::MatrixSection& section, std::size_t spread, bool explain) {
  const std::vector<sim::MatrixGroup> platforms = sim::equal_platforms(matrix, section, spread);
  std::vector<std::vector<std::string>> rows;
  add_head(rows, matrix, platforms);
  for (const sim::MatrixLine& line : sim::lines_of(matrix, section, spread, platforms)) {
    rows.push_back({std::string(line.name)});
    for (const sim::MatrixWord& word : line.words) rows.back().emplace_back(word.text);
  }
  print_table(rows);
  if (explain) print_reasons(matrix, section, spread, platforms);
}

void print_text(const sim::Matrix& matrix, bool explain) {
  for (const sim::MatrixSection& section : matrix.sections) {
    fmt::print("{} in {}: oracle {}, {}; engine {}\n", section.model->name, section.scheme->name, section.scheme->oracle, section.scheme->title,
               name_of(matrix.engine));
    for (const sim::MatrixGroup& group : sim::equal_spreads(matrix, section)) {
      fmt::print("\n{}\n", sim::spread_names(matrix, group));
      print_spread(matrix, section, group.members.front(), explain);
    }
    fmt::print("\n");
  }
  for (const sim::LegendRow& row : sim::legend_of(matrix)) fmt::print("{:<9}{}\n", row.word, row.meaning);
}

/// The picture that the ending of the file's name asks for.
std::string picture_of(const sim::Matrix& matrix, const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".svg") return golden::matrix_svg(matrix);
  if (ending == ".html") return golden::matrix_html(matrix);
  throw Error(ErrorCode::usage, fmt::format("-o takes a file that ends in .svg or .html, not '{}'", path.string()));
}

int run(const MatrixOptions& given) {
  MatrixOptions options = given;
  options.request.env = variables_of(given.variables);
  options.request.engine = engine_named(given.engine);
  if (!options.output.empty()) sim::require_writable(options.output, options.force);
  const auto start = std::chrono::steady_clock::now();
  const sim::Matrix matrix = sim::run_matrix(options.request, options.explain ? oracle::Detail::texts : oracle::Detail::codes);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!options.output.empty()) {
    const std::string picture = picture_of(matrix, options.output);
    sim::write_file(options.output, {reinterpret_cast<const std::uint8_t*>(picture.data()), picture.size()}, options.force);
  }
  if (options.json) {
    print_json(as_json(matrix, options));
  } else if (options.count) {
    print_counts(matrix);
    fmt::print(stderr, "{} deployments in {:.3f} s\n", matrix.deployments(), seconds.count());
  } else if (options.output.empty()) {
    print_text(matrix, options.explain);
  }
  return 0;
}

}  // namespace

void add_matrix(Verb app, Action& action) {
  const Verb verb = app.add_verb("matrix", "backend x platform x parallelism: chosen, possible, or refused and why");
  const auto options = std::make_shared<MatrixOptions>();
  verb.add_option("--model", options->request.models, "gpt-oss-120b, DeepSeek-V3, ...; repeat for several (default: every model of the table)");
  const Option scheme = verb.add_option("--scheme", options->request.schemes,
                                        "mxfp4, nvfp4, fp8-block, ...; repeat for several (default: those of the model's published checkpoints)");
  verb.add_option("--oracle", options->request.oracles, "schemes of this oracle alone: mxfp4, mxfp4_deepseek_v4, nvfp4, fp8, mxfp8, w4a8");
  add_engine_option(verb, options->engine);
  verb.add_option("--platform", options->request.platforms, "SM100, gfx950, CPU, ...; repeat for several (default: every preset)");
  verb.add_option("--parallel", options->request.spreads, "tp8, dp8-ep-deepep-ll, ...; repeat for several (default: every row of the table)");
  verb.add_option("--env", options->variables, "NAME=VALUE, a variable that is set everywhere; repeat for several");
  verb.add_flag("--full", options->request.every_scheme, "every model in every scheme, published or not").excludes(scheme);
  verb.add_flag("--explain", options->explain, "what was asked and what the class takes, for every refusal");
  verb.add_flag("--count", options->count, "how many deployments, choices and refusals; the time goes to stderr");
  verb.add_option("-o,--output", options->output, "writes a picture, FILE.svg or FILE.html, instead of the tables");
  verb.add_flag("--force", options->force, "overwrite the file");
  verb.add_flag("--json", options->json, "machine-readable output: every cell; with --count the sums alone");
  verb.callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace mx::cli
