// Whether two experiments did the same work, so that their figures may be compared at all.
#pragma once

#include <string>
#include <vector>

#include "workload/compare/comparison.h"
#include "workload/report/results.h"

namespace workload {

/// How far the mean size of a response may differ between two sides, as a share, before it counts
/// as other work. Rounds that differ more among themselves widen it.
inline constexpr double kResponseBytesTolerance = 0.01;

/// The fields that both experiments have a word on, and those known without one: `workload` and
/// `trace` (by their digests; by name where one side has none), `file` (of static servers, by its
/// digest; its size, connections and the like are options), `verification`, `load`, `until`,
/// `phases`, `time-scale`, `memory` and every other option that is one value, and of each cell
/// `scheme`, `filesystem`, `mount-options`, `cache-size`, `disks`, `scheme-options`, `seed` (no
/// round in common) and `mean-response-bytes`. What says where or how often something was run is
/// no work: directories, devices, users, rounds, their order; nor are `proxy-options`, which are of
/// the system compared.
std::vector<std::string> work_field_names(const Results& first, const Results& second);

/// The fields in which the work differs, over the cells of that name, in a fixed order; one of
/// several cells that differ alike stands for them all. `second_side` and `first_side` go into what
/// is returned. `unknown` gets a line for what neither side can show.
std::vector<WorkDifference> work_differences(const Results& first, const Results& second,
                                             size_t first_side, size_t second_side,
                                             std::vector<std::string>& unknown);

/// The cell of that name, or null.
const CellResult* cell_named(const Results& results, const std::string& name);

}  // namespace workload
