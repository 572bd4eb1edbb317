#include "verbs/matrix/served.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <string>

#include "checkpoint/served_model.hpp"
#include "model/error.hpp"

namespace mx::verbs {

struct ServedRows {
  std::deque<std::string> words;  ///< what views of the rows point to
  std::deque<deployment::Model> models;
  std::deque<deployment::Scheme> schemes;

  std::string_view keep(std::string word) { return words.emplace_back(std::move(word)); }
};

namespace {

using checkpoint::ServedKind;
using checkpoint::ServedModel;

checkpoint::ServingRequest placed(const MatrixRequest& request, const deployment::PlatformPreset& platform,
                                  const deployment::ParallelRequest& parallel) {
  return {.platform = std::string(platform.name), .parallel = parallel, .env = request.env, .engine = request.engine};
}

void add_section(Matrix& matrix, ServedRows& rows, const ServedModel& model, const ServedKind& kind) {
  std::filesystem::path directory = model.file.parent_path();
  if (directory.filename().empty()) directory = std::filesystem::current_path();
  const std::string name = fmt::format("{}, layers {}", directory.filename().string(), engine::numbers_text(kind.layers));
  const deployment::LayerConfig& layer = kind.deployment.layer;
  rows.models.push_back({.name = rows.keep(name),
                         .experts = layer.num_experts,
                         .top_k = layer.experts_per_token,
                         .hidden = layer.hidden,
                         .intermediate = layer.intermediate_per_partition,
                         .activation = rows.keep(layer.activation),
                         .routing = rows.keep(layer.routing_method),
                         .source = rows.keep(model.file.string())});
  rows.schemes.push_back({.name = rows.keep(kind.oracle),
                          .oracle = rows.keep(kind.oracle),
                          .weight_key = rows.keep(kind.deployment.weight_key),
                          .activation_key = rows.keep(kind.deployment.activation_key),
                          .allow_vllm_cutlass = kind.deployment.allow_vllm_cutlass,
                          .title = rows.keep(fmt::format("{} weights, {} activations", kind.deployment.weight_key, kind.deployment.activation_key)),
                          .source = rows.keep(model.file.string())});
  matrix.sections.push_back({&rows.models.back(), &rows.schemes.back(), &engine::tables_of(matrix.engine, kind.oracle), {}, {}});
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

void serve_matrix(Matrix& matrix, const MatrixRequest& request, engine::Detail detail) {
  const auto rows = std::make_shared<ServedRows>();
  const ServedModel whole = checkpoint::served_model(request.served, placed(request, *matrix.platforms.front(), {}));
  for (const ServedKind& kind : whole.kinds) add_section(matrix, *rows, whole, kind);
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
  matrix.served = rows;
}

}  // namespace mx::verbs
