#pragma once
// How likely something is in a sound file, as a power of ten: -12.5.

#include <cstdint>
#include <string>

#include "checkpoint/inspect/code_facts.hpp"

namespace mx::checkpoint {

/// What is less likely does not happen in a sound file.
inline constexpr double kNever = -9;

/// The chance that so many numbers, drawn one by one from these, are all equal.
double chance_of_alike(const ScaleCounts& pool, std::int64_t count);
/// The same that two lists of so many are equal.
double chance_of_equal(const ScaleCounts& pool, std::int64_t count);

/// "about 1e-13"
std::string chance_text(double power);

}  // namespace mx::checkpoint
