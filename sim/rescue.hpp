#pragma once
// An exception must not leave an OpenMP region: the first one is kept and thrown behind it.

#include <exception>

namespace mx::sim {

class Rescue {
 public:
  template <class Work>
  void run(Work work) noexcept {
    try {
      work();
    } catch (...) {
#pragma omp critical(mxact_rescue)
      if (!first_) first_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

}  // namespace mx::sim
