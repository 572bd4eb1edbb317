#include "checkpoint/staging.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <vector>

#include "checkpoint/checkpoint_files.hpp"
#include "model/error.hpp"
#include "support/file.hpp"

namespace mx::checkpoint {
namespace {

namespace fs = std::filesystem;

/// Files of weights, of this form or of another one.
constexpr std::array<std::string_view, 9> kWeights{".safetensors", ".bin", ".pt", ".pth", ".gguf", ".onnx", ".h5", ".msgpack", ".ckpt"};

bool holds_weights(const fs::path& name) { return std::ranges::find(kWeights, name.extension().string()) != kWeights.end(); }

/// Bytes of the regular files below a directory, and whether one of them is of weights.
struct Below {
  std::uint64_t bytes = 0;
  bool weights = false;
};
Below below(const fs::path& directory) {
  Below found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory, fs::directory_options::skip_permission_denied, error)) {
    if (!entry.is_regular_file(error)) continue;
    found.bytes += entry.file_size(error);
    found.weights = found.weights || holds_weights(entry.path());
  }
  return found;
}

void check_system(const std::error_code& error, const std::string& what, const fs::path& path) {
  if (error) throw Error(ErrorCode::resource, what + ": " + error.message(), path.string());
}

/// The target without links and without a slash at its end, so that it has a name and a parent.
fs::path resolved(const fs::path& target) {
  if (target.empty()) throw Error(ErrorCode::usage, "the path is empty", "output directory");
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(target), error);
  check_system(error, "cannot be resolved", target);
  return whole.has_filename() ? whole : whole.parent_path();
}

bool is_new_or_empty(const fs::path& target) {
  std::error_code error;
  if (!support::is_there(target)) return true;
  if (!fs::is_directory(target, error)) throw Error(ErrorCode::input, "is there already and is no directory", target.string());
  const bool empty = fs::is_empty(target, error);
  check_system(error, "cannot be listed", target);
  return empty;
}

bool is_one_of(const std::error_code& error, std::initializer_list<std::errc> known) {
  return std::ranges::any_of(known, [&](std::errc one) { return error == one; });
}

/// Gives the staging directory the target's other files, under second names of theirs. False when the file system has no second names, or when the
/// target holds what can have none.
bool link_others(const fs::path& target, const fs::path& staging) {
  for (const fs::directory_entry& entry : fs::directory_iterator(target)) {
    const fs::path name = staging / entry.path().filename();
    std::error_code error;
    if (support::is_there(name)) continue;
    if (!fs::is_regular_file(entry.symlink_status(error))) return false;
    fs::create_hard_link(entry.path(), name, error);
    if (is_one_of(error, {std::errc::operation_not_permitted, std::errc::operation_not_supported, std::errc::too_many_links})) return false;
    check_system(error, "cannot be linked to " + name.string(), entry.path());
  }
  return true;
}

/// Both directories change places at once. False when the file system cannot, or the target is where another one is mounted.
bool exchange(const fs::path& target, const fs::path& staging) {
#ifdef RENAME_EXCHANGE
  if (::renameat2(AT_FDCWD, staging.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) return true;
  const std::error_code error(errno, std::generic_category());
  if (!is_one_of(error, {std::errc::invalid_argument, std::errc::function_not_supported, std::errc::device_or_resource_busy})) {
    check_system(error, "cannot be renamed into place", target);
  }
#else
  static_cast<void>(target);
  static_cast<void>(staging);
#endif
  return false;
}

}  // namespace

StagedDirectory::StagedDirectory(const fs::path& target, std::span<const fs::path> sources, bool force) : target_(resolved(target)), force_(force) {
  std::error_code error;
  require_apart(target, sources);
  if (!is_new_or_empty(target_) && !force) {
    throw Error(ErrorCode::input, "is not empty; --force replaces the files of the same names", target.string());
  }
  fs::create_directories(target_.parent_path(), error);
  check_system(error, "cannot be created", target_.parent_path());
  const fs::path staging = target_.parent_path() / fmt::format(".{}.{}.tmp", target_.filename().string(), ::getpid());
  if (support::is_there(staging)) throw Error(ErrorCode::resource, "is left of another run: remove it", staging.string());
  leftover_.emplace(staging);
  fs::create_directory(staging, error);
  check_system(error, "cannot be created", target_);
  staging_ = staging;
}

StagedDirectory::~StagedDirectory() {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
}

