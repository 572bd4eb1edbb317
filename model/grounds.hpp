#pragma once
// What a row of any table stands on: one enum and one legend for contracts, arithmetic, layouts and needs.

#include <cstdint>
#include <span>
#include <string_view>

namespace mx {

/// Why a row is believed to be what it says; the strongest first.
enum class Grounds : std::uint8_t {
  definition,    ///< ours: there is nothing else to agree with
  run,           ///< the real code or device was run, and every recorded value compared bit for bit
  run_by_parts,  ///< parts of it were run and compared; what stood in for the rest is named
  read,          ///< read in the source that the row cites
  published,     ///< a public document or report says so
  assumed,       ///< none of these
};

/// One word of the legend.
struct GroundsWord {
  Grounds grounds;
  std::string_view name;     ///< "run by parts"
  std::string_view meaning;  ///< one line for people
};
/// The legend, the strongest first.
std::span<const GroundsWord> grounds_legend();
std::string_view name_of(Grounds grounds);

/// The one that says less.
constexpr Grounds weaker(Grounds a, Grounds b) { return a < b ? b : a; }
/// Whether a recording must be there: run, or run by parts.
constexpr bool needs_recording(Grounds grounds) { return grounds == Grounds::run || grounds == Grounds::run_by_parts; }

/// Where a recording lies that a row was compared with.
struct Recording {
  std::string_view path;        ///< of a set below golden/witness, or of a test that runs the thing itself, below tests
  std::string_view entry = {};  ///< what the ids of its entries contain; empty: all of the set
};

/// The flag of a row that real code was seen to contradict.
inline constexpr std::string_view kKnownToDiffer = "known to differ";
inline constexpr std::string_view kKnownToDifferMeaning = "real code was seen to contradict the row at the place that is named";

}  // namespace mx
