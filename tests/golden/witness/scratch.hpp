#pragma once
// Directories and small sets that tests write, break and throw away.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "golden/witness/witness.hpp"
#include "support/json.hpp"
#include "verbs/witness/witness_document.hpp"

namespace mx::tests::witness {

using support::Json;

inline std::filesystem::path recorded(const std::string& set) { return std::filesystem::path(MXACT_ROOT) / "golden" / "witness" / set; }

/// A directory of its own, removed at the end.
class Scratch {
 public:
  explicit Scratch(const std::string& name);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void write_bytes(const std::filesystem::path& file, const std::vector<std::uint8_t>& bytes);
std::vector<std::uint8_t> read_bytes(const std::filesystem::path& file);
void write_text(const std::filesystem::path& file, const std::string& text);
Json read_json(const std::filesystem::path& file);

/// What running a path gives: the exit status the program would have, and every text that a person would see.
struct Outcome {
  int exit = 0;
  std::string text;
  std::vector<golden::SetResult> sets;
};
/// Sweeps off; an Error becomes its code and what().
Outcome run(const std::filesystem::path& path, bool allow_unmodelled = false, int max_differences = 1);

/// What `mxact witness` says of one set.
inline verbs::Document document_of(const golden::SetResult& set, bool verbose = false) { return verbs::witness_document({&set, 1}, false, verbose); }
inline std::string text_of(const golden::SetResult& set, bool verbose) { return verbs::to_text(document_of(set, verbose)); }

}  // namespace mx::tests::witness
