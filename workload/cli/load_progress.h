// The line that a load run shows while it lasts.
#pragma once

#include <ostream>
#include <string>

#include "workload/client/load_run.h"

namespace workload {

/// Writes a line a second, and at once where a phase begins: one that changes on a terminal, else
/// one below the other.
class ProgressPrinter {
 public:
  /// `out` must outlive the printer.
  ProgressPrinter(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}

  void operator()(const LoadProgress& progress);
  /// Clears the changing line.
  void finish();

 private:
  std::ostream& out_;
  bool terminal_;
  double last_s_ = 0;
  std::string phase_;
  LiveCounts last_;
};

/// Phase, rates, response time, hit ratio, errors, fill and time left: of the stretch between two
/// looks, `length_s` long, and of the run.
std::string progress_line(const LoadProgress& progress, const LiveCounts& before, double length_s);

}  // namespace workload
