// What a person who waits for an experiment wants to see.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>

namespace workload {

/// Prints a line a run with the time left: on a terminal the running one is shown in place.
class Progress {
 public:
  /// `estimated_s`: of all runs together, where it is known beforehand.
  Progress(std::ostream& out, bool is_terminal, size_t runs, std::optional<double> estimated_s);

  void begin_run(const std::string& cell, unsigned round, unsigned rounds);
  /// `result` is one short line.
  void end_run(const std::string& result);
  /// A run that was kept from before.
  void skip_run();
  /// Ends the line that is being shown.
  void finish();

 private:
  std::string time_left() const;

  std::ostream& out_;
  bool is_terminal_;
  size_t runs_;
  std::optional<double> estimated_per_run_s_;
  size_t skipped_ = 0;
  size_t done_ = 0;
  std::string current_;
  std::chrono::steady_clock::time_point run_began_;
  double spent_s_ = 0;
};

/// `1234 responses/s, 3.21 ms, 56.1 % hits` of a run's record.
std::string figure_of(const boost::json::object& record);

}  // namespace workload
