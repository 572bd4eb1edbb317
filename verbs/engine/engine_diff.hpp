#pragma once
// What another version of an engine answers otherwise.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/deployment/version.hpp"

namespace mx::sim {

/// What differs, the most of it.
enum class ChangeKind : std::uint8_t {
  choice,   ///< another backend, or a choice against a refusal
  refusal,  ///< another exception
  kernel,   ///< another class of the same backend
  sizes,    ///< the same class for other sizes
};
std::string_view name_of(ChangeKind kind);  ///< "choice"

/// Deployments of one oracle whose answers changed from the same to the same.
struct EngineChange {
  std::string oracle;
  ChangeKind kind;
  std::string before;  ///< the older version's answer, as answer_text says it
  std::string after;
  std::string cause;  ///< why the newer version does not answer as before
  std::size_t deployments;
  std::string smallest;  ///< of them, as a line that `mxact select` reads
};

struct EngineDiff {
  Engine before;
  Engine after;
  std::size_t deployments;  ///< compared
  std::vector<EngineChange> changes;

  std::size_t count(ChangeKind kind) const;
};

/// Both versions asked with every published checkpoint of the tables, on every platform, in every parallelism; most deployments first. An exchange
/// that a version calls otherwise is asked by that version's name. Throws Error(unsupported) for a version without choices.
EngineDiff engine_diff(Engine before, Engine after);

/// One deployment put to both. Throws as oracle::select does.
EngineDiff engine_diff(Engine before, Engine after, std::string_view oracle, const oracle::Deployment& deployment);

}  // namespace mx::sim
