#pragma once
// Runs that a report is made of: the JSON of a verb, recognized by its schema.

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verbs/draw/figure.hpp"
#include "verbs/report/node.hpp"

namespace mx::verbs {

/// What a run says of whatever it checked, worst last.
enum class Standing {
  shown,  ///< it checks nothing by design: a table, a picture
  passed,
  nothing,  ///< a check that compared nothing
  mistrusted,
  refused,  ///< the engine itself chooses what cannot run
  failed,
};
std::string_view word_of(Standing standing);
/// 0 passed or shown, 1 failed, 4 refused, 5 nothing or mistrusted: the exit status of such a run.
int exit_code(Standing standing);

struct Outcome {
  Standing standing;
  std::string counted;  ///< what was compared, and how much of it
};

/// Parts of a report, in its order.
enum class Part {
  verdicts,
  conversions,
  recorded,
  digests,
  differences,
  matrix,
  constraints,
  layouts,
  numbers,
  errors,
  kernels,
  faults,
  findings,
  other,
  environment
};
inline constexpr std::size_t kParts = 15;

struct Run;

/// A part that a kind of run fills; empty HTML when this run has nothing for it.
struct Contribution {
  Part part;
  std::string (*html)(const Run&);
};

/// A row for each schema that reports know.
struct Kind {
  std::string_view schema;  ///< "mxact-verify"
  int version;              ///< "mxact-verify/1"
  std::string_view title;   ///< of its runs
  Outcome (*outcome)(const Run&);
  std::span<const Contribution> contributions;
  Figure (*figure)(const Run&);  ///< its picture; null: none
};
std::span<const Kind> kinds();

/// One file.
struct Run {
  std::string name;  ///< as given
  const Kind* kind;
  Json json;

  Node root() const { return {json, name + ": "}; }
};

/// Throws Error(input): not JSON, truncated, too large or too deep, no schema, a schema or version that reports do not know (with the nearest).
Run read_run(const std::filesystem::path& path);
/// As read_run, for JSON that is here already.
Run run_of(std::string name, Json json);

}  // namespace mx::verbs
