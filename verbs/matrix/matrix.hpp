#pragma once
// What an engine's oracles answer over a product of models, schemes, platforms and parallelisms, backend by backend.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/audit/cells.hpp"
#include "model/deployment/deployment.hpp"
#include "model/deployment/models.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::verbs {

/// A named way of spreading a layer.
struct Spread {
  std::string_view name;   ///< for the command line: "tp8-ep"
  std::string_view title;  ///< for people
  deployment::ParallelRequest request;
};
/// One rank, tensor parallel, data parallel, and every exchange of tokens that turns kernels on.
std::span<const Spread> spreads();
/// The row of that name, or what tpN-dpM-ep says, with all-gather; such a row stays as long as the program runs. Throws Error(usage) with the nearest
/// name of the table, and for sizes that are not in 1..4096.
const Spread& spread_named(const std::string& name);
/// The name of sizes without a row: "tp8", "tp2-dp4-ep".
std::string spread_name(int tp, int dp, bool expert_parallel);

using audit::CellState;
using MatrixCell = audit::BackendCell;
using MatrixAnswer = audit::BackendCells;

/// One checkpoint on every platform with every parallelism.
struct MatrixSection {
  const deployment::Model* model;
  const deployment::Scheme* scheme;
  const engine::OracleTables* tables;
  std::vector<MatrixAnswer> answers;                     ///< [spread][platform]
  std::vector<deployment::Deployment> deployments = {};  ///< of a served model, likewise; empty: model and scheme are put together
};

/// Rows that no table has: those of a model that was read from its configuration, a model and a scheme for each kind of its layers.
struct ServedRows;

/// The axes, each as names of the tables. An empty axis is all of its table; with `schemes` empty each model comes in the schemes of its published
/// checkpoints, and with `oracles` not empty only in those that ask one of these oracles.
struct MatrixRequest {
  deployment::Engine engine = deployment::kDefaultEngine;
  std::string release = {};  ///< that named the engine; empty: a month or a commit did
  std::vector<std::string> models = {};
  std::vector<std::string> schemes = {};
  std::vector<std::string> oracles = {};
  std::vector<std::string> platforms = {};
  std::vector<std::string> spreads = {};        ///< of spread_named()
  std::string served = {};                      ///< a model's directory or configuration, in the place of models and schemes
  std::map<std::string, std::string> env = {};  ///< variables that are set everywhere
  bool every_scheme = false;                    ///< every model in every scheme, published or not
};

struct Matrix {
  deployment::Engine engine;
  std::string release;  ///< of MatrixRequest
  std::vector<const deployment::PlatformPreset*> platforms;
  std::vector<const Spread*> spreads;
  std::vector<MatrixSection> sections;
  std::map<std::string, std::string> env = {};  ///< of MatrixRequest
  std::shared_ptr<ServedRows> served = {};      ///< what sections of a served model point to

  std::size_t deployments() const { return sections.size() * platforms.size() * spreads.size(); }
  const MatrixAnswer& answer(const MatrixSection& section, std::size_t spread, std::size_t platform) const {
    return section.answers[spread * platforms.size() + platform];
  }
};

/// The deployment of a section at a place of the axes, without variables. Throws as layer_of does.
deployment::Deployment deployment_at(const Matrix& matrix, const MatrixSection& section, const Spread& spread,
                                     const deployment::PlatformPreset& platform);

/// Asks the oracles; deployments are shared out over threads, the result is the same for any number of them. Throws Error(usage) for an unknown name
/// (with the nearest), a name given twice, an unknown variable, a request that leaves no
/// deployment, and as tables_of does. Of a served model as served_model does for one rank; where a placement is refused, its cells are.
Matrix run_matrix(const MatrixRequest& request, engine::Detail detail = engine::Detail::codes);

}  // namespace mx::verbs
