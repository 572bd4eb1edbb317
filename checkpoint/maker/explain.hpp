#pragma once
// What explains that a file's codes and scales are not a rule's.

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/maker/attempt.hpp"

namespace mx::checkpoint {

/// Some blocks that were looked at.
struct SampleBlocks {
  CodedBlocks blocks;
  std::int64_t first_row;
};

/// A sentence on the nearest rule, whose counts are of all blocks, from some of them; empty: nothing that is known here.
std::string cause_of(const CodedMatrix& matrix, Attempt& nearest, const std::vector<SampleBlocks>& sample);

/// What the one scale of a matrix is known to be, against the largest magnitude of the base, in the source's bits; empty: nothing that is known here.
std::string known_scale(const CodedMatrix& matrix, std::uint32_t amax);

}  // namespace mx::checkpoint
