#pragma once
// Answers that are one code, or off by one number, everywhere: read off the wrong answers themselves.

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "golden/vectors/op.hpp"

namespace mx::golden {

/// Counts which codes wrong answers have, and by how much they differ from right ones, column by column.
class DifferenceCount {
 public:
  explicit DifferenceCount(const std::vector<Column>& columns) : columns_(&columns), counts_(columns.size()), answers_(columns.size()) {}

  /// One vector with a wrong answer.
  void add(Lanes right, Lanes answer);

  /// Of each column the difference that most of its wrong codes have, as rules: once ending at the ends of the format with NaN kept, once modulo
  /// the width. None of a column where it is not that of half of them. Where every wrong code of a column is the same one and different codes were
  /// right, it is the rule that the column is stuck at it, and no difference.
  std::vector<WrongRule> rules() const;

 private:
  const std::vector<Column>* columns_;
  /// Of a column's wrong codes: which the device gave, and which were right.
  struct Codes {
    std::set<std::uint32_t> given, right;
    bool are_stuck() const { return given.size() == 1 && right.size() > 1; }
  };
  std::vector<std::map<std::int64_t, std::uint64_t>> counts_;
  std::vector<Codes> answers_;
};

}  // namespace mx::golden
