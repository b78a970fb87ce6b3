// The processes that mpirun has started, as an Ensemble over MPI.
#pragma once

#include <memory>

#include "workload/ensemble/ensemble.h"

namespace workload {

/// Initialises MPI, for calls of this thread alone, and joins the others. Once a process; where it
/// fails MPI ends the process itself. The destructor leaves MPI, which waits for the others to do
/// the same.
std::unique_ptr<Ensemble> join_mpi();

}  // namespace workload
