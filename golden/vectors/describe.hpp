#pragma once
// Mismatches and explanations in words.

#include <string>
#include <vector>

#include "golden/vectors/checker.hpp"

namespace mx::golden {

/// Operands, the right answer with its neighbours, the device's answer, and how far both are from the exact result where the operation says it; of
/// columns with many lanes the first that differ.
std::vector<std::string> describe(const VectorOp& op, const Mismatch& mismatch);

/// "rounding: matches rounding toward_zero: 12 of 12 wrong answers, and all of 2038 right ones"
std::string describe(const Explanation& explanation);
std::string describe(const FittingComposition& composition);

/// What explains wrong answers, a line each: the rules, the best first, and the compositions that fit. `ver` and scoreboards say the same.
std::vector<std::string> describe(const std::vector<Explanation>& explanations, const std::vector<FittingComposition>& compositions);

/// "FAILED: 4624 of 4624 vectors checked, 126 wrong"
std::string verdict_text(CheckVerdict verdict, std::uint64_t checked, std::uint64_t expected, std::uint64_t wrong, const std::string& why_mistrusted);

}  // namespace mx::golden
