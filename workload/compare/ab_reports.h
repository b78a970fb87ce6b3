// Published reports of ApacheBench as rows of a CSV file, and what may be said of them together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "workload/compare/comparison.h"
#include "workload/experiment/expected.h"

namespace workload {

/// One run of ApacheBench. Figures that the row does not have are nothing.
struct AbReport {
  size_t line = 0;  ///< In the file, from 1.
  std::string operating_system;
  std::string server;
  std::string workers;
  std::string event_method;
  uint64_t document_bytes = 0;
  uint64_t concurrency = 0;
  uint64_t requests = 0;
  std::optional<double> seconds;
  double requests_per_second = 0;
  std::optional<uint64_t> total_transferred;
  std::optional<uint64_t> html_transferred;
  std::optional<double> median_ms;
  std::optional<double> max_ms;
};

/// The columns, in any order; others are refused.
std::string_view ab_report_columns();

/// Reads the text of such a file: comments (`#`) and empty lines are passed over, the first other
/// line names the columns, fields may be quoted (RFC 4180, within a line). At most 10,000 rows. The
/// Problem names `file`, line, column and what would be right.
Expected<std::vector<AbReport>> parse_ab_reports(std::string_view text, const std::string& file);

/// The same from a file of at most 4 MiB.
Expected<std::vector<AbReport>> read_ab_reports(const std::filesystem::path& file);

/// Rows of one operating system, server, workers and event method are runs of one side. Sides of
/// one document size, concurrency and number of requests are compared with the first of them, in
/// throughput and median response time; where the bytes of a response differ by over 1 % the work
/// differed, and the pair is refused, naming `bytes-per-response`, unless `ignored_fields` has
/// that. A Problem where there are fewer than two sides.
Expected<Comparison> compare_ab_reports(const std::vector<AbReport>& reports,
                                        const std::set<std::string>& ignored_fields);

}  // namespace workload
