#pragma once
// The versioned set of vector files: which operations, under which choices, and why.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/vectors/vector_set.hpp"

namespace mx::golden {

/// One table of the set.
struct SetRow {
  std::string op;
  std::vector<OpSetting> options;
  SetChoice choice;
  bool core;                    ///< part of the committed set
  Edition since = Edition::v1;  ///< the first edition that has it; all later ones do
};
const std::vector<SetRow>& all_set_rows();

/// The operation of a row, in an edition that has it.
std::unique_ptr<VectorOp> op_of(const SetRow& row, Edition edition);

/// "cast/f32_to_e4m3fn.ocp.directed": folder and name of a row's files, without the extension.
std::string stem_of(const SetRow& row, const VectorOp& op);

/// Why vectors are there: a bug that they would have found.
struct SetNote {
  std::string_view name;  ///< anchor in NOTES.md
  std::string_view text;
  std::string_view link;
  std::string_view applies_to;  ///< part of the operation's name
};
std::span<const SetNote> all_set_notes();

/// Conversions of fp32 whose 2^32 answers stand as 256 digests.
struct DigestRow {
  std::string_view to;
  std::string_view profile;
};
std::span<const DigestRow> all_digest_rows();

}  // namespace mx::golden
