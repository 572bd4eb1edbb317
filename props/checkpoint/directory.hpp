#pragma once
// A place for the files of a case.

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "support/file.hpp"

namespace mx::props {

/// A directory of its own, gone with everything in it.
class Directory {
 public:
  Directory() {
    static int made = 0;
    path_ = std::filesystem::temp_directory_path() / ("mxact-law-" + std::to_string(getpid()) + "-" + std::to_string(++made));
    std::filesystem::create_directories(path_);
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  void write(const std::string& name, std::span<const std::uint8_t> bytes) const { support::write_file(path_ / name, bytes, true); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace mx::props
