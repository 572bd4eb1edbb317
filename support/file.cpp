#include "support/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <system_error>
#include <utility>

#include "model/error.hpp"

namespace mx::support {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 30;  // the system takes no more than 2 GiB at once

std::string system_text(int error) { return std::generic_category().message(error); }

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }
  bool close() { return ::close(std::exchange(value_, -1)) == 0; }

 private:
  int value_;
};

struct OpenFile {
  Descriptor descriptor;
  std::uint64_t size;
  FileStamp stamp;
};

FileStamp stamp_of(const struct stat& status) {
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino), static_cast<std::uint64_t>(status.st_size),
          std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Opens without waiting: a pipe must fail on its kind, not wait for a writer.
OpenFile open_for_reading(const std::filesystem::path& path) {
  if (path.empty()) throw Error(ErrorCode::input, "the path of a file is empty");
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (opened < 0) throw Error(ErrorCode::input, "cannot be opened: " + system_text(errno), path.string());
  Descriptor descriptor(opened);
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) throw Error(ErrorCode::input, "cannot be examined: " + system_text(errno), path.string());
  if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::input, fmt::format("is {}, not a regular file", kind_of(status.st_mode)), path.string());
  return {std::move(descriptor), static_cast<std::uint64_t>(status.st_size), stamp_of(status)};
}

/// The disk begins at once instead of at the sync; who writes little at a time is left to the system.
void begin_writing_back(int descriptor, std::uint64_t offset, std::size_t size) {
#ifdef SYNC_FILE_RANGE_WRITE
  constexpr std::size_t kWorthIt = std::size_t{1} << 20;
  if (size >= kWorthIt) ::sync_file_range(descriptor, static_cast<off_t>(offset), static_cast<off_t>(size), SYNC_FILE_RANGE_WRITE);
#else
  static_cast<void>(descriptor);
  static_cast<void>(offset);
  static_cast<void>(size);
#endif
}

std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  static std::atomic<unsigned> count{0};
  // A long target name must not make the temporary one too long for the directory.
  const std::string stem = path.filename().string().substr(0, 100);
  return path.parent_path() / fmt::format(".{}.{}.{}.tmp", stem, ::getpid(), count++);
}

void check_target(const std::filesystem::path& path, bool force) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;
  const bool link = S_ISLNK(status.st_mode);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::input, fmt::format("is {}; only a regular file is replaced", link ? "a symbolic link" : kind_of(status.st_mode)),
                path.string());
  }
  if (!force) throw Error(ErrorCode::input, "exists already and is not overwritten without force", path.string());
}

/// Returns 0 or the error. Without force the file system itself refuses to replace a file that appeared in the meantime, where it can.
int rename_into_place(const std::filesystem::path& from, const std::filesystem::path& to, bool force) {
#ifdef RENAME_NOREPLACE
  if (!force) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
  }
#else
  static_cast<void>(force);
#endif
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

