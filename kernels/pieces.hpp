#pragma once
// Work cut into pieces for several threads. Only files that are compiled for no tier of their own include this.

#include <cstddef>
#include <exception>

#include "model/ordinary_mode.hpp"

namespace mx::kernels {

/// Calls work(i) for every i below `count`, on so many threads. When calls throw, the rest is done all the same, and what the first of the pieces
/// threw is thrown behind them: the answer does not depend on the threads.
template <class Work>
void for_each_piece(std::size_t count, int threads, const Work& work) {
  if (count <= 1) {  // no threads are woken for it
    const OrdinaryMode mode;
    if (count == 1) work(0);
    return;
  }
  std::exception_ptr thrown;
  std::size_t by = count;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::size_t i = 0; i < count; ++i) {
    const OrdinaryMode mode;
    try {
      work(i);
    } catch (...) {
#pragma omp critical(mxact_pieces)
      if (i < by) {
        by = i;
        thrown = std::current_exception();
      }
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace mx::kernels
