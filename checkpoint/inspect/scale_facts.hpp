#pragma once
// The scales of one part of a tensor: their range, how many are what, whether they are all one number.

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "checkpoint/inspect/code_facts.hpp"

namespace mx::checkpoint {

/// Binades by their exponents, and how many numbers lie in each.
using Binades = std::map<int, std::int64_t>;

struct ScaleFacts {
  std::int64_t count = 0;
  std::int64_t zeros = 0;
  std::int64_t subnormals = 0;
  double least = 0;          ///< above 0; 0: there is none
  double most = 0;           ///< finite; 0: there is none
  std::int64_t largest = 0;  ///< numbers that are the largest of the dtype
  std::int64_t first_largest = 0;
  std::int64_t spelled = 0;  ///< numbers that spell an exponent byte (64 to 191), or bytes that spell one without its bias
  bool spells = false;       ///< all do, or all but a few, and no sound scale would
  bool alike = false;        ///< one number, several times
  Binades binades;
  ScaleCounts counts;  ///< by number; of tensors with more numbers than kCounted the first so many
  std::string digest;

  static constexpr std::int64_t kCounted = std::int64_t{1} << 16;
  void add(const ScaleFacts& other);
};

/// Of the numbers of `tensor` that belong to one of `experts`. Throws as SafetensorsFile::read does.
ScaleFacts scale_facts(const FoundTensor& tensor, int expert, int experts);

}  // namespace mx::checkpoint
