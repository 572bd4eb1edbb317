#include "support/leftovers.hpp"

#include <set>
#include <system_error>
#include <utility>

namespace mx::support {
namespace {

struct Leftovers {
  std::recursive_mutex mutex;
  std::set<std::filesystem::path> paths;
};

/// Never destroyed: threads may hold leftovers while the program ends.
Leftovers& all() {
  static auto* const leftovers = new Leftovers;
  return *leftovers;
}

}  // namespace

Leftover::Leftover(std::filesystem::path path) : path_(std::move(path)) {
  const auto lock = hold_leftovers();
  all().paths.insert(path_);
}

Leftover::~Leftover() {
  if (path_.empty()) return;
  const auto lock = hold_leftovers();
  all().paths.erase(path_);
}

Leftover::Leftover(Leftover&& other) noexcept : path_(std::exchange(other.path_, {})) {}

std::unique_lock<std::recursive_mutex> hold_leftovers() { return std::unique_lock(all().mutex); }

void abandon_leftovers() {
  hold_leftovers().release();
  for (const std::filesystem::path& path : all().paths) {
    // Whoever is writing may add a file while a directory is emptied.
    constexpr int kTries = 20;
    std::error_code error;
    for (int i = 0; i < kTries; ++i) {
      std::filesystem::remove_all(path, error);
      if (!error) break;
    }
  }
}

}  // namespace mx::support
