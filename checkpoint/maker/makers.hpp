#pragma once
// Who made a checkpoint of a base: every matrix of every expert, by the rules of every library that is known here.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "checkpoint/compare/compare_checkpoints.hpp"
#include "checkpoint/maker/made_by.hpp"

namespace mx::checkpoint {

/// One matrix that both have.
struct MatrixMaker {
  std::string name;  ///< in the quantized checkpoint
  std::int64_t layer;
  MadeBy made;
  std::string
      number;  ///< what its one number is, against the base: "of the largest magnitude of gate and up"; empty: there is none, or nothing known
};

/// A rule, and for how many matrices it gives exactly what the file has.
struct MakerShare {
  Maker maker;
  std::int64_t exact;
};

struct Makers {
  std::string base_form;
  std::string quantized_form;
  std::string producer;  ///< that the quantized checkpoint names
  std::vector<MatrixMaker> matrices;
  std::vector<MakerShare> shares;  ///< the one that is exact for most first; of equal ones the producer's own
  CheckpointComparison others;     ///< what is no expert's, and layers that have no counterpart
  bool finished = false;

  std::int64_t exact() const;     ///< matrices that a rule gives
  std::int64_t lossless() const;  ///< whose numbers are the base's
  /// Every matrix is exact or lossless, and every other tensor is the base's.
  bool explained() const;
  /// "38 of 38 matrices are modelopt-nvfp4's (release 0.47) of this base; 2 other tensors differ".
  std::string sentence() const;
};

/// Whether the first is a base, in 16 or 32 bits, and the second quantized: of the layers that are the models'. Throws Error(input) where one cannot
/// be read.
bool are_base_and_quantized(const std::filesystem::path& first, const std::filesystem::path& second);

/// All threads; each holds some megabytes, all of them at most 300. Errors as compare_checkpoints.
Makers find_makers(const std::filesystem::path& base, const std::filesystem::path& quantized, const CompareOptions& options);

}  // namespace mx::checkpoint
