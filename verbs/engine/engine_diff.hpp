#pragma once
// What another version of an engine answers otherwise.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/deployment/version.hpp"
#include "verbs/engine/arithmetic_diff.hpp"
#include "verbs/engine/memory_diff.hpp"

namespace mx::verbs {

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
  deployment::Engine before;
  deployment::Engine after;
  std::size_t deployments;  ///< compared
  std::vector<EngineChange> changes;
  MemoryDiff memory;                         ///< of those for which both choose
  std::vector<ArithmeticChange> arithmetic;  ///< likewise

  std::size_t count(ChangeKind kind) const;
};

/// A version to compare, with releases of libraries other than those that it asks for, as families::choose_libraries takes them.
struct ComparedEngine {
  deployment::Engine engine;
  std::vector<std::string> libraries = {};
};

/// Both versions asked with every published checkpoint of the tables, on every platform, in every parallelism; most deployments first. An exchange
/// that a version calls otherwise is asked by that version's name. Throws Error(unsupported) for a version without choices.
EngineDiff engine_diff(const ComparedEngine& before, const ComparedEngine& after);

/// One deployment put to both. Throws as engine::select does.
EngineDiff engine_diff(const ComparedEngine& before, const ComparedEngine& after, std::string_view oracle, const deployment::Deployment& deployment);

}  // namespace mx::verbs
