#pragma once
// Numbers that Python hands over as codes, or as codes under scales.

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "model/numerics/dot.hpp"
#include "python/module/core.hpp"

namespace mx::python {

/// The format of codes, of scales (empty: none), elements of a block, codes, scales. Rows are whole blocks and follow each other.
using Given = std::tuple<std::string, std::string, int, Bytes, Bytes>;

/// Throws Error for an unknown format, and Error(usage) for a word that is no code of it, with its place.
struct Side {
  explicit Side(const Given& given);

  std::vector<Value> elements;
  std::vector<Value> scales;
  Operand operand;
};

/// Every element times its scale, exactly.
std::vector<Value> values_of(const Given& given);

}  // namespace mx::python
