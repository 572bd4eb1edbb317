#pragma once
// Files from outside, read within bounds; files of ours, written whole or not at all.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "support/leftovers.hpp"

namespace mx::support {

/// Whole content. Throws Error(input) when the file is missing, not a regular file, unreadable, shrinking or larger than `limit` bytes.
std::vector<std::uint8_t> read_file(const std::filesystem::path& path, std::uint64_t limit);

/// True unless nothing is there. What cannot be examined counts as there: opening it says why.
bool is_there(const std::filesystem::path& path);

/// Size in bytes; same errors as read_file.
std::uint64_t file_size(const std::filesystem::path& path);

/// What tells that a file is another one, or was written to.
struct FileStamp {
  std::uint64_t device;
  std::uint64_t inode;
  std::uint64_t size;
  std::int64_t modified;  ///< nanoseconds
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// A read-only memory-mapped file that stays open. Throws Error(input) as read_file does, Error(resource) when the system cannot map it; an empty
/// file maps to an empty span. Where another program may shorten the file, read() is the way to its bytes: touching bytes() of what is gone raises
/// SIGBUS.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::uint8_t> bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }
  /// Gives the memory of a part of bytes() back until it is read again: who walks a large file holds no more of it than where he is.
  void release(std::span<const std::uint8_t> part) const;
  /// The bytes from `offset` on, not through the mapping. Throws Error(input) when they cannot be read, or as check_unchanged does.
  void read(std::uint64_t offset, std::span<std::uint8_t> out) const;
  /// Advises the system that these bytes are read soon. Nothing but time depends on it.
  void expect(std::uint64_t offset, std::uint64_t size) const;
  /// Throws Error(input) when the file was written to, cut short, replaced or removed since it was opened.
  void check_unchanged() const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  FileStamp stamp_{};
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

/// What write_file would refuse, as far as it can be known before there is anything to write. Throws as it does.
void require_writable(const std::filesystem::path& path, bool force);

/// Makes what was renamed in a directory last. Throws Error(resource) when the system refuses; some file systems cannot, which is no error.
void sync_directory(const std::filesystem::path& directory);

/// A file that is written in pieces under a temporary name in the same directory and takes its own name when it is whole. Otherwise as write_file.
class NewFile {
 public:
  NewFile(const std::filesystem::path& path, bool force);
  ~NewFile();
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;

  void write_at(std::uint64_t offset, std::span<const std::uint8_t> bytes);
  /// What was written, again.
  void read_at(std::uint64_t offset, std::span<std::uint8_t> out) const;
  /// Waits until everything that was written is on the disk.
  void sync();
  /// Syncs, renames and syncs the directory. To be called once.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty when there is nothing to remove
  Leftover leftover_;
  int descriptor_;
  bool force_;
};

/// Writes a temporary file in the same directory, syncs it, renames it and syncs the directory. Refuses to overwrite unless `force`, and
/// never replaces anything but a regular file. Whoever looks sees the old file or the whole new one, also after a crash.
/// Throws Error(input) when the target exists, Error(resource) when the system refuses; then nothing half written is left. Only a process that is
/// killed in the middle leaves its temporary file, ".NAME.PID.COUNT.tmp".
void write_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes, bool force);

}  // namespace mx::support
