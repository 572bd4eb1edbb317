#pragma once
// What an engine answers for one deployment, backend by backend.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::audit {

/// One backend for one deployment.
enum class CellState : std::uint8_t {
  chosen,
  possible,  ///< another is chosen, or none, but some class of this one takes the deployment
  refused,   ///< no class takes it, or the engine chooses it and raises
};
std::string_view name_of(CellState state);

struct BackendCell {
  CellState state;
  std::string_view kernel_class;  ///< chosen: the class; possible: the first that takes it; refused: the last one asked, "*" or empty without one
  std::string_view code;  ///< refused: the first failing check of that class, as Verdict::code; "raises" where the engine does after its choice
  std::string text;       ///< refused and asked for with Detail::texts: what was asked, what the class takes
};

struct BackendCells {
  std::optional<std::size_t> chosen;  ///< backend, by its place in the table
  std::string refusal;                ///< the engine's exception when there is no choice, or when it raises after one
  std::vector<BackendCell> cells;     ///< for each backend of the oracle's table
};

/// Throws as select does.
BackendCells backend_cells(const engine::OracleTables& tables, const deployment::Deployment& deployment, engine::Detail detail);

}  // namespace mx::audit
