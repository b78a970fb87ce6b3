// Whether a launcher of parallel programs has started this process as one of several.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

namespace workload {

/// A process' place as its launcher says it in the environment.
struct Launch {
  size_t rank = 0;
  /// Nothing: the launcher does not say how many there are.
  std::optional<size_t> ranks = 1;

  bool alone() const { return ranks == size_t{1}; }
};

/// Reads what mpirun of Open MPI sets (OMPI_COMM_WORLD_SIZE and _RANK), or any launcher that speaks
/// PMIx (PMIX_RANK, which says no number of ranks). A process that nobody started so is alone.
/// `variable` is getenv().
Launch read_launch(const std::function<const char*(const char*)>& variable);

}  // namespace workload
