#include "verbs/matrix/served.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "checkpoint/served_model.hpp"
#include "model/error.hpp"

namespace mx::verbs {

namespace {

using checkpoint::ServedKind;
using checkpoint::ServedModel;

checkpoint::ServingRequest placed(const MatrixRequest& request, const deployment::PlatformPreset& platform,
                                  const deployment::ParallelRequest& parallel) {
  return {.platform = std::string(platform.name), .parallel = parallel, .env = request.env, .engine = request.engine};
}

void add_section(Matrix& matrix, const ServedModel& model, const ServedKind& kind) {
  std::filesystem::path directory = model.file.parent_path();
  if (directory.filename().empty()) directory = std::filesystem::current_path();
  const std::string name = fmt::format("{}, layers {}", directory.filename().string(), engine::numbers_text(kind.layers)), file = model.file.string();
  add_served(matrix, {name, file, kind.oracle, kind.deployment.weight_key, kind.deployment.activation_key});
}

MatrixAnswer refused(const engine::OracleTables& tables, const std::string& why) {
  MatrixAnswer answer;
  for (std::size_t i = 0; i < tables.backends.size(); ++i) answer.cells.push_back({CellState::refused, {}, "model", why});
  answer.refusal = why;
  return answer;
}

/// The kind that a layer belongs to, as a placement has it.
const ServedKind& kind_with(const ServedModel& model, int layer) {
  return *std::ranges::find_if(model.kinds, [&](const ServedKind& kind) { return std::ranges::find(kind.layers, layer) != kind.layers.end(); });
}

}  // namespace

MatrixSection& add_served(Matrix& matrix, const ServedWords& words) {
  if (!matrix.served) matrix.served = std::make_shared<ServedRows>();
  ServedRows& rows = *matrix.served;
  const auto keep = [&](std::string_view word) -> std::string_view { return rows.words.emplace_back(word); };
  deployment::Model& model = rows.models.emplace_back();
  model.name = keep(words.name);
  model.source = keep(words.file);
  deployment::Scheme& scheme = rows.schemes.emplace_back();
  scheme.oracle = scheme.name = keep(words.oracle);
  scheme.weight_key = keep(words.weight_key);
  scheme.activation_key = keep(words.activation_key);
  scheme.title = keep(fmt::format("{} weights, {} activations", words.weight_key, words.activation_key));
  scheme.source = model.source;
  matrix.sections.push_back({&model, &scheme, &engine::tables_of(matrix.engine, words.oracle), {}, {}});
  return matrix.sections.back();
}

void serve_matrix(Matrix& matrix, const MatrixRequest& request, engine::Detail detail) {
  const ServedModel whole = checkpoint::served_model(request.served, placed(request, *matrix.platforms.front(), {}));
  for (const ServedKind& kind : whole.kinds) add_section(matrix, whole, kind);
  for (const Spread* const spread : matrix.spreads) {
    for (const deployment::PlatformPreset* const platform : matrix.platforms) {
      try {
        const ServedModel model = checkpoint::served_model(request.served, placed(request, *platform, spread->request));
        for (std::size_t i = 0; i < whole.kinds.size(); ++i) {
          const ServedKind& kind = kind_with(model, whole.kinds[i].layers.front());
          matrix.sections[i].deployments.push_back(kind.deployment);
          matrix.sections[i].answers.push_back(audit::backend_cells(*matrix.sections[i].tables, kind.deployment, detail));
        }
      } catch (const Error& error) {
        for (MatrixSection& section : matrix.sections) {
          section.deployments.emplace_back();
          section.answers.push_back(refused(*section.tables, error.what()));
        }
      }
    }
  }
}

}  // namespace mx::verbs
