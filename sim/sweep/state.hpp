#pragma once
// Sweeps on disk: a state file that grows by one line for each finished chunk, and the merge of several.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "sim/sweep/sweep.hpp"

namespace mx::sim {

/// What a state file holds.
struct SweepRecord {
  std::string build;  ///< of the program that made it
  std::string identity;
  Digests digests{};
};

/// Text: "mxact-sweep/2 BUILD IDENTITY", then "chunk C 0xDIGEST" lines in any order. A last line without its end, as an interrupted write leaves it,
/// is not there. Throws Error(input) naming file and line: another head, a line of another form, two digests of one chunk.
SweepRecord read_sweep_state(const std::filesystem::path& path);

/// The target format of the conversion that the identity is of. Throws Error(input) for the identity of no profile's conversion.
const Format& target_of(const SweepRecord& record);

/// Several records of one conversion as one. Throws Error(input): nothing to merge, records of different conversions or builds, two digests of
/// one chunk. Chunks that all of them lack stay missing.
SweepRecord merge_sweep_states(std::span<const std::filesystem::path> paths);

/// A state file in use: what it holds is known, what is added is on disk when `add` returns.
class SweepState {
 public:
  /// Makes the file, or takes up one of the same subject and build: digests of different programs are never mixed. `build` names the program, in
  /// words without line ends. Throws Error(input) for a file that is something else or of another conversion or build, and Error(resource) when
  /// another process has it or the system refuses.
  SweepState(const std::filesystem::path& path, const SweepSubject& subject, const std::string& build);
  ~SweepState();
  SweepState(const SweepState&) = delete;
  SweepState& operator=(const SweepState&) = delete;

  const Digests& known() const { return record_.digests; }
  /// Throws Error(resource).
  void add(int chunk, std::uint64_t digest);

 private:
  void append(const std::string& line);

  std::filesystem::path path_;
  SweepRecord record_;
  int file_ = -1;
};

}  // namespace mx::sim
