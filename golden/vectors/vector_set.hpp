#pragma once
// A set of vectors: the operands in a fixed order, and the header that says all about them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "golden/vectors/op.hpp"

namespace mx::golden {

enum class SetKind {
  directed,    ///< what decides something, each once
  exhaustive,  ///< every combination of operands
  random,      ///< from a seed
};
std::string_view name_of(SetKind kind);
/// Throws Error(usage) with the nearest name.
SetKind set_kind_named(std::string_view name);

/// Which vectors of an operation.
struct SetChoice {
  SetKind kind;
  std::uint64_t seed = 1;                   ///< of a random set
  std::optional<std::uint64_t> count = {};  ///< of a random set
  friend bool operator==(const SetChoice&, const SetChoice&) = default;
};

/// The operands of a set, one vector after the other.
class VectorSet {
 public:
  /// Throws Error(usage): a random set without a count or another one with it, an exhaustive set of more than kMostExhaustive vectors, naming how
  /// many there are and what to do instead.
  VectorSet(const VectorOp& op, const SetChoice& choice);

  std::uint64_t count() const { return count_; }
  const SetChoice& choice() const { return choice_; }
  /// The next vector's operands; false at the end.
  bool next(MutableLanes operands);

 private:
  const VectorOp* op_;
  SetChoice choice_;
  std::uint64_t count_ = 0;
  std::uint64_t at_ = 0;
  std::vector<std::uint32_t> directed_;
  support::SplitMix64 random_;
};

/// Bins of a column named "bins": eight bits for each axis, the first axis in the lowest ones.
Column bins_column(const VectorOp& op);
/// Columns of masks, one for each column of results.
std::vector<Column> mask_columns(const VectorOp& op);
/// All columns of a file: operands, results, masks, bins.
std::vector<Column> file_columns(const VectorOp& op);
/// Lanes of file_columns() for these operands: evaluates the operation.
void file_lanes(const VectorOp& op, Lanes operands, std::vector<std::uint32_t>& lanes);

/// The words of the first header line after "// mxact-vectors VERSION ": key and value, in order.
std::vector<OpSetting> header_facts(const VectorOp& op, const VectorSet& set);
/// Both header lines. `columns` are those that follow.
std::string header_text(const VectorOp& op, const VectorSet& set, std::span<const Column> columns);

}  // namespace mx::golden
