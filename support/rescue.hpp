#pragma once
// An exception must not leave an OpenMP region: the first one is kept and thrown behind it. The work runs in the ordinary floating-point mode,
// whatever the thread was born with.

#include <atomic>
#include <exception>

#include "model/ordinary_mode.hpp"

namespace mx::support {

class Rescue {
 public:
  template <class Work>
  void run(Work work) noexcept {
    const OrdinaryMode mode;
    try {
      work();
    } catch (...) {
#pragma omp critical(mxact_rescue)
      if (!first_) first_ = std::current_exception();
      thrown_ = true;
    }
  }
  /// For whoever has not begun: the rest of the work is in vain.
  bool has_one() const { return thrown_; }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
  std::atomic<bool> thrown_ = false;
};

}  // namespace mx::support
