#pragma once
// How the ranks of a deployment reach each other: within one process, or between as many processes as a launcher started. What an exchange moves is
// handed to everyone; each rank keeps what its exchange would have brought it. So the bits are the same over every transport.

#include <cstdint>
#include <string>
#include <vector>

#include "model/error.hpp"

namespace mx::sim {

using Words = std::vector<std::uint32_t>;

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// The ranks that this process computes, ascending, of a deployment of `ranks`. Throws Error(usage) when the processes are not as many.
  virtual std::vector<int> ranks_here(int ranks) const = 0;

  /// Every rank's words, ranks ascending, given those of the ranks here. All processes call it, equally often. Throws on every process what one of
  /// them told by fail(); Error(resource) for more than 2^31 - 1 words.
  virtual std::vector<Words> all_gather(std::vector<Words> here) = 0;

  /// This process goes no further: the others' next all_gather() throws this error. Does nothing when a failure ended the run already.
  virtual void fail(const Error& error) = 0;

  /// True on the one process that prints results.
  virtual bool reports() const = 0;

  /// What stands in front of error messages: "rank 1 of 4: "; of a failure on another rank that rank too. Empty with one process.
  virtual std::string label() const = 0;
};

/// All ranks in this process.
Transport& in_process();

/// The transport that this process was started for: MPI when a launcher (mpirun, srun) started it, else in_process(). It ends with the program, and
/// waits for the other processes then. Throws Error(unsupported) when there is a launcher and this build has no MPI.
Transport& launched();

}  // namespace mx::sim
