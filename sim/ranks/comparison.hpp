#pragma once
// The comparison that a refactoring of an engine needs: every backend of an oracle on one platform, over ways of spreading, in bits.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/audit/cells.hpp"
#include "sim/ranks/scenario.hpp"

namespace mx::sim {

/// A way of spreading.
struct Spread {
  std::string_view name;
  int tp;
  int dp;
  bool expert_parallel;
};
/// single, TP=2, DP=2+EP.
std::span<const Spread> compared_spreads();

/// What was reported of real hardware, beside what the bits show.
struct ReportedRow {
  int capability_low;  ///< of the devices that the report is about
  int capability_high;
  std::string_view backend;
  std::string_view spread;
  bool works;
  std::string_view report;  ///< the accuracy that was measured, or how it fails
  std::string_view cause;   ///< of a failure, as far as layout, padding, scales or shapes explain it; empty: they do not
};

struct ComparedCell {
  std::string backend;
  const Spread* spread;
  audit::CellState answer;
  std::string kernel_class;  ///< empty when refused
  std::string reason;        ///< of a refusal
  Simulation simulation;     ///< empty when refused
  const ReportedRow* reported = nullptr;
  double seconds = 0;  ///< that simulating it took, without the reference that a backend's cells share

  /// One word or two: "bit-equal", "within the bound", "BROKEN: dispatch", "refused: shape".
  std::string verdict() const;
  /// It was executed and no link is broken.
  bool works() const;
  /// It works, and its data could not have shown otherwise.
  bool is_mistrusted() const;
  /// With what was reported; true where nothing was.
  bool agrees() const { return reported == nullptr || reported->works == works(); }
};

struct Comparison {
  std::vector<ComparedCell> cells;  ///< backends in the oracle's order, spreads within
  /// Of the cells that the engine chooses by itself: 1 when one is broken, else 4 when a converter refuses one, else 0. Other backends' cells are
  /// shown and fail nothing. 5 when nothing was executed, or nothing failed and one of those cells is mistrusted.
  int exit_code() const;
};

/// Called with a phrase and the fraction done.
using CompareProgress = std::function<void(const std::string&, double)>;

/// Throws as simulate() does.
Comparison compare_backends(const Scenario& scenario, const CompareProgress& progress);

/// The decision for one deployment, with the class that runs: the engine's own, or the first class of a backend that accepts it. None and a reason
/// when there is none.
struct Selected {
  audit::CellState answer = audit::CellState::refused;
  std::string kernel_class;
  std::string reason;
};
Selected selected(deployment::Engine engine, const std::string& oracle, const deployment::Deployment& deployment, std::string_view backend);

}  // namespace mx::sim
