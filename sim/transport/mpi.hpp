#pragma once
// MPI as a transport: one process to a rank.

#include "sim/transport/transport.hpp"

namespace mx::sim {

/// The transport of this process's MPI_COMM_WORLD; null in a build without MPI.
Transport* mpi_transport();

}  // namespace mx::sim
