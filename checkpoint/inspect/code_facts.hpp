#pragma once
// One pass over the codes of a matrix: how many blocks reach the format's largest code, which have nothing but zeros or nothing but the largest, and
// what lies twice in it.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/code_kind.hpp"
#include "checkpoint/expert_tensors.hpp"
#include "checkpoint/tensor_pieces.hpp"
#include "support/stop.hpp"

namespace mx::checkpoint {

/// The part of one expert in the tensors of its weight and its scales; all of them where each expert has its own.
struct ExpertPart {
  const FoundTensor* weight;
  const FoundTensor* scale;  ///< null: none that counts for less than a matrix
  int expert;                ///< in the tensor
  int experts;               ///< of the tensor
};

/// A scale's number, and how many blocks that are not all 0 have it.
using ScaleCounts = std::map<double, std::int64_t>;

struct CodeFacts {
  CodeKind kind = CodeKind::plain;
  std::int64_t codes = 0;
  std::int64_t largest = 0;       ///< codes of the largest magnitude
  std::int64_t block = 0;         ///< codes of one
  std::int64_t blocks = 0;        ///< that are not all 0, and whose scale is none of the smallest of its dtype
  std::int64_t reaching = 0;      ///< of them, with a code of the largest magnitude
  std::int64_t reaching_240 = 0;  ///< e4m3: likewise a code of 240, and none above it
  Tally saturated;                ///< blocks of nothing but codes of the largest magnitude, by their scale's place in its tensor
  Tally lost;                     ///< blocks of zeros under a scale that is no quantizer's number for them
  ScaleCounts scales;
  bool zero = true;  ///< every code is 0
  bool rows_alike = false;
  bool groups_alike = false;
  std::string digest;                 ///< of all codes
  std::array<std::string, 2> halves;  ///< of gate and of up, where they share a tensor
};

/// Throws as SafetensorsFile::read does; Stopped.
CodeFacts code_facts(const FoundGroup& layer_group, const FoundLayer& layer, const ExpertPart& part, const support::StopPoint& stop);

}  // namespace mx::checkpoint
