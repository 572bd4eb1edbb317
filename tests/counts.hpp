#pragma once
// How much of a sweep a test takes: a part of it, or with MXACT_COUNTS=full all of it (tests/exhaustive.cmake).

#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace mx::tests {

inline bool full_counts() {
  static const bool full = [] {
    const char* const text = std::getenv("MXACT_COUNTS");
    return text != nullptr && std::string_view(text) == "full";
  }();
  return full;
}

/// The number of an ordinary run, or the full one.
inline int counted(int ordinary, int full) { return full_counts() ? full : ordinary; }

/// Picks one case in so many, each in its turn; all of them in a full run.
class EveryNth {
 public:
  explicit EveryNth(std::size_t ordinary) : nth_(full_counts() ? 1 : ordinary) {}
  bool operator()() { return at_++ % nth_ == 0; }

 private:
  std::size_t nth_;
  std::size_t at_ = 0;
};

}  // namespace mx::tests
