#include "workload/ab/report.h"

#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace workload::ab {

namespace {

constexpr std::array<int, 9> kPercents{50, 66, 75, 80, 90, 95, 98, 99, 100};

__attribute__((format(printf, 2, 3))) void add_line(std::string& out, const char* format, ...) {
  std::array<char, 1024> line{};
  va_list values;
  va_start(values, format);
  std::vsnprintf(line.data(), line.size(), format, values);
  va_end(values);
  out += line.data();
  out += '\n';
}

using Count = unsigned long long;

void add_label(std::string& out, const char* label, const std::string& value) {
  std::string line(label);
  line.resize(24, ' ');
  out += line + value + '\n';
}

void add_count(std::string& out, const char* label, uint64_t count, const char* unit = "") {
  add_label(out, label, std::to_string(count) + unit);
}

void add_failures(std::string& out, const Tally& tally) {
  add_count(out, "Failed requests:", tally.failed());
  if (tally.failed() == 0) return;
  const auto of = [&](Failure failure) {
    return static_cast<Count>(tally.failures[static_cast<size_t>(failure)]);
  };
  add_line(out, "   (Connect: %llu, Receive: %llu, Length: %llu, Exceptions: %llu)",
           of(Failure::kConnect), of(Failure::kReceive), of(Failure::kLength),
           of(Failure::kException));
}

void add_rates(std::string& out, const Options& options, const Measurement& run) {
  const auto figures = report_figures(options, run);
  add_line(out, "Requests per second:    %.2f [#/sec] (mean)", run.requests_per_s());
  add_line(out, "Time per request:       %.3f [ms] (mean)", figures.request_ms);
  add_line(out, "Time per request:       %.3f [ms] (mean, across all concurrent requests)",
           figures.request_all_ms);
  add_line(out, "Transfer rate:          %.2f [Kbytes/sec] received", figures.received_kb_per_s);
  if (!options.has_body) return;
  add_line(out, "                        %.2f kb/s sent", figures.sent_kb_per_s);
  add_line(out, "                        %.2f kb/s total",
           figures.received_kb_per_s + figures.sent_kb_per_s);
}

void add_times_row(std::string& out, const char* label, const TimeSamples& times, bool confidence) {
  const auto least = static_cast<Count>(rounded_ms(static_cast<double>(times.min_ns())));
  const auto mean = static_cast<Count>(rounded_ms(times.mean_ns()));
  const auto most = static_cast<Count>(rounded_ms(static_cast<double>(times.max_ns())));
  if (confidence) {
    const auto median =
        static_cast<Count>(rounded_ms(static_cast<double>(times.percentile_ns(50))));
    add_line(out, "%-12s%5llu %4llu %5.1f %6llu %7llu", label, least, mean,
             times.deviation_ns() / 1e6, median, most);
  } else {
    add_line(out, "%-12s%5llu %5llu%5llu", label, least, mean, most);
  }
}

/// Where mean and median lie far apart, the mean says little.
void add_doubt(std::string& out, const char* what, const TimeSamples& times) {
  const double apart_ns = std::abs(times.mean_ns() - static_cast<double>(times.percentile_ns(50)));
  // Less than the tables' last digit is nobody's concern.
  if (apart_ns < 1e6) return;
  if (apart_ns > 2 * times.deviation_ns()) {
    add_line(out, "ERROR: mean and median of the %s time are over two standard deviations apart",
             what);
  } else if (apart_ns > times.deviation_ns()) {
    add_line(out, "WARNING: mean and median of the %s time are over a standard deviation apart",
             what);
  }
}

void add_times(std::string& out, const Options& options, const Tally& tally) {
  const bool confidence = options.show_confidence;
  out += "\nConnection Times (ms)\n";
  out += confidence ? "              min  mean[+/-sd] median   max\n"
                    : "              min   avg   max\n";
  add_times_row(out, "Connect:", tally.connect, confidence);
  add_times_row(out, "Processing:", tally.processing, confidence);
  add_times_row(out, "Waiting:", tally.waiting, confidence);
  add_times_row(out, "Total:", tally.total, confidence);
  if (confidence) {
    add_doubt(out, "connection", tally.connect);
    add_doubt(out, "processing", tally.processing);
    add_doubt(out, "waiting", tally.waiting);
    add_doubt(out, "total", tally.total);
  }
  if (!options.show_percentiles || tally.total.count() < 2) return;
  out += "\nPercentage of the requests served within a certain time (ms)\n";
  for (const int percent : kPercents) {
    const auto ms =
        static_cast<Count>(rounded_ms(static_cast<double>(tally.total.percentile_ns(percent))));
    add_line(out, "%4d%%  %5llu%s", percent, ms, percent == 100 ? " (longest request)" : "");
  }
}

}  // namespace

uint64_t rounded_ms(double ns) {
  return static_cast<uint64_t>(std::llround(ns / 1e6));
}

ReportFigures report_figures(const Options& options, const Measurement& run) {
  constexpr size_t kServerBytesMax = 256;
  ReportFigures figures;
  for (const char c : run.server.substr(0, kServerBytesMax)) {
    figures.server += c >= 0x20 && c < 0x7f ? c : '?';
  }
  figures.document_length =
      options.any_length
          ? "Variable"
          : std::to_string(run.first_body ? run.first_body->size_bytes : 0) + " bytes";
  if (run.duration_s > 0 && run.tally.complete > 0) {
    figures.request_all_ms = run.duration_s * 1000 / static_cast<double>(run.tally.complete);
    figures.request_ms = figures.request_all_ms * options.concurrency;
    figures.received_kb_per_s =
        static_cast<double>(run.tally.received_bytes) / 1024 / run.duration_s;
    figures.sent_kb_per_s = static_cast<double>(run.tally.sent_bytes) / 1024 / run.duration_s;
  }
  return figures;
}

std::string banner_text(bool html) {
  const std::string name = "This is cacheoff ab, version " CACHEOFF_VERSION;
  const std::string what = "ApacheBench's options and report; lines that begin with '+' are ours";
  if (html) return "<p>\n " + name + "<br>\n " + what + "<br>\n</p>\n<p>\n";
  return name + '\n' + what + "\n\n";
}

std::string report_text(const Options& options, const Measurement& run) {
  const auto& tally = run.tally;
  const auto figures = report_figures(options, run);
  std::string out = "\n\n";
  add_label(out, "Server Software:", figures.server);
  add_label(out, "Server Hostname:", options.url.server.host);
  add_count(out, "Server Port:", options.url.server.port);
  out += '\n';
  add_label(out, "Document Path:", options.url.path);
  add_label(out, "Document Length:", figures.document_length);
  out += '\n';
  add_count(out, "Concurrency Level:", options.concurrency);
  add_line(out, "Time taken for tests:   %.3f seconds", run.duration_s);
  add_count(out, "Complete requests:", tally.complete);
  add_failures(out, tally);
  if (tally.write_errors > 0) add_count(out, "Write errors:", tally.write_errors);
  if (tally.not_2xx > 0) add_count(out, "Non-2xx responses:", tally.not_2xx);
  if (options.keep_alive) add_count(out, "Keep-Alive requests:", tally.kept_alive);
  add_count(out, "Total transferred:", tally.received_bytes, " bytes");
  if (options.has_body) add_count(out, "Total body sent:", tally.sent_bytes);
  add_count(out, "HTML transferred:", tally.body_bytes, " bytes");
  if (run.duration_s > 0) add_rates(out, options, run);
  if (tally.total.count() > 0) add_times(out, options, tally);
  return out;
}

}  // namespace workload::ab
