#pragma once
// What quantization costs: every block recipe of the numerics profiles on data of several distributions.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/numerics/profile.hpp"
#include "support/progress.hpp"

namespace mx::sim {

/// Where values come from. All are made of a seed with integers and exact steps: the same bits everywhere.
struct Distribution {
  std::string_view name;
  std::string_view meaning;
  /// bf16 codes of `count` values.
  std::vector<std::uint32_t> (*make)(std::int64_t count, std::uint64_t seed);
};
std::span<const Distribution> all_distributions();
/// Throws Error(usage) with the nearest known name.
const Distribution& distribution_named(std::string_view name);

/// One cell.
struct StudyCell {
  double sqnr_db;          ///< 10 log10(sum of squares / sum of squared errors); Inf when nothing is lost, NaN when a result is one
  double max_error;        ///< as a share of the largest magnitude of all values
  std::int64_t saturated;  ///< elements above the largest number that their block's scale can reach
  std::int64_t flushed;    ///< elements that are not zero and became zero
};

/// One recipe of one profile, over all distributions that were asked for.
struct StudyRow {
  std::string profile;
  std::string format;
  std::string rule;
  std::vector<StudyCell> cells;
};

struct StudyOptions {
  std::vector<std::string> profiles = {};       ///< names; empty: every one with a recipe that takes bf16 and gives codes
  std::vector<std::string> formats = {};        ///< block formats; empty: all
  std::vector<std::string> distributions = {};  ///< empty: all
  std::int64_t values = 1 << 14;                ///< whole tiles of every format
  std::uint64_t seed = 1;
  support::Progress progress = {};  ///< in profiles
};

struct Study {
  std::vector<const Distribution*> distributions;
  std::vector<StudyRow> rows;
  std::int64_t values;
};

/// Throws Error(usage) for unknown names, a number of values that is not a multiple of kStudyUnit, and when nothing is left to study.
Study run_study(const StudyOptions& options);

/// The values of one block format's tile and everything smaller divide it: 128 x 128.
inline constexpr std::int64_t kStudyUnit = std::int64_t{128} * 128;

}  // namespace mx::sim
