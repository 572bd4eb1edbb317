#pragma once
// What a program would leave behind if it ended before its work does: files and directories under temporary names.

#include <filesystem>
#include <mutex>

namespace mx::support {

/// A temporary file or directory while it lives, made or about to be made. Nothing is removed by the end of this object.
class Leftover {
 public:
  explicit Leftover(std::filesystem::path path);
  ~Leftover();
  Leftover(Leftover&& other) noexcept;
  Leftover& operator=(Leftover&&) = delete;

 private:
  std::filesystem::path path_;
};

/// While it is held nobody abandons anything: for the moment in which a file or a directory comes to its place.
std::unique_lock<std::recursive_mutex> hold_leftovers();

/// Removes every one of them, for a program that ends now: whoever makes another one, or brings one to its place, waits for that end.
void abandon_leftovers();

}  // namespace mx::support
