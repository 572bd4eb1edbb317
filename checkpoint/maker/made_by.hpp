#pragma once
// Who made it: which library's rule gives exactly these codes and scales of this base; else the nearest one, and what explains the rest.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/maker/candidates.hpp"
#include "checkpoint/maker/coded_matrix.hpp"
#include "support/stop.hpp"

namespace mx::checkpoint {

/// A rule, by the names of its profile.
struct Maker {
  std::string_view profile;         ///< "modelopt-nvfp4"
  std::string_view implementation;  ///< "modelopt"
  std::string release;              ///< "0.47", "commit db4666f", "not recorded"
  std::string made_from;            ///< "of this base", "of this base, rounded to bf16 first"

  friend bool operator==(const Maker&, const Maker&) = default;
};

/// How far a rule's codes and scales are from those of the file.
struct MakerCounts {
  std::int64_t blocks = 0;     ///< that were looked at
  std::int64_t differing = 0;  ///< blocks whose scale or any code is another
  std::int64_t scales = 0;     ///< scales that are others
  std::int64_t codes = 0;      ///< codes that are others
  std::int64_t narrowed = 0;   ///< scales that are the rule's, rounded to what the file holds
  std::int64_t first_row = 0;  ///< of the first block that differs
  std::int64_t first_column = 0;
};

struct MadeBy {
  std::vector<Maker> exact;  ///< all that give exactly these; the first was held against every block, the others against the rows that were tried
  Maker nearest;             ///< the first of them, or the one with the fewest blocks that differ
  bool known = false;        ///< there are rules of this form
  MakerCounts counts;        ///< of the nearest
  bool given = false;        ///< its scale was calibrated: none that the rule makes
  bool lossless = false;     ///< codes times scales are the base's numbers
  std::uint32_t amax = 0;    ///< of the base, in the source's bits
  std::string cause;         ///< what explains the blocks that differ, or a scale that was given; empty: nothing is known

  bool is_exact() const { return !exact.empty(); }
};

struct MakerOptions {
  std::string_view producer = {};       ///< whose rules are held against every block first: "modelopt"
  std::uint32_t amax = 0;               ///< of the base, in the source's bits, where it is known
  std::vector<Amax> further_amax = {};  ///< that one scale of the whole may have been made from, beside the matrix's own
  support::Stop stop = {};
};

/// Tries every rule on a few rows, then those that are left on all: at most two times through the matrix where one of them gives it exactly. Holds
/// some megabytes. One thread. Throws support::Stopped and what `read` throws.
MadeBy made_by(const CodedMatrix& matrix, const MakerOptions& options);

}  // namespace mx::checkpoint
