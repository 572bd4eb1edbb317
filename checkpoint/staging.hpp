#pragma once
// An output directory that appears whole or not at all, and what conversions copy into it as it is.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/leftovers.hpp"

namespace mx::checkpoint {

/// Files are written into a directory beside the target, which takes its name when all of them are there. Whatever ends the work before that removes
/// them; only a process that is killed leaves its directory, ".NAME.PID.tmp".
class StagedDirectory {
 public:
  /// Makes the directory to write into. `sources` are the files and directories that are read: the target must be none of theirs and lie in none.
  /// Throws Error(usage) for that and for an empty path, Error(input) when the target is no directory or is not empty and `force` is not given,
  /// Error(resource) when the system refuses.
  StagedDirectory(const std::filesystem::path& target, std::span<const std::filesystem::path> sources, bool force);
  ~StagedDirectory();
  StagedDirectory(const StagedDirectory&) = delete;
  StagedDirectory& operator=(const StagedDirectory&) = delete;

  const std::filesystem::path& path() const { return staging_; }

  /// Throws Error(resource) where the file system has less room than that: before anything is written.
  void require_room(std::uint64_t bytes) const;

  /// Puts the files in place at once: by a rename where the target is new or empty, else by an exchange of both directories, in which the target's
  /// other files have come along. Where the file system has no exchange or no second names of files, or the target has directories in it, one by one
  /// over those of the same names, the index removed first and written last, so that a directory with an index is whole. Without `force` nothing is
  /// replaced: Error(usage) where somebody else has put something there since.
  void commit();

 private:
  void replace_files();
  bool replace_at_once();  ///< false: nothing was done, since it cannot be
  void replace_one_by_one(std::vector<std::filesystem::path> names);

  [[noreturn]] void refuse_taken() const;

  std::filesystem::path target_;
  std::filesystem::path staging_;
  bool force_;
  std::optional<support::Leftover> leftover_;
};

/// Throws Error(usage) where the target is one of the files and directories that are read, or lies in one of these.
void require_apart(const std::filesystem::path& target, std::span<const std::filesystem::path> sources);

/// What was not copied, and its size.
struct LeftOut {
  std::string name;  ///< of a directory with a slash
  std::uint64_t bytes;
};

/// Copies every file and directory beside the weights from one directory into another, but the index. Weights of another form, directories that hold
/// some and hidden directories are left, and given back, unless `copy_all`.
std::vector<LeftOut> copy_companions(const std::filesystem::path& from, const std::filesystem::path& to, bool copy_all = false);

/// Copies one file. Throws Error(resource) when the system refuses.
void copy_plain(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace mx::checkpoint
