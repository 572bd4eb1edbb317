#pragma once
// What each kernel and converter needs, stated from their own sources and not from the oracle: the other half of the law that a chosen backend must
// be able to run. Shares no table and no predicate with select; where the two disagree is a finding (findings.hpp).

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/deployment/version.hpp"
#include "model/families/kernel_class.hpp"
#include "model/grounds.hpp"

namespace mx::families {

/// A choice in its surroundings, with the sizes that the kernel will see.
struct Placement {
  const deployment::Deployment& deployment;
  deployment::Engine engine;
  std::string_view oracle;
  std::string_view backend;
  std::string_view kernel_class;
  std::int64_t hidden;          ///< after rounding
  std::int64_t intermediate;    ///< per partition, after rounding
  std::string_view weight_key;  ///< kMxfp4Static, kFp8Static128BlockSym, ...
};

/// What breaking a need does: an exception or a crash; wrong numbers without one; the right numbers more slowly.
enum class Effect : std::uint8_t { error, silent, slow };
std::string_view name_of(Effect effect);

/// Whose need it is: whose sources say so. A kernel's and a library's own hold whoever calls it; the others are this engine's.
enum class NeedOf : std::uint8_t {
  kernel,        ///< the kernel or its library
  converter,     ///< the conversion of weights, with the library's layout helpers that it calls
  kernel_class,  ///< the engine's expert class
  engine,        ///< its other code: exchange, placement of experts, loader, method
};
std::string_view name_of(NeedOf of);  ///< "kernel", "converter", "class", "engine"

/// One precondition.
struct KernelNeed {
  std::string_view id;                         ///< "sizes", "device", ...; unique for a (backend, class) of an oracle
  std::span<const std::string_view> classes;   ///< empty: every class
  std::span<const std::string_view> backends;  ///< empty: every backend with such a class
  NeedOf of;
  Effect effect;
  Grounds grounds;               ///< published: reported upstream; assumed: not to be had from public text
  std::string_view statement;    ///< what must hold
  std::string_view consequence;  ///< what happens otherwise
  /// Null where a deployment does not determine it, and wherever the grounds are assumed: such a need is stated and never broken.
  bool (*holds)(const Placement& placement);
  std::string_view source;
  std::string_view reference = {};                                              ///< upstream issues and pull requests
  deployment::Versions versions = deployment::since(deployment::kVllm2026_05);  ///< of the engine, with what it is built against
  /// Null: the classes named. Else those, of whatever family, for which it is true.
  bool (*of_classes)(const KernelClassFacts& facts) = nullptr;
  /// Null: every choice of these classes. Else those for which it is true.
  bool (*of_choice)(deployment::Engine engine, std::string_view oracle, std::string_view backend, std::string_view kernel_class) = nullptr;
};

/// The source, upstream issues and the version whose source says otherwise: "E/marlin_moe.py; vllm issue 49747; until vllm@2026-08".
std::string source_text(const KernelNeed& need);

/// Needs of some oracles' classes.
struct NeedTable {
  std::span<const std::string_view> oracles;  ///< empty: every oracle
  /// Of the exchange, the prepare step and the loader around the kernel: the same whatever is chosen, so one finding an oracle. More than
  /// NeedOf::engine, since most of the engine's other code suits some classes and not others.
  bool around;
  std::span<const KernelNeed> rows;
};

inline bool is_broken(const KernelNeed& need, const Placement& placement) { return need.holds != nullptr && !need.holds(placement); }

}  // namespace mx::families
