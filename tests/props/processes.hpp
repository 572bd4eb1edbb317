#pragma once
// Pieces of work in processes of their own: one that crashes or never ends costs itself alone.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace mx::tests {

/// What a process said, and how it ended.
struct Said {
  std::vector<std::string> lines;
  int signal = 0;  ///< that ended it; SIGALRM is its time limit
  int status = 0;
};

/// Calls work(index, say) for every index below `count` in a process of its own, `jobs` at a time; say(line) is heard by the caller. Nothing of what
/// the work prints is shown. `done` is told how many have ended. Throws Error(resource) when a process cannot be made.
using Say = std::function<void(const std::string& line)>;
std::vector<Said> in_processes(std::size_t count, int jobs, const std::function<void(std::size_t, const Say&)>& work,
                               const std::function<void(std::size_t)>& done);

}  // namespace mx::tests
