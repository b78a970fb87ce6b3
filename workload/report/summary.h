// One row a cell: the table that an experiment ends in, as text and as CSV.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workload/measure/statistics.h"
#include "workload/report/cost_columns.h"
#include "workload/report/results.h"

namespace workload {

/// How a row stands to the one above it.
enum class Distinction {
  kFirst,      ///< There is none above it, or one of both has no result.
  kDifferent,  ///< Its throughput is another one, at 5 % for the whole table.
  kSame,       ///< The runs do not tell the two apart.
  kTooFew,     ///< So few runs never could.
};

/// A cell's row. Figures are over its runs that count; sums are over all of its runs.
struct SummaryRow {
  std::string name;
  std::string scheme;
  std::string filesystem;
  std::string mount_options;
  std::string event_method;  ///< Of the proxy; empty where there is none, or not known.
  std::string variant;       ///< See CellResult.
  uint64_t disks = 0;        ///< Cache directories, each on a device of its own.
  bool is_cache = true;  ///< False: files straight on the filesystem, the cell's scheme webproxy.
  Estimate throughput_rps;
  Estimate response_time_ms;  ///< Of the runs' means.
  Estimate hit_ratio_percent;
  Estimate byte_hit_ratio_percent;
  std::optional<double> offered_hit_ratio_percent;  ///< Median over runs.
  uint64_t errors = 0;
  uint64_t wrong_bodies = 0;
  /// What the store did, medians over the runs that count; nothing where the proxy did not say.
  std::optional<double> store_operations;
  std::map<std::string, double> store_declined;  ///< New objects, by reason.
  std::optional<double> store_evictions;
  std::optional<double> write_amplification;          ///< Bytes written to bytes published.
  std::optional<double> io_per_request;               ///< File operations a request of a client.
  std::optional<double> disk_operations_per_request;  ///< Of the devices; median over runs.
  std::optional<double> disk_busy_percent;            ///< Of the busiest device; median over runs.
  /// What a request cost, see kCostColumns.
  std::array<std::optional<double>, kCostColumns.size()> costs{};
  std::string limited_by;  ///< Of most runs; empty without a run.
  size_t runs = 0;         ///< Runs that count.
  bool valid = false;      ///< At least one run counts, and none carries a warning.
  Distinction distinction = Distinction::kFirst;
  std::vector<std::string> notes;  ///< Warnings and failures, each kind once.
};

/// What a row that is no cache is marked with, explained.
inline constexpr const char* kNoCacheText =
    "no cache: whole files read or created a second, straight on the filesystem and without HTTP";

/// The scheme, the proxy's event method where it is another than epoll, and the variant where it is
/// not the base: `coss, select`, `nginx, multi_accept=on`.
std::string scheme_text(const SummaryRow& row);

/// The filesystem, and on how many disks where there are several: `ext4 x3`.
std::string place_text(const SummaryRow& row);

/// The rows, highest throughput first; cells without a result come last. Neighbours are compared
/// by a Mann-Whitney test with Holm's correction over the table.
std::vector<SummaryRow> summarise(const Results& results);

/// A count that is shown as `nothing` where it is 0 because no run gave a result.
std::string count_text(const SummaryRow& row, uint64_t count, const char* nothing);

/// `overloaded=3`, one for each reason for which objects were declined.
std::string declined_text(const SummaryRow& row, const char* separator);

/// A count with no decimals, `-` where there is none.
std::string whole_text(const std::optional<double>& count);

/// Whether any proxy told what its store did.
bool any_store_told(const std::vector<SummaryRow>& rows);

/// Whether any run says what a request cost.
bool any_costs_known(const std::vector<SummaryRow>& rows);

/// summary.csv: the six columns of the contract and then more; missing figures are empty.
/// Throughput is in responses a second, response times in ms, ratios in percent.
std::string summary_csv(const std::vector<SummaryRow>& rows);

/// summary.txt: the tables, what their marks mean, how many runs are missing for intervals, what
/// was skipped, and the warnings.
std::string summary_text(const Results& results, const std::vector<SummaryRow>& rows);

/// A figure to four significant digits, never in powers of ten: `1234`, `12.34`, `0.123`; `-` for
/// nothing.
std::string figure_text(const std::optional<double>& figure);

/// A median with its interval where there is one: `1234 (1200-1290)`.
std::string estimate_text(const Estimate& estimate);

/// A text as a field of a CSV file (RFC 4180), quoted where it must be. Control characters become
/// `?`, and what a spreadsheet would take for a formula begins with `'`.
std::string csv_field(const std::string& text);

/// How many more runs a cell needs before intervals are given; 0 where all have them.
size_t runs_missing(const std::vector<SummaryRow>& rows);

}  // namespace workload
