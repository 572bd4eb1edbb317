// How many threads the kernels get. A forked child gets one: the OpenMP runtime's other threads did not come along, and waiting for them would never
// end.

#include "kernels/threads.hpp"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>

#include "model/error.hpp"
#include "python/module/core.hpp"

namespace mx::python {
namespace {

std::atomic<int> threads{1};
std::atomic<bool> forked{false};

void in_child() {
  threads = 1;
  forked = true;
  omp_set_num_threads(1);
}

void set_threads(int wanted) {
  kernels::require_threads(wanted, "threads");
  if (forked && wanted > 1) throw Error(ErrorCode::unsupported, "a forked child runs with one thread, not " + std::to_string(wanted), "threads");
  threads = wanted;
}

}  // namespace

kernels::Workers workers() { return {&kernels::isa_tier(), threads}; }

void bind_threads(nb::module_& module) {
  threads = std::min(omp_get_max_threads(), kernels::kMostThreads);
  if (pthread_atfork(nullptr, nullptr, in_child) != 0) throw Error(ErrorCode::resource, "no memory to watch for forks");
  module.def("threads", [] { return threads.load(); });
  module.def("set_threads", set_threads, nb::arg("wanted"));
}

}  // namespace mx::python
