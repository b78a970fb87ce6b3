#include "workload/ensemble/launch.h"

#include "storage/base/units.h"

namespace workload {
namespace {

std::optional<size_t> count_in(const char* text) {
  if (text == nullptr) return std::nullopt;
  return storage::parse_count(text);
}

}  // namespace

Launch read_launch(const std::function<const char*(const char*)>& variable) {
  Launch launch;
  const auto size = count_in(variable("OMPI_COMM_WORLD_SIZE"));
  const auto pmix_rank = count_in(variable("PMIX_RANK"));
  if (size) {
    launch.ranks = size;
    launch.rank = count_in(variable("OMPI_COMM_WORLD_RANK")).value_or(pmix_rank.value_or(0));
  } else if (pmix_rank) {
    launch.ranks = std::nullopt;
    launch.rank = *pmix_rank;
  }
  return launch;
}

}  // namespace workload
