#pragma once
// Answers that are off by one number everywhere: read off the wrong answers themselves.

#include <cstdint>
#include <map>
#include <vector>

#include "golden/vectors/op.hpp"

namespace mx::golden {

/// Counts by how much wrong answers differ from right ones, column by column.
class DifferenceCount {
 public:
  explicit DifferenceCount(const std::vector<Column>& columns) : columns_(&columns), counts_(columns.size()) {}

  /// One vector with a wrong answer.
  void add(Lanes right, Lanes answer);

  /// Of each column the difference that most of its wrong codes have, as rules: once ending at the ends of the format with NaN kept, once modulo
  /// the width. None of a column where it is not that of half of them.
  std::vector<WrongRule> rules() const;

 private:
  const std::vector<Column>* columns_;
  std::vector<std::map<std::int64_t, std::uint64_t>> counts_;
};

}  // namespace mx::golden
