#pragma once
// What explains that a file's codes and scales are not a rule's.

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

}  // namespace mx::checkpoint
