#pragma once
// Mismatches and explanations in words.

#include <string>
#include <vector>

#include "golden/vectors/checker.hpp"

namespace mx::golden {

/// Operands, the right answer with its neighbours, the device's answer; of columns with many lanes the first that differ.
std::vector<std::string> describe(const VectorOp& op, const Mismatch& mismatch);

/// "rounding: matches rounding toward_zero: 12 of 12 wrong answers, and all of 2038 right ones"
std::string describe(const Explanation& explanation);

}  // namespace mx::golden
