#include "sim/transport/transport.hpp"

#include <array>
#include <cstdlib>
#include <numeric>

#include "sim/transport/mpi.hpp"

namespace mx::sim {
namespace {

class InProcess final : public Transport {
 public:
  std::vector<int> ranks_here(int ranks) const override {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::vector<Words> all_gather(std::vector<Words> here) override { return here; }
  void fail(const Error& /*error*/) override {}
  bool reports() const override { return true; }
  std::string label() const override { return {}; }
};

/// What launchers set for each process: Open MPI's mpirun, PMIx (srun), PMI (other MPIs).
constexpr std::array kLauncherMarks{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};

}  // namespace

Transport& in_process() {
  static InProcess transport;
  return transport;
}

Transport& launched() {
  for (const char* mark : kLauncherMarks) {
    if (std::getenv(mark) == nullptr) continue;
    if (Transport* transport = mpi_transport()) return *transport;
    throw Error(ErrorCode::unsupported,
                "a launcher started this process as one of several (" + std::string(mark) + " is set), and this build has no MPI (libopenmpi-dev)");
  }
  return in_process();
}

}  // namespace mx::sim
