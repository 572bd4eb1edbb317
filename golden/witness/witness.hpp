#pragma once
// Holds the model against recorded outputs of real implementations (witnesses): anyone's, as long as they are written down in one of three forms.
//   mxact-witness/1    (and /2, /3, which add words) a directory with manifest.json and raw arrays: conversions, block quantization, layers
//   (python/mxact/_record.py writes it) layout-vectors/2   a directory with manifest.json and index arrays or digests: what a converter did with
//   known bytes X.jsonl            one oracle case a line, joined by id with X_support.jsonl beside it

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mx::golden {

enum class EntryStatus {
  equal,             ///< at least one value was compared and all are within the entry's own relation, or excused by the ledger
  differs,           ///< at least one value is outside it
  unmodelled,        ///< the model does not claim this behaviour, or the entry says something this reader does not know
  mistrusted,        ///< nothing differs, but recorded values are such that one and the same value everywhere would have agreed too
  nothing_compared,  ///< modelled, but every value of an output is skipped, or sweeps are switched off
};
std::string_view name_of(EntryStatus status);

struct LedgerRow;

/// Values that a row of the ledger (golden/witness/ledger.hpp) excuses.
struct ExcusedCount {
  const LedgerRow* row;
  std::int64_t count;
};

/// What became of one entry of a set.
struct EntryResult {
  std::string id;
  std::string level = "must";  ///< `must`: a model has to satisfy it; `info`: reported, never counted
  std::string what;            ///< operation, or layout and kind, or oracle
  EntryStatus status = EntryStatus::nothing_compared;
  std::int64_t compared = 0;             ///< values held against the model
  std::int64_t differing = 0;            ///< of these, outside the relation
  std::int64_t excused = 0;              ///< of these, outside the relation too, and excused by the ledger: not in `differing`
  std::int64_t skipped = 0;              ///< values that the entry says not to compare
  bool discriminates = false;            ///< no single value agrees with all that is recorded of some output
  std::vector<std::string> differences;  ///< the first of them, each with everything needed to understand it
  std::vector<ExcusedCount> excuses;     ///< `excused` by output and row
  std::string reason;                    ///< why unmodelled or nothing compared
  double seconds = 0;                    ///< that it took

  bool counts() const { return level != "info"; }
  std::string_view first_difference() const { return differences.empty() ? std::string_view() : std::string_view(differences.front()); }
};

/// What became of one set.
struct SetResult {
  std::filesystem::path path;
  std::string name;    ///< as the set calls itself
  std::string format;  ///< one of the three forms with its version; "unknown" for another one
  std::vector<EntryResult> entries;
  bool readable = true;  ///< false: its form is not known, and its one entry says so

  std::int64_t count(EntryStatus status) const;  ///< entries with this status, of any level
  std::int64_t compared() const;                 ///< values, of any level
  std::int64_t differing() const;                ///< values, of any level
  std::int64_t excused() const;                  ///< values, of any level
  std::int64_t skipped() const;                  ///< values, of any level
  std::vector<ExcusedCount> excuses() const;     ///< `excused()` by row of the ledger
};

/// Something that takes seconds has advanced: `done` of `total` steps of `what` in `set`.
struct WitnessProgress {
  std::string_view set;
  std::string_view what;
  std::int64_t done;
  std::int64_t total;
};

struct WitnessOptions {
  bool sweeps = true;                                    ///< compare digests over all 2^32 inputs (seconds per distinct conversion)
  int max_differences = 1;                               ///< differences described per entry; all are counted
  std::function<void(const WitnessProgress&)> progress;  ///< may be empty
};

/// Holds every set under `path` against the model, sorted by path: a directory with manifest.json, a .jsonl file of oracle cases, or any directory
/// above those. Throws Error(input) that names file, entry and value when a manifest, a data file or a case breaks its form, and when there is no
/// set. Source: golden/witness/FORMAT.md for mxact-witness/1; LayoutRecorder of python/mxact/_record.py and golden/witness/oracle.hpp for the others.
std::vector<SetResult> run_witness(const std::filesystem::path& path, const WitnessOptions& options);

/// 1 when anything of level `must` differs; else 5 when nothing was compared, a set is not readable or an entry of level `must` is mistrusted; else 4
/// when an entry of level `must` is unmodelled and that is not allowed; else 0.
int exit_code(std::span<const SetResult> sets, bool allow_unmodelled);

}  // namespace mx::golden
