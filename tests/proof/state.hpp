#pragma once
// What a proof has checked so far, as a text file: a header that names the build, then one line per finished chunk. Lines are appended whole;
// what a killed run left half written at the end is ignored.

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "tests/proof/functions.hpp"

namespace mx::tests {

/// Which program a result belongs to: results of different programs are never mixed.
struct Build {
  std::string digest;  ///< 16 hex digits over the program's own bytes
  std::string commit;

  friend bool operator==(const Build&, const Build&) = default;
};

/// The running program. Throws Error(resource) when its file cannot be read.
Build this_build();

/// One chunk of one row of one kind of proof.
struct ChunkKey {
  std::string kind;  ///< conversions, further, twin or functions
  std::string row;
  std::uint32_t chunk;

  friend auto operator<=>(const ChunkKey&, const ChunkKey&) = default;
};

using Results = std::map<ChunkKey, ChunkResult>;

/// Adds a result; the same one again is fine. Throws Error(input) naming `where` when another result is known for the chunk.
void add_result(Results& results, const ChunkKey& key, const ChunkResult& result, const std::string& where);

struct State {
  Build build;
  Results results;
};

/// Reads a state file. Throws Error(input) with the line for anything malformed, Error(resource) when it cannot be read.
State read_state(const std::string& path);

/// Adds the other's results. Throws Error(input) when it is of another build or contradicts.
void merge_state(State& state, const State& other, const std::string& where);

/// A state file open for appending, by one process at a time.
class StateFile {
 public:
  /// Creates the file, or reads it and cuts a half-written last line off. Throws Error(input) for a malformed file or one of another build,
  /// Error(resource) when the file cannot be opened or another process appends to it.
  StateFile(const std::string& path, const Build& build);
  ~StateFile();
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  const Results& results() const { return results_; }
  /// Appends one line with one write. Throws Error(resource).
  void append(const ChunkKey& key, const ChunkResult& result);

 private:
  void write_line(const std::string& line);

  std::string path_;
  int file_;
  Results results_;
};

}  // namespace mx::tests
