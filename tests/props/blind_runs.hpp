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

namespace mx::tests {

/// One backend or part, and one kind of data.
struct BlindRun {
  std::string backend;
  std::string data;
  std::int64_t elements;       ///< whose right value is a number
  std::int64_t differ;         ///< of them, in some bit
  std::vector<bool> accepted;  ///< by each of all_tolerances()
};

struct BlindFault {
  const props::FaultRow* fault;
  std::vector<BlindRun> runs;  ///< without those that threw or crashed: nobody overlooks them
  int threw;
  std::string_view no_numbers;  ///< why no tolerance applies, where none does
};

/// Why no rule for outputs applies to what the fault breaks: an answer that is no number, or a tool that compares. "" where one does.
std::string_view why_no_numbers(const props::FaultRow& row);

std::vector<BlindFault> run_blind(std::span<const props::FaultRow> faults, int jobs, unsigned limit_seconds,
                                  const std::function<void(std::size_t)>& done);

}  // namespace mx::tests