std::vector<std::uint8_t> read_file(const std::filesystem::path& path, std::uint64_t limit) {
  const OpenFile file = open_for_reading(path);
  if (file.size > limit) {
    throw Error(ErrorCode::input, fmt::format("has {} bytes, more than the {} allowed for such a file", file.size, limit), path.string());
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(file.size));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::read(file.descriptor.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(ErrorCode::input, fmt::format("cannot be read at byte {}: {}", done, system_text(errno)), path.string());
    if (count == 0) throw Error(ErrorCode::input, fmt::format("ended at byte {} of {} while it was read", done, bytes.size()), path.string());
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::status(path, error).type() != std::filesystem::file_type::not_found;
}

std::uint64_t file_size(const std::filesystem::path& path) { return open_for_reading(path).size; }

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  OpenFile file = open_for_reading(path);
  stamp_ = file.stamp;
  if (file.size > std::numeric_limits<std::size_t>::max() / 2) {
    throw Error(ErrorCode::resource, fmt::format("has {} bytes, more than this machine can address", file.size), path.string());
  }
  size_ = static_cast<std::size_t>(file.size);
  if (size_ > 0) {
    void* const address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor.get(), 0);
    if (address == MAP_FAILED) throw Error(ErrorCode::resource, "cannot be mapped: " + system_text(errno), path.string());
    data_ = static_cast<const std::uint8_t*>(address);
  }
  descriptor_ = file.descriptor.release();
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::uint8_t*>(data_), size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      stamp_(other.stamp_),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(stamp_, other.stamp_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void MappedFile::release(std::span<const std::uint8_t> part) const {
  if (part.empty()) return;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = static_cast<std::uint64_t>(part.data() - data_);
  const std::uint64_t first = (begin + page - 1) / page * page;
  const std::uint64_t last = (begin + part.size()) / page * page;
  // Advice: what fails is memory kept, nothing else.
  if (first < last) ::madvise(const_cast<std::uint8_t*>(data_) + first, static_cast<std::size_t>(last - first), MADV_DONTNEED);
}

void MappedFile::read(std::uint64_t offset, std::span<std::uint8_t> out) const {
  for (std::size_t done = 0; done < out.size();) {
    const std::uint64_t at = offset + done;
    const ssize_t count = ::pread(descriptor_, out.data() + done, std::min(kChunk, out.size() - done), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(ErrorCode::input, fmt::format("cannot be read at byte {}: {}", at, system_text(errno)), path_.string());
    if (count == 0) throw Error(ErrorCode::input, fmt::format("ended at byte {} of {} while it was read", at, size_), path_.string());
    done += static_cast<std::size_t>(count);
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && stamp_of(status) == stamp_) return;
  check_unchanged();
}

void MappedFile::expect(std::uint64_t offset, std::uint64_t size) const {
  ::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED);
}

void MappedFile::check_unchanged() const {
  struct stat open {};
  struct stat named {};
  if (::fstat(descriptor_, &open) != 0) throw Error(ErrorCode::input, "cannot be examined: " + system_text(errno), path_.string());
  if (stamp_of(open).size != stamp_.size) {
    throw Error(ErrorCode::input, fmt::format("changed while it was read: it had {} bytes and has {}", stamp_.size, stamp_of(open).size),
                path_.string());
  }
  if (stamp_of(open) != stamp_) throw Error(ErrorCode::input, "changed while it was read: it was written to", path_.string());
  if (::stat(path_.c_str(), &named) != 0 || stamp_of(named) != stamp_) {
    throw Error(ErrorCode::input, "changed while it was read: it was replaced or removed", path_.string());
  }
}

void require_writable(const std::filesystem::path& path, bool force) {
  check_target(path, force);
  const std::filesystem::path directory = path.parent_path().empty() ? "." : path.parent_path();
  if (::access(directory.c_str(), W_OK | X_OK) == 0) return;
  throw Error(ErrorCode::resource, "cannot create a file in this directory: " + system_text(errno), path.string());
}

void sync_directory(const std::filesystem::path& directory) {
  const Descriptor descriptor(::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  if (descriptor.get() >= 0 && ::fsync(descriptor.get()) != 0 && errno != EINVAL) {
    throw Error(ErrorCode::resource, "cannot sync the directory: " + system_text(errno), directory.string());
  }
}

NewFile::NewFile(const std::filesystem::path& path, bool force)
    : path_(path), temporary_(temporary_beside(path)), leftover_(temporary_), descriptor_(-1), force_(force) {
  check_target(path, force);
  descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw Error(ErrorCode::resource, "cannot create a file in this directory: " + system_text(errno), path.string());
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      leftover_(std::move(other.leftover_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      force_(other.force_) {}

void NewFile::write_at(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const std::uint64_t at = offset + done;
    const ssize_t count = ::pwrite(descriptor_, bytes.data() + done, std::min(kChunk, bytes.size() - done), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw Error(ErrorCode::resource, fmt::format("cannot write byte {} of {}: {}", at, offset + bytes.size(), system_text(errno)), path_.string());
    done += static_cast<std::size_t>(count);
  }
  begin_writing_back(descriptor_, offset, bytes.size());
}

void NewFile::read_at(std::uint64_t offset, std::span<std::uint8_t> out) const {
  for (std::size_t done = 0; done < out.size();) {
    const std::uint64_t at = offset + done;
    const ssize_t count = ::pread(descriptor_, out.data() + done, std::min(kChunk, out.size() - done), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      throw Error(ErrorCode::resource, fmt::format("cannot read byte {} again: {}", at, count < 0 ? system_text(errno) : "it is not there"),
                  path_.string());
    }
    done += static_cast<std::size_t>(count);
  }
}

void NewFile::sync() {
  if (::fsync(descriptor_) != 0) throw Error(ErrorCode::resource, "cannot be synced: " + system_text(errno), path_.string());
}

void NewFile::commit() {
  sync();
  if (::close(std::exchange(descriptor_, -1)) != 0) throw Error(ErrorCode::resource, "cannot be closed: " + system_text(errno), path_.string());
  const auto lock = hold_leftovers();
  const int error = rename_into_place(temporary_, path_, force_);
  if (error == EEXIST) throw Error(ErrorCode::input, "appeared while it was being written, and is not overwritten without force", path_.string());
  if (error != 0) throw Error(ErrorCode::resource, "cannot be renamed into place: " + system_text(error), path_.string());
  temporary_.clear();
  sync_directory(path_.parent_path());
}

void write_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes, bool force) {
  NewFile file(path, force);
  file.write_at(0, bytes);
  file.commit();
}

}  // namespace mx::support
