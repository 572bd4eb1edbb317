#include "sim/transport/mpi.hpp"

namespace mx::sim {

Transport* mpi_transport() { return nullptr; }

}  // namespace mx::sim
