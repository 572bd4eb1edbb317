#pragma once
// What the codes and scales of each weight format are, and which scales belong to a row of an expert matrix: for whoever reads weights row by row.

#include <cstdint>

#include "model/layout/tensor.hpp"
#include "model/numerics/format.hpp"

namespace mx::moe {

/// What one scale covers.
enum class Coverage : std::uint8_t { group, square, row, half, expert };

/// Elements, scales and their blocks of a format.
struct WeightFacts {
  layout::WeightFormat format;
  const Format* element;
  const Format* scale;
  Coverage coverage;
  bool chosen;  ///< a code chooses an element from those that its group's scale stands for, and is none itself
};
const WeightFacts& weight_facts(layout::WeightFormat format);

/// A row among those of one expert: its half (gate, up), and the half's rows.
struct RowPlace {
  std::int64_t expert;
  std::int64_t halves;
  std::int64_t half;
  std::int64_t rows;
  std::int64_t row;
  std::int64_t length;
  std::int64_t index() const { return (expert * halves + half) * rows + row; }
};

/// `count` of the matrix's scales from `first` on, one for each `block` elements of the row; the last block may be short.
struct RowScales {
  std::int64_t first;
  std::int64_t count;
  std::int64_t block;
};
/// `group` is that of Sizes.
RowScales scales_of_row(const WeightFacts& facts, const RowPlace& place, std::int64_t group);

}  // namespace mx::moe
