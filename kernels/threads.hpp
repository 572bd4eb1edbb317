#pragma once
// How many threads a call may be given. Its results do not depend on their number.

#include <string>
#include <string_view>

#include "model/error.hpp"

namespace mx::kernels {

/// More than this help nobody, and teams of tens of thousands end the process: the OpenMP runtime keeps them on the stack.
inline constexpr int kMostThreads = 1024;

/// Throws Error(usage), with `where` as its place, unless there is at least one and not more than that.
inline void require_threads(int threads, std::string_view where = {}) {
  if (threads >= 1 && threads <= kMostThreads) return;
  throw Error(ErrorCode::usage, std::to_string(threads) + " threads, allowed are 1 to " + std::to_string(kMostThreads), std::string(where));
}

}  // namespace mx::kernels
