#pragma once
// The versioned set as files: written as a whole, the same bytes everywhere, and checked as a whole.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "golden/vectors/files/set_documents.hpp"
#include "golden/vectors/files/set_rows.hpp"
#include "golden/vectors/files/views.hpp"

namespace mx::golden {

/// Which part of the set.
enum class SetPart {
  core,  ///< what the repository holds: some rows, as .hex, and some decisions
  full,  ///< every row in every view, all decisions, and the digests
};
std::string_view name_of(SetPart part);

/// The table of a row.
VectorTable table_of(const SetRow& row, const VectorOp& op);

/// One file of the set.
struct SetFile {
  std::string path;  ///< below the set's directory: "v1/cast/f32_to_e4m3fn.ocp.directed.hex"
  FileBytes bytes;
};

/// Progress of a set that is being made, called by one thread at a time.
using SetProgress = std::function<void(std::size_t done, std::size_t all)>;

/// A part of an edition.
struct SetId {
  Edition edition;
  SetPart part;
};

/// What every table of a part has to say of itself, without its files' sums: its coverage above all. Uses all threads.
std::vector<TableRecord> set_records(const SetId& set, const SetProgress& progress);

/// A table beside the one of v1.
struct TableGrowth {
  std::string stem;
  std::uint64_t count;
  std::uint64_t before;  ///< vectors of v1's table; 0: v1 has none
};
/// Every table of a part. Throws Error(usage) for v1, which came after nothing.
std::vector<TableGrowth> set_growth(const SetId& set);

/// Every file of a part, each handed to `take` by one thread at a time, in a fixed order: tables, decisions, digests, then coverage.txt,
/// coverage.html, NOTES.md, manifest.json and SHA256SUMS. Uses all threads; the bytes do not depend on how many.
void make_set(const SetId& set, const SetProgress& progress, const std::function<void(const SetFile& file)>& take);

/// Writes the part below `directory`. Returns the number of files. Throws as support::write_file does, before anything is
/// computed where the directory cannot be made; without `force` nothing is overwritten.
std::size_t write_set(const SetId& set, const std::filesystem::path& directory, bool force, const SetProgress& progress);

/// What a directory's set lacks or has otherwise.
struct SetCheck {
  std::size_t files = 0;  ///< that are the set's, byte for byte
  std::vector<std::string> missing;
  std::vector<std::string> different;
  std::vector<std::string> unknown;  ///< files that the set does not have
};
/// Where `directory` has nothing of the set's name there is nothing to compare, and nothing is listed.
SetCheck check_set(const SetId& set, const std::filesystem::path& directory, const SetProgress& progress);

}  // namespace mx::golden
