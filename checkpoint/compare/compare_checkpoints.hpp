#pragma once
// Are two checkpoints the same numbers? Every matrix of every expert, value by value and exactly, in whatever forms they are, and every other tensor
// under its name.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/progress.hpp"
#include "support/stop.hpp"

namespace mx::checkpoint {

/// One tensor that both have, and whose numbers are not the same.
struct TensorDifference {
  std::string name;                 ///< in the first
  std::int64_t layer;               ///< -1: of no layer's experts
  std::int64_t values;              ///< that were compared
  std::int64_t differing;           ///< NaN is equal to NaN, 0 to -0
  double ratio;                     ///< the largest of two numbers, of the larger magnitude to the smaller; Inf where one is 0 or none
  std::vector<std::int64_t> first;  ///< place of the first: [row, column]
  double a;                         ///< there
  double b;
  std::string cause;  ///< what explains all of it; empty: nothing that is known here
};

/// A tensor that could not be compared.
struct TensorOmitted {
  std::string name;
  std::string why;  ///< "only in the first", "[2, 4] and [4, 2]", "U8 and BF16, and no expert's: its scales are not read"
  bool differs;     ///< it makes the checkpoints unlike; else it is a scale or the like of one form
};

struct CheckpointComparison {
  std::string first_form;
  std::string second_form;
  std::int64_t tensors = 0;  ///< compared: matrices of experts, and others
  std::int64_t values = 0;
  std::int64_t equal = 0;  ///< tensors
  std::vector<TensorDifference> differences;
  std::vector<TensorOmitted> omitted;
  bool finished = false;

  bool same() const;
};

struct CompareOptions {
  std::vector<int> layers;           ///< only their experts; empty: everything
  std::vector<std::string> tensors;  ///< only those whose names have one of these in them
  bool experts = true;               ///< else what is no expert's alone
  support::Progress progress = {};   ///< in bytes of the first
  support::Stop stop = {};
};

/// Reads a few rows of a matrix at a time; of forms that lie input-major a whole one. Throws Error(input) where a checkpoint cannot be read or was
/// converted, Error(usage) for a layer that has no experts in the first, and where no name has any of the parts in it.
CheckpointComparison compare_checkpoints(const std::filesystem::path& first, const std::filesystem::path& second, const CompareOptions& options);

}  // namespace mx::checkpoint
