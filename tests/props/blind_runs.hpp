#pragma once
// What public tolerances would have let pass: outputs with a planted fault, held against those without by every rule.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "props/faults.hpp"
#include "props/tolerances.hpp"
#include "tests/props/blind_outputs.hpp"

namespace mx::props {

/// One backend and one kind of data.
struct BlindRun {
  const BackendRow* backend;
  const DataRow* data;
  std::int64_t elements;
  std::int64_t differ;         ///< of them, in some bit
  std::vector<bool> accepted;  ///< by each of all_tolerances()
};

struct BlindFault {
  const FaultRow* fault;
  std::vector<BlindRun> runs;  ///< without those that threw or crashed: nobody overlooks them
  int threw;
};

/// Whether an MoE layer's output can show the fault at all: those of numerics, layouts, moe and the simulator.
bool reaches_outputs(const FaultRow& row);

std::vector<BlindFault> run_blind(std::span<const FaultRow> faults, int jobs, unsigned limit_seconds, const std::function<void(std::size_t)>& done);

}  // namespace mx::props
