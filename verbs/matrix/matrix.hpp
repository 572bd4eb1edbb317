#pragma once
// What an engine's oracles answer over a product of models, schemes, platforms and parallelisms, backend by backend.

#include <map>
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

using audit::CellState;
using MatrixCell = audit::BackendCell;
using MatrixAnswer = audit::BackendCells;

/// One checkpoint on every platform with every parallelism.
struct MatrixSection {
  const deployment::Model* model;
  const deployment::Scheme* scheme;
  const engine::OracleTables* tables;
  std::vector<MatrixAnswer> answers;  ///< [spread][platform]
};

/// The axes, each as names of the tables. An empty axis is all of its table; with `schemes` empty each model comes in the schemes of its published
/// checkpoints, and with `oracles` not empty only in those that ask one of these oracles.
struct MatrixRequest {
  deployment::Engine engine = deployment::kDefaultEngine;
  std::string release = {};  ///< that named the engine; empty: a month or a commit did
  std::vector<std::string> models = {};
  std::vector<std::string> schemes = {};
  std::vector<std::string> oracles = {};
  std::vector<std::string> platforms = {};
  std::vector<std::string> spreads = {};
  std::map<std::string, std::string> env = {};  ///< variables that are set everywhere
  bool every_scheme = false;                    ///< every model in every scheme, published or not
};

struct Matrix {
  deployment::Engine engine;
  std::string release;  ///< of MatrixRequest
  std::vector<const deployment::PlatformPreset*> platforms;
  std::vector<const Spread*> spreads;
  std::vector<MatrixSection> sections;

  std::size_t deployments() const { return sections.size() * platforms.size() * spreads.size(); }
  const MatrixAnswer& answer(const MatrixSection& section, std::size_t spread, std::size_t platform) const {
    return section.answers[spread * platforms.size() + platform];
  }
};

/// Asks the oracles; deployments are shared out over threads, the result is the same for any number of them. Throws Error(usage) for an unknown name
/// (with the nearest), a name given twice, an unknown variable, a request that leaves no
/// deployment, and as tables_of does.
Matrix run_matrix(const MatrixRequest& request, engine::Detail detail = engine::Detail::codes);

}  // namespace mx::verbs
