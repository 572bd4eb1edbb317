#pragma once
// Address maps written as index arithmetic, for tests that hold programs against a document's formulas.

#include <cstdint>
#include <functional>
#include <vector>

#include "model/layout/layout.hpp"

namespace mx::test {

using Map = std::vector<std::int64_t>;

inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// A matrix of units: unit (row, col) has number row * cols + col, and beyond its sizes lies `pad`.
struct Matrix {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t pad = layout::Layout::kPadZero;

  std::int64_t at(std::int64_t row, std::int64_t col) const { return row < rows && col < cols ? row * cols + col : pad; }
};

/// The map of one matrix, put one behind another for `batch` of them.
inline Map repeated(const Map& one, std::int64_t batch, std::int64_t units) {
  Map all;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t entry : one) all.push_back(entry < 0 ? entry : entry + b * units);
  }
  return all;
}

/// One matrix's map from the source of every address.
inline Map mapped(std::int64_t count, const std::function<std::int64_t(std::int64_t)>& source) {
  Map map;
  for (std::int64_t address = 0; address < count; ++address) map.push_back(source(address));
  return map;
}

}  // namespace mx::test
