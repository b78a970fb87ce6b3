// The report of a run, line by line as ApacheBench prints it, so that what reads its reports reads
// ours.
#pragma once

#include <string>

#include "workload/ab/options.h"
#include "workload/ab/run.h"

namespace workload::ab {

/// The lines above the progress: who this is.
std::string banner_text(bool html);

/// From `Server Software:` to the table of percentiles.
std::string report_text(const Options& options, const Measurement& run);

/// The same figures as an HTML table (-w), with the attributes of -x, -y and -z.
std::string report_html(const Options& options, const Measurement& run);

/// Figures of the report that both kinds need.
struct ReportFigures {
  std::string server;           ///< Printable, at most 256 bytes.
  std::string document_length;  ///< `151 bytes`, or `Variable` under -l.
  double request_ms = 0;        ///< Of one request, mean, as its user sees it.
  double request_all_ms = 0;    ///< The same across all that ran beside it.
  double received_kb_per_s = 0;
  double sent_kb_per_s = 0;
};
ReportFigures report_figures(const Options& options, const Measurement& run);

/// Nanoseconds in whole milliseconds, rounded.
uint64_t rounded_ms(double ns);

}  // namespace workload::ab