void StagedDirectory::commit() {
  std::error_code error;
  support::sync_directory(staging_);
  auto in_place = support::hold_leftovers();
  if (is_new_or_empty(target_)) {
    fs::rename(staging_, target_, error);
    // Another process was faster.
    if (is_one_of(error, {std::errc::directory_not_empty, std::errc::file_exists})) refuse_taken();
    check_system(error, "cannot be renamed into place", target_);
  } else if (force_) {
    replace_files();
  } else {
    refuse_taken();
  }
  in_place.unlock();
  support::sync_directory(target_.parent_path());
  fs::remove_all(staging_, error);
}

void StagedDirectory::refuse_taken() const {
  throw Error(
      ErrorCode::usage,
      "was filled by another process while this one worked, and nothing in it was replaced: name another directory, or --force replaces the files of "
      "the same names",
      target_.string());
}

void StagedDirectory::replace_files() {
  std::vector<fs::path> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(staging_)) names.push_back(entry.path().filename());
  for (const fs::path& name : names) {
    std::error_code error;
    const fs::path old = target_ / name;
    if (support::is_there(old) && !fs::is_regular_file(fs::symlink_status(old, error))) {
      throw Error(ErrorCode::input, "only a regular file is replaced", old.string());
    }
  }
  if (!replace_at_once()) replace_one_by_one(std::move(names));
}

bool StagedDirectory::replace_at_once() {
  if (!link_others(target_, staging_)) return false;
  std::error_code error;
  fs::permissions(staging_, fs::status(target_, error).permissions(), error);
  check_system(error, "cannot be given the permissions of the old one", target_);
  support::sync_directory(staging_);
  return exchange(target_, staging_);
}

/// Without an index nobody takes the directory for a checkpoint while files of two are in it.
void StagedDirectory::replace_one_by_one(std::vector<fs::path> names) {
  std::error_code error;
  fs::remove(target_ / kIndexName, error);
  check_system(error, "cannot be removed", target_ / kIndexName);
  std::ranges::partition(names, [](const fs::path& name) { return name != kIndexName; });
  for (const fs::path& name : names) {
    fs::rename(staging_ / name, target_ / name, error);
    check_system(error, "cannot be renamed into place", target_ / name);
  }
  support::sync_directory(target_);
}

void require_apart(const fs::path& target, std::span<const fs::path> sources) {
  const fs::path whole_target = resolved(target);
  std::error_code error;
  for (const fs::path& source : sources) {
    const fs::path read_from = fs::is_directory(source, error) ? source : fs::absolute(source).parent_path();
    if (support::is_there(whole_target) && fs::equivalent(whole_target, read_from, error)) {
      throw Error(ErrorCode::usage, "is what is read: name another directory for the output", target.string());
    }
    // A file alone is read, not what stands beside it.
    const fs::path whole = fs::weakly_canonical(read_from, error);
    const auto [end, ignored] = std::mismatch(whole.begin(), whole.end(), whole_target.begin(), whole_target.end());
    if (fs::is_directory(source, error) && end == whole.end())
      throw Error(ErrorCode::usage, "lies in what is read: name a directory outside of " + source.string(), target.string());
  }
}

std::vector<LeftOut> copy_companions(const fs::path& from, const fs::path& to, bool copy_all) {
  std::error_code error;
  fs::directory_iterator entries(from, error);
  check_system(error, "cannot be listed", from);
  std::vector<LeftOut> left;
  for (const fs::directory_entry& entry : entries) {
    const fs::path name = entry.path().filename();
    if (name == kIndexName || name == kSourceIndexName || name.extension() == ".safetensors") continue;
    if (entry.is_directory(error)) {
      const Below found = below(entry.path());
      if (copy_all || !(found.weights || name.string().starts_with('.'))) {
        fs::copy(entry.path(), to / name, fs::copy_options::recursive, error);
        check_system(error, "cannot be copied to " + (to / name).string(), entry.path());
      } else {
        left.push_back({name.string() + "/", found.bytes});
      }
      continue;
    }
    if (!entry.is_regular_file(error)) continue;
    if (holds_weights(name) && !copy_all) {
      left.push_back({name.string(), entry.file_size(error)});
      continue;
    }
    copy_plain(entry.path(), to / name);
  }
  std::ranges::sort(left, {}, &LeftOut::name);
  return left;
}

void StagedDirectory::require_room(std::uint64_t bytes) const {
  std::error_code error;
  const fs::space_info space = fs::space(staging_, error);
  if (error || space.available >= bytes) return;
  throw Error(ErrorCode::resource, fmt::format("{} bytes are to be written, and {} are free", bytes, space.available), target_.string());
}

void copy_plain(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, error);
  check_system(error, "cannot be copied to " + to.string(), from);
}

}  // namespace mx::checkpoint
