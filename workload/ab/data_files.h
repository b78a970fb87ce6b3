// The files of -e and -g, in ApacheBench's formats.
#pragma once

#include <string>

#include "workload/ab/tally.h"

namespace workload::ab {

/// -e: `Percentage served,Time in ms`, 0 to 100, from a histogram of three digits (0 and 100 are
/// exact). `tally.total` must hold a value.
std::string percentiles_csv(const Tally& tally);

/// -g: a row for each request that got a response, sorted by its total time; whole milliseconds.
std::string gnuplot_tsv(const Tally& tally);

}  // namespace workload::ab
